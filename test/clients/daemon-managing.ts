// What an application does beside sending one message: later, many at once, searching and managing.
import { randomUUID } from 'node:crypto';
import { createTransport } from 'nodemailer';
import type { Test } from 'tap';
import type { Json, JsonObject } from '../../clients/conformance/case-format.ts';
import { until } from '../support/until.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { type Caller, MAIL, TIME, UUID } from './caller.ts';
import type { SandboxSite } from './sandbox-site.ts';

const HOUR_MS = 3_600_000;

export async function later(_t: Test, call: Caller): Promise<void> {
  const [first, second] = [Date.now() + HOUR_MS, Date.now() + 2 * HOUR_MS];
  const at = (unixMs: number) => ({ send_at_time: { unix_ms: unixMs, offset_minutes: 330 } });
  const sent = await call.gives({ message_ids: [UUID] }, 'emails.send', { ...MAIL, ...at(first) });
  const [id, messageId] = [sent.id as string, (sent.message_ids as string[])[0]!];
  const scheduled = { messages: [{ id: messageId, state: 'scheduled' }] };
  await call.gives({ send_at: new Date(first).toISOString(), ...scheduled }, 'submissions.get', { id });
  const moved = { id, send_at: new Date(second).toISOString() };
  await call.gives(moved, 'submissions.move', { id, ...at(second) });
  await call.gives(moved, 'submissions.move', { id, send_at: moved.send_at.replace('Z', '+00:00') });
  await call.gives({ ...moved, ...scheduled }, 'submissions.get', { id });

  await call.gives({ canceled: [messageId], too_late: [] }, 'submissions.cancel', { id });
  await call.gives({ canceled: [messageId], too_late: [] }, 'submissions.cancel', { id });
  const event = { type: 'email.canceled', data: { cancellation: { by: 'sender' } } };
  await call.gives({ state: 'canceled', events: [event] }, 'emails.get', { id: messageId });
  const over = { class: 'ValidationError', status: 409, code: 'not_scheduled' };
  await call.fails(over, { method: 'submissions.move', args: { id, ...at(second) } });
  const past = { class: 'ValidationError', status: 400, code: 'validation_failed', index: null };
  await call.fails(past, { method: 'emails.send', args: { ...MAIL, ...at(first - 2 * HOUR_MS) } });
}

export async function writtenMail(t: Test, call: Caller, { key, smtpPort }: SandboxSite): Promise<void> {
  const door = createTransport({ host: '127.0.0.1', port: smtpPort, auth: { user: 'any', pass: key } });
  const name = `order-${randomUUID()}@app.example`;
  const { response } = await door.sendMail({ ...MAIL, messageId: `<${name}>` });
  const id = /queued as ([0-9a-f-]{36})$/.exec(response)?.[1] ?? response;
  const written = { source: 'smtp', header_message_id: name };
  const { messages } = await call.gives({ id, ...written, messages: [{ id: UUID }] }, 'submissions.get', { id });
  const messageId = (messages as JsonObject[])[0]!.id!;
  await until('the written mail is delivered', async () => {
    const email = (await call.result('emails.get', { id: messageId })) as JsonObject;
    return email.state === 'delivered';
  });
  const events = [{ type: 'email.delivered', data: { header_message_id: name } }];
  await call.gives({ ...written, submission_id: id, events }, 'emails.get', { id: messageId });
  const { emails } = (await call.result('emails.list', { limit: 100 })) as { emails: JsonObject[] };
  t.equal(emails.find((email) => email.id === messageId)?.header_message_id, name);
}

