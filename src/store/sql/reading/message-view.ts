// One message as the portal shows it to its tenant. Lists that may be very long are read up to a limit.

import type {
  AttachedFile,
  AttachmentView,
  ContentView,
  MessageSibling,
  MessageTexts,
  MessageView,
  MessageViewQueries,
  SourceContent,
  TooLarge,
  WebhookCall,
} from '../../message-view.ts';
import type { CopyKind, RejectedRecipient, TrackingChoice } from '../../submissions.ts';
import { eachOf, type Queries, type Steps } from '../steps.ts';
import { fromId, type Row, toId } from '../values.ts';
import { eventFromRow } from '../verbs/message/events.ts';
import { listsFromText, readAttachments } from '../verbs/message/letters.ts';
import { OF_SUBMISSION } from '../verbs/message/submission-messages.ts';
import { readBody, readWritten } from '../verbs/message/written-mails.ts';
import { getMessage } from '../verbs/queue/queue-views.ts';
import { deliveryFromRow } from '../verbs/webhooks/webhook-delivery-list.ts';
import type { Answered } from './answered.ts';

const MAX_EVENTS = 100;
/** A tenant has at most 50 webhooks, and few messages have more than some events. */
const MAX_WEBHOOK_CALLS = 200;
/** A call has at most 50 recipients and 50 attachments, and a written mail 100 recipients. */
const MAX_SIBLINGS = 100;
const MAX_ATTACHMENTS = 50;
const MAX_TEXT_CHARS = 20_000;

export const MESSAGE_VIEW_QUERIES: Answered<MessageViewQueries> = {
  messageView,
  messageHtml,
  messageTexts,
  messageContent,
  messageAttachment,
};

function* messageView(db: Queries, tenantId: string, messageId: string): Steps<MessageView | null> {
  const message = yield* getMessage(db, messageId);
  if (message?.tenantId !== tenantId) return null;
  const row = (yield* db
    .sql(
      `SELECT m.recipient_name, m.bounce, m.complained, m.copy, s.id AS submission, s.from_name, s.idempotency_key,
         s.rejected, s.content_id, s.source, s.track_opens, s.track_clicks, d.name AS domain, k.id AS key_id, k.name AS key_name
       FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id
       LEFT JOIN domains d ON d.id = s.domain_id LEFT JOIN api_keys k ON k.id = s.api_key_id AND k.tenant_id = m.tenant_id
       WHERE m.tenant_id = +? AND m.id = +?`,
    )
    .get(toId(tenantId), toId(messageId))) as Row;
  const events = (yield* db
    .sql('SELECT * FROM events WHERE tenant_id = +? AND message_id = +? ORDER BY seq LIMIT +?')
    .all(toId(tenantId), toId(messageId), MAX_EVENTS + 1)) as Row[];
  return {
    message,
    recipientName: row.recipient_name as string | null,
    copy: row.copy as CopyKind | null,
    tracking: trackingFromRow(row),
    fromName: row.from_name as string | null,
    bounce: row.bounce as MessageView['bounce'],
    complained: row.complained === 1,
    senderDomain: (row.domain ?? '') as string,
    apiKey: row.key_id === null ? null : { id: fromId(row.key_id), name: row.key_name as string },
    idempotencyKey: row.idempotency_key as string | null,
    events: events.slice(0, MAX_EVENTS).map(eventFromRow),
    moreEvents: events.length > MAX_EVENTS,
    webhookCalls: yield* webhookCalls(db, tenantId, messageId),
    rejected: JSON.parse((row.rejected ?? '[]') as string) as RejectedRecipient[],
    siblings: yield* siblingsOf(db, tenantId, { messageId, submission: row.submission as Buffer | null }),
    content: yield* contentView(db, row.content_id as number | null, yield* writtenBytes(db, row, tenantId)),
  };
}

