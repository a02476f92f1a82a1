// Sending domains in SQLite.

import { DAY_MS, MINUTE_MS } from '../../../base/clock.ts';
import type {
  ClaimedRecheck,
  Domain,
  DomainCheckStore,
  DomainChecks,
  DomainRecheckStore,
  DomainState,
  DomainStore,
  DomainVerdict,
  NewDomain,
  RecheckNote,
} from '../../domains.ts';
import type { Transaction, Work } from '../engine/connection.ts';
import { fromId, type Row, toId } from '../engine/values.ts';

const DOMAIN_COLUMNS = `d.*, k.selector, k.public_key FROM domains d JOIN signing_keys k ON k.id = d.signing_key`;

export function domainVerbs(db: Transaction): Work<DomainStore> {
  return {
    createDomain: (domain) => createDomain(db, domain),
    getDomain: (tenantId, id) => readDomain(db, tenantId, id),
    listDomains: (tenantId) => {
      const rows = db.sql(`SELECT ${DOMAIN_COLUMNS} WHERE d.tenant_id = +? ORDER BY d.id`);
      return (rows.all(toId(tenantId)) as Row[]).map(domainFromRow);
    },
    findVerifiedDomain: (tenantId, name) => {
      const holder = db.cached(`verified holder ${name}`, () => readVerifiedHolder(db, name));
      return holder?.tenantId === tenantId ? holder : null;
    },
    findVerifiedHolder: (name) => readVerifiedHolder(db, name),
    recordVerdict: (tenantId, id, verdict) => recordVerdict(db, { tenantId, id, verdict }),
    takeOverDomain: (holderId, tenantId, id, at) => takeOver(db, { holderId, tenantId, id, at }),
    revokeDomain: (tenantId, id) => revokeDomain(db, tenantId, id),
  };
}

function createDomain(db: Transaction, domain: NewDomain): Domain | 'exists' {
  const tenant = toId(domain.tenantId);
  const own = db.sql(`SELECT 1 FROM domains WHERE tenant_id = +? AND name = +? AND state <> 'revoked'`);
  if (own.get(tenant, domain.name) !== undefined || readVerifiedHolder(db, domain.name)) return 'exists';
  const id = toId(domain.id);
  const { masterKeyId, sealed } = domain.privateKey;
  const key = db
    .sql(
      `INSERT INTO signing_keys (domain_id, selector, public_key, master_key_id, sealed, created_at)
       VALUES (+?, +?, +?, +?, +?, +?)`,
    )
    .run(id, domain.selector, domain.publicKeyB64, masterKeyId, sealed, domain.createdAt);
  db.sql(
    `INSERT INTO domains (id, tenant_id, name, state, signing_key, created_at) VALUES (+?, +?, +?, 'pending', +?, +?)`,
  ).run(id, tenant, domain.name, key.lastInsertRowid, domain.createdAt);
  addRecheck(db, id, tenant, domain.createdAt);
  return readDomain(db, domain.tenantId, domain.id)!;
}

/*
 * States of a domain. pending: registered, never verified. verified: the DKIM record was found; only now may mail be
 * sent from it. failed: a check did not find it; it can be checked again at any time. revoked: deleted by its tenant,
 * for good; its key outlives it only as long as accepted messages need to be signed.
 */
function recordVerdict(
  db: Transaction,
  { tenantId, id, verdict }: { tenantId: string; id: string; verdict: DomainVerdict },
): Domain | 'taken' | null {
  const domain = readDomain(db, tenantId, id);
  if (!domain || domain.state === 'revoked') return null;
  if (verdict.state === 'verified') {
    const holder = readVerifiedHolder(db, domain.name);
    if (holder && holder.id !== domain.id) return 'taken';
  }
  setState(db, id, verdict);
  return readDomain(db, tenantId, id);
}

function setState(db: Transaction, id: string, verdict: DomainVerdict): void {
  // verified_at is the first success: a repeated one does not move it.
  db.sql(
    `UPDATE domains SET
       verified_at = CASE WHEN +@state <> 'verified' THEN NULL WHEN state = 'verified' THEN verified_at ELSE +@at END,
       state = +@state, failure_reason = +@reason, last_checked_at = +@at
     WHERE id = +@id`,
  ).run({ id: toId(id), state: verdict.state, reason: verdict.failureReason, at: verdict.checkedAt });
  beginRechecks(db, toId(id), verdict.state, verdict.checkedAt);
}

