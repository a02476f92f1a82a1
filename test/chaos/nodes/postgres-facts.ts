// All facts that the checks of a run need, read from the database when no daemon runs, and what the sums of the product must
// be when they are counted anew.
import type { Facts, OpenWork, StoredMessage } from '../store-under-test.ts';
import type { Cluster } from './cluster.ts';

const UUID = (column: string) => `encode(${column}, 'hex')::uuid::text`;

export async function countOpenWork(cluster: Cluster): Promise<OpenWork> {
  const [row] = await rowsOf<Record<keyof OpenWork, number>>(
    cluster,
    `SELECT (SELECT count(*)::int FROM postrider.messages WHERE finished_at IS NULL) AS "messages",
       (SELECT count(*)::int FROM postrider.inbound_mails WHERE processed_at IS NULL) AS "inbound",
       (SELECT count(*)::int FROM postrider.webhook_deliveries WHERE due_at IS NOT NULL) AS "webhookDeliveries"`,
  );
  return row!;
}

/** Why messages wait that should have come to rest, and what `said` knows of each. */
export async function describeWaiting(cluster: Cluster, said: (messageId: string) => string[]): Promise<string[]> {
  const rows = await rowsOf<Record<string, unknown>>(
    cluster,
    `SELECT ${UUID('m.id')} AS id, m.state, m.attempts::int, round(m.due_at / 1000.0 - extract(epoch FROM now())) AS "dueInSeconds",
       m.put_off::int AS "putOff", m.parked::int, m.source_address AS source, m.last_reason AS reason, l.slot::int, s.node,
       round(s.lease_until / 1000.0 - extract(epoch FROM now())) AS "leaseLeft",
       (SELECT count(*)::int FROM postrider.webhook_deliveries d JOIN postrider.webhooks w ON w.id = d.webhook_id
        WHERE d.leased = 1 AND w.slot = l.slot) AS "callsInSlot"
     FROM postrider.messages m LEFT JOIN postrider.lanes l ON l.id = m.lane LEFT JOIN postrider.slots s ON s.slot = l.slot
     WHERE m.finished_at IS NULL LIMIT 10`,
  );
  return rows.flatMap((row) => [`waits: ${JSON.stringify(row)}`, ...said(String(row.id))]);
}

export async function hastenWebhooks(cluster: Cluster): Promise<void> {
  await cluster.run('UPDATE postrider.webhook_deliveries SET due_at = 0 WHERE due_at IS NOT NULL');
}

/** Ids of the tenant's events, in their order. */
export async function eventsInOrder(cluster: Cluster, tenantId: string): Promise<string[]> {
  const sql = `SELECT ${UUID('id')} AS id FROM postrider.events WHERE tenant_id = ${bytes(tenantId)} ORDER BY seq`;
  return (await rowsOf<{ id: string }>(cluster, sql)).map(({ id }) => id);
}

export async function readFacts(cluster: Cluster, tenantId: string): Promise<Facts> {
  const tenant = bytes(tenantId);
  const messages = await readMessages(cluster, tenant);
  const events: Facts['events'] = new Map();
  const told = await rowsOf<{ id: string; type: string; message: string }>(
    cluster,
    `SELECT ${UUID('id')} AS id, type, ${UUID('message_id')} AS message FROM postrider.events
     WHERE tenant_id = ${tenant} ORDER BY seq`,
  );
  for (const { id, type, message } of told) {
    events.set(id, { type, messageId: message });
    messages.get(message)?.events.push(type);
  }
  const [counts] = await rowsOf<{ unreadable: number; leftovers: number }>(
    cluster,
    `SELECT (SELECT count(*)::int FROM postrider.inbound_mails WHERE kind = 'unreadable') AS unreadable,
       (SELECT count(*)::int FROM postrider.written_pieces p LEFT JOIN postrider.written_mails w ON w.seq = p.mail
        WHERE w.seq IS NULL OR w.leftover_since IS NOT NULL) AS leftovers`,
  );
  const ofOthers = `SELECT ${UUID('id')} AS id FROM postrider.messages WHERE tenant_id <> ${tenant}`;
  return {
    ...{ damage: null, messages, events, ...counts! },
    ofOthers: new Set((await rowsOf<{ id: string }>(cluster, ofOthers)).map(({ id }) => id)),
    submissionsByKey: await readSubmissions(cluster, tenant),
    inboundKept: await readInbound(cluster),
    oddWrittenMails: await readOddWrittenMails(cluster),
    oddWebhookAttempts: await readOddWebhookAttempts(cluster),
  };
}

