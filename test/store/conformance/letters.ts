// Conformance: what a call may have beyond text and recipients: header lists, attachments, labels, tracking.
import type { Test } from 'tap';
import type { Attachment, HeaderLists, Labels, MessageContent, NewSubmission } from '../../../src/store/submissions.ts';
import { type Bench, LIFETIME_MS, T0 } from './harness.ts';

const LABELS: Labels = { tags: { campaign: 'spring', __proto__2: 'x' }, metadata: { 'order "Ä"': '4711 😀' } };
const LISTS: HeaderLists = {
  letter: {
    to: [
      { name: 'Ann', address: 'a@x.test' },
      { name: null, address: 'suppressed@x.test' },
    ],
    cc: [{ name: 'Ç, "é"', address: 'c@y.test' }],
  },
  replyTo: [{ name: null, address: 'answers@acme.test' }],
};
const ATTACHMENTS: Attachment[] = [
  { filename: 'a.bin', contentType: 'application/octet-stream', contentId: null, content: Buffer.from([0, 255, 10]) },
  { filename: '空.txt', contentType: 'text/plain', contentId: 'logo@1', content: Buffer.alloc(0) },
  { filename: 'big', contentType: 'image/png', contentId: null, content: Buffer.alloc(3 * 1024 * 1024, 'abc') },
];

async function contentOf(bench: Bench, messageId: string): Promise<MessageContent> {
  const reader = bench.openContents();
  const result = await reader.read(messageId);
  reader.close();
  if (result.kind !== 'content') throw new Error(result.reason);
  return result.content;
}

async function attachmentsOf(
  bench: Bench,
  { tenantId, id }: Pick<NewSubmission, 'tenantId' | 'id'>,
): Promise<Attachment[]> {
  const reader = bench.openContents();
  const attachments = await reader.attachments(tenantId, id);
  reader.close();
  return attachments;
}

async function letter(bench: Bench, change: Partial<NewSubmission> = {}) {
  const { tenant, domain } = await bench.sender('acme.test');
  const submission = bench.submission(domain, ['a@x.test', 'c@y.test', 'b@x.test'], change);
  submission.recipients[1]!.copy = 'cc';
  submission.recipients[2]!.copy = 'bcc';
  const result = await bench.store.submissions.accept(submission);
  if (result.kind !== 'accepted') throw new Error(result.kind);
  return { tenant, domain, submission, ids: result.receipt.messageIds };
}

