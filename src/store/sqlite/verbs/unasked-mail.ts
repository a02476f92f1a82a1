// Mail that proves no message of ours (to roles, DMARC reports), in SQLite: what its contents take in
// all is bounded, and so is the number of such mails; the oldest go first, and none that still waits.
import type { Transaction } from '../engine/connection.ts';

/** A row of each stays for people when its content has gone; this many are some hundred megabytes at most. */
const MAX_MAILS = 100_000;
/** For one mail that comes in; the next one goes on where there was more. */
const MOST_AT_ONCE = 1000;

export const ERASED_FOR_ROOM = 'its content was erased to make room';

/** Called within the transaction that has kept the mail. */
export function countUnasked(db: Transaction, seq: number | bigint, bytes: number, maxBytes: number): void {
  db.sql('INSERT INTO unasked_mails (mail_seq, bytes) VALUES (+?, +?)').run(seq, bytes);
  const room = () => db.sql('SELECT mails, bytes FROM unasked_room').get() as { mails: number; bytes: number };
  for (let count = 0; count < MOST_AT_ONCE && room().bytes > maxBytes; count++) {
    if (eraseOldestContents(db, 1) === 0) break;
  }
  const tooMany = Math.min(room().mails - MAX_MAILS, MOST_AT_ONCE);
  if (tooMany > 0) eraseOldestMails(db, tooMany);
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
