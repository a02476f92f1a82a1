// When API keys were last used, in SQLite.
import type { KeyUse, KeyUseStore } from '../../key-uses.ts';
import type { Connection } from '../engine/connection.ts';
import { fromId, type Row, toId } from '../engine/values.ts';

export function keyUseVerbs(db: Connection): KeyUseStore {
  return {
    noteKeyUses: (uses) => db.writeMail(() => note(db, uses)),
    lastKeyUses: (tenantId) =>
      db.read(() => {
        const rows = db.sql('SELECT key_id, last_used_at FROM api_key_uses WHERE tenant_id = ?').all(toId(tenantId));
        return (rows as Row[]).map((row) => ({ keyId: fromId(row.key_id), at: row.last_used_at as number }));
      }),
  };
}

function note(db: Connection, uses: readonly KeyUse[]): void {
  const insert = db.sql(
    `INSERT INTO api_key_uses (key_id, tenant_id, last_used_at) SELECT id, tenant_id, @at FROM api_keys WHERE id = @key
     ON CONFLICT (key_id) DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at)`,
  );
  for (const { keyId, at } of uses) insert.run({ key: toId(keyId), at });
}
