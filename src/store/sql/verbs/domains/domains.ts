// Sending domains.

import { DAY_MS, MINUTE_MS } from '../../../../base/clock.ts';
import type {
  Domain,
  DomainCheckStore,
  DomainChecks,
  DomainState,
  DomainStore,
  DomainVerdict,
  LostDomain,
  NewDomain,
} from '../../../domains.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';

export const DOMAIN_COLUMNS = `d.*, k.selector, k.public_key FROM domains d JOIN signing_keys k ON k.id = d.signing_key`;

export function domainVerbs(db: Transaction): Work<DomainStore> {
  return {
    createDomain: (domain, maxLive) => createDomain(db, domain, maxLive),
    refusesDomain: (tenantId, name, maxLive) => refusesDomain(db, { tenantId, name }, maxLive),
    getDomain: (tenantId, id) => readDomain(db, tenantId, id),
    *listDomains(tenantId) {
      const rows = db.sql(`SELECT ${DOMAIN_COLUMNS} WHERE d.tenant_id = +? ORDER BY d.id`);
      return ((yield* rows.all(toId(tenantId))) as Row[]).map(domainFromRow);
    },
    *findVerifiedDomain(tenantId, name) {
      const holder = yield* db.cached(`verified holder ${name}`, () => readVerifiedHolder(db, name));
      return holder?.tenantId === tenantId ? holder : null;
    },
    *findLiveDomain(tenantId, name) {
      const live = db.sql(`SELECT ${DOMAIN_COLUMNS} WHERE d.tenant_id = +? AND d.name = +? AND d.state <> 'revoked'`);
      const row = (yield* live.get(toId(tenantId), name)) as Row | undefined;
      return row === undefined ? null : domainFromRow(row);
    },
    findVerifiedHolder: (name) => readVerifiedHolder(db, name),
    recordVerdict: (tenantId, id, verdict) => recordVerdict(db, { tenantId, id, verdict }),
    takeOverDomain: (claimant, holder, at) => takeOver(db, claimant, holder, at),
    revokeDomain: (tenantId, id) => revokeDomain(db, tenantId, id),
  };
}

function* createDomain(
  db: Transaction,
  domain: NewDomain,
  maxLive: number | undefined,
): Steps<Domain | 'exists' | 'too_many'> {
  const refused = yield* refusesDomain(db, domain, maxLive);
  if (refused) return refused;
  const [id, tenant] = [toId(domain.id), toId(domain.tenantId)];
  const { masterKeyId, sealed } = domain.privateKey;
  const key = yield* db
    .sql(
      `INSERT INTO signing_keys (domain_id, selector, public_key, master_key_id, sealed, created_at)
       VALUES (+?, +?, +?, +?, +?, +?) RETURNING id`,
      'assigned',
    )
    .get(id, domain.selector, domain.publicKeyB64, masterKeyId, sealed, domain.createdAt);
  yield* db
    .sql(
      `INSERT INTO domains (id, tenant_id, name, state, signing_key, created_at) VALUES (+?, +?, +?, 'pending', +?, +?)`,
    )
    .run(id, tenant, domain.name, key, domain.createdAt);
  yield* db.sql('INSERT INTO domain_counts (domain_id, open_messages) VALUES (+?, 0)').run(id);
  yield* addRecheck(db, id, tenant, domain.createdAt);
  return (yield* readDomain(db, domain.tenantId, domain.id))!;
}

function* refusesDomain(
  db: Transaction,
  { tenantId, name }: Pick<NewDomain, 'tenantId' | 'name'>,
  maxLive: number | undefined,
): Steps<'exists' | 'too_many' | null> {
  const tenant = toId(tenantId);
  const own = db.sql(`SELECT 1 FROM domains WHERE tenant_id = +? AND name = +? AND state <> 'revoked'`);
  if ((yield* own.get(tenant, name)) !== undefined || (yield* readVerifiedHolder(db, name))) return 'exists';
  if (maxLive === undefined) return null;
  const live = db.sql(`SELECT count(*) AS n FROM domains WHERE tenant_id = +? AND state <> 'revoked'`);
  return ((yield* live.get(tenant)) as { n: number }).n >= maxLive ? 'too_many' : null;
}

