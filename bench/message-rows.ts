// A database with very many finished messages, for measuring what the portal finds in it: the rows
// that search and pages read, without contents, attempts and events.
import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { openForWriting } from '../src/store/sqlite/engine/database-file.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';

export interface MessageRowsPlan {
  file: string;
  messages: number;
  tenants: number;
  /** The time of the oldest and of the newest message, in milliseconds. */
  from: number;
  until: number;
}

export interface FilledTenant {
  id: string;
  senderDomain: string;
  apiKeyIds: string[];
}

/** Every 1,000th message went to it. */
export const JOE = 'joe@in3.test';
const RECIPIENT_DOMAINS = 20;
const DISTINCT_RECIPIENTS = 300_000;
const KEYS_PER_TENANT = 2;
const GROUP = 5000;

/** The tenants; the first one has half of all messages when there are several. */
export async function fillWithMessages(plan: MessageRowsPlan): Promise<FilledTenant[]> {
  await (await openSqliteStore({ file: plan.file })).close(); // makes the tables
  const db = openForWriting(plan.file);
  db.pragma('synchronous = OFF');
  const tenants = Array.from({ length: plan.tenants }, (_, index) => insertTenant(db, index, plan.from));
  const insert = messageRows(db);
  for (let done = 0; done < plan.messages; done += GROUP) {
    db.exec('BEGIN IMMEDIATE');
    for (let number = done; number < Math.min(done + GROUP, plan.messages); number++) {
      const at = plan.from + Math.floor(((plan.until - plan.from) * number) / plan.messages);
      const tenant = number % 2 === 0 ? 0 : (number >> 1) % plan.tenants;
      insert(tenants[tenant]!, number, at);
    }
    db.exec('COMMIT');
  }
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  await markAll(plan.file, plan.until);
  return tenants.map(({ id, senderDomain, apiKeyIds }) => ({
    id: uuid(id),
    senderDomain,
    apiKeyIds: apiKeyIds.map(uuid),
  }));
}

/** As the daemon does beside its work. */
async function markAll(file: string, until: number): Promise<void> {
  const store = await openSqliteStore({ file });
  while (await store.upkeep.markRecipients(until));
  await store.close();
}

interface TenantRows {
  id: Buffer;
  domainId: Buffer;
  senderDomain: string;
  apiKeyIds: Buffer[];
  lanes: number[];
}

function insertTenant(db: Database.Database, index: number, at: number): TenantRows {
  const [id, domainId] = [idAt(at), idAt(at)];
  const senderDomain = `sender${index}.test`;
  db.prepare(
    `INSERT INTO tenants (id, name, status, tier, tier_pinned, open_tracking, click_tracking, unsubscribe, created_at)
     VALUES (?, ?, 'active', 'uncapped', 1, 0, 0, 0, ?)`,
  ).run(id, `Tenant ${index}`, at);
  db.prepare(
    `INSERT INTO domains (id, tenant_id, name, state, signing_key, created_at) VALUES (?, ?, ?, 'verified', 1, ?)`,
  ).run(domainId, id, senderDomain, at);
  const lane = db.prepare('INSERT INTO lanes (tenant_id, domain) VALUES (?, ?)');
  const lanes = Array.from({ length: RECIPIENT_DOMAINS }, (_, number) =>
    Number(lane.run(id, `in${number}.test`).lastInsertRowid),
  );
  const apiKeyIds = Array.from({ length: KEYS_PER_TENANT }, () => idAt(at));
  return { id, domainId, senderDomain, apiKeyIds, lanes };
}

function messageRows(db: Database.Database): (tenant: TenantRows, number: number, at: number) => void {
  const submission = db.prepare(
    `INSERT INTO submissions (id, tenant_id, api_key_id, domain_id, content_id, idempotency_key, from_address,
       from_name, subject, rejected, created_at, first_message)
     VALUES (?, ?, ?, ?, ?, NULL, ?, 'Example Shop', ?, '[]', ?, ?)`,
  );
  const message = db.prepare(
    `INSERT INTO messages (id, tenant_id, submission_id, lane, recipient, recipient_name, state, attempts, due_at,
       expires_at, last_reason, ambiguous, parked, bounce, created_at, finished_at)
     VALUES (?, ?, ?, ?, ?, NULL, ?, 1, NULL, ?, ?, 0, 0, ?, ?, ?)`,
  );
  return (tenant, number, at) => {
    const [submissionId, messageId] = [idAt(at), idAt(at)];
    const person = (number * 7919) % DISTINCT_RECIPIENTS;
    const isJoe = number % 1000 === 0;
    const domain = isJoe ? 3 : person % RECIPIENT_DOMAINS;
    const recipient = isJoe ? JOE : `customer-${person}@in${domain}.test`;
    const [state, bounce, reason] = fateOf(number);
    const key = tenant.apiKeyIds[number % 50 === 0 ? 1 : 0];
    const subject = `Your order ${100_000 + number} is on its way`;
    const ofSender = [tenant.id, key, tenant.domainId, number, `orders@${tenant.senderDomain}`];
    submission.run(submissionId, ...ofSender, subject, at, messageId);
    const ids = [messageId, tenant.id, submissionId, tenant.lanes[domain]];
    message.run(...ids, recipient, state, at + 86_400_000, reason, bounce, at, at + 2000);
  };
}

function fateOf(number: number): [state: string, bounce: string | null, reason: string | null] {
  if (number % 100 === 7) return ['bounced', 'hard', '550 5.1.1 no such user here'];
  if (number % 10_000 === 11) return ['failed', null, 'no server of the domain could be reached within its lifetime'];
  return ['delivered', null, null];
}

/** Ids grow with time, as the product's do. */
function idAt(ms: number): Buffer {
  const id = randomBytes(16);
  id.writeUIntBE(ms, 0, 6);
  id[6] = 0x70 | (id[6]! & 0x0f);
  id[8] = 0x80 | (id[8]! & 0x3f);
  return id;
}

function uuid(id: Buffer): string {
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
