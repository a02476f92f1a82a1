// Importing suppressions over the API: a list and CSV, limits, what it costs, and what the audit log keeps.
import t from 'tap';
import { startApiHarness } from '../support/api-harness.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';

/** The portion that fails; 0: none. */
let failingPortion = 0;
let portions = 0;
/** Stands still, so that nothing of a rate comes back meanwhile. */
const NOW = Date.parse('2026-11-20T09:00:00Z');
const api = await startApiHarness({
  clock: { now: () => NOW },
  wrapStore: (real) =>
    wrapVerbs(real, (name, verb) => async (...args) => {
      if (name === 'suppressions.importSuppressions' && ++portions === failingPortion) throw new Error('disk full');
      return verb(...args);
    }),
});
t.teardown(() => api.close());

const LIMIT = 10_000;
const many = (count: number) => Array.from({ length: count }, (_, at) => `a${at}@example.org`);

function load(key: string, body: object) {
  return api.call('POST', '/suppressions/import', { key, body });
}

async function reasonOf(tenantId: string, address: string) {
  return (await api.store.suppressions.getSuppression(tenantId, address))?.reason ?? null;
}

async function audited(tenantId: string) {
  const entries = await api.store.audit.listAudit(tenantId, { before: null, limit: 10 });
  return entries.filter(({ action }) => action === 'suppression.imported').map(({ data }) => data);
}

t.test('ten thousand addresses, in as many calls as that costs', async (t) => {
  const { id, key } = await api.addTenant({ tier: '1k' });
  const before = await api.call('GET', '/suppressions', { key });
  const { status, headers, body } = await load(key, { addresses: many(LIMIT) });
  t.match(
    { status, body },
    { status: 200, body: { added: LIMIT, known: 0, refused: 0, refusals: [], ignored_columns: [] } },
  );
  const spent = Number(before.headers.get('ratelimit-remaining')) - Number(headers.get('ratelimit-remaining'));
  t.equal(spent, 100);
  t.equal(await reasonOf(id, 'a9999@example.org'), 'manual');
  t.match((await load(key, { addresses: many(3) })).body, { added: 0, known: 3 });
  t.same(await audited(id), [
    { added: 0, known: 3, left_out: 0 },
    { added: LIMIT, known: 0, left_out: 0 },
  ]);
});

t.test('one more is refused, and nothing of it is added', async (t) => {
  const { id, key } = await api.addTenant();
  const long = `${'b'.repeat(50)}@${'d'.repeat(60)}.example`;
  const large = Array.from({ length: LIMIT }, (_, at) => `${at}${long}`);
  t.match((await load(key, { addresses: large })).body, { added: LIMIT }, 'a body of a megabyte');
  for (const addresses of [[...many(LIMIT), 'one@example.org'], many(3 * LIMIT)]) {
    t.match(await load(key, { addresses }), {
      status: 400,
      body: { error: 'validation_failed', message: /^addresses: must have at most 10000 entries/ },
    });
  }
  t.match(await load(key, { csv: `address\n${[...many(LIMIT), 'x'].join('\n')}` }), {
    status: 400,
    body: { message: 'csv: must have at most 10000 lines with addresses.' },
  });
  t.equal(await reasonOf(id, 'a0@example.org'), null);
  t.match((await load(key, { csv: many(LIMIT).join('\n') })).body, { added: LIMIT }, 'a plain list, exactly full');
});

t.test('what cannot be used is told of by its place, the first hundred of it', async (t) => {
  const { id, key } = await api.addTenant();
  const addresses = ['jo@example.org', '', ' Ann@Example.org ', 'x@', ...Array(150).fill('x'), 'sam@example.org'];
  const { body } = await load(key, { addresses, reason: 'complaint' });
  t.match(body, { added: 3, known: 0, refused: 152 });
  t.equal(body.refusals.length, 100);
  t.match(body.refusals.slice(0, 3), [{ index: 1, message: 'The address is empty.' }, { index: 3 }, { index: 4 }]);
  t.equal(await reasonOf(id, 'ann@example.org'), 'complaint');
  const csv =
    'email;reason;created_at\nkim@example.org;;2026-01-31T14:30:00Z\n\nlee@example.org;bored;\n"max\n"@x;;soon';
  t.match((await load(key, { csv, reason: 'unsubscribe' })).body, {
    ...{ added: 1, known: 0, refused: 2 },
    refusals: [{ line: 4, message: /^"bored" must be one of/ }, { line: 5 }],
  });
  t.match(await api.store.suppressions.getSuppression(id, 'kim@example.org'), {
    ...{ reason: 'unsubscribe', createdAt: Date.parse('2026-01-31T14:30:00Z') },
  });
});

t.test('an export of another service: its reasons, and which columns are ignored', async (t) => {
  const { id, key } = await api.addTenant();
  const csv = 'Recipient,SuppressionReason,Origin,CreatedAt\nz6@y.zz,SpamComplaint,Recipient,2024-01-01\n';
  t.same((await load(key, { csv })).body, {
    ...{ added: 1, known: 0, refused: 0, refusals: [], ignored_columns: ['Origin'] },
  });
  t.match(await api.store.suppressions.getSuppression(id, 'z6@y.zz'), {
    ...{ reason: 'complaint', createdAt: Date.UTC(2024, 0, 1) },
  });
});

t.test('what is refused as a whole', async (t) => {
  const { key } = await api.addTenant();
  const cases: [body: object, message: RegExp][] = [
    [{}, /^addresses: this field is required, unless there is csv\.$/],
    [{ addresses: null, csv: null }, /^addresses: this field is required/],
    [{ addresses: ['a@x.test'], csv: 'a@x.test' }, /^csv: give either addresses or csv, not both\.$/],
    [{ addresses: [] }, /^addresses: must have at least one entry\.$/],
    [{ addresses: ['a@x.test', 7] }, /^addresses\[1\]: must be a string, not a number\.$/],
    [{ csv: 'name\nJo' }, /^csv: line 1: there is no column "address"\.$/],
    [{ csv: 'address\na@x.test\n"b@x.test' }, /^csv: line 3: the quote opened here is never closed\.$/],
    [{ csv: 'a@x.test', reason: 'spam' }, /^reason: must be one of hard_bounce/],
    [{ adresses: ['a@x.test'] }, /^adresses: unknown field; did you mean addresses\?$/],
  ];
  for (const [body, message] of cases) {
    t.match(await load(key, body), { status: 400, body: { error: 'validation_failed', message } });
  }
});

t.test('one that fails in the middle is safe to repeat', async (t) => {
  const { id, key } = await api.addTenant();
  portions = 0;
  failingPortion = 2;
  t.equal((await load(key, { addresses: many(1000) })).status, 500);
  failingPortion = 0;
  t.equal(await reasonOf(id, 'a0@example.org'), 'manual', 'the first portion is there');
  t.match((await load(key, { addresses: many(1000) })).body, { added: 500, known: 500 });
});

t.test("it goes to one's own list alone", async (t) => {
  const [owner, stranger] = [await api.addTenant(), await api.addTenant()];
  await load(owner.key, { addresses: ['jo@example.org'] });
  t.equal(await reasonOf(stranger.id, 'jo@example.org'), null);
  const reader = await api.addKey(owner.id, ['emails:send']);
  t.equal((await load(reader, { addresses: ['jo@example.org'] })).body.error, 'scope_required');
});
