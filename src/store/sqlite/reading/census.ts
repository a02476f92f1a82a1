// What a database holds, counted from end to end: to prove a backup. Takes its time on a large one, so it is never run
// on a database that a daemon uses.
import type { SealedSecret } from '../../../base/vault.ts';
import { fromId, type Row } from '../../sql/values.ts';
import { openForReading } from '../engine/database-file.ts';

export interface Census {
  messages: Record<string, number>;
  tenants: number;
  users: number;
  /** Verified sending domains. */
  domains: number;
  /** Calls of webhooks that are due. */
  webhookCalls: number;
  /** Mail that came in and has not been processed. */
  inboundMails: number;
}

/** Each kind of secret, and the table that has it in its column `sealed`. */
export const SEALED_TABLES = {
  platform_keys: 'platform',
  signing_keys: 'domain',
  webhook_secrets: 'webhook',
  second_factors: 'second_factor',
  certificates: 'certificate',
} as const;

export interface StoredSecret {
  kind: (typeof SEALED_TABLES)[keyof typeof SEALED_TABLES];
  /** The row that it is bound to: an id, purpose and id of a platform key, or the names of a certificate. */
  key: string;
  purpose: string | null;
  secret: SealedSecret;
}

export function takeCensus(file: string): Census {
  const db = openForReading(file);
  try {
    const count = (from: string) => db.prepare(`SELECT count(*) FROM ${from}`).pluck().get() as number;
    const states = db.prepare('SELECT state, count(*) AS messages FROM messages GROUP BY state ORDER BY state').all();
    return {
      messages: Object.fromEntries((states as Row[]).map(({ state, messages }) => [state, messages as number])),
      tenants: count('tenants'),
      users: count('users'),
      domains: count("domains WHERE state = 'verified'"),
      webhookCalls: count('webhook_deliveries WHERE due_at IS NOT NULL'),
      inboundMails: count('inbound_mails WHERE processed_at IS NULL'),
    };
  } finally {
    db.close();
  }
}

const SECRETS = `
  SELECT 'platform' AS kind, key_id AS key, purpose, master_key_id, sealed FROM platform_keys
  UNION ALL SELECT 'domain', domain_id, NULL, master_key_id, sealed FROM signing_keys WHERE sealed IS NOT NULL
  UNION ALL SELECT 'webhook', webhook_id, NULL, master_key_id, sealed FROM webhook_secrets
  UNION ALL SELECT 'second_factor', user_id, NULL, master_key_id, sealed FROM second_factors
  UNION ALL SELECT 'certificate', names, NULL, key_master_id, key_sealed FROM certificates WHERE key_sealed IS NOT NULL
  UNION ALL SELECT 'certificate', names, NULL, order_key_master_id, order_key_sealed FROM certificates
    WHERE order_key_sealed IS NOT NULL`;

/** One after the other: there may be many. */
export function eachSecret(file: string, visit: (secret: StoredSecret) => void): void {
  const db = openForReading(file);
  try {
    for (const row of db.prepare(SECRETS).iterate() as IterableIterator<Row>) {
      visit({
        kind: row.kind as StoredSecret['kind'],
        key: typeof row.key === 'string' ? row.key : fromId(row.key),
        purpose: row.purpose as string | null,
        secret: { masterKeyId: row.master_key_id as string, sealed: row.sealed as Buffer },
      });
    }
  } finally {
    db.close();
  }
}

/** Some that a start would send, the oldest first. */
export function someUnfinished(file: string, limit: number): string[] {
  const db = openForReading(file);
  try {
    const some = db.prepare('SELECT id FROM messages WHERE finished_at IS NULL AND parked = 0 ORDER BY id LIMIT +?');
    return (some.pluck().all(limit) as Buffer[]).map(fromId);
  } finally {
    db.close();
  }
}
