// Contract: accepting a submission. One verb decides and writes, in one transaction.

import type { SealedSecret } from '../base/vault.ts';
import type { SuppressionReason } from './suppressions.ts';

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
  recipients: NewRecipient[];
  acceptedAt: number;
  expiresAt: number;
  /** Mail of the service itself: only bounces and manual entries on its own list stop it. */
  ofService?: boolean;
}

export interface NewRecipient {
  messageId: string;
  /** As written by the tenant. */
  address: string;
  name: string | null;
  /** ASCII, lower case. */
  domain: string;
  suppressionKey: string;
  /** Accepted although an earlier bounce or complaint suppresses it; manual entries still apply. */
  staysUsable?: boolean;
}

export interface RejectedRecipient {
  to: string;
  reason: SuppressionReason;
}

export interface SubmissionReceipt {
  id: string;
  messageIds: string[];
  rejected: RejectedRecipient[];
}

/** A tenant's mail to one domain, and when its next message is due. */
export interface LaneNotice {
  lane: number;
  tenantId: string;
  domain: string;
  dueAt: number;
}

export type AcceptResult =
  | { kind: 'accepted'; receipt: SubmissionReceipt; lanes: LaneNotice[] }
  | { kind: 'replayed'; receipt: SubmissionReceipt }
  | { kind: 'all_suppressed'; rejected: RejectedRecipient[] }
  /** The domain lost its verified state since it was looked up. */
  | { kind: 'domain_not_verified' }
  /** The tenant lost its active status since the key was looked up. */
  | { kind: 'tenant_not_active' };

export interface SubmissionStore {
  accept(submission: NewSubmission): Promise<AcceptResult>;
  /** The receipt of an earlier call with this key, or null. */
  findReceipt(tenantId: string, idempotencyKey: string): Promise<SubmissionReceipt | null>;
}

// Contract: what couriers read to compose a message. Read-only, and called in their threads.

export interface MessageContent {
  messageId: string;
  tenantId: string;
  submissionId: string;
  from: { address: string; name: string | null };
  to: { address: string; name: string | null };
  subject: string;
  html: string | null;
  text: string | null;
  headers: [name: string, value: string][];
  createdAt: number;
  signing: { domainId: string; domain: string; selector: string; signingKeyId: number; privateKey: SealedSecret };
  /** The tenant's own bounce subdomain, or null for the service's. */
  bouncesDomain: string | null;
  /** The tenant's settings for its mail. */
  openTracking: boolean;
  clickTracking: boolean;
  unsubscribe: boolean;
}

export type ContentResult = { kind: 'content'; content: MessageContent } | { kind: 'unreadable'; reason: string };

export interface ContentReader {
  read(messageId: string): ContentResult;
  /**
   * The first of these messages, in order and in one snapshot: at least one, and as many as fit into the reader's
   * budget of memory. What messages of one submission have in common is read, and kept, once.
   */
  readSome(messageIds: readonly string[]): ContentResult[];
  close(): void;
}
