// Sending, and what became of it.

import type { Event } from './events.js';

export interface Emails {
  /** One message to each recipient. Attempts that are repeated never send twice. */
  send(message: Message): Promise<SendResult>;
  /**
   * Up to 100 messages in one call: all of them or none, unless `onError` is `skip`. The `index` of an error is that of the
   * first email that was refused.
   */
  sendBatch(emails: MessageContent[], options?: BatchOptions): Promise<BatchResult>;
  /** What became of a message, by one of `messageIds`. */
  get(id: string): Promise<Email>;
  /** Searches messages, newest first. Pass `next` as `after` until `hasMore` is false. */
  list(query?: EmailQuery): Promise<EmailPage>;
}

export interface MessageContent {
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
  /** Needed unless the template has one. */
  subject?: string | undefined;
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
  /** When to send it, at most 30 days ahead: a `Date`, or a string as `2026-12-24T18:00:00+01:00`. */
  sendAt?: Date | string | undefined;
}

export interface Message extends MessageContent {
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

export interface BatchOptions {
  /** What is good is sent, and the results say what is not. */
  onError?: 'skip' | undefined;
  /** Of the whole batch; made when there is none. */
  idempotencyKey?: string | undefined;
}

export interface BatchResult {
  /** In the order of the emails. Only with `onError: 'skip'` there are refused ones, which have an `error`. */
  results: (BatchAccepted | BatchRefused)[];
}

export interface BatchAccepted extends SendResult {
  error?: undefined;
}

export interface BatchRefused {
  error: string;
  message: string;
  id?: undefined;
}

export type MessageState =
  | 'scheduled'
  | 'queued'
  | 'sending'
  | 'deferred'
  | 'delivered'
  | 'bounced'
  | 'failed'
  | 'canceled';

/** All conditions that are given must hold. */
export interface EmailQuery {
  state?: MessageState | undefined;
  /** An address or a domain. */
  to?: string | undefined;
  from?: string | undefined;
  /** `name:value`. */
  tag?: string | undefined;
  /** A time with its offset or a date; this moment included. */
  createdAfter?: string | undefined;
  /** This moment not included. */
  createdBefore?: string | undefined;
  after?: string | undefined;
  /** 1 to 100; 25 unless given. */
  limit?: number | undefined;
}

export interface EmailPage {
  emails: ListedEmail[];
  hasMore: boolean;
  /** False if the search stopped before the page was full. */
  complete: boolean;
  /** What to pass as `after`; null at the end. */
  next: string | null;
}

export interface ListedEmail {
  id: string;
  submissionId: string;
  state: MessageState;
  from: string;
  to: string;
  subject: string;
  /** The Message-ID of a mail that was handed in by SMTP. */
  headerMessageId?: string;
  /** Missing where the call gave none. */
  tags?: Record<string, string>;
  metadata?: Record<string, string>;
  createdAt: string;
}

export interface Email extends ListedEmail {
  /** How it was handed in; missing if by HTTP. */
  source?: 'smtp';
  events: Event[];
}
