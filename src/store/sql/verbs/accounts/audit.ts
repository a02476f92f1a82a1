// The audit log.

import { HOUR_MS } from '../../../../base/clock.ts';
import {
  type AuditEntry,
  type AuditStore,
  type FailedSignIns,
  NETWORKS_PER_ACCOUNT,
  NETWORKS_WITHOUT_ACCOUNT,
  type NewAuditEntry,
} from '../../../audit.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromOptionalId, type Row, toId } from '../../values.ts';

export function auditVerbs(db: Transaction): Work<AuditStore> {
  return {
    recordAudit: (entry) => insert(db, entry, null),
    *recordFailedSignIns(failures) {
      for (const failure of failures) yield* addFailures(db, failure);
    },
    *listAudit(tenantId, { before, limit }) {
      const list = 'SELECT * FROM audit WHERE tenant_id = +? AND seq < +? ORDER BY seq DESC LIMIT +?';
      return ((yield* db.sql(list).all(toId(tenantId), before ?? NEWEST, limit)) as Row[]).map(entryFromRow);
    },
    *listAllAudit({ before, limit }) {
      const list = 'SELECT * FROM audit WHERE seq < +? ORDER BY seq DESC LIMIT +?';
      return ((yield* db.sql(list).all(before ?? NEWEST, limit)) as Row[]).map(entryFromRow);
    },
    *eraseAudit(upTo, limit) {
      const erase = 'DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE at <= +? ORDER BY at LIMIT +?)';
      return (yield* db.sql(erase).run(upTo, limit)).changes;
    },
  };
}

function* insert(db: Transaction, entry: NewAuditEntry, sumKey: string | null): Steps<void> {
  yield* db
    .sql(
      `INSERT INTO audit (tenant_id, at, actor, user_id, key_id, who, address, action, data, sum_key)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, +?)`,
    )
    .run(
      entry.tenantId === null ? null : toId(entry.tenantId),
      entry.at,
      entry.actor,
      entry.userId === null ? null : toId(entry.userId),
      entry.keyId === undefined ? null : toId(entry.keyId),
      entry.who,
      entry.address,
      entry.action,
      JSON.stringify(entry.data),
      sumKey,
    );
}

/** Adds to the hour's entry of this account and network, or to a common entry when there are too many networks. */
function* addFailures(db: Transaction, { account, network, address, at, count }: FailedSignIns): Steps<void> {
  const prefix = `${Math.floor(at / HOUR_MS)}:${account?.userId ?? 'none'}:`;
  const last = new Date(at).toISOString();
  const addTo = function* (name: string) {
    const known = db.sql('SELECT data FROM audit WHERE sum_key = +?', 'column');
    const text = (yield* known.get(prefix + name)) as string | undefined;
    if (text === undefined) return false;
    const data = JSON.parse(text) as { count: number };
    const update = db.sql('UPDATE audit SET address = +?, data = +? WHERE sum_key = +?');
    const added = { ...data, count: data.count + count, last_at: last };
    yield* update.run(address, JSON.stringify(added), prefix + name);
    return true;
  };
  if (yield* addTo(network)) return;
  const range = "SELECT count(*) AS n FROM audit WHERE sum_key >= +? AND sum_key < +? || '~'";
  const { n } = (yield* db.sql(range).get(prefix, prefix)) as { n: number };
  const isFull = n >= (account ? NETWORKS_PER_ACCOUNT : NETWORKS_WITHOUT_ACCOUNT);
  if (isFull && (yield* addTo(OTHERS))) return;
  const name = isFull ? OTHERS : network;
  const data = { account: account?.email ?? null, network: name, count, last_at: last };
  const who = { actor: 'system' as const, userId: account?.userId ?? null, who: 'not signed in', address };
  yield* insert(
    db,
    { tenantId: account?.tenantId ?? null, at, ...who, action: 'user.sign_in_failed', data },
    prefix + name,
  );
}

const OTHERS = 'other networks';

const NEWEST = Number.MAX_SAFE_INTEGER;

function entryFromRow(row: Row): AuditEntry {
  return {
    seq: row.seq as number,
    tenantId: fromOptionalId(row.tenant_id),
    at: row.at as number,
    actor: row.actor as AuditEntry['actor'],
    userId: fromOptionalId(row.user_id),
    ...(row.key_id === null ? {} : { keyId: fromOptionalId(row.key_id)! }),
    who: row.who as string,
    address: row.address as string | null,
    action: row.action as string,
    data: JSON.parse(row.data as string) as AuditEntry['data'],
  };
}
