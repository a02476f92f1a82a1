// Keys of the platform itself.
import type { PlatformKey, PlatformKeyStore } from '../../../platform-keys.ts';
import type { Transaction, Work } from '../../transaction.ts';
import type { Row } from '../../values.ts';

export function platformKeyVerbs(db: Transaction): Work<PlatformKeyStore> {
  return {
    *listPlatformKeys(purpose) {
      const rows = db.sql(
        `SELECT * FROM platform_keys WHERE purpose = +? AND retired_at IS NULL ORDER BY created_at DESC, key_id DESC`,
      );
      return ((yield* rows.all(purpose)) as Row[]).map(keyFromRow);
    },
    *addPlatformKey(key) {
      const insert = db.sql(
        `INSERT INTO platform_keys (purpose, key_id, master_key_id, sealed, public_part, created_at)
           VALUES (+?, +?, +?, +?, +?, +?) ON CONFLICT DO NOTHING`,
      );
      const { masterKeyId, sealed } = key.secret;
      const result = yield* insert.run(key.purpose, key.keyId, masterKeyId, sealed, key.publicPart, key.createdAt);
      return result.changes === 1 ? 'added' : 'exists';
    },
  };
}

function keyFromRow(row: Row): PlatformKey {
  return {
    purpose: row.purpose as PlatformKey['purpose'],
    keyId: row.key_id as string,
    secret: { masterKeyId: row.master_key_id as string, sealed: row.sealed as Buffer },
    publicPart: row.public_part as string | null,
    createdAt: row.created_at as number,
  };
}
