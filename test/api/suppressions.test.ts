// The suppression list over the API: spellings, pages, what a key may, what the audit log keeps.
import t, { type Test } from 'tap';
import { SCOPES } from '../../src/store/tenants.ts';
import { startApiHarness } from '../support/api-harness.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';

/** Called before the next look at an entry. */
let beforeLook = async () => {};
const api = await startApiHarness({
  wrapStore: (real) =>
    wrapVerbs(real, (name, verb) => async (...args) => {
      if (name === 'suppressions.getSuppression') await beforeLook();
      return verb(...args);
    }),
});
t.teardown(() => api.close());

function list(key: string, query = '') {
  return api.call('GET', `/suppressions${query}`, { key });
}

function add(key: string, body: object) {
  return api.call('POST', '/suppressions', { key, body });
}

function remove(key: string, address: string) {
  return api.call('DELETE', `/suppressions/${encodeURIComponent(address)}`, { key });
}

function refusedAs(t: Test, answer: { status: number; body: { error: string; message: string } }, message: RegExp) {
  t.match(answer, { status: 400, body: { error: 'validation_failed', message } });
}

t.test('one entry for all spellings of an address', async (t) => {
  const { key } = await api.addTenant();
  const spellings: [given: string, stored: string][] = [
    ['Jo.Novak@Example.ORG', 'jo.novak@example.org'],
    ['"jo"@example.org', 'jo@example.org'],
    [' sam@bücher.example ', 'sam@xn--bcher-kva.example'],
    ['JÖ@example.org', 'jö@example.org'],
    ['a/b%c?d@example.org', 'a/b%c?d@example.org'],
  ];
  for (const [given, stored] of spellings) {
    const { status, body } = await add(key, { address: given });
    t.match({ status, ...body }, { status: 201, address: stored, reason: 'manual', message_id: null }, given);
    t.same((await add(key, { address: stored, reason: 'complaint' })).body, body, 'a second call changes nothing');
    const found = await list(key, `?address=${encodeURIComponent(given)}`);
    t.same(found.body, { suppressions: [body], has_more: false, next: null });
    t.equal((await remove(key, given)).status, 204);
    t.same((await list(key)).body.suppressions, []);
  }
});

t.test('every reason may be given', async (t) => {
  const { key } = await api.addTenant();
  for (const reason of ['hard_bounce', 'complaint', 'unsubscribe', 'manual']) {
    t.match(await add(key, { address: `${reason}@example.org`, reason }), { status: 201, body: { reason } });
  }
  t.match(await add(key, { address: 'null@example.org', reason: null }), { status: 201, body: { reason: 'manual' } });
});

t.test('what is refused', async (t) => {
  const { key } = await api.addTenant();
  refusedAs(t, await add(key, {}), /^address: this field is required/);
  refusedAs(t, await add(key, { address: 'Jo <jo@example.org>' }), /^address: /);
  refusedAs(t, await add(key, { address: `${'x'.repeat(65)}@example.org` }), /^address: /);
  refusedAs(t, await add(key, { address: 'jo@example.org\r\nBcc: x@y.test' }), /^address: /);
  refusedAs(t, await add(key, { address: 'half\ud800@example.org' }), /^address: /);
  refusedAs(
    t,
    await add(key, { address: 'jo@example.org', reason: 'gone' }),
    /^reason: must be one of hard_bounce, complaint/,
  );
  refusedAs(t, await list(key, '?reason=gone'), /^reason: must be one of hard_bounce, complaint/);
  refusedAs(t, await list(key, '?search=x'), /^search: unknown parameter/);
  refusedAs(t, await list(key, '?limit=1001'), /^limit: must be an integer from 1 to 1000/);
  refusedAs(t, await list(key, '?after=a&after=b'), /^after: must be given only once/);
  refusedAs(t, await remove(key, 'nobody'), /^address: the address has no @/);
  t.match(await remove(key, 'jo@example.org'), { status: 404, body: { error: 'suppression_not_found' } });
});

t.test('pages, alone and with a filter', async (t) => {
  const [{ key }, other] = [await api.addTenant(), await api.addTenant()];
  await add(other.key, { address: 'b0@example.org' });
  for (const at of [1, 2, 3, 4, 5]) {
    await add(key, { address: `b${at}@example.org`, reason: at % 2 ? 'unsubscribe' : 'manual' });
  }
  const seen: string[] = [];
  for (let query = '?limit=2'; ; ) {
    const { suppressions, has_more, next } = (await list(key, query)).body;
    seen.push(...suppressions.map(({ address }: { address: string }) => address[1]));
    t.equal(has_more, next !== null);
    if (!has_more) break;
    query = `?limit=2&after=${encodeURIComponent(next)}`;
  }
  t.same(seen, ['1', '2', '3', '4', '5']);
  const filtered = (await list(key, '?reason=unsubscribe&after=b1%40example.org&limit=&address=')).body;
  t.match(filtered.suppressions, [{ address: 'b3@example.org' }, { address: 'b5@example.org' }]);
  t.equal(filtered.suppressions.length, 2);
  t.same((await list(key, '?address=b1%40example.org&reason=manual')).body.suppressions, []);
  t.same((await list(key, '?address=b1%40example.org&after=b1%40example.org')).body.suppressions, []);
});