export const letterCases = {
  'the lists and attachments of a call are those of all its messages': async (t: Test, bench: Bench) => {
    const { ids, submission } = await letter(bench, { lists: LISTS, attachments: ATTACHMENTS });
    for (const id of ids) {
      const content = await contentOf(bench, id);
      t.strictSame(content.lists, LISTS);
      t.equal(content.attachments, 3);
    }
    t.strictSame(await attachmentsOf(bench, submission), ATTACHMENTS, 'byte for byte, in their order');
    t.strictSame(await attachmentsOf(bench, { ...submission, id: bench.id() }), []);
    t.strictSame(await attachmentsOf(bench, { ...submission, tenantId: bench.id() }), [], 'of another tenant');
  },

  'a plain call has none of it': async (t: Test, bench: Bench) => {
    const { ids, submission } = await letter(bench);
    const { lists, attachments, openTracking, clickTracking } = await contentOf(bench, ids[0]!);
    t.strictSame(
      { lists, attachments, openTracking, clickTracking },
      {
        ...{ lists: null, attachments: 0, openTracking: false, clickTracking: false },
      },
    );
    t.strictSame(await attachmentsOf(bench, submission), []);
    t.equal((await bench.store.queue.findWaiting(ids[0]!))!.labels, null);
  },

  'labels go with a message to everything that writes its events': async (t: Test, bench: Bench) => {
    const { ids, tenant } = await letter(bench, { labels: LABELS });
    const [id] = ids as [string];
    const { store } = bench;
    t.strictSame((await store.queue.findWaiting(id))!.labels, LABELS);
    t.strictSame((await store.queue.expired([1], T0 + LIFETIME_MS, 1))[0]!.labels, LABELS);
    t.strictSame((await store.queue.findMessage(tenant.id, id))!.labels, LABELS);
    t.strictSame((await store.tracking.findTracked(tenant.id, id))!.labels, LABELS);
    t.strictSame((await store.inbound.findReported(id))!.labels, LABELS);
    const [lane] = (await store.queue.dueLanes([1])).map((notice) => notice.lane);
    t.strictSame((await bench.claim(lane!, T0))[0]!.labels, LABELS);
  },

  'tags or metadata alone are kept, and neither is nothing': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    for (const [given, stored] of [
      [
        { tags: LABELS.tags, metadata: null },
        { tags: LABELS.tags, metadata: null },
      ],
      [
        { tags: null, metadata: LABELS.metadata },
        { tags: null, metadata: LABELS.metadata },
      ],
      [{ tags: null, metadata: null }, null],
      [null, null],
    ] as const) {
      const { receipt } = await bench.accept(domain, ['a@x.test'], { labels: given });
      t.strictSame((await bench.store.queue.findWaiting(receipt.messageIds[0]!))!.labels, stored);
    }
  },

  'a call decides about tracking, else its tenant does': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const tracked = async (tracking: NewSubmission['tracking']) => {
      const { receipt } = await bench.accept(domain, ['a@x.test'], { tracking });
      const { openTracking, clickTracking } = await contentOf(bench, receipt.messageIds[0]!);
      return [openTracking, clickTracking];
    };
    t.strictSame(await tracked({}), [false, false]);
    t.strictSame(await tracked({ opens: true }), [true, false]);
    await bench.store.tenants.updateTenant(tenant.id, { openTracking: true, clickTracking: true });
    t.strictSame(await tracked({}), [true, true]);
    t.strictSame(await tracked({ opens: false, clicks: false }), [false, false]);
    t.strictSame(await tracked({ clicks: false }), [true, false]);
  },

  'a submission with its messages, for its tenant': async (t: Test, bench: Bench) => {
    const { ids, submission, tenant } = await letter(bench, { labels: LABELS });
    const { id } = submission;
    t.strictSame(await bench.store.queue.findSubmission(tenant.id, id), {
      ...{ id, createdAt: T0, sendAt: null, from: 'news@acme.test', subject: 'Hello', labels: LABELS },
      source: null,
      messages: [
        { id: ids[0], recipient: 'a@x.test', copy: null, state: 'queued' },
        { id: ids[1], recipient: 'c@y.test', copy: 'cc', state: 'queued' },
        { id: ids[2], recipient: 'b@x.test', copy: 'bcc', state: 'queued' },
      ],
      rejected: [],
    });
    t.equal(await bench.store.queue.findSubmission(bench.id(), id), null, 'of another tenant');
    t.equal(await bench.store.queue.findSubmission(tenant.id, bench.id()), null);
  },

  'attachments are erased with the content': async (t: Test, bench: Bench) => {
    const { ids, submission } = await letter(bench, { attachments: ATTACHMENTS });
    const kept = await waitingLetter(bench);
    for (const id of ids) {
      const message = (await bench.store.queue.findWaiting(id))!;
      await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { at: T0 + 1 }));
    }
    const walk = { days: null, before: T0 + 1, budgetMs: 1000 };
    t.match(await bench.store.upkeep.eraseContents(walk), { erased: 1 });
    t.strictSame(await attachmentsOf(bench, submission), []);
    t.strictSame(await attachmentsOf(bench, kept), ATTACHMENTS, 'those of a message that waits are there');
  },

  'a repeated call stores no attachments': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const change = { idempotencyKey: 'once', attachments: ATTACHMENTS };
    const first = await bench.accept(domain, ['a@x.test'], change);
    const again = bench.submission(domain, ['a@x.test'], change);
    t.match(await bench.store.submissions.accept(again), { kind: 'replayed', receipt: { id: first.receipt.id } });
    t.strictSame(await attachmentsOf(bench, again), []);
  },
};

/** Of another tenant; it waits. */
async function waitingLetter(bench: Bench): Promise<NewSubmission> {
  const { domain } = await bench.sender('other.test');
  const submission = bench.submission(domain, ['z@x.test'], { attachments: ATTACHMENTS });
  await bench.store.submissions.accept(submission);
  return submission;
}
