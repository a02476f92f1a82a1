// Contract: finding messages of a tenant by what its people know of them.
import type { BounceType } from '../base/outcome.ts';
import type { MessageState } from './queue.ts';

export interface MessageSearch {
  /** Everything that is given must be so. */
  state?: MessageState;
  /** The exact address as it was accepted; case does not count. With it goes `recipientDomain`. */
  recipient?: string;
  /** Of the recipient: ASCII, lower case. */
  recipientDomain?: string;
  /** Of the sender: the name of a domain of the tenant, revoked ones too. */
  senderDomain?: string;
  apiKeyId?: string;
  /** Accepted at this time or later. */
  from?: number;
  /** Accepted before this time. */
  until?: number;
  /** Only older ones than this message. */
  olderThan?: string;
  limit: number;
  /** For how long it may look, in milliseconds. */
  budgetMs: number;
}

export interface FoundMessage {
  id: string;
  submissionId: string;
  recipient: string;
  recipientName: string | null;
  state: MessageState;
  parked: boolean;
  bounce: BounceType | null;
  complained: boolean;
  attempts: number;
  lastReason: string | null;
  from: string;
  subject: string;
  createdAt: number;
  finishedAt: number | null;
}

export interface MessagePage {
  messages: FoundMessage[];
  /** Where to go on (`olderThan`); null: there is nothing older. */
  next: string | null;
  /** How many were looked at, and whether that is all there was time for, before the page was full. */
  lookedThrough: number;
  ranOutOfTime: boolean;
}
