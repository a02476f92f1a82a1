// POST /emails/batch from outside: all or nothing, what is skipped, keys, limits and what it counts as.
import t from 'tap';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { startApiHarness } from '../support/api-harness.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const tenant = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');

const MAIL = { from: 'shop@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
const mail = (change: Record<string, unknown> = {}) => ({ ...MAIL, ...change });
const many = (count: number) => Array.from({ length: count }, (_, n) => mail({ subject: `Mail ${n}` }));

function post(body: unknown, headers: Record<string, string> = {}) {
  return api.call('POST', '/emails/batch', { key: tenant.key, body: body as object, headers });
}

async function waiting(): Promise<number> {
  return (await api.store.queue.listQueue({ tenantId: tenant.id, limit: 10_000 })).length;
}

t.test('a batch is answered in its order', async (t) => {
  const { status, body } = await post({ emails: [mail(), mail({ to: ['a@example.com', 'b@example.com'] })] });
  t.equal(status, 202);
  t.same(Object.keys(body), ['results']);
  t.match(body.results, [
    { message_ids: [String], rejected: [], replayed: false },
    { message_ids: [String, String], rejected: [], replayed: false },
  ]);
  const shown = await api.call('GET', `/submissions/${body.results[1].id}`, { key: tenant.key });
  t.same(
    shown.body.messages.map(({ id }: { id: string }) => id),
    body.results[1].message_ids,
  );
});

t.test('one fault refuses all, as a single call would, with its index', async (t) => {
  const before = await waiting();
  const faults: [emails: unknown[], refusal: object][] = [
    [[mail(), mail({ to: 'x' })], { status: 400, body: { error: 'validation_failed', message: /^to: /, index: 1 } }],
    [[mail({ subject: 7 })], { status: 400, body: { message: /^subject: /, index: 0 } }],
    [[mail(), mail(), mail({ sbject: 'x' })], { status: 400, body: { message: /^sbject: unknown field/, index: 2 } }],
    [[mail(), mail({ from: 'a@nobody.test' })], { status: 422, body: { error: 'domain_not_verified', index: 1 } }],
    [[mail(), 7], { status: 400, body: { message: 'emails[1]: must be an object, not a number.', index: 1 } }],
    [[], { status: 400, body: { message: 'emails: must have at least one entry.' } }],
    [many(101), { status: 400, body: { message: 'emails: must have at most 100 entries, not 101.' } }],
  ];
  for (const [emails, refusal] of faults) t.match(await post({ emails }), refusal);
  t.match(await post({}), { status: 400, body: { message: 'emails: this field is required.' } });
  t.match(await post({ emails: [mail()], on_error: 'stop' }), {
    ...{ status: 400, body: { message: 'on_error: must be one of skip.' } },
  });
  const entry = { address: 'gone@example.com', reason: 'manual', messageId: null, createdAt: 0 } as const;
  await api.store.suppressions.addSuppression(tenant.id, entry);
  const suppressed = await post({ emails: [mail(), mail({ to: 'gone@example.com' })] });
  t.match(suppressed, { status: 422, body: { error: 'all_recipients_suppressed', message: /\(manual\)/, index: 1 } });
  t.equal(await waiting(), before, 'nothing was queued');
});

t.test('what is good is accepted where faults are skipped', async (t) => {
  const emails = [mail({ to: 'x' }), mail(), mail({ to: 'gone@example.com' }), mail({ from: 'a@nobody.test' })];
  const { status, body } = await post({ emails, on_error: 'skip' });
  t.equal(status, 202);
  t.match(body.results, [
    { error: 'validation_failed', message: /^to: / },
    { message_ids: [String], replayed: false },
    { error: 'all_recipients_suppressed', message: /^to: every recipient is on your suppression list or / },
    { error: 'domain_not_verified' },
  ]);
});

t.test('what is not even an object is refused by itself, in small and large bodies', async (t) => {
  for (const text of ['Hi', 'x'.repeat(100_000)]) {
    const emails = [mail({ text }), null, 'oops', [mail()], true];
    const { status, body } = await post({ emails, on_error: 'skip' });
    t.equal(status, 202);
    t.match(body.results, [
      { message_ids: [String] },
      ...['null', 'a string', 'an array', 'a boolean'].map((kind, at) => ({
        ...{ error: 'validation_failed', message: `emails[${at + 1}]: must be an object, not ${kind}.` },
      })),
    ]);
    t.match(await post({ emails: [mail({ text }), null] }), { status: 400, body: { index: 1 } });
    const tooMany = await post({ emails: [mail({ text }), ...Array(100).fill(null)], on_error: 'skip' });
    t.match(tooMany, { status: 400, body: { message: 'emails: must have at most 100 entries, not 101.' } });
  }
});

t.test('a hundred emails and a thousand recipients are the limits', async (t) => {
  const people = (count: number) => Array.from({ length: count }, (_, n) => `u${n}@example.com`);
  t.equal((await post({ emails: many(100) })).body.results.length, 100);
  const thousand = Array.from({ length: 20 }, () => mail({ to: people(50) }));
  t.equal((await post({ emails: thousand })).status, 202);
  const tooMany = await post({ emails: [...thousand, mail()] });
  t.match(tooMany, { status: 400, body: { message: 'emails: must have at most 1000 recipients in all.' } });
});

t.test('a hundred emails may have data of any size', async (t) => {
  const template = { name: 'order', text: '{{ items | size }} items for {{ who }}' };
  const { body } = await api.call('POST', '/templates', { key: tenant.key, body: template });
  const items = Array.from({ length: 60 }, (_, n) => ({ name: `Item ${n}`, price: n }));
  const { text: _, ...untexted } = MAIL;
  const emails = Array.from({ length: 100 }, (_, n) => ({
    ...untexted,
    template_id: body.id,
    data: { items: items.slice(0, 60 - (n % 3)), who: `No. ${n}` },
  }));
  const answer = await post({ emails });
  t.equal(answer.status, 202, answer.body.message);
  const reader = openContentReader(api.file);
  t.teardown(() => reader.close());
  for (const n of [0, 1, 98]) {
    const read = await reader.read(answer.body.results[n].message_ids[0]);
    t.match(read, { kind: 'content', content: { text: `${60 - (n % 3)} items for No. ${n}` } });
  }
  const wrong = await post({ emails: [...emails.slice(1), { ...emails[0], data: [items] }] });
  t.match(wrong, { status: 400, body: { message: 'data: must be an object.', index: 99 } });
  const elsewhere = await post({ emails: [...emails, mail({ to: Array(25_000).fill('a@example.com') })] });
  const problem = 'The request body has 25607 values outside emails[].data; the limit is 25000.';
  t.match(elsewhere, { status: 400, body: { message: problem } });
});

t.test('trouble of the service is no result of an email', async (t) => {
  let isBusy = false;
  const busy = await startApiHarness({
    wrapRenderer: (renderer) => ({
      run: async (tenantId, job) => (isBusy ? { kind: 'overloaded' } : renderer.run(tenantId, job)),
    }),
  });
  t.teardown(() => busy.close());
  const { id, key } = await busy.addTenant();
  await busy.addVerifiedDomain(id, 'acme.test');
  const template = { name: 'order', subject: 'Order', text: 'for {{ who }}' };
  const { body } = await busy.call('POST', '/templates', { key, body: template });
  const templated = { from: MAIL.from, to: MAIL.to, template_id: body.id, data: { who: 'Jo' } };
  isBusy = true;
  const send = (emails: unknown[], on_error?: string) =>
    busy.call('POST', '/emails/batch', { key, body: { emails, on_error }, headers: { 'Idempotency-Key': 'k' } });
  for (const onError of [undefined, 'skip']) {
    const refused = await send([mail(), templated], onError);
    t.match(refused, { status: 500, body: { error: 'internal_error', message: /^Too many templates/ } }, `${onError}`);
    t.equal(refused.headers.get('retry-after'), '10');
  }
  t.same(await busy.store.queue.listQueue({ tenantId: id, limit: 10 }), [], 'nothing was queued');
  isBusy = false;
  const later = await send([mail(), templated], 'skip');
  t.match(
    later,
    { status: 202, body: { results: [{ replayed: false }, { replayed: false }] } },
    'the key is not used up',
  );
});

t.test('a hundred emails may each have all that one may have', async (t) => {
  const numbered = (count: number, make: (n: number) => [string, string]) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => make(n)));
  const email = {
    ...mail({ to: Array.from({ length: 10 }, (_, n) => `jo${n}@example.org`) }),
    headers: numbered(50, (n) => [`X-Shop-${n}`, `${n}`]),
    tags: Array.from({ length: 10 }, (_, n) => ({ name: `tag-${n}`, value: `${n}` })),
    metadata: numbered(20, (n) => [`key-${n}`, `${n}`]),
  };
  const answer = await post({ emails: Array(100).fill(email) });
  t.equal(answer.status, 202, answer.body.message);
});

