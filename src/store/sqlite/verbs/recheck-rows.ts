// The rows of domain_rechecks as domains come, are judged and go: part of the verbs in domains.ts.
// The first look comes ten minutes after creation or a call; how it goes on is decided above the store.
import { DAY_MS, MINUTE_MS } from '../../../base/clock.ts';
import type { Connection } from '../engine/connection.ts';

const QUIET_MS = 10 * MINUTE_MS;

export function addRecheck(db: Connection, domain: Buffer, tenant: Buffer, at: number): void {
  db.sql('INSERT INTO domain_rechecks (domain_id, tenant_id, next_at, since) VALUES (?, ?, ?, ?)').run(
    domain,
    tenant,
    at + QUIET_MS,
    at,
  );
}

/** A call has found something out: the pauses begin anew. */
export function beginRechecks(db: Connection, domain: Buffer, state: 'verified' | 'failed', at: number): void {
  db.sql(
    'UPDATE domain_rechecks SET next_at = ?, since = ?, looks = 0, misses = 0, first_miss_at = NULL WHERE domain_id = ?',
  ).run(at + (state === 'verified' ? DAY_MS : QUIET_MS), at, domain);
}

export function endRechecks(db: Connection, domain: Buffer): void {
  db.sql('DELETE FROM domain_rechecks WHERE domain_id = ?').run(domain);
}
