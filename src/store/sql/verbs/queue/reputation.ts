// Doubted receivers and tenants' reviews. What a review judges is in last-finished.ts.

import { DAY_MS } from '../../../../base/clock.ts';
import type { DoubtedReceiver, ReputationStore } from '../../../suppressions.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { idAt, type Row, toId } from '../../values.ts';

export function reputationVerbs(db: Transaction): Work<Omit<ReputationStore, 'resultsSinceReview'>> {
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