function takeOver(
  db: Transaction,
  { holderId, tenantId, id, at }: { holderId: string; tenantId: string; id: string; at: number },
): Domain | null {
  const claimant = readDomain(db, tenantId, id);
  if (!claimant || claimant.state === 'revoked') return null;
  const holder = readVerifiedHolder(db, claimant.name);
  if (holder?.id !== holderId || holderId === claimant.id) return null;

  setState(db, holderId, { state: 'failed', failureReason: 'not_found', checkedAt: at });
  setState(db, id, { state: 'verified', failureReason: null, checkedAt: at });
  return readDomain(db, tenantId, id);
}

function revokeDomain(db: Transaction, tenantId: string, id: string): Domain | null {
  const revoke = db.sql(`UPDATE domains SET state = 'revoked' WHERE tenant_id = +? AND id = +? AND state <> 'revoked'`);
  if (revoke.run(toId(tenantId), toId(id)).changes === 0) return null;
  eraseUnneededKeys(db, toId(id));
  endRechecks(db, toId(id));
  return readDomain(db, tenantId, id);
}

/** A revoked domain without waiting messages no longer needs its private key. */
function eraseUnneededKeys(db: Transaction, domainId: Buffer): void {
  db.sql(
    `UPDATE signing_keys SET sealed = NULL WHERE domain_id = +? AND sealed IS NOT NULL AND EXISTS
       (SELECT 1 FROM domains d WHERE d.id = signing_keys.domain_id AND d.state = 'revoked' AND d.open_messages = 0)`,
  ).run(domainId);
}

/** Counts accepted, unfinished messages. When the last one of a revoked domain ends, the private key is erased. */
export function countOpenMessages(db: Transaction, domainId: string, change: number): void {
  db.addUp(`open messages of ${domainId}`, change, (sum) => {
    const count = db.sql(
      'UPDATE domains SET open_messages = open_messages + +? WHERE id = +? RETURNING state, open_messages AS open',
    );
    const id = toId(domainId);
    const row = count.get(sum, id) as { state: string; open: number } | undefined;
    if (row?.state === 'revoked' && row.open === 0) eraseUnneededKeys(db, id);
  });
}

function readVerifiedHolder(db: Transaction, name: string): Domain | null {
  const row = db.sql(`SELECT ${DOMAIN_COLUMNS} WHERE d.name = +? AND d.state = 'verified'`).get(name) as
    | Row
    | undefined;
  return row ? domainFromRow(row) : null;
}

function readDomain(db: Transaction, tenantId: string, id: string): Domain | null {
  const row = db.sql(`SELECT ${DOMAIN_COLUMNS} WHERE d.tenant_id = +? AND d.id = +?`).get(toId(tenantId), toId(id)) as
    | Row
    | undefined;
  return row ? domainFromRow(row) : null;
}

