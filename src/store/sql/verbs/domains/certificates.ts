// Certificates from ACME directories.

import type { SealedSecret } from '../../../../base/vault.ts';
import type { CertificateId, CertificateRecord, CertificateStore, IssuedCertificate } from '../../../certificates.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import type { Row } from '../../values.ts';

export function certificateVerbs(db: Transaction): Work<CertificateStore> {
  return {
    *listCertificates() {
      const rows = (yield* db.sql('SELECT * FROM certificates ORDER BY directory, names').all()) as Row[];
      return rows.map(certificateFromRow);
    },
    *beginCertificateAttempt({ directory, names }, nextAttemptAt) {
      yield* db
        .sql(
          `INSERT INTO certificates (directory, names, failures, next_attempt_at) VALUES (+?, +?, 1, +?)
           ON CONFLICT (directory, names) DO UPDATE SET failures = certificates.failures + 1, next_attempt_at = excluded.next_attempt_at,
             failure = NULL, failed_at = NULL`,
        )
        .run(directory, names, nextAttemptAt);
    },
    *keepCertificateOrder({ directory, names }, order) {
      yield* db
        .sql(
          `UPDATE certificates SET order_url = +?, order_key_master_id = +?, order_key_sealed = +?
           WHERE directory = +? AND names = +?`,
        )
        .run(order?.url ?? null, order?.key.masterKeyId ?? null, order?.key.sealed ?? null, directory, names);
    },
    keepCertificate: (id, issued, nextAttemptAt) => keepCertificate(db, id, issued, nextAttemptAt),
    *failCertificateAttempt({ directory, names }, { reason, at }, earliest) {
      yield* db
        .sql(
          `UPDATE certificates SET failure = +?, failed_at = +?, next_attempt_at = max(next_attempt_at, +?)
           WHERE directory = +? AND names = +?`,
        )
        .run(reason, at, earliest, directory, names);
    },
    *hastenCertificateAttempt({ directory, names }, now) {
      yield* db
        .sql('UPDATE certificates SET next_attempt_at = min(next_attempt_at, +?) WHERE directory = +? AND names = +?')
        .run(now, directory, names);
    },
  };
}

function* keepCertificate(
  db: Transaction,
  { directory, names }: CertificateId,
  { chain, key, notBefore, notAfter }: IssuedCertificate,
  nextAttemptAt: number,
): Steps<void> {
  yield* db
    .sql(
      `INSERT INTO certificates
       (directory, names, chain, key_master_id, key_sealed, not_before, not_after, failures, next_attempt_at)
       VALUES (+?, +?, +?, +?, +?, +?, +?, 0, +?)
       ON CONFLICT (directory, names) DO UPDATE SET chain = excluded.chain, key_master_id = excluded.key_master_id,
         key_sealed = excluded.key_sealed, not_before = excluded.not_before, not_after = excluded.not_after,
         order_url = NULL, order_key_master_id = NULL, order_key_sealed = NULL, failures = 0,
         next_attempt_at = excluded.next_attempt_at, failure = NULL, failed_at = NULL`,
    )
    .run(directory, names, chain, key.masterKeyId, key.sealed, notBefore, notAfter, nextAttemptAt);
}

export function certificateFromRow(row: Row): CertificateRecord {
  const key = secretOf(row.key_master_id, row.key_sealed);
  const orderKey = secretOf(row.order_key_master_id, row.order_key_sealed);
  return {
    directory: row.directory as string,
    names: row.names as string,
    issued: key && {
      chain: row.chain as string,
      key,
      notBefore: row.not_before as number,
      notAfter: row.not_after as number,
    },
    order: orderKey && { url: row.order_url as string, key: orderKey },
    failures: row.failures as number,
    nextAttemptAt: row.next_attempt_at as number,
    failure: row.failure === null ? null : { reason: row.failure as string, at: row.failed_at as number },
  };
}

function secretOf(masterKeyId: unknown, sealed: unknown): SealedSecret | null {
  return masterKeyId === null ? null : { masterKeyId: masterKeyId as string, sealed: sealed as Buffer };
}
