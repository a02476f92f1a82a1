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
  /**
   * As `to`; the limit of 50 counts `to`, `cc` and `bcc` together. With `cc` or `bcc`, every recipient gets a copy of one
   * letter, which shows all of `to` and `cc`.
   */
  cc?: string | string[] | undefined;
  /** As `cc`, and shown to nobody. */
  bcc?: string | string[] | undefined;
  /** Where answers go: up to 10 addresses. */
  replyTo?: string | string[] | undefined;
  subject: string;
  html?: string | undefined;
  text?: string | undefined;
  /** In place of `html` and `text`. */
  templateId?: string | undefined;
  /** The values for the template. */
  data?: Record<string, unknown> | undefined;
  headers?: Record<string, string> | undefined;
  /** Up to 50; the whole call has at most 5 MiB. */
  attachments?: Attachment[] | undefined;
  /** Up to 10, of ASCII letters, digits, `_` and `-`. */
  tags?: Record<string, string> | undefined;
  /** Up to 20 names and texts of your own. It and `tags` are in every event of the messages. */
  metadata?: Record<string, string> | undefined;
  /** In place of the account's settings; what is not given stays as the account has it. */
  tracking?: Tracking | undefined;
  /** Up to 200 printable ASCII characters; made when there is none. */
  idempotencyKey?: string | undefined;
}

export interface Attachment {
  /** Without a path. */
  filename: string;
  /** Bytes, such as a `Buffer`; or a string that is base64 already. */
  content: string | ArrayBufferView | ArrayBuffer;
  /** By the file name unless given. */
  contentType?: string | undefined;
  /** For an image in the HTML: `<img src="cid:…">` has this after `cid:`. */
  contentId?: string | undefined;
}

export interface Tracking {
  opens?: boolean | undefined;
  clicks?: boolean | undefined;
}

export type RejectionReason = 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual';

export interface SendResult {
  id: string;
  /** One per queued message, in the order of `to`, `cc` and `bcc`. */
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
  /** Missing where the call gave none. */
  tags?: Record<string, string>;
  metadata?: Record<string, string>;
  createdAt: string;
  events: Event[];
}
