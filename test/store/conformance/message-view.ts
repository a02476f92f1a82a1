// Conformance: one message as its tenant's people look at it, and looking through suppression lists.
import type { Test } from 'tap';
import type { ReadOutcome } from '../../../src/store/reads.ts';
import type { Attachment, HeaderLists, NewSubmission } from '../../../src/store/submissions.ts';
import type { SuppressionReason, SuppressionSearch } from '../../../src/store/suppressions.ts';
import { type Bench, T0 } from './harness.ts';

async function found<T>(outcome: Promise<ReadOutcome<T>>): Promise<T> {
  const answer = await outcome;
  if (answer.kind === 'refused') throw new Error(answer.reason);
  return answer.value;
}

const MOST_CHARS = 1000;
const LISTS: HeaderLists = {
  letter: { to: [{ name: 'Ann', address: 'a@x.test' }], cc: [{ name: null, address: 'c@x.test' }] },
  replyTo: [{ name: null, address: 'answers@acme.test' }],
};
const FILES: Attachment[] = [
  {
    filename: 'Größe "1".pdf',
    contentType: 'application/pdf',
    contentId: null,
    content: Buffer.from([0, 255, 13, 10]),
  },
  { filename: 'empty', contentType: 'image/png', contentId: 'logo', content: Buffer.alloc(0) },
];

async function withFiles(bench: Bench, change: Partial<NewSubmission> = {}) {
  const sender = await bench.sender('acme.test');
  const { receipt } = await bench.accept(sender.domain, ['a@x.test'], { attachments: FILES, ...change });
  return { ...sender, id: receipt.messageIds[0]! };
}

