// The webhooks of the account; webhook.js verifies what they are sent.
'use strict';

const { inspect } = require('node:util');
const { pathOf } = require('./checks.js');

class Webhooks {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async create(webhook) {
    return printedWithoutSecret(await this.#call({ method: 'POST', path: '/webhooks', body: webhook }));
  }

  async list() {
    const { webhooks } = await this.#call({ method: 'GET', path: '/webhooks' });
    return (webhooks ?? []).map(withEvents);
  }

  async get(id) {
    return withEvents(await this.#call({ method: 'GET', path: pathOf('/webhooks', id) }));
  }

  async update(id, changes) {
    return withEvents(await this.#call({ method: 'PATCH', path: pathOf('/webhooks', id), body: changes }));
  }

  async delete(id) {
    await this.#call({ method: 'DELETE', path: pathOf('/webhooks', id) });
  }

  /** Not repeated after a lost answer: each rotation adds a secret, and only a few of the earlier ones sign along. */
  async rotate(id) {
    const path = `${pathOf('/webhooks', id)}/rotate`;
    return printedWithoutSecret(await this.#call({ method: 'POST', path, mayBeRepeated: false }));
  }

  async test(id) {
    return this.#call({ method: 'POST', path: `${pathOf('/webhooks', id)}/test` });
  }

  async deliveries(id, { state, after, limit } = {}) {
    const path = `${pathOf('/webhooks', id)}/deliveries`;
    return this.#call({ method: 'GET', path, query: { state, after, limit } });
  }

  async replay(id, eventId) {
    const deliveries = `${pathOf('/webhooks', id)}/deliveries`;
    return this.#call({ method: 'POST', path: `${pathOf(deliveries, eventId)}/replay` });
  }
}

/** The service leaves it out where a webhook gets every event. */
function withEvents(webhook) {
  return { ...webhook, events: webhook.events ?? null };
}

/** For console.log and the like; JSON.stringify and copies keep the secret, so that it can be stored. */
function printedWithoutSecret(answer) {
  const webhook = withEvents(answer);
  return Object.defineProperty(webhook, inspect.custom, { value: () => ({ ...webhook, secret: '[hidden]' }) });
}

module.exports = { Webhooks };