t.test('a key covers the whole batch', async (t) => {
  const key = { 'Idempotency-Key': 'batch-1' };
  const emails = [mail(), mail({ to: 'x' })];
  t.equal((await post({ emails }, key)).status, 400, 'a refused batch uses up no key');
  const first = await post({ emails, on_error: 'skip' }, key);
  t.equal(first.status, 202);
  const before = await waiting();
  const again = await post({ emails: [] }, key);
  t.same(
    again.body.results,
    first.body.results.map((result: object) => ('id' in result ? { ...result, replayed: true } : result)),
  );
  t.equal(await waiting(), before);

  const single = await api.call('POST', '/emails', { key: tenant.key, body: mail(), headers: key });
  t.match(single, { status: 400, body: { error: 'validation_failed', message: /^Idempotency-Key: .*batch/ } });
  const ofSingle = { 'Idempotency-Key': 'single-1' };
  await api.call('POST', '/emails', { key: tenant.key, body: mail(), headers: ofSingle });
  t.match(await post({ emails: [mail()] }, ofSingle), {
    ...{ status: 400, body: { error: 'validation_failed', message: /^Idempotency-Key: .*single call/ } },
  });
  const both = { 'Idempotency-Key': 'at-once' };
  const answers = await Promise.all([1, 2, 3].map(() => post({ emails: many(2) }, both)));
  t.equal(new Set(answers.map(({ body }) => body.results[0].id)).size, 1, 'also when they come at once');
});

t.test('a batch counts as so many calls', async (t) => {
  // No token comes back while the test runs.
  const still = await startApiHarness({ clock: { now: () => 1_790_000_000_000 } });
  t.teardown(() => still.close());
  const other = await still.addTenant({ tier: '1k' });
  await still.addVerifiedDomain(other.id, 'counted.test');
  const batch = (emails: object[]) => still.call('POST', '/emails/batch', { key: other.key, body: { emails } });
  const left = ({ headers }: { headers: Headers }) => Number(headers.get('RateLimit-Remaining'));
  const emails = many(10).map((one) => ({ ...one, from: 'a@counted.test' }));
  const first = await batch(emails.slice(0, 1));
  const second = await batch(emails);
  t.equal(left(first) - left(second), 10);
  const large = { ...emails[0], text: 'x'.repeat(15 * 64 * 1024) };
  const third = await batch([...emails, large]);
  t.equal(left(second) - left(third), 16, 'or by its size, if that is more');
});
