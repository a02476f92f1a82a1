// How mail is shown that was handed in by SMTP: with its source and the Message-ID that its application gave it. All answers
// are held to the API description.
import t from 'tap';
import type { TestTenant } from '../support/api-harness.ts';
import { startApiHarness } from '../support/api-harness.ts';

const api = await startApiHarness();
t.teardown(() => api.close());

const BODY = Buffer.from('Thank you!\r\n');
const NAME = 'order-4711@app.example';
const MAX_RECIPIENTS = 100;

interface WrittenMail {
  to: string[];
  tags?: Record<string, string>;
}

/** As the door does it. Returns the submission's ID and those of its messages. */
async function handIn(tenant: TestTenant, domainId: string, { to, tags }: WrittenMail) {
  const id = api.ids.next();
  const [apiKey] = await api.store.keys.listApiKeys(tenant.id);
  const acceptedAt = api.clock.now();
  const accepted = await api.store.submissions.accept({
    ...{ id, tenantId: tenant.id, apiKeyId: apiKey!.id, domainId, idempotencyKey: null },
    ...{ from: { address: 'app@acme.test', name: null }, subject: 'Your order', html: null, text: null, headers: [] },
    ...{ acceptedAt, expiresAt: acceptedAt + 3_600_000, labels: tags ? { tags, metadata: null } : null },
    written: {
      ...{ source: 'smtp', header: Buffer.from(`Message-ID: <${NAME}>\r\n`), messageId: NAME },
      ...{ pieces: 1, bytes: BODY.length, last: BODY, bodyHash: 'not looked at', eightBit: false },
    },
    recipients: to.map((address) => ({
      ...{ messageId: api.ids.next(), address, name: null, domain: 'example.com', suppressionKey: address },
    })),
  });
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  return { id, messageIds: accepted.receipt.messageIds };
}

async function setUp() {
  const tenant = await api.addTenant();
  const name = `d${api.ids.next()}.test`;
  const domainId = await api.addVerifiedDomain(tenant.id, name);
  const shown = async (path: string) => (await api.call('GET', path, { key: tenant.key })).body;
  return { tenant, domainId, name, shown };
}

t.test('a submission, its messages and the list say it, each in its place', async (t) => {
  const { tenant, domainId, shown } = await setUp();
  const { id, messageIds } = await handIn(tenant, domainId, { to: ['jo@example.com'], tags: { kind: 'order' } });
  const common = { source: 'smtp', header_message_id: NAME, tags: { kind: 'order' } };
  const { created_at, ...submission } = await shown(`/submissions/${id}`);
  t.match(created_at, /^20\d\d-.*Z$/);
  t.same(submission, {
    ...{ id, send_at: null, from: 'app@acme.test', subject: 'Your order', ...common, metadata: null },
    messages: [{ id: messageIds[0], to: 'jo@example.com', kind: 'to', state: 'queued' }],
    rejected: [],
  });
  t.match(await shown(`/emails/${messageIds[0]}`), { id: messageIds[0], ...common });
  const { emails } = await shown('/emails');
  const { source, ...ofList } = common;
  t.match(emails, [{ id: messageIds[0], ...ofList }]);
  t.notOk('source' in emails[0], 'as with events, a list has the Message-ID alone');
});

t.test('at the Resend door its Message-ID is the one that is in its header', async (t) => {
  const { tenant, domainId, shown } = await setUp();
  const { id, messageIds } = await handIn(tenant, domainId, { to: ['jo@example.com', 'ann@example.com'] });
  for (const one of [id, ...messageIds]) t.equal((await shown(`/resend/emails/${one}`)).message_id, `<${NAME}>`);
  t.match((await shown('/resend/emails')).data, [{ id, message_id: `<${NAME}>` }]);
});

t.test('mail over HTTP has neither', async (t) => {
  const { tenant, name, shown } = await setUp();
  const mail = { from: `a@${name}`, to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
  const { body } = await api.call('POST', '/emails', { key: tenant.key, body: mail });
  const [submission, email] = [await shown(`/submissions/${body.id}`), await shown(`/emails/${body.message_ids[0]}`)];
  const { emails } = await shown('/emails');
  const fields = ['id', 'created_at', 'send_at', 'from', 'subject', 'tags', 'metadata', 'messages', 'rejected'];
  t.same(Object.keys(submission), fields);
  for (const one of [email, emails[0]]) t.notOk('source' in one || 'header_message_id' in one);
});

t.test('as many recipients as the door takes', async (t) => {
  const { tenant, domainId, shown } = await setUp();
  const to = Array.from({ length: MAX_RECIPIENTS }, (_, index) => `a${index}@example.com`);
  const { id } = await handIn(tenant, domainId, { to });
  const { messages } = await shown(`/submissions/${id}`);
  t.same(
    messages.map((message: { to: string }) => message.to),
    to,
    'which its description allows',
  );
});

t.test('all but one of them may have been suppressed after their RCPT', async (t) => {
  const { tenant, domainId, shown } = await setUp();
  const to = Array.from({ length: MAX_RECIPIENTS }, (_, index) => `b${index}@example.com`);
  const entry = { reason: 'hard_bounce', messageId: null, createdAt: api.clock.now() } as const;
  for (const address of to.slice(1)) await api.store.suppressions.addSuppression(tenant.id, { ...entry, address });
  const { id, messageIds } = await handIn(tenant, domainId, { to });
  const { messages, rejected } = await shown(`/submissions/${id}`);
  t.match(messages, [{ id: messageIds[0], to: to[0] }]);
  t.same(
    rejected,
    to.slice(1).map((address) => ({ to: address, reason: 'hard_bounce' })),
    'which its description allows',
  );
});
