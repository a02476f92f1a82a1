// Searching a tenant's messages: scans them from new to old, in strides, as far as its limits allow, along an
// index that exists anyway. A search for one recipient skips the blocks whose marks rule it out.

import { startsOfMailbox } from '../../../protocol/mail/addresses/address.ts';
import type { FoundMessage, MessagePage, MessageSearch } from '../../reads.ts';
import type { Tag } from '../../submissions.ts';
import type { Queries, Steps } from '../steps.ts';
import { BEFORE_ALL_IDS, BEHIND_ALL_IDS, fromId, idAt, type Row, toId } from '../values.ts';
import { labelsFromRow } from '../verbs/message/letters.ts';
import { blocksFor, type MarkedBlock } from '../verbs/upkeep/recipient-marks.ts';

/** The clock is checked after so many rows: less than 1 ms, if they are in memory. */
const STRIDE = 500;
/** IDs are made beside the time of acceptance: mostly in the same millisecond. */
const ID_SLACK_MS = 1000;

interface Span {
  /** Exclusive. */
  above: Buffer;
  /** Inclusive. */
  oldest: Buffer;
  /** Its marks rule out the recipient, so it need not be scanned. */
  isEmpty?: boolean;
}

interface Walk {
  db: Queries;
  tenant: Buffer;
  conditions: Conditions;
  limit: number;
  page: MessagePage;
  /** Whether a limit ends the scan here. */
  isOver(): boolean;
}

export function* searchMessages(db: Queries, tenantId: string, search: MessageSearch): Steps<MessagePage> {
  const page: MessagePage = { messages: [], next: null, scanned: 0, stoppedEarly: false };
  const conditions = yield* conditionsOf(db, tenantId, search);
  if (conditions === null) return page;
  const endsAt = performance.now() + search.budgetMs;
  const isOver = () => performance.now() >= endsAt || page.scanned >= (search.maxScanned ?? Number.POSITIVE_INFINITY);
  const walk = { db, tenant: toId(tenantId), conditions, limit: search.limit, page, isOver };
  const spans = new Spans(db, tenantId, search);
  for (let span = yield* spans.next(); span !== null; span = yield* spans.next()) {
    const reached = span.isEmpty ? span.oldest : yield* walkSpan(walk, span);
    if (page.next !== null) break;
    if (!isOver()) continue;
    page.next = fromId(reached);
    page.stoppedEarly = true;
    break;
  }
  return page;
}

