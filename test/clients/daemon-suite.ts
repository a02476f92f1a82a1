// The library against a real sandbox: what the scripted server of the conformance suite cannot
// know, because nobody wrote the answers down beforehand.
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { simpleParser } from 'mailparser';
import type { Test } from 'tap';
import type { CaughtError, Json, JsonObject } from '../../clients/conformance/case-format.ts';
import { closedUrl } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { Caller, MAIL, TIME, UUID } from './caller.ts';
import { batches, figures, later, managedWebhooks, search, suppressions, writtenMail } from './daemon-managing.ts';
import type { Installed, Language } from './language.ts';
import { Runners } from './runner-process.ts';
import type { SandboxSite } from './sandbox-site.ts';

export async function daemonSuite(t: Test, language: Language, installed: Installed, site: SandboxSite): Promise<void> {
  const runners = new Runners(installed.runner, { processes: language.processes && 2 });
  const caller = new Caller(t, runners, site);
  const before = { sending, letters, domains, templates, events, refusals, webhooks };
  const parts = { ...before, later, writtenMail, batches, search, suppressions, managedWebhooks, figures };
  for (const [name, part] of Object.entries(parts)) await t.test(name, (t) => part(t, caller.in(t), site));
  t.same(await runners.end(), [], 'the runner ends well');
}

async function sending(t: Test, call: Caller): Promise<void> {
  const mail = { ...MAIL, headers: { 'X-Order': '17' } };
  const sent = await call.gives({ id: UUID, message_ids: [UUID], rejected: [], replayed: false }, 'emails.send', mail);
  const [id] = sent.message_ids as string[];
  await until('the message is delivered', async () => {
    const email = (await call.result('emails.get', { id: id! })) as JsonObject;
    return email.state === 'delivered';
  });
  const delivered = { type: 'email.delivered', family: 'delivery', data: { delivery: { smtp_code: 250, attempt: 1 } } };
  const email = { id: id!, submission_id: sent.id!, to: 'jo@example.org', subject: 'Grüße 🎉', created_at: TIME };
  await call.gives({ ...email, events: [delivered] }, 'emails.get', { id: id! });

  const keyed = { ...MAIL, idempotency_key: `order ${randomUUID()}` };
  const first = await call.gives({ replayed: false }, 'emails.send', keyed);
  await call.gives({ id: first.id!, message_ids: first.message_ids!, replayed: true }, 'emails.send', keyed);
  const again = await call.gives({ replayed: false }, 'emails.send', MAIL);
  const once = await call.gives({ replayed: false }, 'emails.send', MAIL);
  t.not(again.id, once.id, 'two calls without a key of the caller are two messages');
  await call.gives({ status: 'ok' }, 'health');
}

/** All bytes that there are, twice, and one more: the last group of base64 is not whole. */
const BYTES = Buffer.from([...Array(513).keys()].map((index) => index % 256));
const ADDRESSES = { to: ['Ann <ann@example.org>'], cc: 'Bo <bo@example.org>', bcc: ['cy@example.org'] };

