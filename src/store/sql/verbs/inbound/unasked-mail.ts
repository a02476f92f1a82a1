// Mail that proves no message of ours (to role addresses, DMARC reports): the space of all its contents is
// limited, and so is the number of such mails; the oldest are erased first, but never one that still waits. When all
// of them wait, no more are kept.
import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';

/** Each keeps a row for people when its content is erased; this many take some hundred megabytes at most. */
const MAX_MAILS = 100_000;
/** For each mail that comes in; the next one continues where there is more. */
const MAX_AT_ONCE = 1000;

export const ERASED_FOR_ROOM = 'its content was erased to make room';

/**
 * Makes room for one more by erasing processed mail. `full`: nothing more can be erased, since all others wait. A mail
 * that is larger than the limit is kept while no other has its content.
 */
export function* makeUnaskedRoom(db: Transaction, bytes: number, maxBytes: number): Steps<'room' | 'full'> {
  const count = function* () {
    return (yield* db.sql('SELECT mails, bytes FROM unasked_room').get()) as { mails: number; bytes: number };
  };
  const isOver = (held: number) => held > 0 && held + bytes > maxBytes;
  // Looked at first: nothing is erased for a mail that isn't kept all the same.
  if (isOver((yield* count()).bytes) && isOver(yield* waitingBytes(db))) return 'full';
  for (let erased = 0; erased < MAX_AT_ONCE && isOver((yield* count()).bytes); erased++) {
    if ((yield* eraseOldestContents(db, 1)) === 0) return 'full';
  }
  const excess = Math.min((yield* count()).mails + 1 - MAX_MAILS, MAX_AT_ONCE);
  return excess > 0 && (yield* eraseOldestMails(db, excess)) === 0 ? 'full' : 'room';
}

function* waitingBytes(db: Transaction): Steps<number> {
  const sum = db.sql(
    `SELECT coalesce(sum(u.bytes), 0) FROM inbound_mails m JOIN unasked_mails u ON u.mail_seq = m.seq
     WHERE m.processed_at IS NULL`,
    'column',
  );
  return (yield* sum.get()) as number;
}

/** Runs within the transaction that stores the mail. */
export function* countUnasked(db: Transaction, seq: number, bytes: number): Steps<void> {
  yield* db.sql('INSERT INTO unasked_mails (mail_seq, bytes) VALUES (+?, +?)').run(seq, bytes);
}

/** Returns how many. */
export function* eraseOldestContents(db: Transaction, limit: number): Steps<number> {
  const oldest = db.sql(
    `SELECT u.mail_seq FROM unasked_mails u JOIN inbound_mails m ON m.seq = u.mail_seq
     WHERE u.bytes > 0 AND m.processed_at IS NOT NULL ORDER BY u.mail_seq LIMIT +?`,
    'column',
  );
  const seqs = (yield* oldest.all(limit)) as number[];
  for (const seq of seqs) {
    yield* db.sql('DELETE FROM inbound_contents WHERE mail_seq = +?').run(seq);
    yield* db
      .sql("UPDATE inbound_mails SET reason = coalesce(reason || '; ', '') || +? WHERE seq = +?")
      .run(ERASED_FOR_ROOM, seq);
  }
  return seqs.length;
}

/** Returns how many. */
function* eraseOldestMails(db: Transaction, limit: number): Steps<number> {
  const oldest = db.sql(
    `SELECT u.mail_seq FROM unasked_mails u JOIN inbound_mails m ON m.seq = u.mail_seq
     WHERE m.processed_at IS NOT NULL ORDER BY u.mail_seq LIMIT +?`,
    'column',
  );
  const seqs = (yield* oldest.all(limit)) as number[];
  for (const seq of seqs) {
    yield* db.sql('DELETE FROM inbound_contents WHERE mail_seq = +?').run(seq);
    yield* db.sql('DELETE FROM inbound_mails WHERE seq = +?').run(seq);
  }
  return seqs.length;
}
