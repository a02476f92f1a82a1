// Resend's official Node SDK against a real sandbox: what an application does that sets RESEND_BASE_URL and its API key, and
// changes nothing else.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ParsedMail, simpleParser } from 'mailparser';
import { Resend } from 'resend';
import t from 'tap';
import { newDataDir, spawnSandbox } from '../../support/sandbox-process.ts';
import { until } from '../../support/until.ts';

const folder = newDataDir(t);
const config = path.join(folder, 'sandbox.toml');
writeFileSync(config, '[http]\nport = 0\n[smtp]\nport = 0\n[submission]\nport = 0\n');
const sandbox = spawnSandbox(t, path.join(folder, 'data'), '--json', '--config', config);
const told: Record<'url' | 'api_key' | 'domain' | 'captured_dir', string> = JSON.parse(await sandbox.ready());

process.env.RESEND_BASE_URL = `${told.url}/resend`;
process.env.RESEND_API_KEY = told.api_key;
const resend = new Resend();

const FROM = `Shop <shop@${told.domain}>`;

/** What a call of the SDK brought, which must not be a refusal. */
function good<Data>({ data, error }: { data: Data | null; error: unknown }): Data {
  if (data === null) throw new Error(`refused: ${JSON.stringify(error)}`);
  return data;
}

async function send(email: Partial<Parameters<Resend['emails']['send']>[0]> = {}, options = {}): Promise<string> {
  const whole = { from: FROM, to: 'jo@example.org', subject: 'Hello', text: 'Hi', ...email };
  return good(await resend.emails.send(whole as Parameters<Resend['emails']['send']>[0], options)).id;
}

async function captured(isIt: (mail: ParsedMail) => boolean): Promise<ParsedMail[]> {
  const files = readdirSync(told.captured_dir).filter((name) => name.endsWith('.eml'));
  const mails = await Promise.all(files.map((name) => simpleParser(readFileSync(path.join(told.captured_dir, name)))));
  return mails.filter(isIt);
}

/** As they were received. */
function receivedWith(subject: string, count: number): Promise<ParsedMail[]> {
  return until(`${count} mails with the subject ${subject}`, async () => {
    const mails = await captured((mail) => mail.subject === subject);
    return mails.length === count && mails;
  });
}

t.test('emails.send and emails.get', async (t) => {
  const file = Buffer.from([0, 1, 2, 254, 255]);
  const id = await send({
    ...{ to: ['a@example.org', 'b@example.org'], cc: 'c@example.org', bcc: 'd@example.org', replyTo: FROM },
    ...{ subject: 'The whole call', html: '<p>Hi <img src="cid:logo"></p>', headers: { 'X-Entity-Ref-ID': '7' } },
    tags: [{ name: 'kind', value: 'welcome' }],
    attachments: [
      { filename: 'buffer.bin', content: file },
      { filename: 'base64.bin', content: file.toString('base64') },
      { filename: 'logo.png', content: new Uint8Array(file), contentType: 'image/png', contentId: 'logo' },
    ],
  });
  t.match(id, /^[0-9a-f-]{36}$/);
  const mails = await receivedWith('The whole call', 4);
  for (const mail of mails) {
    t.match(mail, { to: { text: 'a@example.org, b@example.org' }, cc: { text: 'c@example.org' }, text: /Hi/ });
    t.match(mail.replyTo, { value: [{ name: 'Shop', address: `shop@${told.domain}` }] });
    t.equal(mail.headers.get('x-entity-ref-id'), '7');
    t.same(mail.attachments.map(({ filename }) => filename).toSorted(), ['base64.bin', 'buffer.bin', 'logo.png']);
    for (const attachment of mail.attachments) t.ok(attachment.content.equals(file), String(attachment.filename));
  }
  const email = await until('it is delivered', async () => {
    const found = good(await resend.emails.get(id));
    return found.last_event === 'delivered' && found;
  });
  t.match(email, {
    ...{ object: 'email', id, from: FROM, to: ['a@example.org', 'b@example.org'], cc: ['c@example.org'] },
    ...{ bcc: ['d@example.org'], reply_to: [FROM], subject: 'The whole call', text: 'Hi', scheduled_at: null },
    ...{ html: /cid:logo/, tags: [{ name: 'kind', value: 'welcome' }] },
  });
  t.ok(mails.some(({ messageId }) => messageId === email.message_id));
});

t.test('what becomes of an email', async (t) => {
  const id = await send({ to: 'bounce@example.org' });
  await until('it bounces', async () => good(await resend.emails.get(id)).last_event === 'bounced');
  const { data, error } = await resend.emails.get('018f0000-0000-7000-8000-000000000000');
  t.equal(data, null);
  t.match(error, { statusCode: 404, name: 'not_found', message: String });
});

