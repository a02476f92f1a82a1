// Searching a tenant's messages in SQLite: scans them from new to old, in strides, as far as its limits allow, along an
// index that exists anyway. A search for one recipient skips the blocks whose marks rule it out.
import type { FoundMessage, MessagePage, MessageSearch } from '../../reads.ts';
import type { Tag } from '../../submissions.ts';
import type { ReadingConnection } from '../engine/reading-connection.ts';
import { BEFORE_ALL_IDS, BEHIND_ALL_IDS, fromId, idAt, type Row, toId } from '../engine/values.ts';
import { labelsFromRow } from '../verbs/letters.ts';
import { blocksFor } from '../verbs/recipient-marks.ts';

/** The clock is checked after so many rows: less than 1 ms, if they are in memory. */
const STRIDE = 500;

interface Span {
  /** Exclusive. */
  above: Buffer;
  /** Inclusive. */
  oldest: Buffer;
  /** Its marks rule out the recipient, so it need not be scanned. */
  isEmpty?: boolean;
}

interface Walk {
  db: ReadingConnection;
  tenant: Buffer;
  conditions: Conditions;
  limit: number;
  page: MessagePage;
  /** Whether a limit ends the scan here. */
  isOver(): boolean;
}

export function searchMessages(db: ReadingConnection, tenantId: string, search: MessageSearch): MessagePage {
  const page: MessagePage = { messages: [], next: null, scanned: 0, stoppedEarly: false };
  const conditions = conditionsOf(db, tenantId, search);
  if (conditions === null) return page;
  const endsAt = performance.now() + search.budgetMs;
  const isOver = () => performance.now() >= endsAt || page.scanned >= (search.maxScanned ?? Number.POSITIVE_INFINITY);
  const walk = { db, tenant: toId(tenantId), conditions, limit: search.limit, page, isOver };
  for (const span of spansOf(db, tenantId, search)) {
    const reached = span.isEmpty ? span.oldest : walkSpan(walk, span);
    if (page.next !== null) break;
    if (!isOver()) continue;
    page.next = fromId(reached);
    page.stoppedEarly = true;
    break;
  }
  return page;
}

/** Sets `page.next` when the page is full; returns how far it got. */
function walkSpan({ db, tenant, conditions, limit, page, isOver }: Walk, span: Span): Buffer {
  for (let { above } = span; ; ) {
    const last = lastOfStride(db, tenant, { above, oldest: span.oldest });
    const stride = { above, oldest: last ?? span.oldest };
    const wanted = limit - page.messages.length;
    const rows = matching(db, { tenant, ...stride }, conditions, wanted);
    page.messages.push(...rows.map(messageFromRow));
    if (rows.length === wanted) {
      page.next = page.messages.at(-1)!.id;
      return stride.oldest;
    }
    if (last === null) return span.oldest;
    page.scanned += STRIDE;
    if (isOver()) return last;
    above = last;
  }
}

/** From new to old, without gaps. Messages of the last minutes are not marked yet. */
function* spansOf(db: ReadingConnection, tenantId: string, search: MessageSearch): Generator<Span> {
  const oldest = search.from === undefined ? BEFORE_ALL_IDS : idAt(search.from);
  let above = newestId(search);
  const { recipient } = search;
  const blocks = recipient === undefined ? [] : blocksFor(db, { tenantId, recipient }, { above, oldest });
  for (const { first, last, mayHold } of blocks) {
    if (Buffer.compare(above, last) > 0) {
      yield { above, oldest: later(last, oldest) };
      above = last;
    }
    yield { above, oldest: later(first, oldest), isEmpty: !mayHold };
    above = first;
  }
  if (Buffer.compare(above, oldest) > 0) yield { above, oldest };
}

function later(one: Buffer, other: Buffer): Buffer {
  return Buffer.compare(one, other) > 0 ? one : other;
}

/** The last of the next STRIDE messages; null when there are fewer. */
function lastOfStride(db: ReadingConnection, tenant: Buffer, { above, oldest }: Span): Buffer | null {
  const end = db.sql(
    `SELECT id FROM messages INDEXED BY messages_of_tenant WHERE tenant_id = +? AND id < +? AND id >= +?
     ORDER BY id DESC LIMIT 1 OFFSET ${STRIDE - 1}`,
    'column',
  );
  return (end.get(tenant, above, oldest) as Buffer | undefined) ?? null;
}