export async function batches(t: Test, call: Caller): Promise<void> {
  const good = { id: UUID, message_ids: [UUID], rejected: [], replayed: false, error: null };
  const other = { ...MAIL, attachments: [{ filename: 'a.bin', content_bytes: 'AP8=' }], tags: { kind: 'batch' } };
  const args = { emails: [MAIL, other], idempotency_key: `batch ${randomUUID()}` };
  const { results } = await call.gives({ results: [good, good] }, 'emails.send_batch', args);
  const [{ id }] = results as [JsonObject];
  await call.gives({ results: [{ id: id!, replayed: true }, {}] }, 'emails.send_batch', args);

  const emails = [MAIL, { ...MAIL, subject: '' }];
  const refused = { class: 'ValidationError', status: 400, code: 'validation_failed', index: 1 };
  await call.fails(refused, { method: 'emails.send_batch', args: { emails } });
  const skipped = { id: null, error: 'validation_failed', message: '/^.*subject/' };
  const { results: some } = await call.gives({ results: [good, skipped] }, 'emails.send_batch', {
    emails,
    on_error: 'skip',
  });
  t.not((some as JsonObject[])[0]!.id, id, 'and is another submission');
}

export async function search(t: Test, call: Caller): Promise<void> {
  const value = randomUUID();
  const mail = { ...MAIL, tags: { search: value }, metadata: { order_id: '4711' } };
  await call.result('emails.send_batch', { emails: [mail, { ...mail, to: 'Ann <ann@example.org>' }] });
  const tag = `search:${value}`;
  const from = 'shop@hello.verified.test';
  const [ann, jo] = ['ann@example.org', 'jo@example.org'].map((to) => ({ id: UUID, from, to, tags: mail.tags }));
  const first = await call.gives({ emails: [ann!], has_more: true, complete: true }, 'emails.list', { tag, limit: 1 });
  t.ok(first.next, 'the first page says where the next one begins');
  const rest = { emails: [{ ...jo!, metadata: mail.metadata, created_at: TIME }], has_more: false, next: null };
  await call.gives(rest, 'emails.list', { tag, after: first.next! });
  const created = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString().replace('Z', '+00:00');
  const around = { created_after: created(-1), created_before: created(1) };
  await call.gives({ emails: [jo!] }, 'emails.list', { tag, to: jo!.to, from: 'hello.verified.test', ...around });
  await call.gives({ emails: [] }, 'emails.list', { tag, state: 'canceled' });
  const wrong = { class: 'ValidationError', status: 400, code: 'validation_failed' };
  await call.fails(wrong, { method: 'emails.list', args: { state: 'gone' } });
}

export async function suppressions(t: Test, call: Caller): Promise<void> {
  const address = `a+b${randomUUID()}@example.org`;
  const entry = { address, reason: 'unsubscribe', message_id: null, created_at: TIME };
  await call.gives(entry, 'suppressions.add', { address, reason: 'unsubscribe' });
  await call.gives(entry, 'suppressions.add', { address, reason: 'manual' });
  await call.gives({ suppressions: [entry], has_more: false, next: null }, 'suppressions.list', { address });
  const refused = { class: 'ValidationError', status: 422, code: 'all_recipients_suppressed' };
  await call.fails(refused, { method: 'emails.send', args: { ...MAIL, to: address } });
  t.equal(await call.result('suppressions.remove', { address }), null);
  const gone = { class: 'ValidationError', status: 404, code: 'suppression_not_found' };
  await call.fails(gone, { method: 'suppressions.remove', args: { address } });

  const list = { addresses: [address, 'nobody'], reason: 'complaint' };
  const imported = { added: 1, known: 0, refused: 1, refusals: [{ index: 1, line: null }] };
  await call.gives(imported, 'suppressions.import', list);
  const csv = `address,reason\n${address},manual\nnobody,manual\n`;
  const again = { added: 0, known: 1, refused: 1, refusals: [{ index: null, line: 3 }] };
  await call.gives(again, 'suppressions.import', { csv });
  const found = { suppressions: [{ address, reason: 'complaint' }], has_more: false };
  await call.gives(found, 'suppressions.list', { reason: 'complaint', after: 'a+a@example.org', limit: 1000, address });
  t.equal(await call.result('suppressions.remove', { address }), null);
}

