// Contract: accepting a submission. One verb decides and writes, in one transaction.

import type { SealedSecret } from '../base/vault.ts';
import type { Owner } from './owners.ts';
import type { SuppressionReason } from './suppressions.ts';
import type { NewWrittenMail, WrittenContent } from './written-mails.ts';

/** What a call gives its messages for the tenant's own use: quoted by every event, and found by searches. */
export interface Labels {
  tags: Record<string, string> | null;
  metadata: Record<string, string> | null;
  /** Of a written mail that was accepted: the Message-ID that its application finds it by. */
  headerMessageId?: string;
}

export interface Tag {
  name: string;
  value: string;
}

/** An address as a header field shows it. */
export interface Mailbox {
  name: string | null;
  address: string;
}

/** Header fields that every message of the call shows alike. */
export interface HeaderLists {
  /** All of `to` and `cc`, where each message is a copy of one letter; null: each message shows its own recipient. */
  letter: { to: Mailbox[]; cc: Mailbox[] } | null;
  replyTo: Mailbox[];
}

export interface Attachment {
  filename: string;
  contentType: string;
  /** For the HTML to refer to; null: it is not inline. */
  contentId: string | null;
  content: Buffer;
}

/** Overrides the tenant's settings. */
export interface TrackingChoice {
  opens?: boolean;
  clicks?: boolean;
}

export interface NewSubmission {
  id: string;
  tenantId: string;
  apiKeyId: string;
  domainId: string;
  idempotencyKey: string | null;
  from: { address: string; name: string | null };
  subject: string;
  html: string | null;
  text: string | null;
  headers: [name: string, value: string][];
  lists?: HeaderLists | null;
  attachments?: readonly Attachment[];
  /** It goes out as it was written: its pieces must have been kept before, under this submission's ID. */
  written?: NewWrittenMail;
  labels?: Labels | null;
  tracking?: TrackingChoice;
  recipients: NewRecipient[];
  acceptedAt: number;
  /** Later than `acceptedAt`; null or left out: at once. */
  sendAt?: number | null;
  expiresAt: number;
  /** Mail of the service itself: only bounces and manual entries on its own list stop it. */
  ofService?: boolean;
  /** Whose owner sends it; left out: the first. */
  slot?: number;
  /** Its only message is claimed with it. */
  begin?: FirstAttempt;
}

/** A claim within the accept's commit: the message is being sent at once, by the owner of the submission's slot. */
export interface FirstAttempt {
  owner: Owner;
  /** When the message is due again if this attempt vanishes. */
  dueAgainAt: number;
}

export interface NewRecipient {
  messageId: string;
  /** As written by the tenant. */
  address: string;
  name: string | null;
  /** ASCII, lower case. */
  domain: string;
  suppressionKey: string;
  /** The list that names it first, where that is not `to`. */
  copy?: CopyKind;
  /** Accepted although an earlier bounce or complaint suppresses it; manual entries still apply. */
  staysUsable?: boolean;
}

export type CopyKind = 'cc' | 'bcc';

export interface RejectedRecipient {
  to: string;
  reason: SuppressionReason;
}

export interface SubmissionReceipt {
  id: string;
  messageIds: string[];
  rejected: RejectedRecipient[];
}

/** A tenant's mail to one domain in one slot, and when its next message is due. */
export interface LaneNotice {
  lane: number;
  slot: number;
  tenantId: string;
  domain: string;
  dueAt: number;
}

export type AcceptResult =
  /** `begun`: its message is being sent. Otherwise, also when the owner's epoch is over, it waits. */
  | { kind: 'accepted'; receipt: SubmissionReceipt; lanes: LaneNotice[]; begun: boolean }
  | { kind: 'replayed'; receipt: SubmissionReceipt }
  /** The idempotency key belongs to a batch, or for a batch: to a single call. */
  | { kind: 'key_taken' }
  | RefusedSubmission;

export type RefusedSubmission =
  | { kind: 'all_suppressed'; rejected: RejectedRecipient[] }
  /** The domain lost its verified state since it was looked up. */
  | { kind: 'domain_not_verified' }
  /** The tenant lost its active status since the key was looked up. */
  | { kind: 'tenant_not_active' };