interface Conditions {
  sql: string;
  values: unknown[];
}

/** Null: nothing can match. */
function conditionsOf(db: ReadingConnection, tenantId: string, search: MessageSearch): Conditions | null {
  const { state, recipient, recipientDomain, senderDomain, sender, tag, apiKeyId } = search;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, ...of: unknown[]) => {
    conditions.push(` AND ${condition}`);
    values.push(...of);
  };
  if (recipientDomain !== undefined) {
    const lanes = db.sql('SELECT id FROM lanes WHERE tenant_id = +? AND domain = +?', 'column');
    const found = lanes.all(toId(tenantId), recipientDomain);
    if (found.length === 0) return null;
    add(`m.lane IN (${found.map(() => '+?').join(', ')})`, ...found);
  }
  if (recipient !== undefined) add('m.recipient = +? COLLATE NOCASE', recipient);
  if (state !== undefined) add('m.state = +?', state);
  if (apiKeyId !== undefined) add('s.api_key_id = +?', toId(apiKeyId));
  if (senderDomain !== undefined) {
    const ids = db.sql('SELECT id FROM domains WHERE tenant_id = +? AND name = +?', 'column');
    const found = ids.all(toId(tenantId), senderDomain);
    if (found.length === 0) return null;
    add(`s.domain_id IN (${found.map(() => '+?').join(', ')})`, ...found);
  }
  if (sender !== undefined) add('s.from_address = +? COLLATE NOCASE', sender);
  if (search.textPart !== undefined) {
    const text = search.textPart;
    add('(instr(lower(s.subject), lower(+?)) > 0 OR instr(lower(m.recipient), lower(+?)) > 0)', text, text);
  }
  if (search.idPart !== undefined) {
    const part = search.idPart.toUpperCase();
    add('(instr(hex(m.id), +?) > 0 OR instr(hex(m.submission_id), +?) > 0)', part, part);
  }
  // Invalid JSON makes SQLite fail; CASE keeps the order of the two.
  if (tag !== undefined) add(`CASE WHEN json_valid(s.labels) THEN s.labels ->> +? END = +?`, pathOf(tag), tag.value);
  return { sql: conditions.join(''), values };
}

/** Names of tags are letters, digits, "_" and "-". */
function pathOf({ name }: Tag): string {
  return `$.tags."${name}"`;
}

interface Stride extends Span {
  tenant: Buffer;
}

function matching(
  db: ReadingConnection,
  { tenant, above, oldest }: Stride,
  { sql, values }: Conditions,
  limit: number,
): Row[] {
  const rows = db.sql(
    `SELECT m.*, s.from_address, s.subject, s.labels, s.header_message_id FROM messages m INDEXED BY messages_of_tenant
     LEFT JOIN submissions s ON s.id = m.submission_id
     WHERE m.tenant_id = +? AND m.id < +? AND m.id >= +?${sql} ORDER BY m.id DESC LIMIT +?`,
  );
  return rows.all(tenant, above, oldest, ...values, limit) as Row[];
}

function newestId({ until, olderThan }: MessageSearch): Buffer {
  const bounds: Buffer[] = [BEHIND_ALL_IDS];
  if (until !== undefined) bounds.push(idAt(until));
  if (olderThan !== undefined) bounds.push(toId(olderThan));
  return bounds.sort(Buffer.compare)[0]!;
}

function messageFromRow(row: Row): FoundMessage {
  return {
    id: fromId(row.id),
    submissionId: fromId(row.submission_id),
    recipient: row.recipient as string,
    recipientName: row.recipient_name as string | null,
    state: row.state as FoundMessage['state'],
    parked: row.parked === 1,
    bounce: row.bounce as FoundMessage['bounce'],
    complained: row.complained === 1,
    attempts: row.attempts as number,
    lastReason: row.last_reason as string | null,
    from: (row.from_address ?? '') as string,
    subject: (row.subject ?? '') as string,
    labels: labelsFromRow(row),
    createdAt: row.created_at as number,
    finishedAt: row.finished_at as number | null,
  };
}
