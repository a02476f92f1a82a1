// Contract: one message as the portal shows it to its tenant, with its content.
// Part of what the reading process answers (reads.ts).
import type { BounceType } from '../base/outcome.ts';
import type { StoredEvent } from './events.ts';
import type { MessageDetail, MessageState } from './queue.ts';
import type { MessageContent, RejectedRecipient } from './submissions.ts';

export interface MessageView {
  message: MessageDetail;
  recipientName: string | null;
  fromName: string | null;
  bounce: BounceType | null;
  complained: boolean;
  senderDomain: string;
  apiKey: { id: string; name: string } | null;
  idempotencyKey: string | null;
  /** The first events, and whether there are more. */
  events: StoredEvent[];
  moreEvents: boolean;
  /** Recipients of the same call that were dropped before it was queued. */
  rejected: RejectedRecipient[];
  /** The other messages of the same call. */
  siblings: MessageSibling[];
  /** Null when it has been erased. */
  content: ContentView | null;
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
  chars: number;
}

/** Everything that the composer needs, without the signing key. */
export type ComposedContent = Omit<MessageContent, 'signing'> & { signing: { domain: string } };

export interface MessageViewQueries {
  /** Null: no such message of this tenant. */
  messageView(tenantId: string, messageId: string): MessageView | null;
  /** Null: no such message, or its content has been erased. */
  messageHtml(tenantId: string, messageId: string): string | null;
  /** As messageHtml. `too_large` when html and text together have more characters than `maxChars`. */
  messageContent(tenantId: string, messageId: string, maxChars: number): ComposedContent | 'too_large' | null;
}