function domainFromRow(row: Row): Domain {
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

function addRecheck(db: Transaction, domain: Buffer, tenant: Buffer, at: number): void {
  db.sql('INSERT INTO domain_rechecks (domain_id, tenant_id, next_at, since) VALUES (+?, +?, +?, +?)').run(
    domain,
    tenant,
    at + QUIET_MS,
    at,
  );
}

/** A call has checked the domain: the back-off begins again. */
function beginRechecks(db: Transaction, domain: Buffer, state: 'verified' | 'failed', at: number): void {
  db.sql(
    'UPDATE domain_rechecks SET next_at = +?, since = +?, looks = 0, misses = 0, first_miss_at = NULL WHERE domain_id = +?',
  ).run(at + (state === 'verified' ? DAY_MS : QUIET_MS), at, domain);
}

function endRechecks(db: Transaction, domain: Buffer): void {
  db.sql('DELETE FROM domain_rechecks WHERE domain_id = +?').run(domain);
}

// The result of the last DNS check, in SQLite.

export function domainCheckVerbs(db: Transaction): Work<DomainCheckStore> {
  return {
    recordChecks: (tenantId, domainId, found) => recordChecks(db, { tenantId, domainId }, found),
    lastChecks: (tenantId, domainId) => {
      const last = db.sql('SELECT checked_at, checks FROM domain_checks WHERE tenant_id = +? AND domain_id = +?');
      const row = last.get(toId(tenantId), toId(domainId)) as Row | undefined;
      if (!row) return null;
      return { at: row.checked_at as number, checks: JSON.parse(row.checks as string) as DomainChecks['checks'] };
    },
  };
}

function recordChecks(db: Transaction, of: { tenantId: string; domainId: string }, { at, checks }: DomainChecks): void {
  db.sql(
    `INSERT INTO domain_checks (domain_id, tenant_id, checked_at, checks)
     SELECT id, tenant_id, +@at, +@checks FROM domains WHERE tenant_id = +@tenant AND id = +@domain
     ON CONFLICT (domain_id) DO UPDATE SET checked_at = excluded.checked_at, checks = excluded.checks
     WHERE excluded.checked_at >= checked_at`,
  ).run({ tenant: toId(of.tenantId), domain: toId(of.domainId), at, checks: JSON.stringify(checks) });
}

// When domains are re-checked, in SQLite.

export function domainRecheckVerbs(db: Transaction): Work<DomainRecheckStore> {
  return {
    claimRechecks: (now, terms) => claimRechecks(db, now, terms),
    releaseRechecks: (claims) => {
      for (const claim of claims) moveClaimed(db, claim, claim.dueAt);
    },
    postponeRecheck: (tenantId, domainId, until) => {
      const postpone = db.sql(
        'UPDATE domain_rechecks SET next_at = max(next_at, +?) WHERE tenant_id = +? AND domain_id = +?',
      );
      postpone.run(until, toId(tenantId), toId(domainId));
    },
    recordRecheck: (claim, note) => recordRecheck(db, claim, note),
  };
}

function claimRechecks(
  db: Transaction,
  now: number,
  { limit, leaseUntil }: { limit: number; leaseUntil: number },
): ClaimedRecheck[] {
  const due = db.sql(
    `SELECT r.next_at, r.since, r.looks, r.misses, r.first_miss_at, f.*
     FROM domain_rechecks r JOIN (SELECT ${DOMAIN_COLUMNS}) f ON f.id = r.domain_id
     WHERE r.next_at IS NOT NULL AND r.next_at <= +? ORDER BY r.next_at LIMIT +?`,
  );
  const claims = (due.all(now, limit) as Row[]).map((row) => ({
    domain: domainFromRow(row),
    leaseUntil,
    dueAt: row.next_at as number,
    since: row.since as number,
    checks: row.looks as number,
    misses: row.misses as number,
    firstMissAt: row.first_miss_at as number | null,
  }));
  for (const claim of claims) moveClaimed(db, { ...claim, leaseUntil: claim.dueAt }, leaseUntil);
  return claims;
}

/** Only while the claim's time is the row's: everything that changes the domain stores another one. */
function moveClaimed(
  db: Transaction,
  { domain, leaseUntil }: Pick<ClaimedRecheck, 'domain' | 'leaseUntil'>,
  nextAt: number | null,
): boolean {
  const move = db.sql(
    'UPDATE domain_rechecks SET next_at = +? WHERE tenant_id = +? AND domain_id = +? AND next_at = +?',
  );
  return move.run(nextAt, toId(domain.tenantId), toId(domain.id), leaseUntil).changes === 1;
}

function recordRecheck(db: Transaction, claim: ClaimedRecheck, note: RecheckNote): boolean {
  if (!moveClaimed(db, claim, note.nextAt)) return false;
  const id = toId(claim.domain.id);
  const tenant = toId(claim.domain.tenantId);
  const { at, nextAt, misses, firstMissAt, failsWith: reason } = note;
  db.sql(
    `UPDATE domain_rechecks SET looks = looks + 1, misses = +?, first_miss_at = +?
     WHERE tenant_id = +? AND domain_id = +?`,
  ).run(misses, firstMissAt, tenant, id);
  db.sql(
    `UPDATE domains SET last_checked_at = +@at,
       state = CASE WHEN +@reason IS NULL THEN state ELSE 'failed' END,
       verified_at = CASE WHEN +@reason IS NULL THEN verified_at END,
       failure_reason = coalesce(+@reason, failure_reason)
     WHERE tenant_id = +@tenant AND id = +@id`,
  ).run({ at, reason, tenant, id });
  // A verified domain that fails begins its own re-check period.
  if (reason !== null) beginRecheckPeriod(db, id, at, nextAt);
  return true;
}

function beginRecheckPeriod(db: Transaction, id: Buffer, at: number, nextAt: number | null): void {
  db.sql(
    `UPDATE domain_rechecks SET since = +?, next_at = +?, looks = 0, misses = 0, first_miss_at = NULL WHERE domain_id = +?`,
  ).run(at, nextAt, id);
}
