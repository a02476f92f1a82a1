// Idempotency-Key from outside: replays, calls at once, refusals in between, two tenants.
import t from 'tap';
import { InDoubt, Unavailable } from '../../src/base/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { startApiHarness } from '../support/api-harness.ts';

/** While set, a call that has come as far as its domain's look-up waits there. */
let held: { arrived(): void; released: Promise<void> } | null = null;

/** The store's answer to what it has accepted gets lost. */
let isLost = false;
/** And so does what it is asked. */
let isAway = false;

function holdable(store: Store): Store {
  const findVerifiedDomain: Store['domains']['findVerifiedDomain'] = async (...args) => {
    if (isAway) throw new Unavailable('the database could not be used');
    held?.arrived();
    await held?.released;
    return store.domains.findVerifiedDomain(...args);
  };
  const accept: Store['submissions']['accept'] = async (...args) => {
    const accepted = await store.submissions.accept(...args);
    if (isLost) throw new InDoubt('the database could not be used');
    return accepted;
  };
  const submissions = { ...store.submissions, accept };
  return { ...store, domains: { ...store.domains, findVerifiedDomain }, submissions };
}

const api = await startApiHarness({ wrapStore: holdable });
t.teardown(() => api.close());
const tenant = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');
const MAIL = { from: 'shop@acme.test', to: ['a@example.com', 'b@example.com'], subject: 'Hello', text: 'Hi' };

function send(idempotencyKey: string, body: unknown = MAIL, key = tenant.key) {
  return api.call('POST', '/emails', { key, body, headers: { 'Idempotency-Key': idempotencyKey } });
}

async function queuedFor(tenantId: string): Promise<number> {
  return (await api.store.queue.listQueue({ tenantId, limit: 1000 })).length;
}

t.test('200 calls at once are one submission and 199 replays', async (t) => {
  const before = await queuedFor(tenant.id);
  const answers = await Promise.all(Array.from({ length: 200 }, () => send('at once')));
  t.ok(answers.every(({ status }) => status === 202));
  t.equal(answers.filter(({ body }) => body.replayed === false).length, 1);
  const [first, ...others] = answers.map(({ body: { replayed, ...rest } }) => JSON.stringify(rest));
  t.ok(
    others.every((other) => other === first),
    'all have the same ids',
  );
  t.equal(await queuedFor(tenant.id), before + 2);
});

t.test('a replay answers with the first ids and ignores its body, whatever it is', async (t) => {
  const first = await send('once');
  const bodies = [MAIL, { from: 'a@elsewhere.test' }, '{ no json', Buffer.from([0xff]), '[]', ''];
  for (const body of bodies) {
    const { status, body: answer } = await send('once', body);
    t.equal(status, 202);
    t.same(answer, { ...first.body, replayed: true });
  }
});

t.test('a replay still needs what comes before it in the order of checks', async (t) => {
  await send('guarded');
  const headers = { 'Idempotency-Key': 'guarded' };
  const noScope = await api.addKey(tenant.id, ['domains:write']);
  t.equal((await api.call('POST', '/emails', { key: noScope, body: MAIL, headers })).status, 403);
  const wrongType = { ...headers, 'Content-Type': 'text/plain' };
  t.equal((await api.call('POST', '/emails', { key: tenant.key, body: MAIL, headers: wrongType })).status, 415);
  const tooLarge = Buffer.alloc(5 * 1024 * 1024 + 1, ' ');
  t.equal((await send('guarded', tooLarge)).status, 413);
  const bound = await api.addKey(tenant.id, ['emails:send'], 'other.test');
  t.equal((await send('guarded', MAIL, bound)).body.replayed, true, 'while the domain comes after');
});

t.test('a refused call is not remembered', async (t) => {
  t.equal((await send('second try', { ...MAIL, subject: '' })).status, 400);
  t.equal((await send('second try', { ...MAIL, from: 'a@elsewhere.test' })).status, 422);
  t.match((await send('second try')).body, { replayed: false });
});

t.test('a call that may have been queued says so; one with a key finds out', async (t) => {
  isLost = true;
  t.teardown(() => (isLost = false));
  const lost = await api.call('POST', '/emails', { key: tenant.key, body: MAIL });
  t.match(lost, {
    status: 500,
    body: { error: 'internal_error', message: /^It is not known whether this was queued/ },
  });
  t.equal(lost.headers.get('retry-after'), '10');
  t.match(await send('in doubt'), { status: 202, body: { replayed: true } });
});

t.test('a call that meets no database says that nothing was queued', async (t) => {
  isAway = true;
  t.teardown(() => (isAway = false));
  const refused = await api.call('POST', '/emails', { key: tenant.key, body: MAIL });
  t.match(refused, { status: 500, body: { error: 'internal_error', message: /Nothing was queued; retry later/ } });
  t.equal(refused.headers.get('retry-after'), '10');
});

t.test('who comes while a call is worked on waits for it, whatever it brings', async (t) => {
  const release = Promise.withResolvers<void>();
  const arrival = Promise.withResolvers<void>();
  held = { arrived: arrival.resolve, released: release.promise };
  const first = send('held');
  await arrival.promise;
  const others = ['{ no json', { ...MAIL, from: 'a@elsewhere.test' }, MAIL].map((body) => send('held', body));
  const elsewhere = await send('another key', { ...MAIL, subject: '' });
  t.equal(elsewhere.status, 400, 'another key does not wait');
  held = null;
  release.resolve();
  const { body } = await first;
  t.equal(body.replayed, false);
  for (const other of await Promise.all(others)) t.same(other.body, { ...body, replayed: true });
});

t.test('of calls at once, those that are refused let the next one in line through', async (t) => {
  const wrong = { ...MAIL, from: 'a@elsewhere.test' };
  const answers = await Promise.all([wrong, wrong, wrong, MAIL, MAIL, wrong].map((body) => send('mixed', body)));
  const accepted = answers.filter(({ status }) => status === 202);
  t.equal(accepted.filter(({ body }) => !body.replayed).length, 1, 'one was worked on');
  t.equal(new Set(accepted.map(({ body }) => body.id)).size, 1);
  t.ok(answers[3]!.status === 202 && answers[4]!.status === 202);
  t.ok(answers.every(({ status }) => status === 202 || status === 422));
});

t.test("a rejected recipient is in the replay as well, and a tenant's key is its own", async (t) => {
  await api.store.suppressions.addSuppression(tenant.id, {
    address: 'b@example.com',
    reason: 'manual',
    messageId: null,
    createdAt: 0,
  });
  const first = await send('rejected');
  t.same(first.body.rejected, [{ to: 'b@example.com', reason: 'manual' }]);
  t.same((await send('rejected')).body, { ...first.body, replayed: true });
  const other = await api.addTenant();
  await api.addVerifiedDomain(other.id, 'other.test');
  const theirs = await send('rejected', { ...MAIL, from: 'x@other.test' }, other.key);
  t.equal(theirs.body.replayed, false);
  t.not(theirs.body.id, first.body.id);
});

t.test('the syntax of the header', async (t) => {
  t.equal((await send('k'.repeat(200))).status, 202);
  for (const key of ['', ' ', 'k'.repeat(201), 'schlüssel']) {
    const { status, body } = await send(key);
    t.match({ status, ...body }, { status: 400, error: 'validation_failed', message: /^Idempotency-Key: / }, key);
  }
});
