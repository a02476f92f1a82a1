// What couriers read, in a transaction for each batch.

import { describeError } from '../../../../base/errors.ts';
import type { ContentReader, ContentResult, MessageContent } from '../../../submissions.ts';
import type { WrittenContent } from '../../../written-mails.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { listsFromText, readAttachments } from './letters.ts';
import { SENDING_COLUMNS, sendingFactsFromRow } from './sending-facts.ts';
import { readPiece, readWritten } from './written-mails.ts';

const MESSAGE = 'SELECT recipient, recipient_name, tenant_id, submission_id, created_at FROM messages WHERE id = +?';

const SUBMISSION = `
  SELECT s.from_address, s.from_name, s.source, s.track_opens, s.track_clicks, c.subject, c.html, c.text, c.headers, c.lists,
    c.attachments, ${SENDING_COLUMNS}
  FROM submissions s
  JOIN contents c ON c.id = s.content_id
  JOIN tenants t ON t.id = s.tenant_id
  JOIN domains d ON d.id = s.domain_id
  JOIN signing_keys k ON k.id = d.signing_key
  WHERE s.tenant_id = +? AND s.id = +?`;

/** A slow session holds what was read ahead for minutes, and a thread has hundreds of sessions. */
const MAX_READ_AHEAD_CHARS = 64 * 1024;

type SubmissionContent = Omit<MessageContent, 'messageId' | 'tenantId' | 'submissionId' | 'to' | 'createdAt'>;
type SubmissionResult = { kind: 'content'; content: SubmissionContent } | Unreadable;

export function contentQueries(db: Queries): Work<Omit<ContentReader, 'close'>> {
  return {
    read: (messageId) => new Snapshot(db).read(messageId),
    readSome: (messageIds) => readSome(db, messageIds),
    attachments: (tenantId, submissionId) => readAttachments(db, [toId(tenantId), toId(submissionId)]),
    piece: ({ tenantId, submissionId, position }) => readPiece(db, [toId(tenantId), toId(submissionId)], position),
  };
}

function* readSome(db: Queries, messageIds: readonly string[]): Steps<ContentResult[]> {
  const snapshot = new Snapshot(db);
  const results: ContentResult[] = [];
  for (const messageId of messageIds) {
    results.push(yield* snapshot.read(messageId));
    if (snapshot.chars >= MAX_READ_AHEAD_CHARS) break;
  }
  return results;
}

/** What one transaction has read: submissions by ID, since their messages share them. */
class Snapshot {
  readonly #db: Queries;
  readonly #submissions = new Map<string, SubmissionResult>();
  chars = 0;

  constructor(db: Queries) {
    this.#db = db;
  }

  *read(messageId: string): Steps<ContentResult> {
    try {
      const row = (yield* this.#db.sql(MESSAGE).get(toId(messageId))) as Row | undefined;
      if (row === undefined) return missing;
      return yield* this.#readMessage(messageId, row);
    } catch (error) {
      return unreadable(error);
    }
  }

  *#readMessage(messageId: string, row: Row): Steps<ContentResult> {
    const tenantId = fromId(row.tenant_id);
    const submissionId = fromId(row.submission_id);
    const known = this.#submissions.get(submissionId);
    const result = known ?? (yield* this.#readSubmission(row));
    this.#submissions.set(submissionId, result);
    if (result.kind === 'unreadable') return result;
    const to = { address: row.recipient as string, name: row.recipient_name as string | null };
    const createdAt = row.created_at as number;
    return { kind: 'content', content: { messageId, tenantId, submissionId, ...result.content, to, createdAt } };
  }

  *#readSubmission({ tenant_id, submission_id }: Row): Steps<SubmissionResult> {
    const row = (yield* this.#db.sql(SUBMISSION).get(tenant_id, submission_id)) as Row | undefined;
    if (!row) return missing;
    const of = [tenant_id as Buffer, submission_id as Buffer] as const;
    const written = row.source === null ? null : yield* readWritten(this.#db, of);
    if (row.source !== null && !written) return missing;
    this.chars += charsOf(row.html) + charsOf(row.text) + (written?.header.length ?? 0);
    return submissionFromRow(row, written);
  }
}

type Unreadable = Extract<ContentResult, { kind: 'unreadable' }>;

const missing: Unreadable = { kind: 'unreadable', reason: 'the content of the message is missing' };

function unreadable(error: unknown): Unreadable {
  return { kind: 'unreadable', reason: `the stored message cannot be read: ${describeError(error)}` };
}

function charsOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0;
}

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
