// Contract: inbound mail. It is stored before its sender gets 250, and its effects are written together with the note
// that it was processed: a mail takes effect exactly once, whatever happens in between.
import type { BounceType } from '../base/outcome.ts';
import type { NewEvent } from './events.ts';
import type { Owner } from './owners.ts';
import type { HardBounceNote, MessageState } from './queue.ts';
import type { Labels } from './submissions.ts';

/** The kind of a mail, once it is processed. `refused`: it was not accepted, and only this note of it is stored. */
export const INBOUND_KINDS = [
  'report',
  'complaint',
  'auto_reply',
  'human',
  'dmarc',
  'unsubscribe',
  'unreadable',
  'refused',
] as const;
export type InboundKind = (typeof INBOUND_KINDS)[number];

/** The effect of a mail. `kept`: a person may want to read it. */
export const INBOUND_EFFECTS = [
  'bounced',
  'deferred',
  'complained',
  'unsubscribed',
  'stored',
  'forwarded',
  'kept',
  'none',
] as const;
export type InboundEffect = (typeof INBOUND_EFFECTS)[number];

/** What is known of a mail when it comes in. */
export interface InboundReception {
  id: string;
  receivedAt: number;
  remoteIp: string;
  ehloName: string;
  /** Such as `TLSv1.3`; null in clear text. */
  tls: string | null;
  /** Empty for the null sender. */
  mailFrom: string;
  recipients: string[];
}

export interface NewInboundMail extends InboundReception {
  content: Buffer;
  /** Missing: the first. */
  slot?: number;
}

/** A mail that was refused after its data. */
export interface RefusedInboundMail extends InboundReception {
  /** As much as had arrived by then. */
  sizeBytes: number;
  /** The reply that its sender got. */
  reply: string;
}

export interface WaitingInboundMail extends InboundReception {
  content: Buffer;
  /** Only its owner may process the mail. */
  slot: number;
  /** The order of arrival. */
  seq: number;
  /** How often a daemon died while it processed this mail alone. */
  tries: number;
}

/** A waiting mail that a daemon may have been processing when it died. */
export type InboundSuspect = Pick<WaitingInboundMail, 'seq' | 'tries'>;

/** The outcome of a retry; only an unreadable mail that still has its content can be retried. */
export type RetriedInbound = 'waits' | 'unknown' | 'waiting_already' | 'not_unreadable' | 'erased';

/** The message that a return path or token proves, with all that an event quotes. */
export interface ReportedMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  recipient: string;
  from: string;
  fromDomain: string;
  subject: string;
  labels: Labels | null;
  state: MessageState;
  /** The number of the last attempt. */
  attempts: number;
  createdAt: number;
  /** Where mail to its recipient's domain was sent last. */
  mxGroup: string | null;
  /** The tenant's own bounce subdomain, or null. */
  bouncesDomain: string | null;
}

/** What is stored about a mail, for people and to recognize repeats. */
export interface InboundVerdict {
  kind: Exclude<InboundKind, 'refused'>;
  effect: InboundEffect;
  /** A sentence. */
  reason: string;
  /** Equal for two reports that say the same; null where repeats don't matter. */
  digest: Buffer | null;
  messageId: string | null;
  tenantId: string | null;
  finding: Record<string, unknown>;
}

/** A change that a mail makes, besides the note of it. */
export type InboundAction =
  | { do: 'bounce'; bounce: BounceType; suppress: HardBounceNote | null; event: NewEvent }
  | { do: 'delay_notice'; event: NewEvent }
  /** Without a key, no address is suppressed. */
  | {
      do: 'complaint';
      suppressionKey: string | null;
      reason: 'complaint' | 'unsubscribe';
      weight: number;
      event: NewEvent;
    }
  | { do: 'unsubscribe'; suppressionKey: string }
  | { do: 'dmarc'; report: DmarcReportRecord; limits: DmarcLimits };

/** What processing a mail has led to. */
export interface InboundOutcome {
  verdict: InboundVerdict;
  action: InboundAction | null;
}

export interface InboundUpdate extends InboundOutcome {
  seq: number;
  at: number;
  /** Who processed it. */
  owner: Owner;
}

export type InboundResult =
  /** What was really written: an action that no longer applies changes nothing, and the reason says so. */
  | { kind: 'recorded'; effect: InboundEffect; reason: string }
  /** Nothing was written: it had been processed before, or another node owns its slot. */
  | { kind: 'unchanged'; why: 'processed' | 'not_owner' };

/**
 * For mails that prove no message: how much space their contents may take. The oldest that were processed make room; when
 * all of them wait, no more are kept.
 */
export interface UnprovenQuota {
  of: 'unasked';
  maxBytes: number;
}

/**
 * For mails that came back for a message: how much space all their contents may take (the oldest that were processed
 * make room), and how much one message may get. A mail beyond these bounds is processed like any other, so that 250
 * keeps its promise; its content is erased afterwards, and the amount that waits for that is bounded.
 */