export const messageViewCases = {
  'a message with its call, its attempts, its events and its content': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const key = bench.apiKey(tenant.id);
    await bench.store.keys.createApiKey(key, 10);
    const change = { apiKeyId: key.id, idempotencyKey: 'once' };
    const { receipt, lanes } = await bench.accept(domain, ['joe@x.test', 'ann@x.test'], change);
    const claimed = await bench.claim(lanes[0]!.lane, T0);
    const joe = claimed.find(({ recipient }) => recipient === 'joe@x.test')!;
    await bench.store.queue.record([
      bench.attempted(joe, { to: 'delivered' }, bench.event('email.delivered', { a: 1 })),
    ]);
    const view = await found(bench.reads().messageView(tenant.id, joe.id));
    t.match(view, {
      message: {
        id: joe.id,
        state: 'delivered',
        from: 'news@acme.test',
        subject: 'Hello',
        attemptList: [{ attempt: 1 }],
      },
      ...{ fromName: 'News', senderDomain: 'acme.test', idempotencyKey: 'once', bounce: null, complained: false },
      ...{ apiKey: { id: key.id, name: 'a key' }, moreEvents: false, rejected: [] },
      events: [{ type: 'email.delivered', data: { a: 1 } }],
      siblings: [{ id: receipt.messageIds[1], recipient: 'ann@x.test', state: 'sending' }],
      content: { hasHtml: true, text: 'Hello', textIsCut: false, headers: [['X-Campaign', 'spring']] },
    });
    t.equal(view?.siblings.length, 1, 'not itself');
    t.equal(await found(bench.reads().messageHtml(tenant.id, joe.id)), '<p>Hello</p>');
    const content = await found(bench.reads().messageContent(tenant.id, joe.id, MOST_CHARS));
    t.match(content, { messageId: joe.id, to: { address: 'joe@x.test' }, html: '<p>Hello</p>', text: 'Hello' });
    t.match(content, { signing: { domain: 'acme.test' }, headers: [['X-Campaign', 'spring']], date: T0 });
    t.notMatch(JSON.stringify(content), /sealed|privateKey/, 'and nothing that signs');
    t.equal(await found(bench.reads().messageContent(tenant.id, joe.id, 5)), 'too_large');
    t.strictSame(await found(bench.reads().messageTexts(tenant.id, joe.id)), {
      ...{ from: { address: 'news@acme.test', name: 'News' }, html: '<p>Hello</p>', text: 'Hello', lists: null },
    });
  },

  "another tenant's message is none": async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    const { id } = await bench.queued(domain, 'joe@x.test');
    t.equal(await found(bench.reads().messageView(other.tenant.id, id)), null);
    t.equal(await found(bench.reads().messageHtml(other.tenant.id, id)), null);
    t.equal(await found(bench.reads().messageContent(other.tenant.id, id, MOST_CHARS)), null);
    t.equal(await found(bench.reads().messageTexts(other.tenant.id, id)), null);
    t.equal(await found(bench.reads().messageView(other.tenant.id, bench.id())), null, 'nor one that never was');
  },

  'what was erased is not there, and the record still is': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'joe@x.test');
    await bench.store.queue.record([bench.update(message, { to: 'delivered' })]);
    await bench.store.upkeep.eraseContents({ days: null, before: T0 + 60_000, budgetMs: 1000 });
    t.match(await found(bench.reads().messageView(tenant.id, message.id)), {
      ...{ content: null, message: { recipient: 'joe@x.test', subject: 'Hello' } },
    });
    t.equal(await found(bench.reads().messageHtml(tenant.id, message.id)), null);
    t.equal(await found(bench.reads().messageContent(tenant.id, message.id, MOST_CHARS)), null);
    t.equal(await found(bench.reads().messageTexts(tenant.id, message.id)), null);
  },

  'the lists, labels, tracking and attachments of a call': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const labels = { tags: { kind: 'invoice' }, metadata: { order: '4711' } };
    const given = { lists: LISTS, attachments: FILES, labels, tracking: { opens: false } };
    const submission = bench.submission(domain, ['a@x.test', 'b@x.test'], given);
    submission.recipients[1]!.copy = 'bcc';
    await bench.store.submissions.accept(submission);
    const [to, bcc] = submission.recipients.map(({ messageId }) => messageId);
    const view = await found(bench.reads().messageView(tenant.id, bcc!));
    t.match(view, { copy: 'bcc', tracking: { opens: false }, message: { labels } });
    t.strictSame(view?.tracking, { opens: false }, 'what the call has left out is left out');
    t.strictSame(view?.content?.lists, LISTS);
    t.strictSame((await found(bench.reads().messageTexts(tenant.id, bcc!)))?.lists, LISTS);
    t.strictSame(view?.content?.attachments, [
      { position: 0, filename: 'Größe "1".pdf', contentType: 'application/pdf', contentId: null, bytes: 4 },
      { position: 1, filename: 'empty', contentType: 'image/png', contentId: 'logo', bytes: 0 },
    ]);
    t.equal((await found(bench.reads().messageView(tenant.id, to!)))?.copy, null);
  },

  'a plain message has no lists, labels, tracking or attachments': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { id } = await bench.queued(domain, 'joe@x.test');
    const view = await found(bench.reads().messageView(tenant.id, id));
    t.strictSame([view?.copy, view?.tracking, view?.message.labels], [null, {}, null]);
    t.strictSame([view?.content?.lists, view?.content?.attachments], [null, []]);
    t.strictSame(await found(bench.reads().messageAttachment(tenant.id, id, 0)), null);
    t.match(await found(bench.reads().messageContent(tenant.id, id, MOST_CHARS)), { attachments: 0, files: [] });
  },

  'an attachment by its position, byte for byte': async (t: Test, bench: Bench) => {
    const { tenant, id } = await withFiles(bench);
    const other = await bench.sender('other.test');
    const at = (position: number, tenantId = tenant.id) =>
      found(bench.reads().messageAttachment(tenantId, id, position));
    t.strictSame(await at(0), { filename: FILES[0]!.filename, content: FILES[0]!.content });
    t.strictSame(await at(1), { filename: 'empty', content: Buffer.alloc(0) });
    t.equal(await at(2), null);
    t.equal(await at(0, other.tenant.id), null, 'of another tenant');
  },

  'five MiB come in one piece': async (t: Test, bench: Bench) => {
    const content = Buffer.alloc(5 * 1024 * 1024, 'postrider');
    const { tenant, id } = await withFiles(bench, { attachments: [{ ...FILES[0]!, content }] });
    const file = await found(bench.reads().messageAttachment(tenant.id, id, 0));
    t.ok(file && content.equals(file.content));
  },

  'attachments count for the size of a source': async (t: Test, bench: Bench) => {
    const { tenant, id } = await withFiles(bench);
    const chars = '<p>Hello</p>Hello'.length + 4;
    const content = await found(bench.reads().messageContent(tenant.id, id, chars));
    t.strictSame(typeof content === 'object' && content?.files, FILES);
    t.equal(await found(bench.reads().messageContent(tenant.id, id, chars - 1)), 'too_large');
  },

  'a written mail: how large it is, and its source as it was written': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const pieces = ['. one\r\n', 'two', '\r\n'].map((text) => Buffer.from(text));
    const given = { ...(await bench.written(domain, pieces)), html: null, text: null, headers: [] };
    const { receipt, lanes } = await bench.accept(domain, ['a@x.test'], given);
    const [id] = receipt.messageIds as [string];
    const { header } = given.written!;
    const bytes = header.length + 12;
    const view = await found(bench.reads().messageView(tenant.id, id));
    t.match(view?.content, { writtenBytes: bytes, hasHtml: false, text: null, attachments: [] });
    t.match(view?.message, { source: 'smtp' });
    const source = (maxBytes = bytes, tenantId = tenant.id) =>
      found(bench.reads().messageContent(tenantId, id, maxBytes));
    const content = { written: { header, pieces: 3, bytes: 12 }, writtenBody: Buffer.concat(pieces), files: [] };
    t.match(await source(), { ...content, html: null, text: null });
    t.equal(await source(bytes - 1), 'written_too_large');
    t.equal(await source(bytes, bench.id()), null, 'of another tenant');
    t.equal(await found(bench.reads().messageHtml(tenant.id, id)), null);

    const claimed = await bench.claim(lanes[0]!.lane, T0);
    await bench.store.queue.record([bench.attempted(claimed[0]!, { to: 'delivered' })]);
    await bench.store.upkeep.eraseContents({ days: null, before: T0 + 60_000, budgetMs: 1000 });
    t.equal(await source(), null);
    t.match(await found(bench.reads().messageView(tenant.id, id)), { content: null });
  },

  'attachments are not there when the content was erased': async (t: Test, bench: Bench) => {
    const { tenant, id } = await withFiles(bench);
    const message = (await bench.store.queue.findWaiting(id))!;
    await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }));
    await bench.store.upkeep.eraseContents({ days: null, before: T0 + 60_000, budgetMs: 1000 });
    t.equal(await found(bench.reads().messageAttachment(tenant.id, id, 0)), null);
  },

  'a suppression list by prefix and reason, in pages': async (t: Test, bench: Bench) => {
    const [tenant, other] = [await bench.tenant(), await bench.tenant()];
    const add = (tenantId: string, address: string, reason: SuppressionReason) =>
      bench.store.suppressions.addSuppression(tenantId, { address, reason, messageId: null, createdAt: T0 });
    for (const name of ['c', 'a', 'b']) await add(tenant.id, `${name}@x.test`, 'manual');
    await add(tenant.id, 'ab@x.test', 'complaint');
    await add(other.id, 'aa@x.test', 'manual');
    const search = async (asked: Partial<SuppressionSearch>) => {
      const all = { prefix: '', reason: null, after: null, limit: 10, ...asked };
      const { entries, next } = await found(bench.reads().searchSuppressions(tenant.id, all));
      return [...entries.map(({ address }) => address[0] + (address[1] === '@' ? '' : address[1]!)), next];
    };
    t.same(await search({}), ['a', 'ab', 'b', 'c', null]);
    t.same(await search({ prefix: 'a' }), ['a', 'ab', null]);
    t.same(await search({ reason: 'manual', prefix: 'a' }), ['a', null]);
    t.same(await search({ reason: 'complaint' }), ['ab', null]);
    t.same(await search({ limit: 2 }), ['a', 'ab', 'ab@x.test']);
    t.same(await search({ limit: 2, after: 'ab@x.test' }), ['b', 'c', null]);
    t.same(await search({ limit: 1, reason: 'manual', after: 'a@x.test' }), ['b', 'b@x.test']);
  },
};
