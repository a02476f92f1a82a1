// What is known of receiving servers' TLS: the verbs, and the couriers' read-only view.

import type {
  BrokenTls,
  TlsPolicy,
  TransportSecurityReader,
  TransportSecurityStore,
} from '../../../transport-security.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import type { Row } from '../../values.ts';

const FIND_POLICY = 'SELECT * FROM tls_policies WHERE domain = +? AND expires_at > +?';
const FIND_BROKEN = 'SELECT * FROM broken_tls WHERE host = +? AND expires_at > +?';

export function transportSecurityVerbs(db: Transaction): Work<TransportSecurityStore> {
  return {
    *findTlsPolicy(domain, now) {
      return policyFromRow(yield* db.sql(FIND_POLICY).get(domain, now));
    },
    putTlsPolicy: (policy, maxPolicies) => putPolicy(db, policy, maxPolicies),
    *findBrokenTls(host, now) {
      return brokenFromRow(yield* db.sql(FIND_BROKEN).get(host, now));
    },
    putBrokenTls: (broken, maxHosts) => putBroken(db, broken, maxHosts),
  };
}

export function transportSecurityQueries(db: Queries): Work<Omit<TransportSecurityReader, 'close'>> {
  return {
    *tlsPolicy(domain, now) {
      return policyFromRow(yield* db.sql(FIND_POLICY).get(domain, now));
    },
    *brokenTls(host, now) {
      return brokenFromRow(yield* db.sql(FIND_BROKEN).get(host, now));
    },
  };
}

function* putPolicy(db: Transaction, policy: TlsPolicy, maxPolicies: number): Steps<void> {
  yield* db.sql('DELETE FROM tls_policies WHERE domain = +? OR expires_at <= +?').run(policy.domain, policy.fetchedAt);
  yield* db
    .sql(
      `DELETE FROM tls_policies WHERE domain IN (SELECT domain FROM tls_policies ORDER BY expires_at LIMIT
       max(0, (SELECT count(*) FROM tls_policies) - +?))`,
    )
    .run(maxPolicies - 1);
  yield* db
    .sql(
      `INSERT INTO tls_policies (domain, policy_id, mode, mx, fetched_at, expires_at) VALUES (+?, +?, +?, +?, +?, +?)`,
    )
    .run(policy.domain, policy.policyId, policy.mode, JSON.stringify(policy.mx), policy.fetchedAt, policy.expiresAt);
}

function* putBroken(db: Transaction, { host, reason, since, expiresAt }: BrokenTls, maxHosts: number): Steps<void> {
  yield* db.sql('DELETE FROM broken_tls WHERE host = +? OR expires_at <= +?').run(host, since);
  yield* db
    .sql(
      `DELETE FROM broken_tls WHERE host IN (SELECT host FROM broken_tls ORDER BY expires_at LIMIT
       max(0, (SELECT count(*) FROM broken_tls) - +?))`,
    )
    .run(maxHosts - 1);
  yield* db
    .sql('INSERT INTO broken_tls (host, reason, since, expires_at) VALUES (+?, +?, +?, +?)')
    .run(host, reason, since, expiresAt);
}

function policyFromRow(found: unknown): TlsPolicy | null {
  if (found === undefined) return null;
  const row = found as Row;
  return {
    domain: row.domain as string,
    policyId: row.policy_id as string,
    mode: row.mode as TlsPolicy['mode'],
    mx: JSON.parse(row.mx as string) as string[],
    fetchedAt: row.fetched_at as number,
    expiresAt: row.expires_at as number,
  };
}

function brokenFromRow(found: unknown): BrokenTls | null {
  if (found === undefined) return null;
  const row = found as Row;
  return {
    host: row.host as string,
    reason: row.reason as string,
    since: row.since as number,
    expiresAt: row.expires_at as number,
  };
}