/** Sets `page.next` when the page is full; returns how far it got. */
function* walkSpan({ db, tenant, conditions, limit, page, isOver }: Walk, span: Span): Steps<Buffer> {
  for (let { above } = span; ; ) {
    const last = yield* lastOfStride(db, tenant, { above, oldest: span.oldest });
    const stride = { above, oldest: last ?? span.oldest };
    const wanted = limit - page.messages.length;
    const rows = yield* matching(db, { tenant, ...stride }, conditions, wanted);
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

/** The parts of the table that are to be scanned, from new to old, without gaps. */
class Spans {
  readonly #db: Queries;
  readonly #of: { tenantId: string; recipient: string } | null;
  readonly #oldest: Buffer;
  readonly #newest: Buffer;
  #above: Buffer;
  #ready: Span[] = [];
  #before = Number.MAX_SAFE_INTEGER;
  #isAtEnd = false;

  constructor(db: Queries, tenantId: string, search: MessageSearch) {
    this.#db = db;
    this.#of = search.recipient === undefined ? null : { tenantId, recipient: search.recipient };
    this.#oldest = search.from === undefined ? BEFORE_ALL_IDS : idAt(search.from - ID_SLACK_MS);
    this.#newest = newestId(search);
    this.#above = this.#newest;
  }

  /** Null: that was all. */
  *next(): Steps<Span | null> {
    while (this.#ready.length === 0 && !this.#isAtEnd) yield* this.#readMore();
    return this.#ready.shift() ?? null;
  }

  *#readMore(): Steps<void> {
    const blocks = this.#of === null ? [] : yield* this.#blocks(this.#of);
    for (const { first, last, mayHold } of blocks) {
      if (Buffer.compare(this.#above, last) > 0) this.#addTo(last);
      this.#addTo(first, !mayHold);
    }
    if (blocks.length > 0) return;
    this.#isAtEnd = true;
    // Messages of the last minutes are not marked yet.
    if (Buffer.compare(this.#above, this.#oldest) > 0) this.#addTo(this.#oldest);
  }

  *#blocks(of: { tenantId: string; recipient: string }): Steps<MarkedBlock[]> {
    const blocks = yield* blocksFor(this.#db, of, { above: this.#newest, oldest: this.#oldest, before: this.#before });
    this.#before = blocks.at(-1)?.seq ?? 0;
    return blocks;
  }

  #addTo(end: Buffer, isEmpty = false): void {
    this.#ready.push({ above: this.#above, oldest: later(end, this.#oldest), isEmpty });
    this.#above = end;
  }
}

function later(one: Buffer, other: Buffer): Buffer {
  return Buffer.compare(one, other) > 0 ? one : other;
}

/** The last of the next STRIDE messages; null when there are fewer. */
function* lastOfStride(db: Queries, tenant: Buffer, { above, oldest }: Span): Steps<Buffer | null> {
  const end = db.sql(
    `SELECT id FROM messages INDEXED BY messages_of_tenant WHERE tenant_id = +? AND id < +? AND id >= +?
     ORDER BY id DESC LIMIT 1 OFFSET ${STRIDE - 1}`,
    'column',
  );
  return ((yield* end.get(tenant, above, oldest)) as Buffer | undefined) ?? null;
}

interface Conditions {
  sql: string;
  values: unknown[];
}

/** Null: nothing can match. */
function* conditionsOf(db: Queries, tenantId: string, search: MessageSearch): Steps<Conditions | null> {
  const { state, recipient, recipientDomain, senderDomain, sender, tag, apiKeyId, from, until } = search;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, ...of: unknown[]) => {
    conditions.push(` AND ${condition}`);
    values.push(...of);
  };
  if (recipientDomain !== undefined) {
    const lanes = db.sql('SELECT id FROM lanes WHERE tenant_id = +? AND domain = +?', 'column');
    const found = yield* lanes.all(toId(tenantId), recipientDomain);
    if (found.length === 0) return null;
    add(`m.lane IN (${found.map(() => '+?').join(', ')})`, ...found);
  }
  if (from !== undefined) add('m.created_at >= +?', from);
  if (until !== undefined) add('m.created_at < +?', until);
  if (recipient !== undefined) add(...mailboxIs('m.recipient', recipient));
  if (state !== undefined) add('m.state = +?', state);
  if (apiKeyId !== undefined) add('s.api_key_id = +?', toId(apiKeyId));
  if (senderDomain !== undefined) {
    const ids = db.sql('SELECT id FROM domains WHERE tenant_id = +? AND name = +?', 'column');
    const found = yield* ids.all(toId(tenantId), senderDomain);
    if (found.length === 0) return null;
    add(`s.domain_id IN (${found.map(() => '+?').join(', ')})`, ...found);
  }
  if (sender !== undefined) add(...mailboxIs('s.from_address', sender));
  if (search.textPart !== undefined) {
    const text = lowered(search.textPart);
    add('(instr(lower(s.subject), +?) > 0 OR instr(lower(m.recipient), +?) > 0)', text, text);
  }
  if (search.idPart !== undefined) {
    const part = search.idPart.toUpperCase();
    add('(instr(hex(m.id), +?) > 0 OR instr(hex(m.submission_id), +?) > 0)', part, part);
  }
  // Invalid JSON makes SQLite fail; CASE keeps the order of the two.
  if (tag !== undefined) add(`CASE WHEN json_valid(s.labels) THEN s.labels ->> +? END = +?`, pathOf(tag), tag.value);
  return { sql: conditions.join(''), values };
}

/** The domain, which has several spellings, is compared by the condition that comes with it. */
function mailboxIs(column: string, address: string): [condition: string, ...values: string[]] {
  const starts = startsOfMailbox(address).map(lowered);
  return [`(${starts.map(() => `instr(lower(${column}), +?) = 1`).join(' OR ')})`, ...starts];
}

/** As `lower` of a column, which knows only ASCII; PostgreSQL's `lower` of a parameter follows the database's collation. */
function lowered(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Names of tags are letters, digits, "_" and "-". */
function pathOf({ name }: Tag): string {
  return `$.tags."${name}"`;
}

interface Stride extends Span {
  tenant: Buffer;
}

function* matching(
  db: Queries,
  { tenant, above, oldest }: Stride,
  { sql, values }: Conditions,
  limit: number,
): Steps<Row[]> {
  const rows = db.sql(
    `SELECT m.*, s.from_address, s.subject, s.labels, s.header_message_id FROM messages m INDEXED BY messages_of_tenant
     LEFT JOIN submissions s ON s.id = m.submission_id
     WHERE m.tenant_id = +? AND m.id < +? AND m.id >= +?${sql} ORDER BY m.id DESC LIMIT +?`,
  );
  return (yield* rows.all(tenant, above, oldest, ...values, limit)) as Row[];
}

function newestId({ until, olderThan }: MessageSearch): Buffer {
  const bounds: Buffer[] = [BEHIND_ALL_IDS];
  if (until !== undefined) bounds.push(idAt(until + ID_SLACK_MS));
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