/*
 * States of a domain. pending: registered, never verified. verified: the DKIM record was found; only now may mail be
 * sent from it. failed: a check did not find it; it can be checked again at any time. revoked: deleted by its tenant,
 * for good; its key outlives it only as long as accepted messages need to be signed.
 */
function* recordVerdict(
  db: Transaction,
  { tenantId, id, verdict }: { tenantId: string; id: string; verdict: DomainVerdict },
): Steps<Domain | 'taken' | null> {
  const domain = yield* readDomain(db, tenantId, id);
  if (!domain || domain.state === 'revoked') return null;
  if (verdict.state === 'verified') {
    const holder = yield* readVerifiedHolder(db, domain.name);
    if (holder && holder.id !== domain.id) return 'taken';
  }
  yield* setState(db, id, verdict);
  return yield* readDomain(db, tenantId, id);
}

function* setState(db: Transaction, id: string, verdict: DomainVerdict): Steps<void> {
  // verified_at is the first success: a repeated one does not move it.
  yield* db
    .sql(
      `UPDATE domains SET
       verified_at = CASE WHEN +@state <> 'verified' THEN NULL WHEN state = 'verified' THEN verified_at ELSE +@at END,
       state = +@state, failure_reason = +@reason, last_checked_at = +@at
     WHERE id = +@id`,
    )
    .run({ id: toId(id), state: verdict.state, reason: verdict.failureReason, at: verdict.checkedAt });
  yield* beginRechecks(db, toId(id), verdict.state, verdict.checkedAt);
}

function* takeOver(
  db: Transaction,
  { tenantId, id }: Pick<Domain, 'tenantId' | 'id'>,
  lost: LostDomain,
  at: number,
): Steps<Domain | null> {
  const claimant = yield* readDomain(db, tenantId, id);
  if (!claimant || claimant.state === 'revoked') return null;
  const holder = yield* readVerifiedHolder(db, claimant.name);
  if (holder?.id !== lost.id || lost.id === claimant.id) return null;

  yield* setState(db, lost.id, { state: 'failed', failureReason: lost.failureReason, checkedAt: at });
  yield* setState(db, id, { state: 'verified', failureReason: null, checkedAt: at });
  return yield* readDomain(db, tenantId, id);
}

function* revokeDomain(db: Transaction, tenantId: string, id: string): Steps<Domain | null> {
  const revoke = db.sql(`UPDATE domains SET state = 'revoked' WHERE tenant_id = +? AND id = +? AND state <> 'revoked'`);
  if ((yield* revoke.run(toId(tenantId), toId(id))).changes === 0) return null;
  yield* eraseUnneededKeys(db, toId(id));
  yield* endRechecks(db, toId(id));
  return yield* readDomain(db, tenantId, id);
}

/** A revoked domain without waiting messages no longer needs its private key. */
function* eraseUnneededKeys(db: Transaction, domainId: Buffer): Steps<void> {
  yield* db
    .sql(
      `UPDATE signing_keys SET sealed = NULL WHERE domain_id = +? AND sealed IS NOT NULL AND EXISTS
       (SELECT 1 FROM domains d LEFT JOIN domain_counts c ON c.domain_id = d.id
        WHERE d.id = signing_keys.domain_id AND d.state = 'revoked' AND d.open_messages + coalesce(c.open_messages, 0) = 0)`,
    )
    .run(domainId);
}

/** Counts accepted, unfinished messages. When the last one of a revoked domain ends, the private key is erased. */
export function countOpenMessages(db: Transaction, domainId: string, change: number): void {
  db.addUp(`open messages of ${domainId}`, change, function* (sum) {
    const count = db.sql(
      `UPDATE domain_counts SET open_messages = open_messages + +? WHERE domain_id = +?
       RETURNING (SELECT d.state FROM domains d WHERE d.id = domain_id) AS state`,
    );
    const id = toId(domainId);
    const row = (yield* count.get(sum, id)) as { state: string } | undefined;
    // A daemon of an older version, on the same database, makes domains without counts.
    if (!row) {
      yield* db
        .sql('INSERT INTO domain_counts (domain_id, open_messages) SELECT d.id, +? FROM domains d WHERE d.id = +?')
        .run(sum, id);
    }
    if (row?.state === 'revoked') yield* eraseUnneededKeys(db, id);
  });
}

