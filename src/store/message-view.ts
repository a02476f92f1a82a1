// Contract: one message as its tenant's people look at it, and what was to be sent.
import type { BounceType } from '../base/outcome.ts';
import type { MessageContent } from './contents.ts';
import type { StoredEvent } from './events.ts';
import type { MessageDetail, MessageState } from './queue.ts';
import type { RejectedRecipient } from './submissions.ts';

export interface MessageView {
  message: MessageDetail;
  recipientName: string | null;
  fromName: string | null;
  bounce: BounceType | null;
  complained: boolean;
  senderDomain: string;
  apiKey: { id: string; name: string } | null;
  idempotencyKey: string | null;
  /** The first ones, and whether there are more. */
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

/** All that the composer needs, and nothing that signs. */
export type ComposedContent = Omit<MessageContent, 'signing'> & { signing: { domain: string } };

export interface MessageViewQueries {
  /** Null: no such message of this tenant. */
  messageView(tenantId: string, messageId: string): MessageView | null;
  /** Null: no such message, or its content has been erased. */
  messageHtml(tenantId: string, messageId: string): string | null;
  /** The same. `too_large` when html and text have more characters than that. */
  messageContent(tenantId: string, messageId: string, mostChars: number): ComposedContent | 'too_large' | null;
}
