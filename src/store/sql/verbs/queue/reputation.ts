// Doubted receivers and tenants' reviews.

import { DAY_MS } from '../../../../base/clock.ts';
import type { DoubtedReceiver, JudgedMail, ReputationStore } from '../../../suppressions.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { BEFORE_ALL_IDS, idAt, type Row, toId } from '../../values.ts';

export function reputationVerbs(db: Transaction): Work<ReputationStore> {
  return {
    *doubtReceiver({ mxGroup, since, reason }) {
      const doubt =
        'INSERT INTO doubted_receivers (mx_group, since, reason) VALUES (+?, +?, +?) ON CONFLICT DO NOTHING';
      return (yield* db.sql(doubt).run(mxGroup, since, reason)).changes === 1;
    },
    *trustReceiver(mxGroup) {
      const row = yield* db.sql('DELETE FROM doubted_receivers WHERE mx_group = +? RETURNING *').get(mxGroup);
      return row === undefined ? null : doubtFromRow(row as Row);
    },
    *listDoubtedReceivers() {
      return ((yield* db.sql('SELECT * FROM doubted_receivers ORDER BY mx_group').all()) as Row[]).map(doubtFromRow);
    },
    resultsSinceReview: (tenantId, window) => resultsSinceReview(db, tenantId, window),
    stopForReview: (tenantId, review) => stopForReview(db, tenantId, review),
    *reviewOf(tenantId) {
      const row = yield* db.sql('SELECT at, reason FROM tenant_reviews WHERE tenant_id = +?').get(toId(tenantId));
      return (row as { at: number; reason: string } | undefined) ?? null;
    },
    *ownersOf(tenantId) {
      const owners = db.sql(`SELECT email FROM users WHERE tenant_id = +? AND role = 'owner' ORDER BY email`, 'column');
      return (yield* owners.all(toId(tenantId))) as string[];
    },
  };
}

/** Mail that waited when the tenant was stopped was accepted within this time before, unless it was scheduled. */
const WAITED_MS = 4 * DAY_MS;

/**
 * What was finished when the tenant was stopped is not held against it again, what waited then is. `last_message` only ends
 * the search: nothing before it can have waited.
 */
const LAST_MESSAGES = `SELECT recipient, bounce, complained, complaint_weight FROM messages
  WHERE tenant_id = +? AND state <> 'canceled'
    AND finished_at > coalesce((SELECT at FROM tenant_reviews WHERE tenant_id = +?), -1)
    AND id > coalesce((SELECT last_message FROM tenant_reviews WHERE tenant_id = +?), +?)
  ORDER BY id DESC LIMIT +?`;

function* resultsSinceReview(db: Transaction, tenantId: string, window: number): Steps<JudgedMail> {
  const tenant = toId(tenantId);
  const messages = (yield* db
    .sql(`SELECT count(*) FROM (${LAST_MESSAGES}) last`, 'column')
    .get(tenant, tenant, tenant, BEFORE_ALL_IDS, window)) as number;
  const rows = (yield* db
    .sql(
      `SELECT recipient, bounce = 'hard' AS hard,
         CASE WHEN complained = 1 THEN coalesce(complaint_weight, 1) ELSE 0 END AS weight
       FROM (${LAST_MESSAGES}) last WHERE bounce = 'hard' OR complained = 1`,
    )
    .all(tenant, tenant, tenant, BEFORE_ALL_IDS, window)) as Row[];
  const problems = rows.map((row) => ({
    recipient: row.recipient as string,
    isHardBounce: row.hard === 1,
    complaintWeight: row.weight as number,
  }));
  return { messages, problems };
}

function* stopForReview(
  db: Transaction,
  tenantId: string,
  { at, reason }: { at: number; reason: string },
): Steps<boolean> {
  const tenant = toId(tenantId);
  const stop = db.sql(
    `UPDATE tenants SET status = 'in_review', status_reason = +? WHERE id = +? AND status = 'active'`,
  );
  if ((yield* stop.run(reason, tenant)).changes === 0) return false;
  yield* db
    .sql(
      `INSERT INTO tenant_reviews (tenant_id, last_message, at, reason)
     VALUES (+?, +?, +?, +?)
     ON CONFLICT (tenant_id) DO UPDATE SET last_message = excluded.last_message, at = excluded.at,
       reason = excluded.reason`,
    )
    .run(tenant, idAt(at - WAITED_MS), at, reason);
  return true;
}

function doubtFromRow(row: Row): DoubtedReceiver {
  return { mxGroup: row.mx_group as string, since: row.since as number, reason: row.reason as string };
}
