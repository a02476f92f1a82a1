// Sending and finding messages, and what a call that sent them can still change.
'use strict';

const { randomUUID } = require('node:crypto');
const { checkedKey, pathOf } = require('./checks.js');
const { batchedBody, messageBody, timeText } = require('./message.js');

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

  async sendBatch(emails, { onError, idempotencyKey } = {}) {
    return this.#call({
      method: 'POST',
      path: '/emails/batch',
      body: { emails: Array.isArray(emails) ? emails.map(batchedBody) : emails, on_error: onError },
      idempotencyKey: checkedKey(idempotencyKey ?? randomUUID()),
    });
  }

  async get(id) {
    return this.#call({ method: 'GET', path: pathOf('/emails', id) });
  }

  async list({ createdAfter, createdBefore, state, to, from, tag, after, limit } = {}) {
    const created = { created_after: createdAfter, created_before: createdBefore };
    return this.#call({ method: 'GET', path: '/emails', query: { state, to, from, tag, ...created, after, limit } });
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

  async move(id, sendAt) {
    return this.#call({ method: 'PATCH', path: pathOf('/submissions', id), body: { send_at: timeText(sendAt) } });
  }

  async cancel(id) {
    return this.#call({ method: 'POST', path: `${pathOf('/submissions', id)}/cancel` });
  }
}

module.exports = { Emails, Submissions };