function* webhookCalls(db: Queries, tenantId: string, messageId: string): Steps<WebhookCall[]> {
  // In this order: each delivery is looked up by its key.
  const calls = db.sql(
    `SELECT d.*, e.id AS event_id, e.type, e.at, w.url
     FROM events e CROSS JOIN webhooks w CROSS JOIN webhook_deliveries d ON d.webhook_id = w.id AND d.event_seq = e.seq
     WHERE e.tenant_id = +@tenant AND e.message_id = +@message AND w.tenant_id = +@tenant
     ORDER BY e.seq, w.id LIMIT ${MAX_WEBHOOK_CALLS}`,
  );
  const rows = (yield* calls.all({ tenant: toId(tenantId), message: toId(messageId) })) as Row[];
  return yield* eachOf(rows, function* (row): Steps<WebhookCall> {
    const { webhook_id, url, at } = row;
    return {
      webhookId: fromId(webhook_id),
      url: url as string,
      at: at as number,
      ...(yield* deliveryFromRow(db, row)),
    };
  });
}

function trackingFromRow({ track_opens: opens, track_clicks: clicks }: Row): TrackingChoice {
  return {
    ...(opens !== null && { opens: opens === 1 }),
    ...(clicks !== null && { clicks: clicks === 1 }),
  };
}

function* siblingsOf(
  db: Queries,
  tenantId: string,
  { messageId, submission }: { messageId: string; submission: Buffer | null },
): Steps<MessageSibling[]> {
  const rows = (yield* db
    .sql(
      `SELECT m.id, m.recipient, m.state FROM submissions s JOIN messages m ON ${OF_SUBMISSION}
       WHERE s.tenant_id = +? AND s.id = +? AND m.id <> +? ORDER BY m.id LIMIT +?`,
    )
    .all(toId(tenantId), submission, toId(messageId), MAX_SIBLINGS)) as Row[];
  return rows.map(({ id, recipient, state }) => ({
    id: fromId(id),
    recipient: recipient as string,
    state: state as MessageSibling['state'],
  }));
}

function* writtenBytes(db: Queries, { source, submission }: Row, tenantId: string): Steps<number | null> {
  if (source === null) return null;
  // The length of a BLOB is in the row's header: its bytes are not read.
  const bytes = 'SELECT length(header) + bytes FROM written_mails WHERE tenant_id = +? AND submission_id = +?';
  return ((yield* db.sql(bytes, 'column').get(toId(tenantId), submission)) ?? null) as number | null;
}

function* contentView(db: Queries, contentId: number | null, written: number | null): Steps<ContentView | null> {
  const row = (yield* db
    .sql(
      `SELECT html IS NOT NULL AS has_html, substr(text, 1, ${MAX_TEXT_CHARS}) AS text, length(text) AS text_chars,
         headers, lists, attachments, coalesce(length(html), 0) + coalesce(length(text), 0) AS chars
       FROM contents WHERE id = +?`,
    )
    .get(contentId)) as Row | undefined;
  if (!row) return null;
  return {
    hasHtml: row.has_html === 1,
    text: row.text as string | null,
    textIsCut: ((row.text_chars as number | null) ?? 0) > MAX_TEXT_CHARS,
    headers: JSON.parse(row.headers as string) as [string, string][],
    lists: listsFromText(row.lists),
    attachments: row.attachments === 0 ? [] : yield* attachmentViews(db, contentId),
    chars: row.chars as number,
    writtenBytes: written,
  };
}

/** The length of a BLOB is in the row's header: its bytes are not read. */
function* attachmentViews(db: Queries, contentId: number | null): Steps<AttachmentView[]> {
  const rows = (yield* db
    .sql(
      `SELECT position, filename, content_type, cid, length(bytes) AS bytes FROM attachments WHERE content_id = +?
       ORDER BY position LIMIT ${MAX_ATTACHMENTS}`,
    )
    .all(contentId)) as Row[];
  return rows.map((row) => ({
    position: row.position as number,
    filename: row.filename as string,
    contentType: row.content_type as string,
    contentId: row.cid as string | null,
    bytes: row.bytes as number,
  }));
}

function* messageHtml(db: Queries, tenantId: string, messageId: string): Steps<string | null> {
  const html = db.sql(
    `SELECT c.html FROM messages m JOIN submissions s ON s.id = m.submission_id JOIN contents c ON c.id = s.content_id
     WHERE m.tenant_id = +? AND m.id = +?`,
    'column',
  );
  return ((yield* html.get(toId(tenantId), toId(messageId))) as string | null | undefined) ?? null;
}

