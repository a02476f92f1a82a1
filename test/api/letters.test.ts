// POST /emails beyond the specification: copies, labels, tracking: what is accepted, what is refused, in which words.
// Attachments are in attachments.test.ts.
import t from 'tap';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import type { MessageContent } from '../../src/store/submissions.ts';
import { startApiHarness } from '../support/api-harness.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const tenant = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');

const MAIL = { from: 'shop@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
const people = (count: number, name = 'u') => Array.from({ length: count }, (_, n) => `${name}${n}@example.com`);

function send(change: Record<string, unknown> = {}) {
  return api.call('POST', '/emails', { key: tenant.key, body: { ...MAIL, ...change } });
}

async function stored(change: Record<string, unknown>): Promise<MessageContent[]> {
  const { status, body } = await send(change);
  if (status !== 202) throw new Error(`${status}: ${body.message}`);
  const reader = openContentReader(api.file);
  const results = await Promise.all((body.message_ids as string[]).map((id) => reader.read(id)));
  reader.close();
  return results.map((result) => {
    if (result.kind !== 'content') throw new Error(result.reason);
    return result.content;
  });
}

t.test('a call with cc or bcc is one letter, with a message for each recipient', async (t) => {
  const copies = await stored({
    to: ['Ann <ann@example.com>', 'two@example.com'],
    cc: 'Ç <c@example.com>',
    bcc: ['b@example.com'],
    reply_to: ['Desk <desk@other.test>', 'two@other.test'],
  });
  t.same(
    copies.map(({ to }) => to.address),
    ['ann@example.com', 'two@example.com', 'c@example.com', 'b@example.com'],
    'in the order to, cc, bcc',
  );
  for (const { lists } of copies) {
    t.same(lists, {
      letter: {
        to: [
          { name: 'Ann', address: 'ann@example.com' },
          { name: null, address: 'two@example.com' },
        ],
        cc: [{ name: 'Ç', address: 'c@example.com' }],
      },
      replyTo: [
        { name: 'Desk', address: 'desk@other.test' },
        { name: null, address: 'two@other.test' },
      ],
    });
  }
});

t.test('without them each message shows its own recipient only', async (t) => {
  for (const change of [{}, { cc: [] }, { bcc: [], cc: null }]) {
    const copies = await stored({ to: ['a@example.com', 'b@example.com'], ...change });
    t.same(
      copies.map(({ lists }) => lists),
      [null, null],
    );
  }
  const [answered] = await stored({ reply_to: 'desk@other.test' });
  t.same(answered!.lists, { letter: null, replyTo: [{ name: null, address: 'desk@other.test' }] });
});

t.test('an address counts where it first stands', async (t) => {
  const copies = await stored({
    to: ['a@example.com', 'A <a@EXAMPLE.com>'],
    cc: ['a@example.com', 'c@example.com'],
    bcc: ['c@example.com', 'a@example.com', 'b@example.com'],
  });
  t.same(
    copies.map(({ to }) => to.address),
    ['a@example.com', 'c@example.com', 'b@example.com'],
  );
  t.same(copies[0]!.lists!.letter, {
    to: [{ name: null, address: 'a@example.com' }],
    cc: [{ name: null, address: 'c@example.com' }],
  });
});

t.test('fifty entries in all three lists', async (t) => {
  const full = { to: people(20, 'to'), cc: people(20, 'cc'), bcc: people(10, 'bcc') };
  t.equal((await stored(full)).length, 50);
  t.equal((await stored({ ...full, to: people(20, 'cc') })).length, 30, 'counted before they are merged');
  const { status, body } = await send({ ...full, bcc: people(11, 'bcc') });
  t.match(
    { status, ...body },
    { status: 400, message: 'to: to, cc and bcc must have at most 50 entries in all, not 51.' },
  );
});

t.test('suppressed recipients are shown, and get nothing', async (t) => {
  const gone = { address: 'gone@example.com', reason: 'manual', messageId: null, createdAt: Date.now() } as const;
  await api.store.suppressions.addSuppression(tenant.id, gone);
  const [copy, ...others] = await stored({ to: ['gone@example.com', 'a@example.com'], cc: 'c@example.com' });
  t.equal(others.length, 1);
  t.equal(copy!.lists!.letter!.to[0]!.address, 'gone@example.com');
});

t.test('tags and metadata are shown with the message, and nothing where there are none', async (t) => {
  const shown = async (change: Record<string, unknown>) => {
    const { status, body } = await send(change);
    t.equal(status, 202, JSON.stringify(body));
    const { tags, metadata, ...rest } = (await api.call('GET', `/emails/${body.message_ids[0]}`, { key: tenant.key }))
      .body;
    t.same(Object.keys(rest), ['id', 'submission_id', 'state', 'from', 'to', 'subject', 'created_at', 'events']);
    return { tags, metadata };
  };
  t.same(await shown({}), { tags: undefined, metadata: undefined });
  t.same(await shown({ tags: {}, metadata: {} }), { tags: undefined, metadata: undefined });
  t.same(await shown({ tags: [{ name: 'a', value: 'x' }] }), { tags: { a: 'x' }, metadata: undefined });
  t.same(await shown({ metadata: { 'Ä 1': '😀' } }), { tags: undefined, metadata: { 'Ä 1': '😀' } });
  const both = { tags: { 'campaign_1-b': 'Z'.repeat(256), __proto__x: '1' }, metadata: { constructor: 'x' } };
  t.same(await shown(both), both);
});

t.test('a submission shows its messages', async (t) => {
  await api.store.suppressions.addSuppression(tenant.id, {
    ...{ address: 'no@example.com', reason: 'complaint', messageId: null, createdAt: Date.now() },
  });
  const { body: sent } = await send({
    to: ['a@example.com', 'no@example.com'],
    cc: 'C <c@example.com>',
    bcc: 'b@example.com',
    tags: { kind: 'x' },
  });
  const answer = await api.call('GET', `/submissions/${sent.id}`, { key: tenant.key });
  t.equal(answer.status, 200);
  const { created_at, ...rest } = answer.body;
  t.match(created_at, /^20\d\d-.*Z$/);
  t.same(rest, {
    ...{ id: sent.id, send_at: null, from: 'shop@acme.test', subject: 'Hello', tags: { kind: 'x' }, metadata: null },
    messages: [
      { id: sent.message_ids[0], to: 'a@example.com', kind: 'to', state: 'queued' },
      { id: sent.message_ids[1], to: 'c@example.com', kind: 'cc', state: 'queued' },
      { id: sent.message_ids[2], to: 'b@example.com', kind: 'bcc', state: 'queued' },
    ],
    rejected: [{ to: 'no@example.com', reason: 'complaint' }],
  });
  const asMessage = await api.call('GET', `/emails/${sent.id}`, { key: tenant.key });
  t.match(asMessage, { status: 404, body: { error: 'email_not_found', message: `use GET /submissions/${sent.id}` } });

  const stranger = await api.addTenant();
  const foreign = await api.call('GET', `/submissions/${sent.id}`, { key: stranger.key });
  t.match(foreign, { status: 404, body: { error: 'submission_not_found' } });
  const foreignMessage = await api.call('GET', `/emails/${sent.id}`, { key: stranger.key });
  t.match(foreignMessage.body.message, /^Message not found/, 'says nothing of what belongs to others');
});

t.test('a call may decide about tracking', async (t) => {
  const [tracked] = await stored({ tracking: { opens: true, clicks: null } });
  t.match(tracked, { openTracking: true, clickTracking: false });
});

t.test('what is wrong is named', async (t) => {
  const wrong: [change: Record<string, unknown>, message: string | RegExp][] = [
    [{ cc: 'no address' }, /^cc: /],
    [{ cc: ['a@example.com', 'x'] }, /^cc\[1\]: /],
    [{ bcc: 'a@example.com, b@example.com' }, /^bcc: must hold one address per entry/],
    [{ reply_to: ['x'] }, /^reply_to\[0\]: /],
    [{ reply_to: people(11) }, 'reply_to: must have at most 10 entries, not 11.'],
    [{ cc: 7 }, 'cc: must be a string or an array, not a number.'],
    [{ headers: { cc: 'a@example.com' } }, 'headers: cc: This header can\'t be set; use the field "cc".'],
    [{ headers: { Bcc: 'a@example.com' } }, 'headers: Bcc: This header can\'t be set; use the field "bcc".'],
    [
      { headers: { 'reply-to': 'a@example.com' }, reply_to: 'b@example.com' },
      'headers.Reply-To: must be left out when reply_to is given.',
    ],
    [{ tags: 'x' }, 'tags: must be an object or an array, not a string.'],
    [{ tags: { a: 1 } }, 'tags.a: must be a string, not a number.'],
    [{ tags: [{ name: 'a' }] }, 'tags[0].value: this field is required.'],
    [{ tags: [{ name: 'a', value: 'b', more: 1 }] }, 'tags[0]: has the unknown field more.'],
    [{ tags: { 'a b': 'x' } }, 'tags: "a b" must be ASCII letters, digits, "_" and "-" (1 to 64 characters).'],
    [{ tags: { a: 'é' } }, 'tags.a: must be ASCII letters, digits, "_" and "-" (1 to 256 characters).'],
    [{ tags: { a: '' } }, /^tags\.a: /],
    [{ tags: { a: 'x'.repeat(257) } }, /^tags\.a: /],
    [{ tags: { ['n'.repeat(65)]: 'x' } }, /^tags: /],
    [
      {
        tags: [
          { name: 'a', value: 'x' },
          { name: 'a', value: 'y' },
        ],
      },
      'tags[1].name: "a" is given twice.',
    ],
    [
      { tags: Object.fromEntries(people(11).map((_, n) => [`t${n}`, 'x'])) },
      'tags: must have at most 10 entries, not 11.',
    ],
    [{ metadata: { a: null } }, 'metadata.a: must be a string, not null.'],
    [{ metadata: { a: 'x'.repeat(4096) } }, 'metadata: must have at most 4096 bytes in all, not 4097.'],
    [{ metadata: { a: 'ä'.repeat(2048) } }, 'metadata: must have at most 4096 bytes in all, not 4097.'],
    [{ metadata: { '': 'x' } }, 'metadata: keys must have 1 to 64 characters, not 0.'],
    [{ metadata: { ['😀'.repeat(65)]: 'x' } }, 'metadata: keys must have 1 to 64 characters, not 65.'],
    [{ metadata: Object.fromEntries(people(21).map((key) => [key, ''])) }, /at most 20 keys, not 21/],
    [{ metadata: { a: '\ud800' } }, /^metadata\."a": must be valid Unicode/],
    [{ tracking: { opens: 'yes' } }, /^tracking\.opens: must be a boolean/],
    [{ tracking: { open: true } }, 'tracking: has the unknown field open.'],
  ];
  for (const [change, message] of wrong) {
    const { status, body } = await send(change);
    t.match(
      { status, ...body },
      { status: 400, error: 'validation_failed', message },
      JSON.stringify(change).slice(0, 80),
    );
  }
});

t.test('limits are where they are said to be', async (t) => {
  const good = [
    { tags: Object.fromEntries(people(10).map((_, n) => [`${n}`.repeat(64), 'x'])) },
    { metadata: { a: 'x'.repeat(4095) } },
    { metadata: Object.fromEntries(people(20).map((_, n) => [`${'😀'.repeat(40)}${n}`, 'x'])) },
    { reply_to: people(10) },
  ];
  for (const change of good) {
    const { status, body } = await send(change);
    t.equal(status, 202, `${JSON.stringify(change).slice(0, 60)} ${body.message ?? ''}`);
  }
});
