// Suppression lists.

import {
  type FoundSuppressions,
  MAX_SUPPRESSIONS_SEARCHED,
  type PlatformSuppression,
  type Suppression,
  type SuppressionPage,
  type SuppressionReason,
  type SuppressionSearch,
  type SuppressionStore,
  type UndoneBounces,
} from '../../../suppressions.ts';
import { only, type Queries, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromOptionalId, type Row, toId } from '../../values.ts';

export function suppressionVerbs(db: Transaction): Work<SuppressionStore> {
  return {
    addSuppression: (tenantId, entry) => insertSuppression(db, tenantId, entry),
    *importSuppressions(tenantId, entries) {
      return (yield* only(entries, function* (entry) {
        return (yield* insertSuppression(db, tenantId, entry)) === 'added';
      })).length;
    },
    *removeSuppression(tenantId, address, now) {
      const remove = db.sql('DELETE FROM suppressions WHERE tenant_id = +? AND address = +?');
      const removed = (yield* remove.run(toId(tenantId), address)).changes === 1;
      const row = yield* db
        .sql('SELECT * FROM platform_suppressions WHERE address = +? AND expires_at > +?')
        .get(address, now);
      return { removed, platform: row === undefined ? null : platformFromRow(row as Row) };
    },
    *getSuppression(tenantId, address) {
      const row = yield* db
        .sql('SELECT * FROM suppressions WHERE tenant_id = +? AND address = +?')
        .get(toId(tenantId), address);
      return row === undefined ? null : suppressionFromRow(row as Row);
    },
    findReasonAgainst: (tenantId, address, now) => suppressionReason(db, tenantId, address, now),
    searchSuppressions: (tenantId, search) =>
      searchSuppressions(db, tenantId, { ...search, scanned: Math.max(search.limit, MAX_SUPPRESSIONS_SEARCHED) }),
    *listSuppressions(tenantId, page) {
      const rows = db.sql(
        `SELECT * FROM suppressions WHERE tenant_id = +? AND address > +? AND address >= +? AND address < +?
           ORDER BY address LIMIT +?`,
      );
      return ((yield* rows.all(toId(tenantId), ...bounds(page))) as Row[]).map(suppressionFromRow);
    },
    addPlatformSuppression: (entry) => insertPlatformSuppression(db, entry),
    *removePlatformSuppression(address) {
      return (yield* db.sql('DELETE FROM platform_suppressions WHERE address = +?').run(address)).changes === 1;
    },
    *listPlatformSuppressions(page) {
      const rows = db.sql(
        `SELECT * FROM platform_suppressions WHERE address > +? AND address >= +? AND address < +?
           ORDER BY address LIMIT +?`,
      );
      return ((yield* rows.all(...bounds(page))) as Row[]).map(platformFromRow);
    },
    undoHardBounces: (of, limit) => undoHardBounces(db, of, limit),
    *forgetExpiredSuppressions(now, limit) {
      const expired = `DELETE FROM platform_suppressions WHERE address IN
          (SELECT address FROM platform_suppressions WHERE expires_at <= +? LIMIT +?)`;
      return (yield* db.sql(expired).run(now, limit)).changes;
    },
  };
}

/** Sorts after every text with the prefix: no address contains this character, the last one of Unicode. */
const LAST_CHARACTER = '\u{10ffff}';

function bounds({ after, prefix = '', limit }: SuppressionPage): [string, string, string, number] {
  return [after ?? '', prefix, prefix + LAST_CHARACTER, limit];
}

/** Along the list's key; with a reason, over `scanned` entries at most. */
export function* searchSuppressions(
  db: Queries,
  tenantId: string,
  { prefix, reason, after, limit, scanned: maxScanned }: SuppressionSearch & { scanned: number },
): Steps<FoundSuppressions> {
  const within = `tenant_id = +? AND address > +? AND address >= +? AND address < +?`;
  const scanned = reason === null ? limit + 1 : maxScanned;
  const of = [toId(tenantId), ...bounds({ after, prefix, limit: scanned })];
  const rows = (yield* db
    .sql(
      `SELECT * FROM (SELECT * FROM suppressions WHERE ${within} ORDER BY address LIMIT +?) looked_at
       WHERE reason = coalesce(+?, reason) ORDER BY address LIMIT +?`,
    )
    .all(...of, reason, limit + 1)) as Row[];
  const entries = rows.slice(0, limit).map(suppressionFromRow);
  if (rows.length > limit) return { entries, next: entries.at(-1)!.address };
  if (reason === null) return { entries, next: null };
  const last = db.sql(`SELECT address FROM suppressions WHERE ${within} ORDER BY address LIMIT 1 OFFSET +?`, 'column');
  const next = (yield* last.get(...of.slice(0, -1), scanned - 1)) as string | undefined;
  return { entries, next: next ?? null };
}

