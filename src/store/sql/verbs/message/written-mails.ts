// Written mails: pieces come before their submission, which then links them. Pieces are erased in one place
// only, the sweep: overwriting 25 MiB at once would hold the writer for a tenth of a second.
//
// A mail's leftover_since is the time of its latest piece while it comes, null once its submission is accepted, and 0
// when it was dropped or its content was erased: it never leaves 0, and goes with its last piece.

import { Fault } from '../../../../base/errors.ts';
import type { NewSubmission } from '../../../submissions.ts';
import { MAX_PIECE_BYTES, type NewPiece, type WrittenContent, type WrittenMails } from '../../../written-mails.ts';
import { eachOf, type Queries, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { type Row, toFlag, toId } from '../../values.ts';

export function writtenMailVerbs(db: Transaction): Work<WrittenMails> {
  return {
    keepPiece: (piece) => keepPiece(db, piece),
    *drop({ tenantId, id }) {
      const drop = 'UPDATE written_mails SET leftover_since = 0 WHERE tenant_id = +? AND submission_id = +?';
      yield* db.sql(`${drop} AND leftover_since IS NOT NULL`).run(toId(tenantId), toId(id));
    },
    sweep: ({ before, limit }) => sweep(db, before, limit),
  };
}

function* keepPiece(db: Transaction, { tenantId, id, position, bytes, at }: NewPiece): Steps<void> {
  const open = db.sql(
    `INSERT INTO written_mails (tenant_id, submission_id, leftover_since) VALUES (+?, +?, +?)
     ON CONFLICT (tenant_id, submission_id) DO UPDATE SET leftover_since = excluded.leftover_since
       WHERE written_mails.leftover_since > 0
     RETURNING seq`,
    'column',
  );
  const mail = (yield* open.get(toId(tenantId), toId(id), at)) as number | undefined;
  if (mail === undefined) throw new Fault('the mail has been accepted or dropped', { permanence: 'permanent' });
  yield* insertPiece(db, { mail, position, bytes });
}

function* insertPiece(
  db: Transaction,
  { mail, position, bytes }: { mail: number; position: number; bytes: Buffer },
): Steps<void> {
  if (bytes.length === 0 || bytes.length > MAX_PIECE_BYTES) {
    const why = `a piece must have 1 to ${MAX_PIECE_BYTES} bytes, not ${bytes.length}`;
    throw new Fault(why, { permanence: 'permanent' });
  }
  yield* db.sql('INSERT INTO written_pieces (mail, position, bytes) VALUES (+?, +?, +?)').run(mail, position, bytes);
}

function* sweep(db: Transaction, before: number, limit: number): Steps<number> {
  const next = db.sql(
    'SELECT seq FROM written_mails WHERE leftover_since < +? ORDER BY leftover_since LIMIT 1',
    'column',
  );
  const erase = db.sql(
    `DELETE FROM written_pieces WHERE mail = +? AND position IN
       (SELECT position FROM written_pieces WHERE mail = +? ORDER BY position LIMIT +?)`,
  );
  let left = limit;
  while (left > 0) {
    const mail = (yield* next.get(before)) as number | undefined;
    if (mail === undefined) break;
    left -= (yield* erase.run(mail, mail, left)).changes;
    if (left > 0) left -= (yield* db.sql('DELETE FROM written_mails WHERE seq = +?').run(mail)).changes;
  }
  return limit - left;
}

/** Runs within the transaction that accepts the submission. */
export function* linkWritten(
  db: Transaction,
  { tenantId, id }: Pick<NewSubmission, 'tenantId' | 'id'>,
  written: NonNullable<NewSubmission['written']>,
): Steps<void> {
  const of = [toId(tenantId), toId(id)] as const;
  yield* db
    .sql(
      'INSERT INTO written_mails (tenant_id, submission_id, leftover_since) VALUES (+?, +?, 1) ON CONFLICT DO NOTHING',
    )
    .run(...of);
  const mail = db.sql(
    'SELECT seq FROM written_mails WHERE tenant_id = +? AND submission_id = +? AND leftover_since > 0',
    'column',
  );
  const seq = (yield* mail.get(...of)) as number | undefined;
  if (seq === undefined) throw incomplete(`none of its ${written.pieces} pieces`);
  const { header, pieces, bytes, bodyHash, eightBit, last } = written;
  yield* requireAllPieces(db, seq, last ? { pieces: pieces - 1, bytes: bytes - last.length } : written);
  if (last) yield* insertPiece(db, { mail: seq, position: pieces - 1, bytes: last });
  yield* db
    .sql(
      `UPDATE written_mails SET leftover_since = NULL, header = +?, pieces = +?, bytes = +?, body_hash = +?, eight_bit = +?
     WHERE seq = +?`,
    )
    .run(header, pieces, bytes, bodyHash, toFlag(eightBit), seq);
}

function* requireAllPieces(
  db: Transaction,
  seq: number,
  { pieces, bytes }: { pieces: number; bytes: number },
): Steps<void> {
  // The length of a BLOB is in the row's header: its bytes are not read.
  const sums = db.sql(
    `SELECT count(*) AS pieces, coalesce(max(position) + 1, 0) AS behind, coalesce(sum(length(bytes)), 0) AS bytes
     FROM written_pieces WHERE mail = +?`,
  );
  const kept = (yield* sums.get(seq)) as { pieces: number; behind: number; bytes: number };
  if (kept.pieces === pieces && kept.behind === pieces && kept.bytes === bytes) return;
  throw incomplete(`${kept.pieces} pieces of ${kept.bytes} bytes, not ${pieces} of ${bytes}`);
}

function incomplete(detail: string): Fault {
  return new Fault('the pieces of the mail are not all there', { permanence: 'permanent', detail });
}

/** Its content is gone at once, the bytes of its pieces with the next sweeps. */
export function* forgetWritten(db: Transaction, tenant: Buffer, submission: Buffer): Steps<void> {
  yield* db
    .sql('UPDATE written_mails SET leftover_since = 0, header = NULL WHERE tenant_id = +? AND submission_id = +?')
    .run(tenant, submission);
}

const WRITTEN_MAIL = `
  SELECT header, pieces, bytes, body_hash, eight_bit FROM written_mails
  WHERE tenant_id = +? AND submission_id = +? AND leftover_since IS NULL`;

const WRITTEN_PIECE = `
  SELECT p.bytes FROM written_mails w JOIN written_pieces p ON p.mail = w.seq
  WHERE w.tenant_id = +? AND w.submission_id = +? AND w.leftover_since IS NULL AND p.position = +?`;

type SubmissionOf = readonly [tenant: Buffer, submission: Buffer];

/** Null: erased, or it never was a written mail. */
export function* readWritten(db: Queries, of: SubmissionOf): Steps<WrittenContent | null> {
  const row = (yield* db.sql(WRITTEN_MAIL).get(...of)) as Row | undefined;
  if (!row) return null;
  return {
    header: row.header as Buffer,
    pieces: row.pieces as number,
    bytes: row.bytes as number,
    bodyHash: row.body_hash as string,
    eightBit: row.eight_bit === 1,
  };
}

export function* readPiece(db: Queries, of: SubmissionOf, position: number): Steps<Buffer> {
  const row = (yield* db.sql(WRITTEN_PIECE).get(...of, position)) as { bytes: Buffer } | undefined;
  if (row) return row.bytes;
  throw new Fault(`piece ${position} of the mail is missing`, { permanence: 'permanent' });
}

/** All of it at once: for mail that is known to be small. */
export function* readBody(db: Queries, of: SubmissionOf, { pieces }: WrittenContent): Steps<Buffer> {
  const positions = Array.from({ length: pieces }, (_, position) => position);
  return Buffer.concat(yield* eachOf(positions, (position) => readPiece(db, of, position)));
}