t.test('a plus that was not encoded is refused, and told how to write', async (t) => {
  const { key } = await api.addTenant();
  // In lower case it has three octets for each letter, and with them more than the 64 that may be added.
  const grown = `${'\u023a'.repeat(32)}@example.org`;
  const listed = ['jo+1@example.org', 'jo+2@example.org', '"jo x"@example.org', grown];
  for (const address of listed) t.equal((await add(key, { address })).status, 201);
  let query = '?limit=1';
  for (let seen = 1; seen <= listed.length; seen++) {
    const { next } = (await list(key, query)).body;
    t.equal(next === null, seen === listed.length);
    query = `?limit=1&after=${encodeURIComponent(next)}`;
  }
  refusedAs(t, await list(key, '?after=jo+1@example.org'), /^after: must be the `next` of an earlier page. .*%2B/);
  const places = (await list(key, '?after=jo')).body.suppressions.length;
  t.ok(places > 0, 'any other place will do');
  refusedAs(t, await list(key, '?address=jo+1@example.org'), /^address: .*only allowed inside quotes. .*%2B/);
  refusedAs(t, await remove(key, 'jo 1@example.org'), /^address: .*only allowed inside quotes.$/);
});

t.test('an entry that is removed while it is added again', async (t) => {
  const { id, key } = await api.addTenant();
  await add(key, { address: 'jo@example.org', reason: 'complaint' });
  beforeLook = async () => {
    beforeLook = async () => {};
    await api.store.suppressions.removeSuppression(id, 'jo@example.org', Date.now());
  };
  t.match(await add(key, { address: 'jo@example.org' }), { status: 201, body: { reason: 'manual' } });
});

t.test('an address of the service-wide list can not be removed, and the refusal says what to do', async (t) => {
  const { key } = await api.addTenant();
  const listed = {
    mxGroup: 'mx.example.org',
    rule: 'test',
    messageId: null,
    createdAt: 0,
    expiresAt: Date.now() + 60_000,
  };
  await api.store.suppressions.addPlatformSuppression({ address: 'gone@example.org', ...listed });
  const refused = await remove(key, 'Gone@example.org');
  t.match(refused, { status: 404, body: { error: 'suppression_not_found' } });
  const words = /^gone@example.org is not on your suppression list. It is on the service-wide list .* operator.$/;
  t.match(refused.body.message, words);
  t.match((await remove(key, 'jo@example.org')).body.message, /^jo@example.org is not on your suppression list.$/);
});

t.test("another tenant's entry is not there", async (t) => {
  const [owner, stranger] = [await api.addTenant(), await api.addTenant()];
  await add(owner.key, { address: 'jo@example.org' });
  t.equal((await remove(stranger.key, 'jo@example.org')).status, 404);
  t.same((await list(stranger.key, '?address=jo%40example.org')).body.suppressions, []);
  t.equal((await list(owner.key)).body.suppressions.length, 1);
});

t.test('writing needs suppressions:write, reading any key, bound or not', async (t) => {
  const tenant = await api.addTenant();
  const others = SCOPES.filter((scope) => scope !== 'suppressions:write');
  for (const bound of [undefined, 'bound.test']) {
    const writer = await api.addKey(tenant.id, ['suppressions:write'], bound);
    const reader = await api.addKey(tenant.id, others, bound);
    t.equal((await add(writer, { address: 'jo@example.org' })).status, 201);
    t.equal((await add(reader, { address: 'sam@example.org' })).body.error, 'scope_required');
    t.equal((await remove(reader, 'jo@example.org')).body.error, 'scope_required');
    t.equal((await list(reader)).body.suppressions.length, 1);
    t.equal((await remove(writer, 'jo@example.org')).status, 204);
  }
});

t.test('the audit log has what was changed, and only that', async (t) => {
  const { id, key } = await api.addTenant();
  for (const reason of ['unsubscribe', 'manual']) await add(key, { address: 'Jo@example.org', reason });
  for (let time = 0; time < 2; time++) await remove(key, 'Jo@example.org');
  const entries = await api.store.audit.listAudit(id, { before: null, limit: 10 });
  const told = entries
    .filter(({ action }) => action.startsWith('suppression.'))
    .map(({ action, data }) => [action, data]);
  t.same(told.toReversed(), [
    ['suppression.added', { address: 'jo@example.org', reason: 'unsubscribe' }],
    ['suppression.removed', { address: 'jo@example.org' }],
  ]);
});
