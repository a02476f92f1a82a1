// Mail that proves no message of ours (to role addresses, DMARC reports), in SQLite: the space of all its contents is
// limited, and so is the number of such mails; the oldest are erased first, but never one that still waits.
import type { Transaction } from '../engine/connection.ts';

/** Each keeps a row for people when its content is erased; this many take some hundred megabytes at most. */
const MAX_MAILS = 100_000;
/** For each mail that comes in; the next one continues where there is more. */
const MAX_AT_ONCE = 1000;

export const ERASED_FOR_ROOM = 'its content was erased to make room';

/** Runs within the transaction that stores the mail. */
export function countUnasked(db: Transaction, seq: number | bigint, bytes: number, maxBytes: number): void {
  db.sql('INSERT INTO unasked_mails (mail_seq, bytes) VALUES (+?, +?)').run(seq, bytes);
  const room = () => db.sql('SELECT mails, bytes FROM unasked_room').get() as { mails: number; bytes: number };
  for (let count = 0; count < MAX_AT_ONCE && room().bytes > maxBytes; count++) {
    if (eraseOldestContents(db, 1) === 0) break;
  }
  const excess = Math.min(room().mails - MAX_MAILS, MAX_AT_ONCE);
  if (excess > 0) eraseOldestMails(db, excess);
}

/** Returns how many. */
export function eraseOldestContents(db: Transaction, limit: number): number {
  const oldest = db.sql(
    `SELECT u.mail_seq FROM unasked_mails u JOIN inbound_mails m ON m.seq = u.mail_seq
     WHERE u.bytes > 0 AND m.processed_at IS NOT NULL ORDER BY u.mail_seq LIMIT +?`,
    'column',
  );
  const seqs = oldest.all(limit) as number[];
  for (const seq of seqs) {
    db.sql('DELETE FROM inbound_contents WHERE mail_seq = +?').run(seq);
    db.sql("UPDATE inbound_mails SET reason = coalesce(reason || '; ', '') || +? WHERE seq = +?").run(
      ERASED_FOR_ROOM,
      seq,
    );
  }
  return seqs.length;
}

function eraseOldestMails(db: Transaction, limit: number): void {
  const oldest = db.sql(
    `SELECT u.mail_seq FROM unasked_mails u JOIN inbound_mails m ON m.seq = u.mail_seq
     WHERE m.processed_at IS NOT NULL ORDER BY u.mail_seq LIMIT +?`,
    'column',
  );
  for (const seq of oldest.all(limit) as number[]) {
    db.sql('DELETE FROM inbound_contents WHERE mail_seq = +?').run(seq);
    db.sql('DELETE FROM inbound_mails WHERE seq = +?').run(seq);
  }
}
