// Puts messages for a dead destination into a daemon's database while the daemon is stopped: by the
// store's own verb, fifty recipients to a submission, and then as if each had been tried once.
import Database from 'better-sqlite3';
import { IdSource } from '../src/base/ids.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import type { NewSubmission } from '../src/store/submissions.ts';
import { DEAD_DOMAIN } from './postrider.ts';
import { SAMPLE } from './sample-mail.ts';

const RECIPIENTS = 50;
const CALLS_AT_ONCE = 40;
const SPREAD_MS = 4 * 3600 * 1000;
const LIFETIME_MS = 5 * 24 * 3600 * 1000;

export async function fillBacklog(file: string, messages: number): Promise<void> {
  const store = await openSqliteStore({ file });
  try {
    const [tenant] = await store.tenants.listTenants();
    const [domain] = await store.domains.listDomains(tenant!.id);
    const ids = new IdSource();
    for (let done = 0; done < messages; done += RECIPIENTS * CALLS_AT_ONCE) {
      const from = { tenantId: tenant!.id, domainId: domain!.id };
      await Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => accept(store, ids, from)));
    }
  } finally {
    await store.close();
  }
  deferAll(file);
}

async function accept(store: Store, ids: IdSource, from: { tenantId: string; domainId: string }): Promise<void> {
  const now = Date.now();
  const submission: NewSubmission = {
    ...{ id: ids.next(), apiKeyId: ids.next(), idempotencyKey: null, ...from },
    from: { address: 'orders@sender.test', name: 'Example Shop' },
    ...{ subject: SAMPLE.subject, html: SAMPLE.html, text: SAMPLE.text, headers: [] },
    recipients: Array.from({ length: RECIPIENTS }, () => recipient(ids.next())),
    ...{ acceptedAt: now, expiresAt: now + LIFETIME_MS },
  };
  const { kind } = await store.submissions.accept(submission);
  if (kind !== 'accepted') throw new Error(`the backlog is not accepted: ${kind}`);
}

function recipient(messageId: string): NewSubmission['recipients'][number] {
  const address = `c-${messageId}@${DEAD_DOMAIN}`;
  return { messageId, address, name: null, domain: DEAD_DOMAIN, suppressionKey: address };
}

function deferAll(file: string): void {
  const db = new Database(file);
  const defer = db.prepare(
    `UPDATE messages SET state = 'deferred', attempts = 1, last_reason = 'nobody answers',
       due_at = @now + abs(random()) % @spread WHERE state = 'queued' AND recipient LIKE @dead`,
  );
  defer.run({ now: Date.now(), spread: SPREAD_MS, dead: `%@${DEAD_DOMAIN}` });
  db.close();
}

/** As if all of it had been given up: for retention to erase. */
export function endBacklog(file: string): void {
  const db = new Database(file);
  db.prepare(`UPDATE messages SET state = 'failed', finished_at = created_at WHERE finished_at IS NULL`).run();
  db.close();
}
