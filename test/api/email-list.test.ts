// GET /emails: what a search stops at, what it refuses, and what damaged labels do to it. The filters themselves are in the
// contract suite and in the conformance suite of the store.
import t from 'tap';
import { emailListEndpoints } from '../../src/api/endpoints/email-list-endpoints.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import type { MessageSearch } from '../../src/store/reads.ts';
import { startApiHarness } from '../support/api-harness.ts';
import { withDatabase } from '../support/database.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const tenant = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');
await api.addVerifiedDomain(tenant.id, 'second.test');

const MAIL = { from: 'Shop <shop@acme.test>', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };

async function send(change: Record<string, unknown> = {}): Promise<string[]> {
  const { status, body } = await api.call('POST', '/emails', { key: tenant.key, body: { ...MAIL, ...change } });
  if (status !== 202) throw new Error(`${status}: ${body.message}`);
  return body.message_ids;
}

function list(query = '', { key } = tenant) {
  return api.call('GET', `/emails${query}`, { key });
}

t.test('the last page says that it is the last, even when it is full', async (t) => {
  const other = await api.addTenant();
  await api.addVerifiedDomain(other.id, 'other.test');
  const body = { ...MAIL, from: 'a@other.test', to: ['1@x.test', '2@x.test', '3@x.test', '4@x.test'] };
  const sent = (await api.call('POST', '/emails', { key: other.key, body })).body.message_ids;
  const seen: string[] = [];
  for (let query = '?limit=2'; ; ) {
    const { emails, has_more, complete, next } = (await list(query, other)).body;
    t.equal(complete, true);
    t.equal(has_more, next !== null);
    seen.push(...emails.map(({ id }: { id: string }) => id));
    if (!has_more) break;
    query = `?limit=2&after=${next.toUpperCase()}`;
  }
  t.same(seen, sent.toReversed());
});

t.test('an entry has what GET /emails/{id} has, without events', async (t) => {
  const [plain] = await send();
  const [labelled] = await send({ tags: { kind: 'news' }, metadata: { order: '4711' } });
  const { emails } = (await list('?limit=2')).body;
  for (const [at, id] of [labelled, plain].entries()) {
    const { events, ...shown } = (await api.call('GET', `/emails/${id}`, { key: tenant.key })).body;
    t.same(Object.entries(emails[at]), Object.entries(shown), 'in the same order');
  }
  t.notOk('tags' in emails[1], 'a plain message has no tags');
});

t.test('senders and recipients, as addresses and domains', async (t) => {
  const [fromSecond] = await send({ from: 'shop@second.test', to: 'Ann+x@bücher.example' });
  const found = async (query: string) => (await list(query)).body.emails.map(({ id }: { id: string }) => id);
  t.same(await found('?from=second.test'), [fromSecond]);
  t.same(await found('?from=SHOP%40SECOND.test&to=ann%2Bx%40b%C3%BCcher.example'), [fromSecond]);
  t.same(await found('?to=xn--bcher-kva.example'), [fromSecond]);
  t.same(await found('?from=other%40second.test'), []);
});

t.test('a search for a tag passes over damaged labels', async (t) => {
  const [id] = await send({ tags: { run: 'damaged' } });
  const [good] = await send({ tags: { run: 'damaged' } });
  withDatabase(api.file, (db) => {
    const of = 'UPDATE submissions SET labels = ? WHERE id = (SELECT submission_id FROM messages WHERE id = ?)';
    t.equal(db.prepare(of).run('{"tags":', Buffer.from(id!.replaceAll('-', ''), 'hex')).changes, 1);
  });
  const { emails } = (await list('?tag=run:damaged')).body;
  t.match(emails, [{ id: good }]);
  t.equal(emails.length, 1);
  t.equal((await list('?limit=1')).status, 200);
});

t.test('what is refused', async (t) => {
  const cases: [query: string, message: RegExp][] = [
    ['state=scheduledd', /^state: must be one of scheduled, queued, sending/],
    ['limit=101', /^limit: must be an integer from 1 to 100\.$/],
    ['tag=campaign', /^tag: must be the name and value of a tag, like campaign:spring\.$/],
    ['tag=a:b%22', /^tag: /],
    [`tag=${'n'.repeat(65)}:v`, /^tag: /],
    [`tag=n:${'v'.repeat(257)}`, /^tag: /],
    ['to=no%20body', /^to: must be an email address, or a domain such as example\.com\.$/],
    ['from=%40', /^from: /],
    ['after=7', /^after: must be the `next` of an earlier page\.$/],
    ['created_after=tomorrow', /^created_after: must be an RFC 3339 time/],
    ['created_after=2026-11-20T09:00:00+01:00', /In a URL, write \+ as %2B\.$/],
    ['to=jo+news@example.com', /^to: .* In a URL, write \+ as %2B\.$/],
    ['created_after=2026-01-01&created_before=2026-01-01', /^created_after: must be before created_before\.$/],
    ['q=x', /^q: unknown parameter\.$/],
    ['to=a%40x.test&to=b%40x.test', /^to: must be given only once\.$/],
  ];
  for (const [query, message] of cases) {
    t.match(await list(`?${query}`), { status: 400, body: { error: 'validation_failed', message } }, query);
  }
  t.equal((await list(`?tag=${'n'.repeat(64)}:${'v'.repeat(256)}`)).status, 200, 'the longest tag');
  t.equal((await list('?created_after=0001-01-01&created_before=9999-12-31')).status, 200, 'the widest span');
});

const NEXT = '018f0000-0000-7000-8000-000000000000';

/** What a search is answered when the reading process answers so. */
async function answered(outcome: object, asked: MessageSearch[] = []) {
  const reads = {
    searchMessages: async (_tenant: string, search: MessageSearch) => {
      asked.push(search);
      return outcome;
    },
  };
  const [endpoint] = emailListEndpoints(reads as unknown as Parameters<typeof emailListEndpoints>[0]);
  const call = { tenant: { id: tenant.id }, query: () => new URLSearchParams() };
  return endpoint!.answer(call as Parameters<NonNullable<typeof endpoint>['answer']>[0]);
}

t.test('a search that had looked at enough says so, with the place to go on from', async (t) => {
  const asked: MessageSearch[] = [];
  const page = { messages: [], next: NEXT, scanned: 10_000, stoppedEarly: true };
  const answer = await answered({ kind: 'found', value: page }, asked);
  t.same(answer, { status: 200, body: { emails: [], has_more: true, complete: false, next: NEXT } });
  t.match(asked, [{ limit: 26, maxScanned: 10_000 }], 'it is bounded');
});

t.test('when too many lists are being read', async (t) => {
  const answer = await answered({ kind: 'refused', reason: 'Too many lists.' });
  t.ok(isRefusal(answer));
  t.match(answer, { refused: 'internal_error', message: 'Too many lists.', retryAfterSecs: 2 });
});
