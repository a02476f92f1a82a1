// Tokens of tracked links for messages that a run has sent: made with the daemon's own key, which is
// read out of its data folder, because the sink keeps no mail to take links from.
import fs from 'node:fs';
import path from 'node:path';
import { bytesToUuid } from '../src/base/ids.ts';
import { Vault } from '../src/base/vault.ts';
import { linkUrl, makeClickToken } from '../src/links/link-token.ts';
import { openForReading } from '../src/store/sqlite/engine/database-file.ts';

interface KeyRow {
  key_id: string;
  master_key_id: string;
  sealed: Buffer;
}

/** Paths, one per message. */
export function clickPaths(daemonFolder: string, messageIds: readonly string[]): string[] {
  const data = path.join(daemonFolder, 'data');
  const masterKey = Buffer.from(fs.readFileSync(path.join(data, 'master.key'), 'utf8').trim(), 'base64');
  const db = openForReading(path.join(data, 'postrider.db'));
  try {
    const row = db.prepare(`SELECT * FROM platform_keys WHERE purpose = 'tracking'`).get() as KeyRow;
    const secret = { masterKeyId: row.master_key_id, sealed: row.sealed };
    const key = { id: row.key_id, key: new Vault([masterKey]).open(secret, `platform-key:tracking:${row.key_id}`) };
    const tenantId = bytesToUuid(db.prepare('SELECT id FROM tenants').pluck().get() as Buffer);
    const url = 'https://shop.example/orders/4711?from=mail';
    return messageIds.map((messageId) =>
      linkUrl('', 'click', makeClickToken({ messageId, tenantId, linkIndex: 0, linkCount: 3, url }, key)),
    );
  } finally {
    db.close();
  }
}
