// Contract: one message as the portal shows it to its tenant, with its content.
// Part of what the reading process answers (reads.ts).
import type { BounceType } from '../base/outcome.ts';
import type { StoredEvent } from './events.ts';
import type { MessageDetail, MessageState } from './queue.ts';
import type {
  Attachment,
  CopyKind,
  HeaderLists,
  Mailbox,
  MessageContent,
  RejectedRecipient,
  TrackingChoice,
} from './submissions.ts';
import type { DeliveryView } from './webhooks.ts';

export interface MessageView {
  message: MessageDetail;
  recipientName: string | null;
  /** The list of the call that names it first, where that is not `to`. */
  copy: CopyKind | null;
  /** As far as the call overrides the tenant's settings. */
  tracking: TrackingChoice;
  fromName: string | null;
  bounce: BounceType | null;
  complained: boolean;
  senderDomain: string;
  apiKey: { id: string; name: string } | null;
  idempotencyKey: string | null;
  /** The first events, and whether there are more. */
  events: StoredEvent[];
  moreEvents: boolean;
  /** By event, then by webhook, up to a limit. Those of deleted webhooks are left out. */
  webhookCalls: WebhookCall[];
  /** Recipients of the same call that were dropped before it was queued. */
  rejected: RejectedRecipient[];
  /** The other messages of the same call. */
  siblings: MessageSibling[];
  /** Null when it has been erased. */
  content: ContentView | null;
}

/** An event of the message on its way to one webhook. */
export interface WebhookCall extends DeliveryView {
  webhookId: string;
  url: string;
  /** When the event happened. */
  at: number;
}

export interface MessageSibling {
  id: string;
  recipient: string;
  state: MessageState;
}

export interface ContentView {
  hasHtml: boolean;
  /** As much of it as a page shows. */
  text: string | null;
  textIsCut: boolean;
  /** The tenant's own. */
  headers: [name: string, value: string][];
  lists: HeaderLists | null;
  /** In the order of the call. */
  attachments: AttachmentView[];
  chars: number;
  /** Header and body of a written mail, which has none of the above; null: it is composed. */
  writtenBytes: number | null;
}

export interface AttachmentView {
  /** In the call, from 0. */
  position: number;
  filename: string;
  contentType: string;
  /** For the HTML to refer to; null: it is not inline. */
  contentId: string | null;
  bytes: number;
}

/** What is downloaded. A call's 5 MiB are its limit as well. */
export interface AttachedFile {
  filename: string;
  content: Buffer;
}

/** What a message says, without headers and attachments. */
export interface MessageTexts {
  from: Mailbox;
  html: string | null;
  text: string | null;
  lists: HeaderLists | null;
}

/** Everything that the composer needs, without the signing key. */
export type ComposedContent = Omit<MessageContent, 'signing'> & { signing: { domain: string } };

/** `written_too_large`: a written mail, whose parts are nowhere else to be seen. */
export type TooLarge = 'too_large' | 'written_too_large';

/** Everything that the source of a message is made of. */
export interface SourceContent extends ComposedContent {
  files: Attachment[];
  /** Of a written mail; null: it is composed. */
  writtenBody: Buffer | null;
}

export interface MessageViewQueries {
  /** Null: no such message of this tenant. */
  messageView(tenantId: string, messageId: string): MessageView | null;
  /** Null: no such message, or its content has been erased. */
  messageHtml(tenantId: string, messageId: string): string | null;
  /** As messageHtml. */
  messageTexts(tenantId: string, messageId: string): MessageTexts | null;
  /**
   * As messageHtml. Too large when the characters of html and text and the bytes of attachments, or of a written mail,
   * are more than `maxChars` in all.
   */
  messageContent(tenantId: string, messageId: string, maxChars: number): SourceContent | TooLarge | null;
  /** As messageHtml, and null when there is no attachment at this position. */
  messageAttachment(tenantId: string, messageId: string, position: number): AttachedFile | null;
}
