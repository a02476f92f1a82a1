// The pages of GET /resend/emails have each email once, however the IDs of calls and of their messages are mixed.
import t from 'tap';
import { startApiHarness } from '../../support/api-harness.ts';

const api = await startApiHarness();
t.teardown(() => api.close());

/** Each with its ID and those of its messages. */
type Mixed = { id: string; messageIds: string[] }[];

/** A tenant who has sent them by SMTP, which gives a call its ID long before the messages have theirs. */
async function sender(emails: Mixed) {
  const tenant = await api.addTenant();
  const domainId = await api.addVerifiedDomain(tenant.id, `d${api.ids.next()}.test`);
  const [apiKey] = await api.store.keys.listApiKeys(tenant.id);
  const acceptedAt = api.clock.now();
  for (const { id, messageIds } of emails) {
    const accepted = await api.store.submissions.accept({
      ...{ id, tenantId: tenant.id, apiKeyId: apiKey!.id, domainId, idempotencyKey: null, labels: null },
      ...{ from: { address: 'app@acme.test', name: null }, subject: 'Hello', html: null, text: 'Hi', headers: [] },
      ...{ acceptedAt, expiresAt: acceptedAt + 3_600_000 },
      recipients: messageIds.map((messageId) => ({
        ...{
          messageId,
          address: 'jo@example.com',
          name: null,
          domain: 'example.com',
          suppressionKey: 'jo@example.com',
        },
      })),
    });
    t.equal(accepted.kind, 'accepted');
  }
  return tenant;
}

/** A cursor that goes round in circles has more. */
const MAX_PAGES = 10;

/** All pages, one after the other. */
async function walk(key: string, limit: number, after = ''): Promise<string[]> {
  const ids: string[] = [];
  for (let pages = 0, last = after; pages < MAX_PAGES; pages++) {
    const path = `/resend/emails?limit=${limit}${last && `&after=${last}`}`;
    const { data, has_more } = (await api.call('GET', path, { key })).body;
    ids.push(...data.map(({ id }: { id: string }) => id));
    if (!has_more) break;
    t.equal(data.length, limit, 'only the last page is not full');
    last = ids.at(-1)!;
  }
  return ids;
}

const take = (count: number) => Array.from({ length: count }, () => api.ids.next());

async function holds(emails: Mixed, expected: Mixed, what: string) {
  const { key } = await sender(emails);
  for (let limit = 1; limit <= emails.length + 1; limit++) {
    t.same(
      await walk(key, limit),
      expected.map(({ id }) => id),
      `${what}, in pages of ${limit}`,
    );
  }
}

t.test('a body that takes long: what is accepted meanwhile', async () => {
  const [slow, one, oneMessage, other, otherMessage, slowMessage, last, lastMessage] = take(8) as string[];
  const emails = [
    { id: one!, messageIds: [oneMessage!] },
    { id: other!, messageIds: [otherMessage!] },
    { id: slow!, messageIds: [slowMessage!] },
    { id: last!, messageIds: [lastMessage!] },
  ];
  await holds(emails, [...emails].reverse(), 'by the newest message');
});

t.test('two daemons in one millisecond: messages between those of others', async () => {
  const [a, b, c, m1, m2, m3, m4, m5, m6] = take(9) as string[];
  const outer = { id: a!, messageIds: [m1!, m6!] };
  const inner = { id: b!, messageIds: [m2!, m4!] };
  const crossed = { id: c!, messageIds: [m3!, m5!] };
  await holds([outer, inner, crossed], [outer, crossed, inner], 'each once');
});

t.test('more messages than one search finds, between those of others', async () => {
  const ids = take(2);
  const messages = take(400);
  const emails = ids.map((id, own) => ({ id, messageIds: messages.filter((_, index) => index % 2 === own) }));
  await holds(emails, [...emails].reverse(), 'each once');
});

t.test('after a message, as its own email', async (t) => {
  const [a, b, m1, m2] = take(4) as string[];
  const { key } = await sender([
    { id: a!, messageIds: [m1!] },
    { id: b!, messageIds: [m2!] },
  ]);
  t.same(await walk(key, 1, m2), [a]);
  t.same(await walk(key, 1, a), []);
});
