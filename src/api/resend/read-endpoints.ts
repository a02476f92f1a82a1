// GET /resend/emails/{id}, of a submission or of one of its messages, and GET /resend/emails.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal, type Refusal, refuse } from '../../base/refusals.ts';
import { asciiDomainOf } from '../../protocol/mail/addresses/address.ts';
import type { StoredEvent } from '../../store/events.ts';
import type { MessageTexts } from '../../store/message-view.ts';
import type { SubmissionDetail } from '../../store/queue.ts';
import type { PortalReads, ReadOutcome } from '../../store/reads.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { CopyKind, Mailbox } from '../../store/submissions.ts';
import { ok } from '../answer.ts';
import type { ApiCall, Endpoint } from '../endpoint.ts';
import { invalid, refuseUnread } from '../query.ts';
import { lastEventOf, leastOf } from './last-event.ts';
import { readCursor } from './list-page.ts';

export interface ReadParts {
  store: StoreVerbs<{ queue: 'findMessage' | 'findSubmission'; events: 'eventsOfMessage' }>;
  reads: Pick<PortalReads, 'messageTexts' | 'searchMessages'>;
}

export function readEndpoints(parts: ReadParts): Endpoint[] {
  const get = { method: 'GET', scope: null, body: 'none' } as const;
  return [
    { ...get, pattern: '/resend/emails', answer: (call) => list(parts, call) },
    { ...get, pattern: '/resend/emails/:id', answer: (call) => show(parts, call) },
  ];
}

async function show(parts: ReadParts, { tenant, id }: ApiCall) {
  const email = await findEmail(parts.store, tenant.id, id);
  if (!email) return emailNotFound();
  const texts = valueIn(await parts.reads.messageTexts(tenant.id, email.messages[0]!.id));
  if (isRefusal(texts)) return texts;
  const events = await eventsOf(parts.store, tenant.id, email);
  const states = email.messages.map(({ state }) => state);
  return ok({
    ...emailFields(email, texts),
    html: texts?.html ?? null,
    text: texts?.text ?? null,
    ...tagsOf(email),
    last_event: lastEventOf(states, events),
  });
}

function emailNotFound(): Refusal {
  return refuse('email_not_found', 'Email not found. Use the `id` of the response to a send.');
}

/** A message by its own ID is an email of which it is the only one. Retention may leave a submission without messages. */
async function findEmail(store: ReadParts['store'], tenantId: string, id: string): Promise<SubmissionDetail | null> {
  const submission = await store.queue.findSubmission(tenantId, id);
  if (submission) return submission.messages.length > 0 ? submission : null;
  const message = await store.queue.findMessage(tenantId, id);
  const whole = message && (await store.queue.findSubmission(tenantId, message.submissionId));
  return whole && message && { ...whole, id, messages: [{ ...message, copy: null }] };
}

async function eventsOf(store: ReadParts['store'], tenantId: string, { messages }: SubmissionDetail) {
  const events: StoredEvent[] = [];
  for (const { id } of messages) events.push(...(await store.events.eventsOfMessage(tenantId, id)));
  return events;
}

/** `texts` are null where they were erased or not read: then there are no names, and no lists but the recipients. */
function emailFields(email: SubmissionDetail, texts: MessageTexts | null) {
  const { id, createdAt, sendAt, from, subject, messages, labels } = email;
  const { letter = null, replyTo = [] } = texts?.lists ?? {};
  const inList = (copy: CopyKind | null) =>
    messages.filter((one) => one.copy === copy).map(({ recipient }) => recipient);
  // A message that is asked for by its own ID shows itself.
  const shown = messages[0]!.id === id ? null : letter;
  return {
    object: 'email',
    id,
    // Mail that was handed in by SMTP keeps the one that it came with.
    message_id: `<${labels?.headerMessageId ?? `${messages[0]!.id}@${asciiDomainOf(from)}`}>`,
    from: texts ? mailbox(texts.from) : from,
    to: shown?.to.map(mailbox) ?? inList(null),
    cc: shown?.cc.map(mailbox) ?? inList('cc'),
    bcc: inList('bcc'),
    reply_to: replyTo.map(mailbox),
    subject,
    created_at: toTimestamp(createdAt),
    scheduled_at: sendAt === null ? null : toTimestamp(sendAt),
  };
}

function tagsOf({ labels }: SubmissionDetail) {
  if (!labels?.tags) return {};
  return { tags: Object.entries(labels.tags).map(([name, value]) => ({ name, value })) };
}

/** As `from` may be written: all before the last bracket is the name. */
function mailbox({ name, address }: Mailbox): string {
  return name === null ? address : `${name} <${address}>`;
}

const DEFAULT_LIMIT = 20;
/** Of one search. Most calls have one recipient. */
const MESSAGES_PER_SEARCH = 100;
const SEARCH_BUDGET_MS = 500;

/** One entry for each call. */
async function list(parts: ReadParts, { tenant, query }: ApiCall) {
  const cursor = readCursor(query(), DEFAULT_LIMIT);
  if (isRefusal(cursor)) return cursor;
  const { limit, after, before } = cursor;
  if (before !== null) return invalid('before', 'not supported; use after, from the newest on.');
  const last = after === null ? null : await findEmail(parts.store, tenant.id, after);
  const below = last === null ? after : newestMessage(last);
  const emails = await emailsBelow(parts, tenant.id, { below, limit: limit + 1 });
  if (isRefusal(emails)) return emails;
  const data = emails.slice(0, limit).map((email) => {
    const states = email.messages.map(({ state }) => state);
    return { ...emailFields(email, null), last_event: leastOf(states) };
  });
  return ok({ object: 'list', has_more: emails.length > limit, data });
}

/** Messages are in the order of their IDs. */
function newestMessage({ messages }: SubmissionDetail): string {
  return messages.at(-1)!.id;
}

interface Part {
  /** The newest message of the last email before these; null: from the newest on. */
  below: string | null;
  limit: number;
}

/**
 * Emails are ordered by their newest messages, which is how a search from new to old finds them first. The IDs of calls
 * have another order: a call by SMTP gets its ID when the mail begins, its messages theirs when its body is stored.
 */
async function emailsBelow({ store, reads }: ReadParts, tenantId: string, { below, limit }: Part) {
  const emails: SubmissionDetail[] = [];
  const seen = new Set<string>();
  let olderThan = below;
  do {
    const search = { limit: MESSAGES_PER_SEARCH, budgetMs: SEARCH_BUDGET_MS, ...(olderThan && { olderThan }) };
    const page = valueIn(await reads.searchMessages(tenantId, search));
    if (isRefusal(page)) return page;
    for (const { submissionId } of page.messages) {
      if (seen.has(submissionId)) continue;
      seen.add(submissionId);
      const email = await findEmail(store, tenantId, submissionId);
      // Otherwise it is on an earlier page, and only an older message of it was found here.
      if (email && (below === null || newestMessage(email) < below)) emails.push(email);
      if (emails.length === limit) return emails;
    }
    olderThan = page.next;
  } while (olderThan !== null);
  return emails;
}

function valueIn<Value>(found: ReadOutcome<Value>): Value | Refusal {
  return found.kind === 'found' ? found.value : refuseUnread(found.reason);
}
