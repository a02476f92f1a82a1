// What a tenant's overview shows. Everything but the onboarding facts is read by the reading process.

import {
  MAX_COUNTED,
  MAX_LANES,
  type OnboardingFacts,
  type OnboardingStore,
  type OverviewQueries,
  type WaitingLane,
  type WaitingMail,
} from '../../reads.ts';
import { eachOf, type Queries, type Steps } from '../steps.ts';
import type { Transaction, Work } from '../transaction.ts';
import { fromId, type Row, toId } from '../values.ts';
import { chartOf, providersOf } from '../verbs/figures/figures.ts';
import { tagChartOf, tagsOf } from '../verbs/figures/tag-figures.ts';
import { eventFromRow } from '../verbs/message/events.ts';
import { WAITING } from '../verbs/queue/queue.ts';
import type { Answered } from './answered.ts';

export function onboardingVerbs(db: Transaction): Work<OnboardingStore> {
  return { onboardingFacts: (tenantId) => onboardingFacts(db, tenantId) };
}

export const OVERVIEW_QUERIES: Answered<OverviewQueries> = {
  *chartFigures(db, tenantId, span) {
    return {
      points: yield* chartOf(db, tenantId, span),
      providers: yield* providersOf(db, tenantId, span),
    };
  },
  tagChart: tagChartOf,
  tagFigures: tagsOf,
  waitingMail,
  *latestEvents(db, tenantId, limit) {
    const rows = db.sql('SELECT * FROM events WHERE tenant_id = +? ORDER BY seq DESC LIMIT +?');
    return ((yield* rows.all(toId(tenantId), limit)) as Row[]).map(eventFromRow);
  },
};

/** Messages are erased some day; their sums stay longer. */
function* onboardingFacts(db: Queries, tenantId: string): Steps<OnboardingFacts> {
  const facts = db.sql(
    `SELECT EXISTS (SELECT 1 FROM api_keys WHERE tenant_id = +@tenant AND revoked_at IS NULL) AS "hasKey",
       EXISTS (SELECT 1 FROM messages WHERE tenant_id = +@tenant)
         OR EXISTS (SELECT 1 FROM chart_figures WHERE tenant_id = +@tenant) AS "hasSent",
       EXISTS (SELECT 1 FROM domains WHERE tenant_id = +@tenant AND state <> 'revoked') AS "hasDomain",
       EXISTS (SELECT 1 FROM domains WHERE tenant_id = +@tenant AND state = 'verified') AS "hasVerifiedDomain",
       EXISTS (SELECT 1 FROM webhooks WHERE tenant_id = +@tenant) AS "hasWebhook"`,
  );
  const row = (yield* facts.get({ tenant: toId(tenantId) })) as Record<keyof OnboardingFacts, number>;
  return {
    hasKey: row.hasKey === 1,
    hasSent: row.hasSent === 1,
    hasDomain: row.hasDomain === 1,
    hasVerifiedDomain: row.hasVerifiedDomain === 1,
    hasWebhook: row.hasWebhook === 1,
  };
}

function* waitingMail(db: Queries, tenantId: string, limit: number): Steps<WaitingMail> {
  const tenant = toId(tenantId);
  const open = yield* db
    .sql(
      `SELECT coalesce(sum(d.open_messages + coalesce(c.open_messages, 0)), 0)
       FROM domains d LEFT JOIN domain_counts c ON c.domain_id = d.id WHERE d.tenant_id = +?`,
      'column',
    )
    .get(tenant);
  if (open === 0) return { open, lanes: [], otherLanes: 0, complete: true };
  const lanes = (yield* db
    .sql('SELECT id, domain FROM lanes WHERE tenant_id = +? LIMIT +?')
    .all(tenant, MAX_LANES)) as Row[];
  const waiting = (yield* eachOf(lanes, (lane) => waitingIn(db, lane))).flat();
  const complete = lanes.length < MAX_LANES && waiting.every(({ messages }) => messages < MAX_COUNTED);
  waiting.sort((one, other) => one.oldestAt - other.oldestAt || (one.domain < other.domain ? -1 : 1));
  const shown = waiting.slice(0, limit);
  return { open: open as number, lanes: shown, otherLanes: waiting.length - shown.length, complete };
}

/** Parked messages have their own index. IDs sort by age, and the time is read from the message itself. */
function* waitingIn(db: Queries, { id: lane, domain }: Row): Steps<WaitingLane[]> {
  const due = (yield* db
    .sql(
      `SELECT count(*) AS messages, min(id) AS oldest, min(due_at) AS due_at FROM
         (SELECT m.id, m.due_at FROM messages m WHERE m.lane = +? AND ${WAITING} ORDER BY m.due_at LIMIT +?) due`,
    )
    .get(lane, MAX_COUNTED)) as Row;
  const parked = (yield* db
    .sql(
      `SELECT count(*) AS messages, min(id) AS oldest FROM
         (SELECT m.id FROM messages m WHERE m.lane = +? AND m.parked = 1 ORDER BY m.id LIMIT +?) parked`,
    )
    .get(lane, MAX_COUNTED)) as Row;
  const [first] = ([due.oldest, parked.oldest] as (Buffer | null)[])
    .filter((oldest) => oldest !== null)
    .sort(Buffer.compare);
  if (!first) return [];
  const row = (yield* db.sql('SELECT created_at, last_reason FROM messages WHERE id = +?').get(first)) as Row;
  return [
    {
      lane: lane as number,
      domain: domain as string,
      messages: (due.messages as number) + (parked.messages as number),
      oldestAt: row.created_at as number,
      oldestId: fromId(first),
      lastReason: row.last_reason as string | null,
      dueAt: due.due_at as number | null,
    },
  ];
}
