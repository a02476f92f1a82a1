// Opens and clicks in SQLite.
import type { MessageState } from '../../queue.ts';
import type { HitUpdate, LinkHits, LinkIndex, TrackedMessage, TrackingStore } from '../../tracking.ts';
import type { Transaction, Work } from '../engine/connection.ts';
import { fromId, type Row, toId } from '../engine/values.ts';
import { insertEvent } from './events.ts';
import { labelsFromRow } from './letters.ts';

const PIXEL = -1;

export function trackingVerbs(db: Transaction): Work<TrackingStore> {
  return {
    findTracked: (tenantId, messageId) => findTracked(db, tenantId, messageId),
    recordHits: (updates) => {
      for (const update of updates) recordHit(db, update);
    },
  };
}

/** Runs for every few clicks, so it is one statement: each statement takes and releases the lock of the log. */
function findTracked(db: Transaction, tenantId: string, messageId: string): TrackedMessage | null {
  const rows = db
    .sql(
      `SELECT m.submission_id, m.recipient, m.state, m.finished_at, m.attempts, s.from_address, s.subject, s.labels, s.header_message_id, d.name AS from_domain,
         link, hits, events, last_at, last_event_at
       FROM messages m JOIN submissions s ON s.id = m.submission_id JOIN domains d ON d.id = s.domain_id
         LEFT JOIN link_hits ON message_id = m.id
       WHERE m.id = +? AND m.tenant_id = +?`,
    )
    .all(toId(messageId), toId(tenantId)) as Row[];
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

function recordHit(db: Transaction, update: HitUpdate): void {
  const { tenantId, messageId, link, hits, firstAt, lastAt, event } = update;
  const count = db.sql(
    `INSERT INTO link_hits (message_id, link, tenant_id, hits, events, first_at, last_at, last_event_at)
     SELECT id, +@link, tenant_id, +@hits, +@events, +@firstAt, +@lastAt, +@eventAt
     FROM messages WHERE id = +@messageId AND tenant_id = +@tenantId
     ON CONFLICT (message_id, link) DO UPDATE SET hits = hits + excluded.hits, events = events + excluded.events,
       last_at = max(last_at, excluded.last_at), last_event_at = coalesce(excluded.last_event_at, last_event_at)`,
  );
  const counted = count.run({
    tenantId: toId(tenantId),
    messageId: toId(messageId),
    link: toColumn(link),
    hits,
    firstAt,
    lastAt,
    events: event === null ? 0 : 1,
    eventAt: event?.at ?? null,
  });
  if (counted.changes === 1 && event) insertEvent(db, { tenantId, messageId }, event);
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
