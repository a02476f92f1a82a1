// What templates make of little data is charged and limited as a body of that size would be.
import t, { type Test } from 'tap';
import { BodyBudget } from '../../src/api/body/body-budget.ts';
import { type ApiHarnessOptions, startApiHarness } from '../support/api-harness.ts';

const PIECE = 64 * 1024;
const MIB = 1024 * 1024;

async function startSender(t: Test, options: ApiHarnessOptions = {}) {
  // No token comes back while the test runs.
  const api = await startApiHarness({ clock: { now: () => 1_790_000_000_000 }, ...options });
  t.teardown(() => api.close());
  const { id: tenantId, key } = await api.addTenant({ tier: '1k' });
  await api.addVerifiedDomain(tenantId, 'acme.test');
  const html = '{% for row in (1..rows) %}{{ text }}{% endfor %}';
  const template = await api.call('POST', '/templates', { key, body: { name: 'rows', html } });
  /** An email whose data has a thousandth of this size. */
  const ofSize = (bytes: number) => ({
    ...{ from: 'shop@acme.test', to: 'jo@example.com', subject: 'Hello', template_id: template.body.id },
    data: { rows: 1000, text: 'y'.repeat(Math.ceil(bytes / 1000)) },
  });
  let left = 999;
  const send = async (path: string, body: object) => {
    const answer = await api.call('POST', path, { key, body });
    const before = left;
    left = Number(answer.headers.get('ratelimit-remaining'));
    return { ...answer, spent: before - left };
  };
  const queued = async () => (await api.store.queue.listQueue({ tenantId, limit: 1000 })).length;
  return { ofSize, send, queued };
}

t.test('a call is charged for each full 64 KiB that its template makes', async (t) => {
  const { ofSize, send } = await startSender(t);
  t.equal((await send('/emails', ofSize(PIECE - 1000))).spent, 1);
  t.equal((await send('/emails', ofSize(10 * PIECE))).spent, 11);
  const padded = { ...ofSize(2 * PIECE), data: { ...ofSize(2 * PIECE).data, unused: 'x'.repeat(3 * PIECE) } };
  t.equal((await send('/emails', padded)).spent, 4, 'or for its body, if that is larger');
});

t.test('at the Resend door, too', async (t) => {
  const { ofSize, send } = await startSender(t);
  const { template_id: id, data: variables, ...mail } = ofSize(10 * PIECE);
  const email = { ...mail, template: { id, variables } };
  t.equal((await send('/resend/emails', email)).spent, 11);
  t.equal((await send('/resend/emails/batch', [email, email])).spent, 21);
});

t.test('a batch is charged for its emails, or for what its templates make in all', async (t) => {
  const { ofSize, send } = await startSender(t);
  t.equal((await send('/emails/batch', { emails: Array(10).fill(ofSize(PIECE / 4)) })).spent, 10);
  t.equal((await send('/emails/batch', { emails: Array(4).fill(ofSize(5 * PIECE)) })).spent, 21);
});

t.test('a call that is let in is not refused for what it makes', async (t) => {
  const { ofSize, send } = await startSender(t, { firstTier: 3 });
  const large = await send('/emails', ofSize(10 * PIECE));
  t.equal(large.status, 202);
  t.equal(large.headers.get('ratelimit-remaining'), '0');
  const next = await send('/emails', ofSize(1000));
  t.match(next, { status: 429, body: { error: 'rate_limited' } }, 'the next one waits');
});

t.test('what the templates of a batch make in all is limited', async (t) => {
  const { ofSize, send, queued } = await startSender(t, { firstTier: 10_000 });
  const large = ofSize(MIB - 1000);
  const emails = [...Array(10).fill(large), large, ofSize(1000)];
  const problem =
    'template_id: the emails of a batch may render to at most 10 MiB in all. Send the rest in another batch.';
  const refused = await send('/emails/batch', { emails });
  t.match(refused, { status: 400, body: { error: 'validation_failed', message: problem, index: 10 } });
  t.equal(await queued(), 0);
  const { status, body } = await send('/emails/batch', { emails, on_error: 'skip' });
  t.equal(status, 202);
  t.match(body.results.slice(0, 10), Array(10).fill({ message_ids: [String] }));
  t.match(body.results[10], { error: 'validation_failed', message: problem });
  t.match(body.results[11], { message_ids: [String] }, 'a small one still fits');
  t.equal(await queued(), 11);
});

t.test('what templates make takes the room of large bodies until the call is answered', async (t) => {
  const bodyBudget = new BodyBudget({ bytesPerTenant: 4 * PIECE, bytes: 100 * MIB });
  const { ofSize, send, queued } = await startSender(t, { bodyBudget });
  t.equal((await send('/emails', ofSize(4 * PIECE))).status, 202);
  t.equal(bodyBudget.bytes, 0);
  const emails = Array(3).fill(ofSize(2 * PIECE));
  for (const body of [{ emails }, { emails, on_error: 'skip' }]) {
    const refused = await send('/emails/batch', body);
    t.match(refused, { status: 500, body: { error: 'internal_error', message: /^Too many large messages/ } });
    t.equal(refused.headers.get('retry-after'), '10');
    t.equal(bodyBudget.bytes, 0);
  }
  t.equal(await queued(), 1);
});
