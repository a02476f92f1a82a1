// What commands and the doctor read of a store.

import type { CertificateRecord } from '../../certificates.ts';
import type {
  Inspection,
  SecretsInUse,
  StoredDomains,
  StoredNames,
  SuppressedBy,
  SuppressionQuestion,
} from '../../inspection.ts';
import { HELD_AFTER_RESTORE } from '../../restored.ts';
import type { Tenant } from '../../tenants.ts';
import { eachOf, type Queries, type Steps } from '../steps.ts';
import type { Work } from '../transaction.ts';
import { fromId, type Row, toId } from '../values.ts';
import { certificateFromRow } from '../verbs/domains/certificates.ts';
import { platformFromRow, suppressionFromRow } from '../verbs/message/suppressions.ts';
import { searchMessages } from './message-search.ts';

export function inspectionQueries(db: Queries): Work<Omit<Inspection, 'close'>> {
  return {
    names: (dkimKeyId, maxDomains) => readNames(db, dkimKeyId, maxDomains),
    secretsInUse: () => readSecretsInUse(db),
    domains: (name, maxDomains) => readDomains(db, name, maxDomains),
    certificates: (directory) => readCertificates(db, directory),
    tenants: () => readTenants(db),
    messages: (tenantId, search) => searchMessages(db, tenantId, search),
    suppressedBy: (wanted) => readSuppressedBy(db, wanted),
    unfinished: () => countOf(db, 'SELECT count(*) FROM messages WHERE finished_at IS NULL AND parked = 0'),
    *held() {
      const held = 'SELECT count(*) FROM messages WHERE parked = 1 AND last_reason = +?';
      return (yield* db.sql(held, 'column').get(HELD_AFTER_RESTORE)) as number;
    },
  };
}

function* countOf(db: Queries, sql: string): Steps<number> {
  return (yield* db.sql(sql, 'column').get()) as number;
}

function* readNames(db: Queries, dkimKeyId: string, maxDomains: number): Steps<StoredNames> {
  const key = (yield* db
    .sql("SELECT public_part FROM platform_keys WHERE purpose = 'service-dkim' AND key_id = +?")
    .get(dkimKeyId)) as Row | undefined;
  const domains = (yield* db
    .sql("SELECT DISTINCT name FROM domains WHERE state = 'verified' ORDER BY name LIMIT +?", 'column')
    .all(maxDomains)) as string[];
  return { serviceDkimKeyB64: (key?.public_part as string | null | undefined) ?? null, sendingDomains: domains };
}

function* readSecretsInUse(db: Queries): Steps<SecretsInUse> {
  const ofNewest = (yield* eachOf(
    [
      'SELECT master_key_id FROM signing_keys WHERE sealed IS NOT NULL ORDER BY id DESC LIMIT 1',
      'SELECT master_key_id FROM webhook_secrets ORDER BY id DESC LIMIT 1',
      'SELECT master_key_id FROM second_factors LIMIT 1',
    ],
    (sql) => idsOf(db, sql),
  )).flat();
  return {
    ofService: yield* idsOf(db, 'SELECT DISTINCT master_key_id FROM platform_keys WHERE retired_at IS NULL ORDER BY 1'),
    ofNewest: [...new Set(ofNewest)],
  };
}

function* idsOf(db: Queries, sql: string): Steps<string[]> {
  return (yield* db.sql(sql, 'column').all()) as string[];
}

function* readDomains(db: Queries, name: string | null, maxDomains: number): Steps<StoredDomains> {
  const live = "d.state <> 'revoked' AND (CAST(+@name AS TEXT) IS NULL OR d.name = +@name)";
  const count = (yield* db.sql(`SELECT count(*) FROM domains d WHERE ${live}`, 'column').get({ name })) as number;
  const rows = (yield* db
    .sql(
      `SELECT d.name, k.selector, k.public_key FROM domains d JOIN signing_keys k ON k.id = d.signing_key
       WHERE ${live} ORDER BY d.name, d.id LIMIT +@maxDomains`,
    )
    .all({ name, maxDomains })) as Row[];
  const domains = rows.map((row) => ({
    domain: row.name as string,
    selector: row.selector as string,
    publicKeyB64: row.public_key as string,
  }));
  return { domains, leftOut: count - domains.length };
}

function* readCertificates(db: Queries, directory: string): Steps<CertificateRecord[]> {
  return (
    (yield* db.sql('SELECT * FROM certificates WHERE directory = +? ORDER BY names').all(directory)) as Row[]
  ).map(certificateFromRow);
}

function* readTenants(db: Queries): Steps<Pick<Tenant, 'id' | 'name' | 'status'>[]> {
  const rows = (yield* db.sql('SELECT id, name, status FROM tenants ORDER BY id').all()) as Row[];
  return rows.map((row) => ({
    id: fromId(row.id),
    name: row.name as string,
    status: row.status as Tenant['status'],
  }));
}

function* readSuppressedBy(db: Queries, { address, tenantId, now }: SuppressionQuestion): Steps<SuppressedBy> {
  const listed = (yield* db
    .sql('SELECT * FROM platform_suppressions WHERE address = +? AND expires_at > +?')
    .get(address, now)) as Row | undefined;
  const ofTenant = db.sql('SELECT * FROM suppressions WHERE tenant_id = +? AND address = +?');
  const own = tenantId === null ? undefined : ((yield* ofTenant.get(toId(tenantId), address)) as Row | undefined);
  return { platform: listed ? platformFromRow(listed) : null, tenant: own ? suppressionFromRow(own) : null };
}