function* messageTexts(db: Queries, tenantId: string, messageId: string): Steps<MessageTexts | null> {
  const row = (yield* db
    .sql(
      `SELECT s.from_address, s.from_name, c.html, c.text, c.lists
       FROM messages m JOIN submissions s ON s.id = m.submission_id JOIN contents c ON c.id = s.content_id
       WHERE m.tenant_id = +? AND m.id = +?`,
    )
    .get(toId(tenantId), toId(messageId))) as Row | undefined;
  if (!row) return null;
  return {
    from: { address: row.from_address as string, name: row.from_name as string | null },
    html: row.html as string | null,
    text: row.text as string | null,
    lists: listsFromText(row.lists),
  };
}

function* messageContent(
  db: Queries,
  tenantId: string,
  messageId: string,
  maxChars: number,
): Steps<SourceContent | TooLarge | null> {
  const row = (yield* db
    .sql(
      `SELECT m.recipient, m.recipient_name, m.submission_id, coalesce(s.send_at, m.created_at) AS dated_at,
         s.from_address, s.from_name, s.source, c.subject, c.html, c.text, c.headers, c.lists, c.attachments,
         (SELECT sum(length(a.bytes)) FROM attachments a WHERE a.content_id = c.id) AS bytes, t.bounces_domain,
         coalesce(s.track_opens, t.open_tracking) AS open_tracking,
         coalesce(s.track_clicks, t.click_tracking) AS click_tracking, t.unsubscribe, d.name AS domain
       FROM messages m JOIN submissions s ON s.id = m.submission_id JOIN contents c ON c.id = s.content_id
       JOIN tenants t ON t.id = m.tenant_id JOIN domains d ON d.id = s.domain_id
       WHERE m.tenant_id = +? AND m.id = +?`,
    )
    .get(toId(tenantId), toId(messageId))) as Row | undefined;
  if (!row) return null;
  const [html, text] = [row.html as string | null, row.text as string | null];
  const bytes = (row.bytes ?? 0) as number;
  const of = [toId(tenantId), row.submission_id as Buffer] as [Buffer, Buffer];
  const written = row.source === null ? null : yield* readWritten(db, of);
  if (row.source !== null && !written) return null;
  if (written && written.header.length + written.bytes > maxChars) return 'written_too_large';
  if ((html?.length ?? 0) + (text?.length ?? 0) + bytes > maxChars) return 'too_large';
  const files = row.attachments === 0 ? [] : yield* readAttachments(db, of);
  return {
    messageId,
    tenantId,
    submissionId: fromId(row.submission_id),
    from: { address: row.from_address as string, name: row.from_name as string | null },
    to: { address: row.recipient as string, name: row.recipient_name as string | null },
    subject: row.subject as string,
    html,
    text,
    headers: JSON.parse(row.headers as string) as [string, string][],
    lists: listsFromText(row.lists),
    attachments: row.attachments as number,
    files,
    written,
    writtenBody: written && (yield* readBody(db, of, written)),
    date: row.dated_at as number,
    signing: { domain: row.domain as string },
    bouncesDomain: row.bounces_domain as string | null,
    openTracking: row.open_tracking === 1,
    clickTracking: row.click_tracking === 1,
    unsubscribe: row.unsubscribe === 1,
  };
}

function* messageAttachment(
  db: Queries,
  tenantId: string,
  messageId: string,
  position: number,
): Steps<AttachedFile | null> {
  const row = (yield* db
    .sql(
      `SELECT a.filename, a.bytes FROM messages m JOIN submissions s ON s.id = m.submission_id
       JOIN attachments a ON a.content_id = s.content_id WHERE m.tenant_id = +? AND m.id = +? AND a.position = +?`,
    )
    .get(toId(tenantId), toId(messageId), position)) as Row | undefined;
  return row ? { filename: row.filename as string, content: row.bytes as Buffer } : null;
}