/** Sums that are not what counting anew gives. Those of charts have been drawn from all events by then. */
export async function oddSums(cluster: Cluster, tenantId: string): Promise<string[]> {
  const tenant = bytes(tenantId);
  const ofEvents = (type: string) =>
    `(SELECT count(DISTINCT message_id) FROM postrider.events WHERE tenant_id = ${tenant} AND type = 'email.${type}')`;
  const ofChart = (column: string) =>
    `(SELECT coalesce(sum(${column}), 0) FROM postrider.chart_figures WHERE tenant_id = ${tenant})`;
  const pairs = {
    accepted: [ofChart('accepted'), `(SELECT count(*) FROM postrider.messages WHERE tenant_id = ${tenant})`],
    delivered: [ofChart('delivered'), ofEvents('delivered')],
    bounced: [ofChart('bounced_hard + bounced_soft + bounced_block'), ofEvents('bounced')],
    complained: [ofChart('complained'), ofEvents('complained')],
    open: ['(SELECT sum(open_messages) FROM postrider.domain_counts)', '0'],
  };
  const problems: string[] = [];
  for (const [name, [sum, counted]] of Object.entries(pairs)) {
    const [row] = await rowsOf<{ sum: number; counted: number }>(
      cluster,
      `SELECT ${sum}::int AS sum, ${counted}::int AS counted`,
    );
    if (row!.sum !== row!.counted) problems.push(`${name}: the sum is ${row!.sum}, counted are ${row!.counted}`);
  }
  return problems;
}

interface MessageRow {
  id: string;
  submission: string;
  recipient: string;
  state: string;
  attempts: number;
  complained: boolean;
  numbers: number[];
}

async function readMessages(cluster: Cluster, tenant: string): Promise<Map<string, StoredMessage>> {
  const rows = await rowsOf<MessageRow>(
    cluster,
    `SELECT ${UUID('m.id')} AS id, ${UUID('m.submission_id')} AS submission, m.recipient, m.state, m.attempts::int,
       m.complained = 1 AS complained,
       array(SELECT number::int FROM postrider.attempts a WHERE a.message_id = m.id
             UNION ALL SELECT 1 WHERE m.first_attempt_at IS NOT NULL ORDER BY 1) AS numbers
     FROM postrider.messages m WHERE m.tenant_id = ${tenant}`,
  );
  return new Map(
    rows.map(({ submission, numbers, ...own }) => [
      own.id,
      { ...own, submissionId: submission, attemptNumbers: numbers, events: [] },
    ]),
  );
}

async function readSubmissions(cluster: Cluster, tenant: string): Promise<Facts['submissionsByKey']> {
  const rows = await rowsOf<{ key: string; ids: string[] }>(
    cluster,
    `SELECT idempotency_key AS key, array_agg(${UUID('id')}) AS ids FROM postrider.submissions
     WHERE tenant_id = ${tenant} AND idempotency_key IS NOT NULL GROUP BY 1`,
  );
  return new Map(rows.map(({ key, ids }) => [key, ids]));
}

async function readInbound(cluster: Cluster): Promise<Facts['inboundKept']> {
  const rows = await rowsOf<{ why: string; mails: number }>(
    cluster,
    `SELECT kind || ': ' || coalesce(reason, 'without a reason') AS why, count(*)::int AS mails
     FROM postrider.inbound_mails WHERE effect IN ('none', 'kept') GROUP BY 1`,
  );
  return new Map(rows.map(({ why, mails }) => [why, mails]));
}

async function readOddWrittenMails(cluster: Cluster): Promise<string[]> {
  const rows = await rowsOf<{ id: string; accepted: boolean; leftover: string | null; due: number; pieces: number }>(
    cluster,
    `SELECT encode(coalesce(w.submission_id, s.id), 'hex') AS id, s.id IS NOT NULL AS accepted,
       w.leftover_since AS leftover, w.pieces::int AS due, count(p.mail)::int AS pieces
     FROM postrider.written_mails w
     FULL JOIN (SELECT * FROM postrider.submissions WHERE source = 'smtp') s
       ON s.tenant_id = w.tenant_id AND s.id = w.submission_id
     LEFT JOIN postrider.written_pieces p ON p.mail = w.seq
     GROUP BY w.seq, s.tenant_id, s.id
     HAVING CASE WHEN s.id IS NULL THEN w.leftover_since IS NULL
       ELSE w.leftover_since IS NOT NULL OR w.pieces IS DISTINCT FROM count(p.mail)
         OR w.bytes IS DISTINCT FROM sum(length(p.bytes)) END`,
  );
  return rows.map(
    ({ id, accepted, leftover, due, pieces }) =>
      `${id}: ${accepted ? 'accepted' : 'not accepted'}, left over since ${leftover}, ${pieces} pieces of ${due}`,
  );
}

async function readOddWebhookAttempts(cluster: Cluster): Promise<string[]> {
  const rows = await rowsOf<{ webhook: string; seq: string; counted: number; last: number }>(
    cluster,
    `SELECT encode(d.webhook_id, 'hex') AS webhook, d.event_seq::text AS seq, d.attempts::int AS counted,
       max(a.number)::int AS last
     FROM postrider.webhook_deliveries d JOIN postrider.webhook_attempts a USING (webhook_id, event_seq)
     GROUP BY d.webhook_id, d.event_seq, d.attempts HAVING max(a.number) > d.attempts OR min(a.number) < 1`,
  );
  return rows.map(({ webhook, seq, counted, last }) => `${webhook} event ${seq}: attempt ${last} of ${counted}`);
}

async function rowsOf<Row>(cluster: Cluster, sql: string): Promise<Row[]> {
  return (await cluster.run(sql)).rows as Row[];
}

function bytes(uuid: string): string {
  return `decode('${uuid.replaceAll('-', '')}', 'hex')`;
}