t.test('idempotency keys', async (t) => {
  const id = await send({ subject: 'Once' }, { idempotencyKey: 'order-1' });
  t.equal(await send({ subject: 'Twice' }, { idempotencyKey: 'order-1' }), id);
});

t.test('batch.send', async (t) => {
  const email = { from: FROM, to: 'jo@example.org', subject: 'In a batch', text: 'Hi' };
  const { data } = good(await resend.batch.send([email, { ...email, to: ['a@example.org', 'b@example.org'] }]));
  t.equal(data.length, 2);
  await receivedWith('In a batch', 3);
  const strict = await resend.batch.send([email, { ...email, to: 'x' }]);
  t.match(strict, { data: null, error: { statusCode: 400, name: 'validation_error', message: /^Email 1 / } });
  const some = good(
    await resend.batch.send([email, { ...email, to: 'x' }], {
      batchValidation: 'permissive',
      idempotencyKey: 'batch-1',
    }),
  );
  t.match(some, { data: [{ id: String }], errors: [{ index: 1, message: /^to: / }] });
});

t.test('emails.update and emails.cancel', async (t) => {
  const HOUR_MS = 3_600_000;
  const isAbout = (time: string | null, hours: number) =>
    Math.abs(Date.parse(String(time)) - Date.now() - hours * HOUR_MS) < HOUR_MS / 2;
  const id = await send({ scheduledAt: 'in 1 hour' });
  const scheduled = good(await resend.emails.get(id));
  t.equal(scheduled.last_event, 'scheduled');
  t.ok(isAbout(scheduled.scheduled_at, 1));
  t.match(good(await resend.emails.update({ id, scheduledAt: 'in 1 day' })), { object: 'email', id });
  t.ok(isAbout(good(await resend.emails.get(id)).scheduled_at, 24));
  const moment = new Date(Date.now() + 2 * HOUR_MS).toISOString();
  t.match(good(await resend.emails.update({ id, scheduledAt: moment })), { id });
  t.equal(good(await resend.emails.get(id)).scheduled_at, moment);
  t.match(good(await resend.emails.cancel(id)), { object: 'email', id });
  t.equal(good(await resend.emails.get(id)).last_event, 'canceled');
  t.match(good(await resend.emails.cancel(id)), { id }, 'a repeated call says the same');
  t.match(await resend.emails.update({ id, scheduledAt: 'in 1 day' }), { data: null, error: { statusCode: 409 } });
  await send({ subject: 'At once', scheduledAt: 'in 0 min' });
  await receivedWith('At once', 1);
  t.match(await resend.emails.cancel('018f0000-0000-7000-8000-000000000000'), { error: { name: 'not_found' } });
});

t.test('emails.list', async (t) => {
  const id = await send({ subject: 'The newest' });
  const first = good(await resend.emails.list({ limit: 2 }));
  t.match(first, { object: 'list', has_more: true, data: [{ id, subject: 'The newest' }, { id: String }] });
  const second = good(await resend.emails.list({ limit: 100, after: first.data[1]!.id }));
  t.notOk(second.has_more);
  t.notOk(second.data.some((email) => first.data.some((other) => other.id === email.id)));
});

t.test('domains and apiKeys', async (t) => {
  const { data } = good(await resend.domains.list());
  const own = data.find(({ name }) => name === told.domain);
  t.match(own, { status: 'verified', created_at: String });
  t.match(good(await resend.domains.get(own!.id)), {
    object: 'domain',
    name: told.domain,
    records: [{ record: 'DKIM' }],
  });
  t.match(good(await resend.apiKeys.list()), { object: 'list', data: [{ id: String, name: String }] });
});

t.test('refusals are errors of the SDK', async (t) => {
  const email = { from: FROM, to: 'jo@example.org', subject: 'Hello', text: 'Hi' };
  const url = 'https://example.com/a.pdf';
  const refused = async (call: Promise<unknown>, statusCode: number, name: string) =>
    t.match(await call, { data: null, error: { statusCode, name, message: String } }, name);
  await refused(resend.emails.send({ ...email, from: 'a@example.com' }), 403, 'validation_error');
  await refused(resend.emails.send({ ...email, from: 'nobody' }), 422, 'invalid_from_address');
  await refused(
    resend.emails.send({ ...email, attachments: [{ filename: 'a', path: url }] }),
    422,
    'invalid_attachment',
  );
  await refused(resend.emails.send({ ...email, scheduledAt: 'tomorrow at 9am' }), 400, 'validation_error');
  await refused(new Resend('re_123').emails.send(email), 401, 'invalid_api_key');
  await refused(resend.contacts.list(), 404, 'not_found');
  await refused(resend.domains.create({ name: 'new.test' }), 404, 'not_found');
});
