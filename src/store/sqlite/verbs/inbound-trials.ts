// Inbound mail in SQLite: which mails may have crashed a daemon, and which an operator wants to retry.
import type { InboundStore, InboundSuspect, RetriedInbound } from '../../inbound.ts';
import type { Transaction, Work } from '../engine/connection.ts';
import { type Row, toId } from '../engine/values.ts';

type InboundTrialVerbs = Work<
  Pick<InboundStore, 'noteInterruptedInbound' | 'noteInboundTrial' | 'noteInboundReach' | 'retryInbound'>
>;

export function inboundTrialVerbs(db: Transaction): InboundTrialVerbs {
  return {
    noteInterruptedInbound: (worker, limit) => noteInterrupted(db, worker, limit),
    noteInboundTrial: (worker, seq) => noteTrial(db, worker, seq),
    noteInboundReach: (worker, mails) => noteReach(db, worker, mails),
    retryInbound: (id) => retry(db, id),
  };
}

function noteInterrupted(db: Transaction, worker: string, limit: number): InboundSuspect[] {
  db.sql(
    `UPDATE inbound_mails SET tries = tries + 1
     WHERE processed_at IS NULL AND seq = (SELECT mail_seq FROM inbound_trials WHERE worker = +?)`,
  ).run(worker);
  noteTrial(db, worker, null);
  const first = db.sql('SELECT seq, tries FROM inbound_mails WHERE processed_at IS NULL ORDER BY seq LIMIT +?');
  const reach = db.sql('SELECT mails FROM inbound_reaches WHERE worker = +?', 'column').get(worker) as
    | number
    | undefined;
  const suspects = first.all(Math.max(limit, reach ?? 0)) as InboundSuspect[];
  return suspects.sort((a, b) => a.tries - b.tries || a.seq - b.seq);
}

function noteTrial(db: Transaction, worker: string, seq: number | null): void {
  if (seq === null) db.sql('DELETE FROM inbound_trials WHERE worker = +?').run(worker);
  else {
    const note = `INSERT INTO inbound_trials (worker, mail_seq) VALUES (+?, +?)
      ON CONFLICT (worker) DO UPDATE SET mail_seq = excluded.mail_seq`;
    db.sql(note).run(worker, seq);
  }
}

function noteReach(db: Transaction, worker: string, mails: number | null): void {
  if (mails === null) db.sql('DELETE FROM inbound_reaches WHERE worker = +?').run(worker);
  else {
    const note = `INSERT INTO inbound_reaches (worker, mails) VALUES (+?, +?)
      ON CONFLICT (worker) DO UPDATE SET mails = excluded.mails`;
    db.sql(note).run(worker, mails);
  }
}

function retry(db: Transaction, id: string): RetriedInbound {
  const mail = db.sql('SELECT seq, kind, processed_at FROM inbound_mails WHERE id = +?').get(toId(id)) as
    | Row
    | undefined;
  if (!mail) return 'unknown';
  if (mail.processed_at === null) return 'waiting_already';
  if (mail.kind !== 'unreadable') return 'not_unreadable';
  if (db.sql('SELECT 1 FROM inbound_contents WHERE mail_seq = +?').get(mail.seq) === undefined) return 'erased';
  db.sql(
    `UPDATE inbound_mails SET processed_at = NULL, tries = 0, kind = NULL, effect = NULL, reason = NULL, digest = NULL,
       message_id = NULL, tenant_id = NULL, finding = NULL WHERE seq = +?`,
  ).run(mail.seq);
  return 'waits';
}
