// The client: the calls of the API, in the names of JavaScript.
'use strict';

const { pathOf } = require('./checks.js');
const { Emails, Submissions } = require('./emails.js');
const { toCamelCase } = require('./names.js');
const { readOptions } = require('./options.js');
const { Suppressions } = require('./suppressions.js');
const { Transport } = require('./transport.js');
const { Webhooks } = require('./webhooks.js');

class Postrider {
  constructor(options) {
    const transport = new Transport(readOptions(options, process.env));
    const call = async (request) => toCamelCase(await transport.call(request));
    this.emails = new Emails(call);
    this.submissions = new Submissions(call);
    this.domains = new Domains(call);
    this.webhooks = new Webhooks(call);
    this.templates = new Templates(call);
    this.suppressions = new Suppressions(call);
    this.events = new Events(call);
    this.#call = call;
  }

  #call;

  async stats({ from, to, by, tag } = {}) {
    const counted = await this.#call({ method: 'GET', path: '/stats', query: { from, to, by, tag } });
    return { ...counted, tag: counted.tag ?? null, complete: counted.complete ?? null };
  }

  health() {
    return this.#call({ method: 'GET', path: '/healthz', health: true });
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

class Templates {
  #call;

  constructor(call) {
    this.#call = call;
  }

  async create(template) {
    return withSubject(await this.#call({ method: 'POST', path: '/templates', body: template }));
  }

  async update(id, template) {
    return withSubject(await this.#call({ method: 'PUT', path: pathOf('/templates', id), body: template }));
  }

  async delete(id) {
    await this.#call({ method: 'DELETE', path: pathOf('/templates', id) });
  }

  async list() {
    const { templates } = await this.#call({ method: 'GET', path: '/templates' });
    return (templates ?? []).map(withSubject);
  }

  async get(id) {
    return withSubject(await this.#call({ method: 'GET', path: pathOf('/templates', id) }));
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

/** The service leaves it out where there is none. */
function withSubject(template) {
  return { ...template, subject: template.subject ?? null };
}

module.exports = { Postrider };
