// Conformance: written mails. Their pieces come first; the submission makes them count, or they are swept.
import type { Test } from 'tap';
import type { NewSubmission } from '../../../src/store/submissions.ts';
import { MAX_PIECE_BYTES, type NewWrittenMail } from '../../../src/store/written-mails.ts';
import { type Bench, countAll, T0 } from './harness.ts';

const HOUR = 3_600_000;
const FOREVER = T0 + 1000 * HOUR;
const PIECES = [Buffer.alloc(MAX_PIECE_BYTES, 'abc\n'), Buffer.from([0xc3]), Buffer.from([0xa4, 0x0d, 0x0a])];
const BARE = { html: null, text: null, headers: [] };

async function acceptWritten(bench: Bench, change: Partial<NewSubmission> = {}, pieces: readonly Buffer[] = PIECES) {
  const { tenant, domain } = await bench.sender(`d${bench.id()}.test`);
  const written = await bench.written(domain, pieces);
  const accepted = await bench.accept(domain, ['a@x.test', 'b@x.test'], { ...written, ...BARE, ...change });
  return { tenant, domain, id: written.id, written: written.written!, accepted };
}

async function piecesOf(bench: Bench, of: { tenantId: string; submissionId: string }, count: number) {
  const reader = bench.openContents();
  const asked = Array.from({ length: count }, (_, position) => reader.piece({ ...of, position }));
  const found = await Promise.allSettled(asked);
  reader.close();
  return found.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)));
}

async function kindOf(bench: Bench, messageId: string): Promise<string> {
  const reader = bench.openContents();
  const { kind } = await reader.read(messageId);
  reader.close();
  return kind;
}

async function finish(bench: Bench, lane: number): Promise<void> {
  const claimed = await bench.claim(lane, T0);
  const event = () => bench.event('email.delivered');
  await bench.store.queue.record(claimed.map((message) => bench.attempted(message, { to: 'delivered' }, event())));
  await countAll(bench.store);
}

