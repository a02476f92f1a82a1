// Mail that comes back for a message (to its return path or unsubscribe address): limits how much space all
// contents take, and how much one message gets within a day. All mails are processed first; contents are erased later.

import { DAY_MS } from '../../../../base/clock.ts';
import type { InboundKind, ReturnedQuota } from '../../../inbound.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import { NO_LIMIT, type Row, toId } from '../../values.ts';
import { ERASED_FOR_ROOM } from './unasked-mail.ts';

/** For each mail that comes in; the next one continues where there is more. */
const MAX_AT_ONCE = 1000;
/** Mails beyond their message's bounds that had no effect: so many of the newest keep a note for people to read. */
const MAX_NOTED_BEYOND = 1000;
/** Values of `beyond`. */
const [WITHIN, WAITS_BEYOND, ONLY_NOTED] = [0, 1, 2];

const NOT_KEPT = 'its content was not kept: too much came to the address of this message within a day';

/** `beyond`: its content is erased once it is processed; `full`: too many of those are waiting. */
export function* classifyReturned(
  db: Transaction,
  { receivedAt, bytes }: { receivedAt: number; bytes: number },
  limits: ReturnedQuota,
): Steps<'within' | 'beyond' | 'full'> {
  const { mails, size } = (yield* db
    .sql(
      `SELECT count(*) AS mails, coalesce(sum(m.size_octets), 0) AS size FROM returned_mails r
       JOIN inbound_mails m ON m.seq = r.mail_seq WHERE r.message_id = +? AND r.received_at > +? AND r.beyond = ${WITHIN}`,
    )
    .get(toId(limits.messageId), receivedAt - DAY_MS)) as { mails: number; size: number };
  if (mails < limits.mailsPerDay && size + bytes <= limits.bytesPerDay) return 'within';
  return (yield* roomOf(db)).waiting_bytes + bytes <= limits.waitingBytes ? 'beyond' : 'full';
}

/** Runs within the transaction that stores the mail. */
export function* countReturned(
  db: Transaction,
  mail: { seq: number | bigint; receivedAt: number; bytes: number; isBeyond: boolean },
  { messageId, maxBytes }: ReturnedQuota,
): Steps<void> {
  const { seq, receivedAt, bytes, isBeyond } = mail;
  yield* db
    .sql('INSERT INTO returned_mails (mail_seq, message_id, received_at, beyond, bytes) VALUES (+?, +?, +?, +?, +?)')
    .run(seq, toId(messageId), receivedAt, isBeyond ? WAITS_BEYOND : WITHIN, bytes);
  for (let count = 0; count < MAX_AT_ONCE && (yield* roomOf(db)).bytes > maxBytes; count++) {
    if ((yield* eraseOldestReturned(db, 1)) === 0) break;
  }
}

function* roomOf(db: Transaction): Steps<{ bytes: number; waiting_bytes: number }> {
  return (yield* db.sql('SELECT bytes, waiting_bytes FROM returned_room').get()) as {
    bytes: number;
    waiting_bytes: number;
  };
}

/** Only of processed mails. Returns how many. */
export function* eraseOldestReturned(db: Transaction, limit: number): Steps<number> {
  const oldest = db.sql(
    `SELECT r.mail_seq FROM returned_mails r JOIN inbound_mails m ON m.seq = r.mail_seq
     WHERE r.bytes > 0 AND m.processed_at IS NOT NULL ORDER BY r.mail_seq LIMIT +?`,
    'column',
  );
  const seqs = (yield* oldest.all(limit)) as number[];
  for (const seq of seqs) yield* eraseContent(db, seq, ERASED_FOR_ROOM);
  return seqs.length;
}

/** Runs within the transaction that processes it. Returns the words to add to its reason; null: the content stays. */
export function* settleReturned(
  db: Transaction,
  seq: number,
  { kind, hadEffect }: { kind: InboundKind; hadEffect: boolean },
): Steps<string | null> {
  const row = (yield* db
    .sql(
      'SELECT r.beyond, m.tries FROM returned_mails r JOIN inbound_mails m ON m.seq = r.mail_seq WHERE r.mail_seq = +?',
    )
    .get(seq)) as Row | undefined;
  if (row === undefined) return null;
  // Its content is not worth keeping: the address says everything.
  if (kind === 'unsubscribe') yield* db.sql('DELETE FROM inbound_contents WHERE mail_seq = +?').run(seq);
  if (row.beyond === 0) return null;
  // A mail that crashed the daemon was never read: an operator can have it retried.
  const isUnread = kind === 'unreadable' && (row.tries as number) > 0;
  if (!isUnread) yield* eraseContent(db, seq, NOT_KEPT);
  const isOnlyNoted = !isUnread && !hadEffect;
  yield* db
    .sql('UPDATE returned_mails SET beyond = +? WHERE mail_seq = +?')
    .run(isOnlyNoted ? ONLY_NOTED : WITHIN, seq);
  if (isOnlyNoted) yield* forgetNotes(db);
  return isUnread ? null : NOT_KEPT;
}

function* forgetNotes(db: Transaction): Steps<void> {
  yield* db
    .sql(
      `DELETE FROM inbound_mails WHERE seq IN
       (SELECT mail_seq FROM returned_mails WHERE beyond = ${ONLY_NOTED} ORDER BY mail_seq DESC LIMIT ${NO_LIMIT} OFFSET +?)`,
    )
    .run(MAX_NOTED_BEYOND);
}

function* eraseContent(db: Transaction, seq: number, why: string): Steps<void> {
  yield* db.sql('DELETE FROM inbound_contents WHERE mail_seq = +?').run(seq);
  yield* db.sql("UPDATE inbound_mails SET reason = coalesce(reason || '; ', '') || +? WHERE seq = +?").run(why, seq);
}