function* undoHardBounces(
  db: Transaction,
  of: UndoneBounces,
  limit: number,
): Steps<{ platform: number; tenants: number }> {
  const { since } = of;
  if ('mxGroup' in of) return yield* undoGroup(db, of, limit);
  const [low, high] = rulesFrom(of.rule);
  if (of.of !== undefined && of.of !== 'platform') {
    const byTenant = db.sql(
      `DELETE FROM suppressions WHERE (tenant_id, address) IN (SELECT tenant_id, address FROM suppressions
         WHERE rule >= +? AND rule <= +? AND created_at >= +? AND tenant_id = +? LIMIT +?)`,
    );
    return { platform: 0, tenants: (yield* byTenant.run(low, high, since, toId(of.of.tenantId), limit)).changes };
  }
  const decided = db.sql(
    'SELECT address FROM platform_suppressions WHERE rule >= +? AND rule <= +? AND created_at >= +? LIMIT +?',
    'column',
  );
  const alsoTenants = of.of === undefined;
  const addresses = (yield* decided.all(low, high, since, limit)) as string[];
  const undone = yield* undoAddresses(db, addresses, { since, alsoTenants });
  if (!alsoTenants) return undone;
  const byRule = db.sql(
    `DELETE FROM suppressions WHERE (tenant_id, address) IN (SELECT tenant_id, address FROM suppressions
       WHERE rule >= +? AND rule <= +? AND created_at >= +? LIMIT +?)`,
  );
  return { ...undone, tenants: undone.tenants + (yield* byRule.run(low, high, since, limit)).changes };
}

/** The first and the last rule that match a rule, or a rule with `*` at its end. */
function rulesFrom(rule: string): [low: string, high: string] {
  if (!rule.endsWith('*')) return [rule, rule];
  const prefix = rule.slice(0, -1);
  return [prefix, prefix + LAST_CHARACTER];
}

/** Most are only on tenants' lists: the platform's gets an entry when a second tenant's message confirms it. */
function* undoGroup(
  db: Transaction,
  { mxGroup, since }: { mxGroup: string; since: number },
  limit: number,
): Steps<{ platform: number; tenants: number }> {
  const listed = db.sql(
    'SELECT address FROM platform_suppressions WHERE mx_group = +? AND created_at >= +? LIMIT +?',
    'column',
  );
  const addresses = (yield* listed.all(mxGroup, since, limit)) as string[];
  const undone = yield* undoAddresses(db, addresses, { since, alsoTenants: true, mxGroup });
  const byGroup = db.sql(
    `DELETE FROM suppressions WHERE (tenant_id, address) IN (SELECT tenant_id, address FROM suppressions
       WHERE mx_group = +? AND created_at >= +? AND reason = 'hard_bounce' AND message_id IS NOT NULL LIMIT +?)`,
  );
  return { ...undone, tenants: undone.tenants + (yield* byGroup.run(mxGroup, since, limit)).changes };
}

/** With `mxGroup`, entries that another group is known to have caused stay on tenants' lists. */
function* undoAddresses(
  db: Transaction,
  addresses: readonly string[],
  { since, alsoTenants, mxGroup = null }: { since: number; alsoTenants: boolean; mxGroup?: string | null },
): Steps<{ platform: number; tenants: number }> {
  const ofPlatform = db.sql('DELETE FROM platform_suppressions WHERE address = +?');
  const ofTenants = db.sql(
    `DELETE FROM suppressions WHERE address = +@address AND reason = 'hard_bounce' AND message_id IS NOT NULL
       AND created_at >= +@since AND (mx_group IS NULL OR mx_group = coalesce(+@mxGroup, mx_group))`,
  );
  let tenants = 0;
  for (const address of addresses) {
    yield* ofPlatform.run(address);
    if (alsoTenants) tenants += (yield* ofTenants.run({ address, since, mxGroup })).changes;
  }
  return { platform: addresses.length, tenants };
}