export const writtenMailCases = {
  'couriers get the header with the content, and the pieces one by one': async (t: Test, bench: Bench) => {
    const { tenant, id, written, accepted } = await acceptWritten(bench);
    const { source: _, messageId, ...shown } = written;
    const reader = bench.openContents();
    for (const result of await reader.readSome(accepted.receipt.messageIds)) {
      t.match(result, { kind: 'content', content: { ...BARE, attachments: 0, lists: null, subject: 'Hello' } });
      t.strictSame(result.kind === 'content' && result.content.written, shown);
    }
    reader.close();
    t.strictSame(await piecesOf(bench, { tenantId: tenant.id, submissionId: id }, 3), PIECES, 'byte for byte');
    const missing = 'Fault: piece 0 of the mail is missing';
    t.strictSame(await piecesOf(bench, { tenantId: bench.id(), submissionId: id }, 1), [missing], 'of another tenant');
    t.strictSame(await piecesOf(bench, { tenantId: tenant.id, submissionId: bench.id() }, 1), [missing]);
    const origin = { source: 'smtp', labels: { headerMessageId: messageId } };
    t.match(await bench.message(accepted.receipt.messageIds[0]!), origin);
    t.match(await bench.store.queue.findSubmission(tenant.id, id), origin);
  },

  'mail over HTTP has neither source nor a Message-ID of its own': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { receipt } = await bench.accept(domain, ['a@x.test']);
    const origin = { source: null, labels: null };
    t.match(await bench.message(receipt.messageIds[0]!), origin);
    t.match(await bench.store.queue.findSubmission(tenant.id, receipt.id), origin);
    t.equal(await kindOf(bench, receipt.messageIds[0]!), 'content');
  },

  'the last piece may come with the submission': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const whole = PIECES.length;
    for (const kept of [0, whole - 1]) {
      const { id, written } = await bench.written(domain, PIECES.slice(0, kept));
      const rest = PIECES.slice(kept, kept + 1);
      const pieces = kept + 1;
      const bytes = Buffer.concat(PIECES.slice(0, pieces)).length;
      const submission = bench.submission(domain, ['a@x.test'], {
        ...BARE,
        id,
        written: { ...written!, pieces, bytes, last: rest[0]! },
      });
      t.match(await bench.store.submissions.accept(submission), { kind: 'accepted' });
      t.strictSame(await piecesOf(bench, { tenantId: tenant.id, submissionId: id }, pieces), PIECES.slice(0, pieces));
    }
    const { id, written } = await bench.written(domain, []);
    const large = { ...written!, pieces: 1, bytes: MAX_PIECE_BYTES + 1, last: Buffer.alloc(MAX_PIECE_BYTES + 1) };
    const submission = bench.submission(domain, ['a@x.test'], { ...BARE, id, written: large });
    await t.rejects(bench.store.submissions.accept(submission), { message: /a piece must have 1 to/ });
  },

  'a mail may have no body': async (t: Test, bench: Bench) => {
    const { accepted } = await acceptWritten(bench, {}, []);
    const reader = bench.openContents();
    t.match(await reader.read(accepted.receipt.messageIds[0]!), { content: { written: { pieces: 0, bytes: 0 } } });
    reader.close();
  },

  'what is not all there is not accepted, and nothing of it is written': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { domain } = await bench.sender('acme.test');
    const refused = async (what: string, change: (written: NewWrittenMail) => Partial<NewWrittenMail>, id?: string) => {
      const kept = await bench.written(domain, PIECES);
      const written = { ...kept.written!, ...change(kept.written!) };
      const submission = bench.submission(domain, ['a@x.test'], { ...BARE, id: id ?? kept.id, written });
      await t.rejects(store.submissions.accept(submission), { message: /pieces of the mail/ }, what);
      t.equal(await store.queue.findSubmission(domain.tenantId, submission.id), null);
      t.equal(await kindOf(bench, submission.recipients[0]!.messageId), 'unreadable');
      return { ...kept, submission };
    };
    await refused('a piece more', ({ pieces }) => ({ pieces: pieces + 1 }));
    await refused('a piece less', ({ pieces }) => ({ pieces: pieces - 1 }));
    await refused('a byte more', ({ bytes }) => ({ bytes: bytes + 1 }));
    await refused('a byte less', ({ bytes }) => ({ bytes: bytes - 1 }));
    await refused('no piece, where there are some', () => ({ pieces: 0, bytes: 0 }));
    await refused('a last one at the place of another', () => ({ last: PIECES.at(-1)! }));
    await refused('a last one behind a gap', ({ pieces, bytes }) => {
      return { pieces: pieces + 2, bytes: bytes + 1, last: Buffer.from('x') };
    });
    await refused('another ID', () => ({}), bench.id());
    const { written, submission } = await refused('bytes without pieces', () => ({ pieces: 0 }));
    t.match(
      await store.submissions.accept({ ...submission, written: written! }),
      { kind: 'accepted' },
      'the right one',
    );
    const gap = bench.id();
    const piece = { tenantId: domain.tenantId, id: gap, bytes: Buffer.from('x'), at: T0 };
    for (const position of [0, 2]) await store.writtenMails.keepPiece({ ...piece, position });
    const gapped = bench.submission(domain, ['a@x.test'], { id: gap, written: { ...written!, pieces: 2, bytes: 2 } });
    await t.rejects(store.submissions.accept(gapped), { message: /pieces of the mail/ }, 'a gap');
    t.equal((await piecesOf(bench, { tenantId: domain.tenantId, submissionId: gap }, 1))[0], missingPiece, 'nor read');
  },

  'a piece has a size, and a place of its own': async (t: Test, bench: Bench) => {
    const { keepPiece } = bench.store.writtenMails;
    const piece = { tenantId: bench.id(), id: bench.id(), position: 0, bytes: Buffer.from('x'), at: T0 };
    await t.rejects(keepPiece({ ...piece, bytes: Buffer.alloc(0) }), { message: /1 to 262144 bytes/ });
    await t.rejects(keepPiece({ ...piece, bytes: Buffer.alloc(MAX_PIECE_BYTES + 1) }), { message: /bytes/ });
    await keepPiece(piece);
    await t.rejects(keepPiece(piece), 'the same position again');
    await t.resolves(keepPiece({ ...piece, tenantId: bench.id() }), 'the same ID of another tenant is another mail');
  },

  'a replay or a refusal leaves the pieces, to be dropped; accepted mail cannot be dropped': async (
    t: Test,
    bench: Bench,
  ) => {
    const { store } = bench;
    const first = await acceptWritten(bench, { idempotencyKey: 'k' });
    const { domain, tenant } = first;
    const again = await bench.written(domain, PIECES);
    const submission = bench.submission(domain, ['a@x.test'], { ...again, ...BARE, idempotencyKey: 'k' });
    t.match(await store.submissions.accept(submission), { kind: 'replayed', receipt: { id: first.id } });
    const refused = { ...submission, idempotencyKey: null, domainId: bench.id() };
    t.match(await store.submissions.accept(refused), { kind: 'domain_not_verified' });
    t.equal(await store.writtenMails.sweep({ before: T0, limit: 100 }), 0, 'they may still be accepted');

    const of = { tenantId: tenant.id, submissionId: first.id };
    await store.writtenMails.drop({ tenantId: tenant.id, id: first.id });
    await store.writtenMails.drop({ tenantId: bench.id(), id: again.id });
    await store.writtenMails.drop({ tenantId: tenant.id, id: bench.id() });
    t.equal(await store.writtenMails.sweep({ before: T0, limit: 100 }), 0, 'nothing was dropped by that');
    t.strictSame(await piecesOf(bench, of, 3), PIECES);

    await store.writtenMails.drop({ tenantId: tenant.id, id: again.id });
    await t.rejects(store.submissions.accept({ ...submission, idempotencyKey: 'k2' }), 'it was given up');
    const more = { tenantId: tenant.id, id: again.id, position: 3, bytes: Buffer.from('x'), at: T0 };
    await t.rejects(store.writtenMails.keepPiece(more), { message: /accepted or dropped/ });
    await t.rejects(store.writtenMails.keepPiece({ ...more, id: first.id }), { message: /accepted or dropped/ });
    t.equal(await store.writtenMails.sweep({ before: T0, limit: 100 }), 4, 'three pieces, and the mail');
    t.equal(await store.writtenMails.sweep({ before: FOREVER, limit: 100 }), 0);
    t.strictSame(await piecesOf(bench, of, 3), PIECES, 'what was accepted stays for ever');
  },

  'leftovers go in small steps, once their latest piece is old enough': async (t: Test, bench: Bench) => {
    const { keepPiece, sweep } = bench.store.writtenMails;
    const { domain } = await bench.sender('acme.test');
    const { id, written } = await bench.written(domain, PIECES);
    const piece = { tenantId: domain.tenantId, id, position: 3, bytes: Buffer.from('x'), at: T0 + HOUR };
    await keepPiece(piece);
    t.equal(await sweep({ before: T0 + HOUR, limit: 2 }), 0);
    t.equal(await sweep({ before: T0 + HOUR + 1, limit: 2 }), 2);
    const half = bench.submission(domain, ['a@x.test'], { id, written: { ...written!, pieces: 4 } });
    await t.rejects(bench.store.submissions.accept(half), { message: /pieces of the mail/ }, 'too late');
    t.equal(await sweep({ before: FOREVER, limit: 2 }), 2);
    t.equal(await sweep({ before: FOREVER, limit: 2 }), 1, 'the mail itself');
    t.equal(await sweep({ before: FOREVER, limit: 2 }), 0);
    await keepPiece(piece);
    t.equal(await sweep({ before: FOREVER, limit: 100 }), 2, 'and so does what begins again');
  },

  'pieces go with the content, and with the records': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const walk = { days: null, before: T0 + HOUR, budgetMs: 1000 };
    const { accepted, id, tenant } = await acceptWritten(bench);
    const [first, second] = accepted.receipt.messageIds as [string, string];
    t.match(await store.upkeep.eraseContents(walk), { erased: 0 });
    t.equal(await kindOf(bench, first), 'content');
    await finish(bench, accepted.lanes[0]!.lane);
    t.match(await store.upkeep.eraseContents(walk), { erased: 1 });
    t.equal(await kindOf(bench, second), 'unreadable');
    t.strictSame(await piecesOf(bench, { tenantId: tenant.id, submissionId: id }, 1), [missingPiece], 'at once');
    t.equal(await store.writtenMails.sweep({ before: T0, limit: 3 }), 3, 'their bytes a little later');
    t.equal(await store.writtenMails.sweep({ before: T0, limit: 3 }), 1);
    t.match(await bench.message(first), { source: 'smtp' }, 'its record stays');

    const other = await acceptWritten(bench, {}, []);
    await finish(bench, other.accepted.lanes[0]!.lane);
    await store.upkeep.eraseRecords(T0 + HOUR, 1000);
    t.equal(await store.queue.getMessage(first), null);
    t.equal(await store.writtenMails.sweep({ before: T0, limit: 3 }), 1, 'one without pieces goes as well');
    t.equal(await store.writtenMails.sweep({ before: FOREVER, limit: 3 }), 0);
  },
};

const missingPiece = 'Fault: piece 0 of the mail is missing';