/** Many submissions at once. */
export interface NewBatch {
  tenantId: string;
  /** Covers all of it; its submissions have none. */
  idempotencyKey: string | null;
  /** In the order of the call. */
  entries: BatchEntry[];
  /** Those that are refused do not keep the others from being accepted. */
  skipsRefused: boolean;
  acceptedAt: number;
}

export type BatchEntry =
  | { kind: 'submission'; submission: NewSubmission; refusalOf: Record<RefusedSubmission['kind'], RefusedItem> }
  /** Refused before: kept for the receipt. */
  | ({ kind: 'refused' } & RefusedItem);

export interface RefusedItem {
  /** A code of the API. */
  error: string;
  message: string;
}

/** What became of one entry, as a repeated call hears it, too. */
export type BatchItem = { receipt: SubmissionReceipt } | RefusedItem;

export type BatchResult =
  /** `results`: of each entry that was tried, at its index. */
  | { kind: 'accepted'; items: BatchItem[]; results: (AcceptResult | null)[] }
  | { kind: 'replayed'; items: BatchItem[] }
  | { kind: 'key_taken' }
  /** All of it, because of the entry at this index. */
  | { kind: 'refused'; index: number; why: RefusedSubmission };

export interface SubmissionStore {
  /** Rejects when pieces of a written mail are missing. Unless it is accepted, they stay for `drop`. */
  accept(submission: NewSubmission): Promise<AcceptResult>;
  /** All in one transaction. */
  acceptBatch(batch: NewBatch): Promise<BatchResult>;
  /** The items of an earlier batch with this key, or null. */
  findBatch(tenantId: string, idempotencyKey: string): Promise<BatchItem[] | null>;
  /** The receipt of an earlier call with this key, or null. */
  findReceipt(tenantId: string, idempotencyKey: string): Promise<SubmissionReceipt | null>;
  /** What sending adds to a submission of the tenant's domain; null: there is no such domain, or its key is gone. */
  findSendingFacts(tenantId: string, domainId: string): Promise<SendingFacts | null>;
}

// Contract: what couriers read to compose a message. Read-only, and called in their threads. A driver that has its data
// at hand answers at once; another one may ask over a connection meanwhile.

export interface MessageContent extends SendingFacts {
  messageId: string;
  tenantId: string;
  submissionId: string;
  from: { address: string; name: string | null };
  to: { address: string; name: string | null };
  subject: string;
  html: string | null;
  text: string | null;
  headers: [name: string, value: string][];
  lists: HeaderLists | null;
  /** How many there are: `attachments` of the reader reads them. */
  attachments: number;
  /** Then there is neither HTML nor text, nor headers. */
  written: WrittenContent | null;
  /** When it was to leave: for the header, at every attempt the same. */
  date: number;
}

export interface SendingFacts {
  signing: { domainId: string; domain: string; selector: string; signingKeyId: number; privateKey: SealedSecret };
  /** The tenant's own bounce subdomain, or null for the service's. */
  bouncesDomain: string | null;
  /** The tenant's settings for its mail, as far as the call does not override them. */
  openTracking: boolean;
  clickTracking: boolean;
  unsubscribe: boolean;
}

export type ContentResult =
  | { kind: 'content'; content: MessageContent }
  | { kind: 'unreadable'; reason: string }
  /** The database did not answer for a while: it can be read later. */
  | { kind: 'unavailable'; reason: string };

export interface ContentReader {
  /** Never rejects, like readSome. */
  read(messageId: string): Promise<ContentResult>;
  /**
   * The first of these messages, in order and in one snapshot: at least one, and as many as fit into the reader's
   * budget of memory. What messages of one submission have in common is read, and kept, once.
   */
  readSome(messageIds: readonly string[]): Promise<ContentResult[]>;
  /** In the order of the call. They may be large, so they are read only for composing. Rejects with `Unavailable` as above. */
  attachments(tenantId: string, submissionId: string): Promise<Attachment[]>;
  /** Of the body of a written mail, in memory that is the caller's own; rejects when it is not there, or `Unavailable`. */
  piece(piece: { tenantId: string; submissionId: string; position: number }): Promise<Buffer>;
  close(): void;
}
