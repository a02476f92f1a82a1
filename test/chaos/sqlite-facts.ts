// All facts that the checks of a chaos run need, read from the database of a daemon that has ended.
import type Database from 'better-sqlite3';
import { bytesToUuid, uuidToBytes } from '../../src/base/ids.ts';
import type { Facts, StoredMessage } from './store-under-test.ts';

export function readFacts(db: Database.Database, tenantId: string): Facts {
  const tenant = uuidToBytes(tenantId);
  const messages = readMessages(db, tenant);
  const events: Facts['events'] = new Map();
  const rows = db.prepare('SELECT id, type, message_id FROM events WHERE tenant_id = ? ORDER BY seq');
  for (const row of rows.iterate(tenant) as IterableIterator<{ id: Buffer; type: string; message_id: Buffer }>) {
    const messageId = bytesToUuid(row.message_id);
    events.set(bytesToUuid(row.id), { type: row.type, messageId });
    messages.get(messageId)?.events.push(row.type);
  }
  const damage = String(db.pragma('integrity_check', { simple: true }));
  return {
    damage: damage === 'ok' ? null : damage,
    messages,
    ofOthers: new Set(
      (db.prepare('SELECT id FROM messages WHERE tenant_id <> ?').pluck().all(tenant) as Buffer[]).map(bytesToUuid),
    ),
    events,
    submissionsByKey: readSubmissions(db, tenant),
    inboundKept: readInbound(db),
    unreadable: Number(db.prepare("SELECT count(*) FROM inbound_mails WHERE kind = 'unreadable'").pluck().get()),
    oddWrittenMails: readOddWrittenMails(db),
    leftovers: Number(db.prepare(LEFTOVERS).pluck().get()),
    oddWebhookAttempts: readOddWebhookAttempts(db),
  };
}

interface MessageRow {
  id: Buffer;
  submission_id: Buffer;
  recipient: string;
  state: string;
  attempts: number;
  complained: number;
}

function readMessages(db: Database.Database, tenant: Buffer): Map<string, StoredMessage> {
  const messages = new Map<string, StoredMessage>();
  const rows = db.prepare(
    'SELECT id, submission_id, recipient, state, attempts, complained FROM messages WHERE tenant_id = ?',
  );
  for (const row of rows.iterate(tenant) as IterableIterator<MessageRow>) {
    const { recipient, state, attempts, complained } = row;
    const id = bytesToUuid(row.id);
    const submissionId = bytesToUuid(row.submission_id);
    const own = { id, submissionId, recipient, state, attempts, complained: complained === 1 };
    messages.set(id, { ...own, attemptNumbers: [], events: [] });
  }
  const attempts = db.prepare(
    `SELECT message_id, number FROM attempts WHERE tenant_id = @tenant
     UNION ALL SELECT id, 1 FROM messages WHERE tenant_id = @tenant AND first_attempt_at IS NOT NULL ORDER BY 1, 2`,
  );
  for (const row of attempts.iterate({ tenant }) as IterableIterator<{ message_id: Buffer; number: number }>) {
    messages.get(bytesToUuid(row.message_id))?.attemptNumbers.push(row.number);
  }
  return messages;
}

function readSubmissions(db: Database.Database, tenant: Buffer): Facts['submissionsByKey'] {
  const found: Facts['submissionsByKey'] = new Map();
  const rows = db.prepare(
    'SELECT idempotency_key, id FROM submissions WHERE tenant_id = ? AND idempotency_key IS NOT NULL',
  );
  for (const row of rows.iterate(tenant) as IterableIterator<{ idempotency_key: string; id: Buffer }>) {
    found.set(row.idempotency_key, [...(found.get(row.idempotency_key) ?? []), bytesToUuid(row.id)]);
  }
  return found;
}

function readInbound(db: Database.Database): Facts['inboundKept'] {
  const rows = db
    .prepare(
      `SELECT kind || ': ' || coalesce(reason, 'without a reason') AS why, count(*) AS mails FROM inbound_mails
       WHERE effect IN ('none', 'kept') GROUP BY why`,
    )
    .all() as { why: string; mails: number }[];
  return new Map(rows.map(({ why, mails }) => [why, mails]));
}

const LEFTOVERS = `
  SELECT count(*) FROM written_pieces p LEFT JOIN written_mails w ON w.seq = p.mail
  WHERE w.seq IS NULL OR w.leftover_since IS NOT NULL`;

function readOddWrittenMails(db: Database.Database): string[] {
  const rows = db
    .prepare(
      `SELECT lower(hex(coalesce(w.submission_id, s.id))) AS id, w.leftover_since AS leftover, w.pieces AS due,
         count(p.mail) AS pieces, w.bytes IS sum(length(p.bytes)) AS whole, s.id IS NOT NULL AS accepted
       FROM written_mails w FULL JOIN (SELECT * FROM submissions WHERE source = 'smtp') s
         ON s.tenant_id = w.tenant_id AND s.id = w.submission_id
       LEFT JOIN written_pieces p ON p.mail = w.seq
       GROUP BY w.seq, s.id
       HAVING iif(accepted, leftover IS NOT NULL OR pieces IS NOT due OR NOT whole, leftover IS NULL)`,
    )
    .all() as { id: string; leftover: number | null; due: number | null; pieces: number; accepted: number }[];
  return rows.map(
    ({ id, leftover, due, pieces, accepted }) =>
      `${id}: ${accepted ? 'accepted' : 'not accepted'}, left over since ${leftover}, ${pieces} pieces of ${due}`,
  );
}

function readOddWebhookAttempts(db: Database.Database): string[] {
  const rows = db
    .prepare(
      `SELECT hex(d.webhook_id) AS webhook, d.event_seq AS seq, d.attempts AS counted, max(a.number) AS last
       FROM webhook_deliveries d JOIN webhook_attempts a USING (webhook_id, event_seq)
       GROUP BY d.webhook_id, d.event_seq HAVING max(a.number) > d.attempts OR min(a.number) < 1`,
    )
    .all() as { webhook: string; seq: number; counted: number; last: number }[];
  return rows.map(({ webhook, seq, counted, last }) => `${webhook} event ${seq}: attempt ${last} of ${counted}`);
}
