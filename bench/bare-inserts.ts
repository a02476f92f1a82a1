// What SQLite alone can take: the three rows of an accepted message, with their indexes, in the
// product's own tables and with its settings, without anything around them. Each group of
// messages is one transaction, and so one fsync.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type Database from 'better-sqlite3';
import { openForWriting } from '../src/store/sqlite/engine/database-file.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { monotonicMs } from './monotonic.ts';
import { SAMPLE } from './sample-mail.ts';

export interface InsertPlan {
  folder: string;
  /** Messages per transaction. */
  group: number;
  durationMs: number;
}

export async function measureInserts({ folder, group, durationMs }: InsertPlan): Promise<number> {
  const file = path.join(folder, 'bare.db');
  await (await openSqliteStore({ file })).close(); // makes the tables
  const db = openForWriting(file);
  const insert = acceptedRows(db);
  const startedAtMs = monotonicMs();
  let inserted = 0;
  while (monotonicMs() - startedAtMs < durationMs) {
    db.exec('BEGIN IMMEDIATE');
    for (let index = 0; index < group; index++) insert(numbered(inserted + index));
    db.exec('COMMIT');
    inserted += group;
  }
  const perSecond = (inserted * 1000) / (monotonicMs() - startedAtMs);
  db.close();
  return perSecond;
}

export interface BareMessage {
  to: string;
  subject: string;
  html: string;
  text: string;
  idempotencyKey: string | null;
}

function numbered(number: number): BareMessage {
  return { ...SAMPLE, to: `customer-${number}@in1.test`, idempotencyKey: `bench-${number}` };
}

/** Writes the rows of one message; returns its id. */
export function acceptedRows(db: Database.Database): (message: BareMessage) => string {
  const content = db.prepare('INSERT INTO contents (subject, html, text, headers) VALUES (?, ?, ?, ?)');
  const submission = db.prepare(
    `INSERT INTO submissions (id, tenant_id, api_key_id, domain_id, content_id, idempotency_key, from_address,
       from_name, subject, rejected, created_at, first_message) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?, ?)`,
  );
  const message = db.prepare(
    `INSERT INTO messages (id, tenant_id, submission_id, lane, recipient, recipient_name, state, attempts, due_at,
       expires_at, ambiguous, parked, created_at) VALUES (?, ?, ?, 1, ?, ?, 'queued', 0, ?, ?, 0, 0, ?)`,
  );
  const tenant = orderedId();
  return ({ to, subject, html, text, idempotencyKey }) => {
    const now = Date.now();
    const [submissionId, messageId] = [orderedId(), orderedId()];
    const { lastInsertRowid } = content.run(subject, html, text, '[]');
    const sender = ['orders@sender.test', 'Example Shop'];
    const ids = [submissionId, tenant, tenant, tenant, lastInsertRowid];
    submission.run(...ids, idempotencyKey, ...sender, subject, now, messageId);
    message.run(messageId, tenant, submissionId, to, 'Customer', now, now + 1, now);
    return messageId.toString('hex');
  };
}

/** Ids grow with time, as the product's do: random ones would scatter the writes. */
function orderedId(): Buffer {
  const id = randomBytes(16);
  id.writeUIntBE(Date.now(), 0, 6);
  return id;
}