export async function managedWebhooks(t: Test, call: Caller): Promise<void> {
  const { url, received } = await startEndpoint(t);
  const made = await call.gives({ events: ['complaint'] }, 'webhooks.create', { url, events: ['complaint'] });
  const id = made.id as string;
  const some = { description: 'Some', events: ['email.delivered'] };
  await call.gives({ id, url, ...some }, 'webhooks.update', { id, ...some });
  await call.gives({ id, url, description: 'Some', events: null }, 'webhooks.update', { id, events: [] });
  const rotated = await call.gives({ id, secret: '/^.{44}$/', previous_until: TIME }, 'webhooks.rotate', { id });
  t.not(rotated.secret, made.secret, 'there is a new secret');

  const tested = await call.gives({ accepted: true, status: 204, answer: '' }, 'webhooks.test', { id });
  t.type(tested.elapsed_ms, 'number');
  // Mail of earlier parts may have been delivered in the meantime.
  const { headersAsSent: headers, text } = received.find(({ body }) => body.type === 'test')!;
  const event = JSON.parse(text) as Json;
  for (const { secret } of [made, rotated]) {
    const given = { headers, secret: secret!, payload: text };
    await call.gives({ ...(event as JsonObject), type: 'test' }, 'verify_webhook', given);
  }

  await call.result('emails.send', MAIL);
  const page = await until('an event is delivered', async () => {
    const args = { id, state: 'delivered', limit: 1 };
    const page = (await call.result('webhooks.deliveries', args)) as { deliveries: JsonObject[] };
    return page.deliveries.length === 1 ? page : null;
  });
  const delivered = { attempts: 1, finished_at: TIME, next_attempt_at: null, last_attempt: { number: 1, status: 204 } };
  t.match(page, { deliveries: [{ type: 'email.delivered', ...delivered, finished_at: /^\d{4}-/ }] });
  const eventId = page.deliveries[0]!.event_id as string;
  await call.gives({ webhook_id: id, event_id: eventId, state: 'due' }, 'webhooks.replay', { id, event_id: eventId });
  await until('the event comes again', () => received.filter(({ body }) => body.id === eventId).length >= 2);
  const unknown = { class: 'ValidationError', status: 404, code: 'event_not_found' };
  await call.fails(unknown, { method: 'webhooks.replay', args: { id, event_id: randomUUID() } });
  t.equal(await call.result('webhooks.delete', { id }), null);
}

export async function figures(t: Test, call: Caller): Promise<void> {
  const value = randomUUID();
  const sent = await call.result('emails.send', { ...MAIL, tags: { figures: value } });
  t.ok(sent);
  const tag = `figures:${value}`;
  const counted = await until('it is counted', async () => {
    const stats = (await call.result('stats', { tag })) as { total: JsonObject };
    return stats.total.accepted === 1 && stats.total.delivered === 1 ? stats : null;
  });
  const figures = { accepted: 1, delivered: 1, bounced_hard: 0, canceled: 0, opened_by_machine: 0 };
  t.match(counted, { by: 'day', tag, complete: true, total: figures });
  const from = new Date(Date.now() - 2 * HOUR_MS).toISOString();
  const to = new Date(Date.now() + HOUR_MS).toISOString();
  const span = { from: TIME, to: TIME, by: 'hour', tag: null, complete: null };
  const { steps, total } = await call.gives(span, 'stats', { from, to, by: 'hour' });
  const names = (figures: JsonObject) => Object.keys(figures).filter((name) => typeof figures[name] === 'number');
  t.equal(names(total as JsonObject).length, 13, 'all figures are there');
  for (const step of steps as JsonObject[]) t.same(names(step).sort(), names(total as JsonObject).sort());
  t.match((steps as JsonObject[])[0], { start: /^\d{4}-/ });
}
