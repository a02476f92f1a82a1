// The client: the calls of the API, in the names of JavaScript.
'use strict';

const { randomUUID } = require('node:crypto');
const { inspect } = require('node:util');
const { PostriderError } = require('./errors.js');
const { messageBody } = require('./message.js');
const { toCamelCase } = require('./names.js');
const { readOptions } = require('./options.js');
const { Transport } = require('./transport.js');

class Postrider {
  constructor(options) {
    const transport = new Transport(readOptions(options, process.env));
    const call = async (request) => toCamelCase(await transport.call(request));
    this.emails = new Emails(call);
    this.submissions = new Submissions(call);
    this.domains = new Domains(call);
    this.webhooks = new Webhooks(call);
    this.templates = new Templates(call);
    this.events = new Events(call);
    this.#call = call;
  }

  #call;

  health() {
    return this.#call({ method: 'GET', path: '/healthz', health: true });
  }
}

class Emails {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async send({ idempotencyKey, ...message }) {
    return this.#call({
      method: 'POST',
      path: '/emails',
      body: messageBody(message),
      idempotencyKey: checkedKey(idempotencyKey ?? randomUUID()),
    });
  }

  async get(id) {
    return this.#call({ method: 'GET', path: pathOf('/emails', id) });
  }
}

class Submissions {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async get(id) {
    return this.#call({ method: 'GET', path: pathOf('/submissions', id) });
  }
}

class Domains {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async create(domain) {
    return this.#call({ method: 'POST', path: '/domains', body: domain });
  }

  async list() {
    return (await this.#call({ method: 'GET', path: '/domains' })).domains;
  }

  async get(id) {
    return this.#call({ method: 'GET', path: pathOf('/domains', id) });
  }

  async verify(id) {
    return this.#call({ method: 'POST', path: `${pathOf('/domains', id)}/verify` });
  }

  async delete(id) {
    return this.#call({ method: 'DELETE', path: pathOf('/domains', id) });
  }
}

class Webhooks {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async create(webhook) {
    return printedWithoutSecret(await this.#call({ method: 'POST', path: '/webhooks', body: webhook }));
  }

  async list() {
    return (await this.#call({ method: 'GET', path: '/webhooks' })).webhooks;
  }

  async get(id) {
    return this.#call({ method: 'GET', path: pathOf('/webhooks', id) });
  }

  async delete(id) {
    await this.#call({ method: 'DELETE', path: pathOf('/webhooks', id) });
  }
}

class Templates {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async create(template) {
    return this.#call({ method: 'POST', path: '/templates', body: template });
  }

  async update(id, template) {
    return this.#call({ method: 'PUT', path: pathOf('/templates', id), body: template });
  }

  async delete(id) {
    await this.#call({ method: 'DELETE', path: pathOf('/templates', id) });
  }

  async list() {
    return (await this.#call({ method: 'GET', path: '/templates' })).templates;
  }

  async get(id) {
    return this.#call({ method: 'GET', path: pathOf('/templates', id) });
  }
}

class Events {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async list({ after, limit } = {}) {
    return this.#call({ method: 'GET', path: '/events', query: { after, limit } });
  }
}

/** For console.log and the like; JSON.stringify and copies keep the secret, so that it can be stored. */
function printedWithoutSecret(webhook) {
  return Object.defineProperty(webhook, inspect.custom, { value: () => ({ ...webhook, secret: '[hidden]' }) });
}

/** An empty id would be the whole list, and dots climb: neither can be meant. */
function pathOf(collection, id) {
  if (typeof id !== 'string' || ['', '.', '..'].includes(id)) {
    throw new PostriderError('id is the id of a record, a UUID.', { code: 'invalid_argument' });
  }
  return `${collection}/${encodeURIComponent(id)}`;
}

function checkedKey(key) {
  if (typeof key === 'string' && /^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$/.test(key)) return key;
  throw new PostriderError('idempotencyKey is a text of printable ASCII characters.', { code: 'invalid_argument' });
}

module.exports = { Postrider };
