// The runner of the conformance suite (clients/conformance/README.md): a call per line, many at a time.
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import * as postrider from 'postrider-client';

const toSnake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What is in these is named by the caller. */
const LABELS = ['tags', 'metadata'];

function snakeCase(value) {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value);
  return Object.fromEntries(
    parts.map(([name, part]) => [toSnake(name), LABELS.includes(name) ? part : snakeCase(part)]),
  );
}

function timeOf({ send_at, send_at_time }) {
  return send_at_time === undefined ? send_at : new Date(send_at_time.unix_ms);
}

function sendArguments({ template_id, idempotency_key, reply_to, attachments, send_at, send_at_time, ...rest }) {
  const message = { ...rest };
  if (template_id !== undefined) message.templateId = template_id;
  if (idempotency_key !== undefined) message.idempotencyKey = idempotency_key;
  if (reply_to !== undefined) message.replyTo = reply_to;
  if (attachments !== undefined) message.attachments = attachments.map(attachment);
  const sendAt = timeOf({ send_at, send_at_time });
  if (sendAt !== undefined) message.sendAt = sendAt;
  return message;
}

function attachment({ filename, content, content_bytes, content_type, content_id }) {
  const given = { filename, content: content ?? Buffer.from(content_bytes, 'base64') };
  if (content_type !== undefined) given.contentType = content_type;
  if (content_id !== undefined) given.contentId = content_id;
  return given;
}

function verify({ headers, secret, tolerance_seconds, ...given }) {
  const payload = given.payload ?? given.payload_parsed ?? Buffer.from(given.payload_base64, 'base64');
  const options = tolerance_seconds === undefined ? undefined : { toleranceSeconds: tolerance_seconds };
  return postrider.verifyWebhook(payload, headers, secret, options);
}

const METHODS = {
  'emails.send': (client, args) => client.emails.send(sendArguments(args)),
  'emails.send_batch': (client, { emails, on_error, idempotency_key }) =>
    client.emails.sendBatch(emails.map(sendArguments), { onError: on_error, idempotencyKey: idempotency_key }),
  'emails.list': (client, { created_after, created_before, ...rest }) =>
    client.emails.list({ ...rest, createdAfter: created_after, createdBefore: created_before }),
  'emails.get': (client, { id }) => client.emails.get(id),
  'submissions.get': (client, { id }) => client.submissions.get(id),
  'submissions.move': (client, { id, ...time }) => client.submissions.move(id, timeOf(time)),
  'submissions.cancel': (client, { id }) => client.submissions.cancel(id),
  'domains.create': (client, args) => client.domains.create(args),
  'domains.list': (client) => client.domains.list(),
  'domains.get': (client, { id }) => client.domains.get(id),
  'domains.verify': (client, { id }) => client.domains.verify(id),
  'domains.delete': (client, { id }) => client.domains.delete(id),
  'webhooks.create': (client, args) => client.webhooks.create(args),
  'webhooks.list': (client) => client.webhooks.list(),
  'webhooks.get': (client, { id }) => client.webhooks.get(id),
  'webhooks.delete': (client, { id }) => client.webhooks.delete(id),
  'webhooks.update': (client, { id, ...changes }) => client.webhooks.update(id, changes),
  'webhooks.rotate': (client, { id }) => client.webhooks.rotate(id),
  'webhooks.test': (client, { id }) => client.webhooks.test(id),
  'webhooks.deliveries': (client, { id, ...query }) => client.webhooks.deliveries(id, query),
  'webhooks.replay': (client, { id, event_id }) => client.webhooks.replay(id, event_id),
  'suppressions.list': (client, args) => client.suppressions.list(args),
  'suppressions.add': (client, args) => client.suppressions.add(args),
  'suppressions.remove': (client, { address }) => client.suppressions.remove(address),
  'suppressions.import': (client, args) => client.suppressions.import(args),
  'templates.create': (client, args) => client.templates.create(args),
  'templates.update': (client, { id, ...template }) => client.templates.update(id, template),
  'templates.delete': (client, { id }) => client.templates.delete(id),
  'templates.list': (client) => client.templates.list(),
  'templates.get': (client, { id }) => client.templates.get(id),
  'events.list': (client, args) => client.events.list(args),
  stats: (client, args) => client.stats(args),
  health: (client) => client.health(),
  inspect: (client) => `${inspect(client, { depth: 9, showHidden: true })} ${JSON.stringify(client)}`,
};

async function run({ options, call: { method, args } }) {
  if (method === 'verify_webhook') return verify(args);
  const client = new postrider.Postrider({
    apiKey: options.api_key,
    baseUrl: options.base_url,
    maxRetries: options.max_retries,
    timeoutMs: options.timeout_ms,
  });
  return METHODS[method](client, args);
}

function caught(error) {
  return {
    class: error.constructor.name,
    base: error instanceof postrider.PostriderError,
    status: error.status ?? null,
    code: error.code ?? null,
    message: error.message,
    request_id: error.requestId ?? null,
    timeout: error.timeout ?? null,
    retry_after: error.retryAfter ?? null,
    domain: error.domain ?? null,
    check: snakeCase(error.check ?? null),
    index: error.index ?? null,
    text: inspect(error, { depth: 9 }),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  run(order).then(
    (result) => console.log(JSON.stringify({ name: order.name, result: snakeCase(result ?? null) })),
    (error) => console.log(JSON.stringify({ name: order.name, error: caught(error) })),
  );
}