/** Hard bounces can be undone in bulk, which must never undo what a recipient asked for. */
const REPLACE_HARD_BOUNCE = `ON CONFLICT (tenant_id, address) DO UPDATE SET reason = excluded.reason,
  message_id = excluded.message_id, created_at = excluded.created_at, rule = excluded.rule, mx_group = excluded.mx_group
  WHERE suppressions.reason = 'hard_bounce'`;

function isRecipientsWish({ reason, messageId }: Suppression): boolean {
  return messageId !== null && (reason === 'unsubscribe' || reason === 'complaint');
}

export function* insertSuppression(db: Transaction, tenantId: string, entry: Suppression): Steps<'added' | 'exists'> {
  const insert = db.sql(
    `INSERT INTO suppressions (tenant_id, address, reason, message_id, created_at, rule, mx_group)
     VALUES (+?, +?, +?, +?, +?, +?, +?) ${isRecipientsWish(entry) ? REPLACE_HARD_BOUNCE : 'ON CONFLICT DO NOTHING'}`,
  );
  const message = entry.messageId === null ? null : toId(entry.messageId);
  const { address, reason, createdAt, rule = null, mxGroup = null } = entry;
  const result = yield* insert.run(toId(tenantId), address, reason, message, createdAt, rule, mxGroup);
  return result.changes === 1 ? 'added' : 'exists';
}

/** A newer bounce renews an entry, so that it expires later; what an operator added stays until it expires. */
export function* insertPlatformSuppression(db: Transaction, entry: PlatformSuppression): Steps<'added' | 'exists'> {
  const known =
    (yield* db.sql('SELECT 1 FROM platform_suppressions WHERE address = +?').get(entry.address)) !== undefined;
  yield* db
    .sql(
      `INSERT INTO platform_suppressions (address, mx_group, rule, message_id, created_at, expires_at)
     VALUES (+?, +?, +?, +?, +?, +?)
     ON CONFLICT (address) DO UPDATE SET mx_group = excluded.mx_group, rule = excluded.rule,
       message_id = excluded.message_id, created_at = excluded.created_at, expires_at = excluded.expires_at
     WHERE platform_suppressions.message_id IS NOT NULL OR excluded.message_id IS NULL
       OR platform_suppressions.expires_at <= excluded.created_at`,
    )
    .run(
      entry.address,
      entry.mxGroup,
      entry.rule,
      entry.messageId === null ? null : toId(entry.messageId),
      entry.createdAt,
      entry.expiresAt,
    );
  return known ? 'exists' : 'added';
}

/** The tenant's own list first, with its reason; then the platform's list of mailboxes that do not exist. */
export function* suppressionReason(
  db: Transaction,
  tenantId: string,
  address: string,
  now: number,
): Steps<SuppressionReason | null> {
  const reason = db.sql(
    `SELECT coalesce((SELECT reason FROM suppressions WHERE tenant_id = +? AND address = +?),
       (SELECT 'hard_bounce' FROM platform_suppressions WHERE address = +? AND expires_at > +?)) AS reason`,
  );
  return ((yield* reason.get(toId(tenantId), address, address, now)) as { reason: SuppressionReason | null }).reason;
}

/** The tenant's own list alone. */
export function* ownSuppressionReason(
  db: Transaction,
  tenantId: string,
  address: string,
): Steps<SuppressionReason | null> {
  const reason = db.sql('SELECT reason FROM suppressions WHERE tenant_id = +? AND address = +?', 'column');
  return ((yield* reason.get(toId(tenantId), address)) as SuppressionReason | undefined) ?? null;
}

export function suppressionFromRow(row: Row): Suppression {
  return {
    address: row.address as string,
    reason: row.reason as SuppressionReason,
    messageId: fromOptionalId(row.message_id),
    createdAt: row.created_at as number,
    ...(row.rule !== null && { rule: row.rule as string }),
    ...(row.mx_group !== null && { mxGroup: row.mx_group as string }),
  };
}

export function platformFromRow(row: Row): PlatformSuppression {
  return {
    address: row.address as string,
    mxGroup: row.mx_group as string | null,
    rule: row.rule as string,
    messageId: fromOptionalId(row.message_id),
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
  };
}
