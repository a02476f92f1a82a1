// A webhook's deliveries, page by page, for its tenant to read. Each page goes along an index.

import {
  type DeliveryPosition,
  type DeliverySearch,
  type DeliveryState,
  type DeliveryView,
  type FoundDeliveries,
  MAX_DELIVERIES_SEARCHED,
  type WebhookDeliveryStore,
} from '../../../webhooks.ts';
import { eachOf, type Queries, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';

export function deliveryListVerbs(db: Transaction): Work<Pick<WebhookDeliveryStore, 'listWebhookDeliveries'>> {
  return { listWebhookDeliveries: (tenantId, search) => listDeliveries(db, tenantId, search) };
}

interface Order {
  /** What the page is sorted by, first. */
  at: string;
  /** Which deliveries the index has. */
  where: string;
  after: string;
  by: string;
}

const LATEST_FAILURE: Order = {
  at: 'd.finished_at',
  where: `d.state = 'failed'`,
  after: '(d.finished_at, d.event_seq) < (+@at, +@seq)',
  by: 'd.finished_at DESC, d.event_seq DESC',
};
const NEXT_ATTEMPT: Order = {
  at: 'd.due_at',
  where: 'd.due_at IS NOT NULL',
  after: '(d.due_at, d.event_seq) > (+@at, +@seq)',
  by: 'd.due_at, d.event_seq',
};
const NEWEST_EVENT: Order = {
  at: '0',
  where: 'TRUE',
  after: 'd.event_seq < +@seq AND CAST(+@at AS BIGINT) IS NOT NULL',
  by: 'd.event_seq DESC',
};

function orderOf(state: DeliveryState | null): Order {
  switch (state) {
    case 'failed':
      return LATEST_FAILURE;
    case 'due':
      return NEXT_ATTEMPT;
    default:
      return NEWEST_EVENT;
  }
}

function* listDeliveries(
  db: Transaction,
  tenantId: string,
  { webhookId, state, after, limit }: DeliverySearch,
): Steps<FoundDeliveries | 'unknown' | null> {
  const [tenant, webhook] = [toId(tenantId), toId(webhookId)];
  const known = yield* db.sql('SELECT 1 FROM webhooks WHERE tenant_id = +? AND id = +?').get(tenant, webhook);
  if (known === undefined) return null;
  const seq = after && (yield* sequenceOf(db, tenant, after));
  if (after && seq === null) return 'unknown';
  const order = orderOf(state);
  // One more than the page tells whether there is more. Only delivered ones stand among others in their order.
  const scanned = state === 'delivered' ? Math.max(limit, MAX_DELIVERIES_SEARCHED) : limit + 1;
  const page = db.sql(
    `SELECT d.*, ${order.at} AS position, e.id AS event_id, e.type
     FROM webhook_deliveries d CROSS JOIN events e ON e.seq = d.event_seq
     WHERE d.webhook_id = +@webhook AND d.tenant_id = +@tenant AND ${order.where} ${after ? `AND ${order.after}` : ''}
     ORDER BY ${order.by} LIMIT +@scanned`,
  );
  const rows = (yield* page.all({ webhook, tenant, scanned, ...(after && { at: after.at, seq }) })) as Row[];
  const fitting = state === 'delivered' ? rows.filter((row) => row.state === state) : rows;
  const shown = fitting.slice(0, limit);
  const last = fitting.length > limit ? shown.at(-1) : rows.length === scanned ? rows.at(-1) : undefined;
  return { deliveries: yield* eachOf(shown, (row) => deliveryFromRow(db, row)), next: last ? positionOf(last) : null };
}

function* sequenceOf(db: Transaction, tenant: Buffer, { eventId }: DeliveryPosition): Steps<number | null> {
  const row = yield* db.sql('SELECT seq FROM events WHERE tenant_id = +? AND id = +?').get(tenant, toId(eventId));
  return row === undefined ? null : ((row as Row).seq as number);
}

function positionOf(row: Row): DeliveryPosition {
  return { at: row.position as number, eventId: fromId(row.event_id) };
}

/** Of a delivery with `event_id` and `type` of its event. */
export function* deliveryFromRow(db: Queries, row: Row): Steps<DeliveryView> {
  return {
    eventId: fromId(row.event_id),
    eventType: row.type as DeliveryView['eventType'],
    state: row.state as DeliveryState,
    attempts: row.attempts as number,
    dueAt: row.leased === 1 ? null : (row.due_at as number | null),
    finishedAt: row.finished_at as number | null,
    lastAttempt: yield* lastAttemptOf(db, row),
  };
}

/** An attempt in progress is counted already, but not recorded. */
function* lastAttemptOf(
  db: Queries,
  { webhook_id, event_seq, attempts, leased }: Row,
): Steps<DeliveryView['lastAttempt']> {
  const find = db.sql('SELECT * FROM webhook_attempts WHERE webhook_id = +? AND event_seq = +? AND number = +?');
  const row = (yield* find.get(webhook_id, event_seq, (attempts as number) - (leased as number))) as Row | undefined;
  if (row === undefined) return null;
  return {
    number: row.number as number,
    startedAt: row.started_at as number,
    elapsedMs: row.elapsed_ms as number,
    status: row.status as number | null,
    reason: row.reason as string,
    answer: row.answer as string | null,
  };
}
