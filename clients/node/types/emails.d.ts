// Sending, and what became of it.

import type { Event } from './events.js';

export interface Emails {
  /** One message to each recipient. Attempts that are repeated never send twice. */
  send(message: Message): Promise<SendResult>;
  /** What became of a message, by one of `messageIds`. */
  get(id: string): Promise<Email>;
}

export interface Message {
  /** `addr@domain` or `Name <addr@domain>`, of a verified domain. */
  from: string;
  /** Up to 50; each gets a message of their own. */
  to: string | string[];
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  /** In place of `html` and `text`. */
  templateId?: string | undefined;
  /** The values for the template. */
  data?: Record<string, unknown> | undefined;
  headers?: Record<string, string> | undefined;
  /** Up to 200 printable ASCII characters; made when there is none. */
  idempotencyKey?: string | undefined;
}

export type RejectionReason = 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual';

export interface SendResult {
  id: string;
  /** One per queued message, in the order of `to`. */
  messageIds: string[];
  rejected: { to: string; reason: RejectionReason }[];
  /** The answer to an earlier call with the same idempotency key. */
  replayed: boolean;
}

export type MessageState = 'queued' | 'sending' | 'deferred' | 'delivered' | 'bounced' | 'failed';

export interface Email {
  id: string;
  submissionId: string;
  state: MessageState;
  from: string;
  to: string;
  subject: string;
  createdAt: string;
  events: Event[];
}
