// What couriers read of messages: those of a batch together.
import { describeError } from '../../../../base/errors.ts';
import type { ContentReader, ContentResult, MessageContent } from '../../../submissions.ts';
import type { WrittenContent } from '../../../written-mails.ts';
import type { Reads, Steps } from '../../steps.ts';
import type { Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { listsFromText, readAttachments } from './letters.ts';
import { SENDING_COLUMNS, sendingFactsFromRow } from './sending-facts.ts';
import { readPiece, readWritten } from './written-mails.ts';

const OF_MESSAGE =
  'm.id, m.recipient, m.recipient_name, m.tenant_id, m.submission_id, coalesce(s.send_at, m.created_at) AS dated_at';

const OF_SUBMISSION = `s.from_address, s.from_name, s.source, s.track_opens, s.track_clicks, c.subject, c.html, c.text,
    c.headers, c.lists, c.attachments, ${SENDING_COLUMNS}`;

const WITH_SUBMISSION = `JOIN contents c ON c.id = s.content_id
  JOIN tenants t ON t.id = s.tenant_id
  JOIN domains d ON d.id = s.domain_id
  JOIN signing_keys k ON k.id = d.signing_key`;

/** Most mail is alone in its batch, and then one look-up is enough. */
const ALONE = `
  SELECT ${OF_MESSAGE}, ${OF_SUBMISSION}
  FROM messages m
  JOIN submissions s ON s.tenant_id = m.tenant_id AND s.id = m.submission_id
  ${WITH_SUBMISSION}
  WHERE m.id = +?`;

const MESSAGE = `
  SELECT ${OF_MESSAGE}, coalesce(octet_length(c.html), 0) + coalesce(octet_length(c.text), 0) AS size
  FROM messages m
  LEFT JOIN submissions s ON s.tenant_id = m.tenant_id AND s.id = m.submission_id
  LEFT JOIN contents c ON c.id = s.content_id
  WHERE m.id = +?`;

const SUBMISSION = `
  SELECT s.tenant_id, s.id AS submission_id, ${OF_SUBMISSION}
  FROM submissions s
  ${WITH_SUBMISSION}
  WHERE s.tenant_id = +? AND s.id = +?`;

/** A slow session holds what was read ahead for minutes, and a thread has hundreds of sessions. */
const READ_AHEAD = { bytes: 64 * 1024, submissions: 16, messages: 100 };

type SubmissionContent = Omit<MessageContent, 'messageId' | 'tenantId' | 'submissionId' | 'to' | 'date'>;
type SubmissionResult = { kind: 'content'; content: SubmissionContent } | Unreadable;

interface ContentReads {
  db: Reads;
  /** Instead of the message; throws what says nothing about it. */
  unreadable(error: unknown): Unreadable;
}

/** `isPassing`: of the database at the moment, and not of what is asked. All is rejected with it then. */
export function contentQueries(
  db: Reads,
  isPassing: (error: unknown) => boolean = () => false,
): Work<Omit<ContentReader, 'close'>> {
  const unreadable = (error: unknown): Unreadable => {
    if (isPassing(error)) throw error;
    return { kind: 'unreadable', reason: `the stored message cannot be read: ${describeError(error)}` };
  };
  const reads = { db, unreadable };
  return {
    read: (messageId) => readAlone(reads, messageId),
    readSome: (messageIds) => readSome(reads, messageIds),
    attachments: (tenantId, submissionId) => readAttachments(db, [toId(tenantId), toId(submissionId)]),
    piece: ({ tenantId, submissionId, position }) => readPiece(db, [toId(tenantId), toId(submissionId)], position),
  };
}

function* readAlone({ db, unreadable }: ContentReads, messageId: string): Steps<ContentResult> {
  try {
    const row = (yield* db.sql(ALONE).get(toId(messageId))) as Row | undefined;
    return row === undefined ? CONTENT_MISSING : contentOf(row, yield* readSubmission(db, row));
  } catch (error) {
    return unreadable(error);
  }
}

/** Two look-ups, however many messages: a database at the end of a connection is far away. */
function* readSome(reads: ContentReads, messageIds: readonly string[]): Steps<ContentResult[]> {
  if (messageIds.length === 1) return [yield* readAlone(reads, messageIds[0]!)];
  const { db } = reads;
  const all = yield* db.forAll(messageIds.slice(0, READ_AHEAD.messages), (messageId) => findMessage(reads, messageId));
  const found = all.slice(0, howMany(all));
  const distinct = new Map<string, Row>();
  for (const { row } of found) if (row) distinct.set(submissionOf(row), row);
  const read = yield* db.forAll([...distinct.values()], (row) => findSubmission(reads, row));
  const submissions = new Map([...distinct.keys()].map((submission, index) => [submission, read[index]!]));
  return found.map(({ row, instead }) => (row ? contentOf(row, submissions.get(submissionOf(row))!) : instead));
}

type FoundMessage = { row: Row; instead?: never } | { row?: never; instead: Unreadable };

function* findMessage({ db, unreadable }: ContentReads, messageId: string): Steps<FoundMessage> {
  try {
    const row = (yield* db.sql(MESSAGE).get(toId(messageId))) as Row | undefined;
    return row ? { row } : { instead: CONTENT_MISSING };
  } catch (error) {
    return { instead: unreadable(error) };
  }
}

/** The messages of a submission share it. */
function howMany(found: readonly FoundMessage[]): number {
  const submissions = new Set<string>();
  let bytes = 0;
  for (const [index, { row }] of found.entries()) {
    if (!row || submissions.has(submissionOf(row))) continue;
    if (bytes >= READ_AHEAD.bytes || submissions.size === READ_AHEAD.submissions) return index;
    submissions.add(submissionOf(row));
    bytes += row.size as number;
  }
  return found.length;
}

function submissionOf({ submission_id }: Row): string {
  return fromId(submission_id);
}

function* findSubmission({ db, unreadable }: ContentReads, { tenant_id, submission_id }: Row): Steps<SubmissionResult> {
  try {
    const row = (yield* db.sql(SUBMISSION).get(tenant_id, submission_id)) as Row | undefined;
    return row === undefined ? CONTENT_MISSING : yield* readSubmission(db, row);
  } catch (error) {
    return unreadable(error);
  }
}

/** Mail that came as it is has more to read. */
function* readSubmission(db: Reads, row: Row): Steps<SubmissionResult> {
  const of = [row.tenant_id as Buffer, row.submission_id as Buffer] as const;
  const written = row.source === null ? null : yield* readWritten(db, of);
  if (row.source !== null && !written) return CONTENT_MISSING;
  return submissionFromRow(row, written);
}

function contentOf(row: Row, submission: SubmissionResult): ContentResult {
  if (submission.kind === 'unreadable') return submission;
  const content: MessageContent = Object.assign({}, submission.content, {
    messageId: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    submissionId: fromId(row.submission_id),
    to: { address: row.recipient as string, name: row.recipient_name as string | null },
    date: row.dated_at as number,
  });
  return { kind: 'content', content };
}

type Unreadable = Extract<ContentResult, { kind: 'unreadable' }>;

/** Always this object. */
export const CONTENT_MISSING: Unreadable = { kind: 'unreadable', reason: 'the content of the message is missing' };

function submissionFromRow(row: Row, written: WrittenContent | null): SubmissionResult {
  if (row.sealed === null) return { kind: 'unreadable', reason: 'the signing key of the domain has been erased' };
  const facts = sendingFactsFromRow(row);
  const content: SubmissionContent = Object.assign(facts, {
    from: { address: row.from_address as string, name: row.from_name as string | null },
    subject: row.subject as string,
    html: row.html as string | null,
    text: row.text as string | null,
    headers: JSON.parse(row.headers as string) as [string, string][],
    lists: listsFromText(row.lists),
    attachments: row.attachments as number,
    written,
    openTracking: overridden(row.track_opens, facts.openTracking),
    clickTracking: overridden(row.track_clicks, facts.clickTracking),
  });
  return { kind: 'content', content };
}

/** A call's own choice, where it has one. */
function overridden(choice: unknown, setting: boolean): boolean {
  return choice === null ? setting : choice === 1;
}