function* readVerifiedHolder(db: Transaction, name: string): Steps<Domain | null> {
  const row = (yield* db.sql(`SELECT ${DOMAIN_COLUMNS} WHERE d.name = +? AND d.state = 'verified'`).get(name)) as
    | Row
    | undefined;
  return row ? domainFromRow(row) : null;
}

function* readDomain(db: Transaction, tenantId: string, id: string): Steps<Domain | null> {
  const row = (yield* db
    .sql(`SELECT ${DOMAIN_COLUMNS} WHERE d.tenant_id = +? AND d.id = +?`)
    .get(toId(tenantId), toId(id))) as Row | undefined;
  return row ? domainFromRow(row) : null;
}

export function domainFromRow(row: Row): Domain {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    name: row.name as string,
    state: row.state as DomainState,
    selector: row.selector as string,
    publicKeyB64: row.public_key as string,
    signingKeyId: row.signing_key as number,
    failureReason: row.failure_reason as string | null,
    verifiedAt: row.verified_at as number | null,
    lastCheckedAt: row.last_checked_at as number | null,
    createdAt: row.created_at as number,
  };
}

// The rows of domain_rechecks follow domains: the verbs above change them. The first re-check comes ten minutes after
// creation or a call; what follows is decided above the store.

const QUIET_MS = 10 * MINUTE_MS;

function* addRecheck(db: Transaction, domain: Buffer, tenant: Buffer, at: number): Steps<void> {
  yield* db
    .sql('INSERT INTO domain_rechecks (domain_id, tenant_id, next_at, since) VALUES (+?, +?, +?, +?)')
    .run(domain, tenant, at + QUIET_MS, at);
}

/** A call has checked the domain: the back-off begins again. */
function* beginRechecks(db: Transaction, domain: Buffer, state: 'verified' | 'failed', at: number): Steps<void> {
  yield* db
    .sql(
      'UPDATE domain_rechecks SET next_at = +?, since = +?, looks = 0, misses = 0, first_miss_at = NULL WHERE domain_id = +?',
    )
    .run(at + (state === 'verified' ? DAY_MS : QUIET_MS), at, domain);
}

function* endRechecks(db: Transaction, domain: Buffer): Steps<void> {
  yield* db.sql('DELETE FROM domain_rechecks WHERE domain_id = +?').run(domain);
}

// The result of the last DNS check.

export function domainCheckVerbs(db: Transaction): Work<DomainCheckStore> {
  return {
    recordChecks: (tenantId, domainId, found) => recordChecks(db, { tenantId, domainId }, found),
    *lastChecks(tenantId, domainId) {
      const last = db.sql('SELECT checked_at, checks FROM domain_checks WHERE tenant_id = +? AND domain_id = +?');
      const row = (yield* last.get(toId(tenantId), toId(domainId))) as Row | undefined;
      if (!row) return null;
      return { at: row.checked_at as number, checks: JSON.parse(row.checks as string) as DomainChecks['checks'] };
    },
  };
}

function* recordChecks(
  db: Transaction,
  of: { tenantId: string; domainId: string },
  { at, checks }: DomainChecks,
): Steps<void> {
  yield* db
    .sql(
      `INSERT INTO domain_checks (domain_id, tenant_id, checked_at, checks)
     SELECT id, tenant_id, CAST(+@at AS BIGINT), CAST(+@checks AS TEXT) FROM domains WHERE tenant_id = +@tenant AND id = +@domain
     ON CONFLICT (domain_id) DO UPDATE SET checked_at = excluded.checked_at, checks = excluded.checks
     WHERE excluded.checked_at >= domain_checks.checked_at`,
    )
    .run({ tenant: toId(of.tenantId), domain: toId(of.domainId), at, checks: JSON.stringify(checks) });
  yield* db
    .sql(
      'UPDATE domains SET last_checked_at = max(coalesce(last_checked_at, +@at), +@at) WHERE tenant_id = +@tenant AND id = +@domain',
    )
    .run({ tenant: toId(of.tenantId), domain: toId(of.domainId), at });
}
