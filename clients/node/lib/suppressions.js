// Addresses that get no mail from the account.
'use strict';

const { pathOf } = require('./checks.js');

class Suppressions {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async list({ address, reason, after, limit } = {}) {
    return this.#call({ method: 'GET', path: '/suppressions', query: { address, reason, after, limit } });
  }

  async add(suppression) {
    return this.#call({ method: 'POST', path: '/suppressions', body: suppression });
  }

  async remove(address) {
    const path = pathOf('/suppressions', address, 'address is a suppressed address, not empty.');
    await this.#call({ method: 'DELETE', path });
  }

  async import(addresses) {
    return this.#call({ method: 'POST', path: '/suppressions/import', body: addresses });
  }
}

module.exports = { Suppressions };