export interface ReturnedQuota {
  of: 'returned';
  messageId: string;
  maxBytes: number;
  /** Of one message, within 24 hours. */
  mailsPerDay: number;
  bytesPerDay: number;
  /** Of all mails beyond these bounds that wait to be processed. */
  waitingBytes: number;
}

export type ContentQuota = UnprovenQuota | ReturnedQuota;

/**
 * `full`: it was not kept; too many mails that prove no message, or that are beyond their message's bounds, are waiting
 * and must be processed first.
 */
export type KeptInbound = 'kept' | 'full';

/**
 * Anyone can send reports. Each sender gets a share; sources beyond it are summed up, and a report without room even
 * for its sums changes nothing.
 */
export interface DmarcLimits {
  rowsPerDomainAndDay: number;
  /** How much space all reports of one UTC day may take in the store, by its estimate. */
  bytesPerDay: number;
  /** Organizational domains of senders that report on very many domains: their share is not limited. */
  largeReporters: readonly string[];
}

export interface DmarcReportRecord {
  /** Of the published policy. */
  domain: string;
  orgName: string;
  /** The domain whose aligned SPF or DKIM proves the sender of the report; null: none. */
  sender: string | null;
  /** The sender's organizational domain, which the share is counted for. */
  organization: string | null;
  reportId: string;
  beginsAt: number;
  endsAt: number;
  policy: Record<string, string>;
  rows: DmarcReportRow[];
}

export interface DmarcReportRow {
  /** Of the From field. */
  domain: string;
  /** UTC, such as `2026-01-31`. */
  day: string;
  sourceIp: string;
  disposition: string;
  dkim: 'pass' | 'fail';
  spf: 'pass' | 'fail';
  messages: number;
}

export interface DmarcDayRow extends DmarcReportRow {
  orgName: string;
  sender: string | null;
}

/** A mail as lists show it. */
export interface InboundMailRecord extends InboundReception {
  sizeBytes: number;
  processedAt: number | null;
  kind: InboundKind | null;
  effect: InboundEffect | null;
  reason: string | null;
  messageId: string | null;
  tenantId: string | null;
  finding: Record<string, unknown> | null;
}

export interface InboundFilter {
  kind?: InboundKind;
  effect?: InboundEffect;
  messageId?: string;
  /** Older than the mail with this id. */
  before?: string;
  limit: number;
}

export interface InboundStore {
  /** Without a `quota` its content is not counted. */
  keepInbound(mail: NewInboundMail, quota?: ContentQuota): Promise<KeptInbound>;
  /** For people to read; beyond a limit the oldest are erased. */
  noteRefusedInbound(mail: RefusedInboundMail): Promise<void>;
  /** Mails of these slots that are not processed yet, in the order of arrival, after `afterSeq`. */
  waitingInbound(slots: readonly number[], afterSeq: number, limit: number): Promise<WaitingInboundMail[]>;
  /**
   * When a node has taken slots: a mail that their previous owner was processing alone when it died gets one more try
   * counted. Returns the first waiting mails, which that owner may have been processing, the least suspected first: of
   * each slot `limit`, or its reach when that is larger. Here and below, owners whose epoch is over change nothing.
   */
  noteInterruptedInbound(owners: readonly Owner[], limit: number): Promise<InboundSuspect[]>;
  /**
   * On disk before these owners process this mail alone; null: they no longer do. False: it does not wait in their slots,
   * so they must leave it.
   */
  noteInboundTrial(owners: readonly Owner[], seq: number | null): Promise<boolean>;
  /** On disk before these owners process more of the first waiting mails than usual at once; null: as usual. */
  noteInboundReach(owners: readonly Owner[], mails: number | null): Promise<void>;
  /** An operator wants an unreadable mail to be processed again. */
  retryInbound(id: string): Promise<RetriedInbound>;
  /** For a caller that has proved the ID by an HMAC. */
  findReported(messageId: string): Promise<ReportedMessage | null>;
  /** Writes the outcome while the mail waits and the owner's epoch is its slot's. */
  recordInbound(update: InboundUpdate): Promise<InboundResult>;

  /** Newest first; `unknown` when no mail has the ID `before`. */
  listInbound(filter: InboundFilter): Promise<InboundMailRecord[] | 'unknown'>;
  /** Content null: it was erased. */
  getInbound(id: string): Promise<{ mail: InboundMailRecord; content: Buffer | null } | null>;
  /** Message counts of a domain per day, newest day first. */
  listDmarcDays(domain: string, page: { since: string; limit: number }): Promise<DmarcDayRow[]>;

  /** Erases contents of processed mails from before `content`, and everything else from before `records`. */
  forgetInbound(before: { content: number; records: number }, limit: number): Promise<number>;
  /**
   * When the disk gets full: erases contents of processed mails, the oldest first, those that prove no message before
   * the others; when there are none, the oldest day of DMARC reports. Returns how many, 0 when nothing is left.
   */
  freeInboundSpace(limit: number): Promise<number>;
}
