// Inbound mail: which mails may have crashed a daemon, and which an operator wants to retry.

import type { InboundStore, InboundSuspect, RetriedInbound } from '../../../inbound.ts';
import type { Owner } from '../../../owners.ts';
import { eachOf, only, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { type Row, toId } from '../../values.ts';
import { isCurrent } from '../nodes/owners.ts';

type InboundTrialVerbs = Work<
  Pick<InboundStore, 'noteInterruptedInbound' | 'noteInboundTrial' | 'noteInboundReach' | 'retryInbound'>
>;

export function inboundTrialVerbs(db: Transaction): InboundTrialVerbs {
  return {
    *noteInterruptedInbound(owners, limit) {
      return yield* noteInterrupted(db, yield* currentSlots(db, owners), limit);
    },
    *noteInboundTrial(owners, seq) {
      return yield* noteTrial(db, yield* currentSlots(db, owners), seq);
    },
    *noteInboundReach(owners, mails) {
      yield* noteReach(db, yield* currentSlots(db, owners), mails);
    },
    retryInbound: (id) => retry(db, id),
  };
}

function* currentSlots(db: Transaction, owners: readonly Owner[]): Steps<number[]> {
  return (yield* only(owners, (owner) => isCurrent(db, owner))).map(({ slot }) => slot);
}

function* noteInterrupted(db: Transaction, slots: readonly number[], limit: number): Steps<InboundSuspect[]> {
  const count = db.sql(
    `UPDATE inbound_mails SET tries = tries + 1
     WHERE processed_at IS NULL AND seq = (SELECT mail_seq FROM inbound_trials WHERE slot = +?)`,
  );
  for (const slot of slots) yield* count.run(slot);
  yield* noteTrial(db, slots, null);
  const first = db.sql(
    'SELECT seq, tries FROM inbound_mails WHERE processed_at IS NULL AND slot = +? ORDER BY seq LIMIT +?',
  );
  const reachOf = db.sql('SELECT mails FROM inbound_reaches WHERE slot = +?', 'column');
  const suspects = (yield* eachOf(slots, function* (slot) {
    const reach = ((yield* reachOf.get(slot)) as number | undefined) ?? 0;
    return (yield* first.all(slot, Math.max(limit, reach))) as InboundSuspect[];
  })).flat();
  return suspects.sort((a, b) => a.tries - b.tries || a.seq - b.seq);
}

/** One mail in all these slots: it is processed alone. */
function* noteTrial(db: Transaction, slots: readonly number[], seq: number | null): Steps<boolean> {
  const inSlots = JSON.stringify(slots);
  yield* db
    .sql('DELETE FROM inbound_trials WHERE slot IN (SELECT CAST(value AS INTEGER) FROM json_each(+?))')
    .run(inSlots);
  if (seq === null) return true;
  const note = db.sql(
    `INSERT INTO inbound_trials (slot, mail_seq) SELECT slot, seq FROM inbound_mails
     WHERE seq = +? AND processed_at IS NULL AND slot IN (SELECT CAST(value AS INTEGER) FROM json_each(+?))`,
  );
  return (yield* note.run(seq, inSlots)).changes === 1;
}

/** In each of them, since the next owner may take any one. */
function* noteReach(db: Transaction, slots: readonly number[], mails: number | null): Steps<void> {
  const forget = db.sql('DELETE FROM inbound_reaches WHERE slot = +?');
  const note = db.sql(
    `INSERT INTO inbound_reaches (slot, mails) VALUES (+?, +?)
     ON CONFLICT (slot) DO UPDATE SET mails = excluded.mails`,
  );
  for (const slot of slots) {
    if (mails === null) yield* forget.run(slot);
    else yield* note.run(slot, mails);
  }
}

function* retry(db: Transaction, id: string): Steps<RetriedInbound> {
  const mail = (yield* db.sql('SELECT seq, kind, processed_at FROM inbound_mails WHERE id = +?').get(toId(id))) as
    | Row
    | undefined;
  if (!mail) return 'unknown';
  if (mail.processed_at === null) return 'waiting_already';
  if (mail.kind !== 'unreadable') return 'not_unreadable';
  if ((yield* db.sql('SELECT 1 FROM inbound_contents WHERE mail_seq = +?').get(mail.seq)) === undefined)
    return 'erased';
  yield* db
    .sql(
      `UPDATE inbound_mails SET processed_at = NULL, tries = 0, kind = NULL, effect = NULL, reason = NULL, digest = NULL,
       message_id = NULL, tenant_id = NULL, finding = NULL WHERE seq = +?`,
    )
    .run(mail.seq);
  return 'waits';
}
