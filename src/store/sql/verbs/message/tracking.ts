// Opens and clicks.

import type { MessageState } from '../../../queue.ts';
import type {
  LinkHits,
  LinkIndex,
  MachineTiming,
  MessageHits,
  TrackedMessage,
  TrackingStore,
} from '../../../tracking.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { decideHits, type HitUpdate } from './decide-hits.ts';
import { insertEvent } from './events.ts';
import { labelsFromRow } from './letters.ts';

const PIXEL = -1;

export function trackingVerbs(db: Transaction): Work<TrackingStore> {
  return {
    findTracked: (tenantId, messageId) => findTracked(db, tenantId, messageId),
    *recordHits(messages, timing) {
      yield* db.forAll(messages, (hits) => recordHits(db, hits, timing));
    },
  };
}

/** Runs for every few clicks, so it is one statement. */
function* findTracked(db: Transaction, tenantId: string, messageId: string): Steps<TrackedMessage | null> {
  const rows = (yield* db
    .sql(
      `SELECT m.submission_id, m.recipient, m.state, m.finished_at, m.attempts, s.from_address, s.subject, s.labels, s.header_message_id, d.name AS from_domain,
         link, hits, events, last_at, last_event_at
       FROM messages m JOIN submissions s ON s.id = m.submission_id JOIN domains d ON d.id = s.domain_id
         LEFT JOIN link_hits ON message_id = m.id
       WHERE m.id = +? AND m.tenant_id = +?`,
    )
    .all(toId(messageId), toId(tenantId))) as Row[];
  const [message] = rows;
  if (!message) return null;
  return {
    id: messageId,
    tenantId,
    submissionId: fromId(message.submission_id),
    from: message.from_address as string,
    fromDomain: message.from_domain as string,
    recipient: message.recipient as string,
    subject: message.subject as string,
    labels: labelsFromRow(message),
    state: message.state as MessageState,
    finishedAt: message.finished_at as number | null,
    attempts: message.attempts as number,
    links: rows.filter(({ link }) => link !== null).map(hitsFromRow),
  };
}

function* recordHits(db: Transaction, { tenantId, messageId, links }: MessageHits, timing: MachineTiming): Steps<void> {
  const message = yield* findTracked(db, tenantId, messageId);
  // Retention has erased it: its links still work, but there is nothing to count for.
  if (message === null) return;
  const updates = decideHits(message, links, timing);
  yield* db.forAll(updates, (update) => countHits(db, message, update));
  const events = updates.flatMap(({ event }) => event ?? []);
  yield* db.forAll(events, (event) => insertEvent(db, { tenantId, messageId }, event));
}

function* countHits(db: Transaction, { id, tenantId }: TrackedMessage, update: HitUpdate): Steps<void> {
  const { link, hits, firstAt, lastAt, event } = update;
  const count = db.sql(
    `INSERT INTO link_hits (message_id, link, tenant_id, hits, events, first_at, last_at, last_event_at)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?)
     ON CONFLICT (message_id, link) DO UPDATE SET hits = link_hits.hits + excluded.hits,
       events = link_hits.events + excluded.events, last_at = max(link_hits.last_at, excluded.last_at),
       last_event_at = coalesce(excluded.last_event_at, link_hits.last_event_at)`,
  );
  const [events, eventAt] = event === null ? [0, null] : [1, event.at];
  yield* count.run(toId(id), toColumn(link), toId(tenantId), hits, events, firstAt, lastAt, eventAt);
}

function hitsFromRow(row: Row): LinkHits {
  return {
    link: row.link === PIXEL ? null : (row.link as number),
    hits: row.hits as number,
    events: row.events as number,
    lastAt: row.last_at as number,
    lastEventAt: row.last_event_at as number | null,
  };
}

function toColumn(link: LinkIndex): number {
  return link ?? PIXEL;
}
