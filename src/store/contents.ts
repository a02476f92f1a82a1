// Contract: what couriers read to compose a message. Read-only, and callable from their threads.
import type { SealedSecret } from '../base/vault.ts';

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
  /** What the tenant wants done to its mail. */
  openTracking: boolean;
  clickTracking: boolean;
  unsubscribe: boolean;
}

export type ContentResult = { kind: 'content'; content: MessageContent } | { kind: 'unreadable'; reason: string };

export interface ContentReader {
  read(messageId: string): ContentResult;
  /**
   * The first of these messages, in their order and as they were at one moment: at least one, and as
   * many as stay within the reader's budget of memory. What messages of one submission have in
   * common is read, and held, once.
   */
  readSome(messageIds: readonly string[]): ContentResult[];
  close(): void;
}