async function letters(t: Test, call: Caller, { capturedDir }: SandboxSite): Promise<void> {
  const labels = { tags: { order_kind: 'gift' }, metadata: { order_id: '4711', orderId: 'Ω <17>' } };
  const subject = `Letter ${randomUUID()}`;
  const sent = await call.gives({ message_ids: [UUID, UUID, UUID], rejected: [] }, 'emails.send', {
    ...{ ...MAIL, ...ADDRESSES, ...labels, subject, html: '<p><img src="cid:logo@shop"></p>' },
    reply_to: ['Billing <billing@example.com>'],
    attachments: [
      { filename: 'Grüße 注文.bin', content_bytes: BYTES.toString('base64') },
      { filename: 'logo.png', content: 'iVBORw0KGgo=', content_type: 'image/png', content_id: 'logo@shop' },
      { filename: 'empty.txt', content_bytes: '' },
    ],
    tracking: { opens: true, clicks: false },
  });
  const ids = sent.message_ids as string[];
  const message = (id: string, to: string, kind: string) => ({ id, to, kind, state: 'delivered' });
  await until('all messages are delivered', async () => {
    const { messages } = (await call.result('submissions.get', { id: sent.id! })) as { messages: JsonObject[] };
    return messages.every(({ state }) => state === 'delivered');
  });
  const submission = { id: sent.id!, created_at: TIME, send_at: null, from: 'shop@hello.verified.test', subject };
  await call.gives(
    {
      ...{ ...submission, ...labels, rejected: [] },
      messages: [
        message(ids[0]!, 'ann@example.org', 'to'),
        message(ids[1]!, 'bo@example.org', 'cc'),
        message(ids[2]!, 'cy@example.org', 'bcc'),
      ],
    },
    'submissions.get',
    { id: sent.id! },
  );
  await call.gives({ ...labels, events: [{ data: labels }] }, 'emails.get', { id: ids[2]! });
  const gone = { class: 'ValidationError', status: 404, code: 'submission_not_found' };
  await call.fails(gone, { method: 'submissions.get', args: { id: ids[0]! } });

  const mails = await Promise.all((await capturedOf(capturedDir, subject)).map((raw) => simpleParser(raw)));
  t.equal(mails.length, 3, 'there are three copies');
  for (const mail of mails) {
    t.match(mail, { to: { text: '"Ann" <ann@example.org>' }, cc: { text: '"Bo" <bo@example.org>' }, bcc: undefined });
    t.match(mail, { replyTo: { text: '"Billing" <billing@example.com>' } });
    t.match(mail.html, /data:image\/png;base64,iVBORw0KGgo=/, 'the image is in its place');
    t.match(mail.html, /<img [^>]*\/o\//, 'opens are tracked');
    const files = mail.attachments.map(({ filename, content }) => [filename, content.toString('base64')]);
    const expected = [
      ['Grüße 注文.bin', BYTES.toString('base64')],
      ['logo.png', 'iVBORw0KGgo='],
      ['empty.txt', ''],
    ];
    t.same(files.sort(), expected.sort(), 'with all attachments');
  }
}

async function capturedOf(folder: string, subject: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.eml'));
  const mails = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  return mails.filter((mail) => mail.includes(`Subject: ${subject}`));
}

async function domains(t: Test, call: Caller): Promise<void> {
  const name = `d${randomUUID()}.verified.test`;
  const created = await call.gives({ id: UUID, domain: name, state: 'pending' }, 'domains.create', { domain: name });
  const id = created.id as string;
  await call.gives({ id, dkim_selector: created.dkim_selector!, created_at: TIME }, 'domains.get', { id });
  const verified = { id, state: 'verified', verified_at: TIME };
  const { checks } = await call.gives(verified, 'domains.verify', { id });
  t.match(checks, [{ record: 'dkim', ok: true }]);
  const listed = (await call.result('domains.list')) as JsonObject[];
  t.ok(
    listed.some((domain) => domain.id === id && domain.state === 'verified'),
    'is in the list',
  );
  await call.gives({ id, state: 'revoked' }, 'domains.delete', { id });

  const other = await call.gives({ domain: 'nowhere.example' }, 'domains.create', {
    domain: 'nowhere.example',
    selector: 'mine',
  });
  const failed = { class: 'ValidationError', status: 422, code: 'verification_failed', domain: 'nowhere.example' };
  const check = { record: 'dkim', ok: false, name: 'mine._domainkey.nowhere.example' };
  await call.fails({ ...failed, check }, { method: 'domains.verify', args: { id: other.id! } });
}

async function templates(t: Test, call: Caller): Promise<void> {
  const welcome = { name: 'Welcome', html: '<p>Hello {{ name }}</p>', subject: 'Welcome, {{ name }}' };
  const made = await call.gives({ id: UUID, ...welcome, text: null, created_at: TIME }, 'templates.create', welcome);
  const id = made.id as string;
  await call.gives({ id, name: 'Welcome' }, 'templates.get', { id });
  const { text: _text, subject: _subject, ...mail } = MAIL;
  const filled = { ...mail, template_id: id, data: { name: 'Jo' } };
  const sent = await call.gives({ message_ids: [UUID] }, 'emails.send', filled);
  await call.gives({ subject: 'Welcome, Jo' }, 'submissions.get', { id: sent.id! });
  await call.gives({ id, html: null, text: 'Hi {{ name }}', subject: null }, 'templates.update', {
    id,
    name: 'W',
    text: 'Hi {{ name }}',
  });
  await call.gives({ message_ids: [UUID] }, 'emails.send', { ...filled, subject: MAIL.subject });
  const listed = (await call.result('templates.list')) as JsonObject[];
  t.ok(
    listed.some((template) => template.id === id),
    'is in the list',
  );
  t.equal(await call.result('templates.delete', { id }), null);
  const gone = { class: 'ValidationError', status: 404, code: 'template_not_found' };
  await call.fails(gone, { method: 'templates.get', args: { id } });
}

async function events(t: Test, call: Caller): Promise<void> {
  const page = await until('there are two events', async () => {
    const page = (await call.result('events.list', { limit: 2 })) as JsonObject;
    return (page.events as Json[]).length === 2 ? page : null;
  });
  const [first, second] = page.events as { id: string; timestamp: string; data: JsonObject }[];
  t.match(first!.timestamp, /^\d{4}-/);
  const next = await call.gives({ events: [{ id: second!.id }] }, 'events.list', { after: first!.id, limit: 1 });
  t.type(next.has_more, 'boolean');
  const unknown = { class: 'ValidationError', status: 400, code: 'validation_failed' };
  await call.fails(unknown, { method: 'events.list', args: { after: randomUUID() } });
}

async function refusals(t: Test, call: Caller, site: SandboxSite): Promise<void> {
  const send = (class_: string, fields: Partial<CaughtError>, more: { args?: JsonObject; options?: JsonObject }) =>
    call.fails({ class: class_, ...fields }, { method: 'emails.send', args: MAIL, ...more });
  const { message_ids } = (await call.result('emails.send', MAIL)) as { message_ids: string[] };
  t.ok(message_ids[0]);
  const invalid = await send(
    'AuthError',
    { status: 401, code: 'invalid_api_key' },
    { options: { api_key: 'pr_no_no' } },
  );
  t.ok(invalid?.request_id, 'an error has the id of its request');
  const keyForDomains = { options: { api_key: site.keyForDomains } };
  await send('ScopeError', { status: 403, code: 'scope_required' }, keyForDomains);
  const suspended = { options: { api_key: site.suspendedKey } };
  await send('TenantNotActiveError', { status: 403, code: 'tenant_not_active' }, suspended);
  await send('ValidationError', { status: 400, code: 'validation_failed' }, { args: { ...MAIL, subject: '' } });
  const stranger = { args: { ...MAIL, from: 'a@stranger.example' } };
  await send('ValidationError', { status: 422, code: 'domain_not_verified' }, stranger);
  const unknown = { class: 'ValidationError', status: 404, code: 'email_not_found' };
  await call.fails(unknown, { method: 'emails.get', args: { id: randomUUID() } });
  await call.fails({ ...unknown, status: 400, code: 'invalid_id' }, { method: 'domains.get', args: { id: 'a/../b' } });

  const slow = { api_key: site.slowKey, max_retries: 0 };
  await call.outcome('domains.list', {}, slow);
  const limited = { class: 'RateLimitError', status: 429, code: 'rate_limited' };
  const error = await call.fails(limited, { method: 'domains.list', options: slow });
  t.ok(Number(error?.retry_after) >= 1, 'a 429 says when to come again');
  const closed = { base_url: await closedUrl(), max_retries: 0 };
  await send('NetworkError', { status: null, timeout: false }, { options: closed });
}

async function webhooks(t: Test, call: Caller): Promise<void> {
  const { url, received } = await startEndpoint(t);
  const made = await call.gives({ id: UUID, url, description: 'Grüße' }, 'webhooks.create', {
    url,
    description: 'Grüße',
  });
  const [id, secret] = [made.id as string, made.secret as string];
  await call.gives({ id, url, created_at: TIME }, 'webhooks.get', { id });
  const listed = (await call.result('webhooks.list')) as JsonObject[];
  t.ok(
    listed.some((webhook) => webhook.id === id),
    'is in the list',
  );
  await call.result('emails.send', MAIL);
  const came = await until('a webhook comes', () => received.find(({ text }) => text.includes('Grüße')));
  const { headersAsSent: headers, text } = came;

  const event = JSON.parse(text) as Json;
  const given = { headers, secret };
  await call.gives(event, 'verify_webhook', { ...given, payload: text });
  await call.gives(event, 'verify_webhook', { ...given, payload_base64: Buffer.from(text).toString('base64') });
  await call.gives({ type: 'email.delivered' }, 'verify_webhook', {
    ...given,
    secret: `whsec_${secret}`,
    payload: text,
  });
  const forged = { class: 'WebhookVerificationError', code: 'no_matching_signature' };
  const verify = (args: JsonObject) => ({ method: 'verify_webhook', args: { ...given, ...args } });
  await call.fails(forged, verify({ payload: text.replace('jo@', 'joe@') }));
  await call.fails(forged, verify({ payload: text, secret: Buffer.alloc(32).toString('base64') }));
  t.equal(await call.result('webhooks.delete', { id }), null);
  const gone = { class: 'ValidationError', status: 404, code: 'webhook_not_found' };
  await call.fails(gone, { method: 'webhooks.get', args: { id } });
}
