// Where the signing secret goes: sealed to the disk, bound to its webhook, gone with it.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import { MASTER_KEY_BYTES, Vault } from '../../src/base/vault.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { createTenant } from '../../src/tenants/tenant-service.ts';
import { targetPolicy } from '../../src/webhooks/target.ts';
import { createWebhooks, type Webhooks, webhookSecretContext } from '../../src/webhooks/webhooks.ts';
import { testFolder } from '../support/test-folder.ts';

const vault = new Vault([Buffer.alloc(MASTER_KEY_BYTES, 3)]);

async function start(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const [clock, ids] = [systemClock, new IdSource()];
  const created = await createTenant({ store, clock, ids }, { name: 'Acme', status: 'active' });
  if (created.kind === 'refused') throw new Error(created.message);
  const webhooks = createWebhooks({ store, vault, clock, ids, policy: targetPolicy(false) });
  const rows = () => {
    const db = new Database(file, { readonly: true });
    const found = db.prepare('SELECT lower(hex(webhook_id)) AS webhook, * FROM webhook_secrets ORDER BY id').all();
    db.close();
    return found as { webhook: string; master_key_id: string; sealed: Buffer; expires_at: number | null }[];
  };
  return { file, tenantId: created.tenant.id, webhooks, rows };
}

async function register(webhooks: Webhooks, tenantId: string, url: string) {
  const result = await webhooks.register(tenantId, { url });
  if (isRefusal(result)) throw new Error(result.message);
  return result;
}

t.test('the secret is 32 bytes, new for each webhook, and only sealed on disk', async (t) => {
  const { file, tenantId, webhooks, rows } = await start(t);
  const one = await register(webhooks, tenantId, 'https://a.test/');
  const two = await register(webhooks, tenantId, 'https://b.test/');
  t.equal(one.secret.length, 32);
  t.notSame(one.secret, two.secret);
  const stored = rows();
  t.strictSame(
    stored.map((row) => row.webhook),
    [one, two].map(({ webhook }) => webhook.id.replaceAll('-', '')),
  );
  for (const [index, { webhook, secret }] of [one, two].entries()) {
    const { master_key_id: masterKeyId, sealed } = stored[index]!;
    t.strictSame(vault.open({ masterKeyId, sealed }, webhookSecretContext(webhook.id)), secret);
    t.throws(() => vault.open({ masterKeyId, sealed }, webhookSecretContext(tenantId)), /cannot be opened/);
    for (const name of [file, `${file}-wal`]) {
      const bytes = fs.readFileSync(name);
      t.notOk(bytes.includes(secret) || bytes.includes(secret.toString('base64')), `not readable in ${name}`);
    }
  }
});

t.test('a deleted webhook leaves no secret behind, and its neighbour keeps its own', async (t) => {
  const { tenantId, webhooks, rows } = await start(t);
  const one = await register(webhooks, tenantId, 'https://a.test/');
  const two = await register(webhooks, tenantId, 'https://b.test/');
  t.equal(await webhooks.remove(tenantId, one.webhook.id), null);
  t.strictSame(
    rows().map((row) => row.webhook),
    [two.webhook.id.replaceAll('-', '')],
  );
});

t.test('what is refused leaves nothing behind', async (t) => {
  const { tenantId, webhooks, rows } = await start(t);
  await register(webhooks, tenantId, 'https://a.test/');
  t.match(await webhooks.register(tenantId, { url: 'https://a.test' }), { refused: 'webhook_exists' });
  t.match(await webhooks.register(tenantId, { url: 'http://127.1/' }), { refused: 'validation_failed' });
  t.equal(rows().length, 1);
});
