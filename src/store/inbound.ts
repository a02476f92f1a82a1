// Contract: mail that came in. It is stored before its sender hears 250, and what it does is written
// together with the note that it was done: a mail takes effect once, whatever happens in between.
import type { BounceType } from '../base/outcome.ts';
import type { NewEvent } from './events.ts';
import type { HardBounceNote, MessageState } from './queue.ts';

/** What a mail is, once somebody has looked. `refused`: it was not taken, and only this note of it is here. */
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

/** What it has led to. `kept`: a person may want to read it. */
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

export interface NewInboundMail {
  id: string;
  receivedAt: number;
  remoteIp: string;
  ehloName: string;
  /** Such as `TLSv1.3`; null in clear text. */
  tls: string | null;
  /** Empty for the null sender. */
  mailFrom: string;
  recipients: string[];
  content: Buffer;
}

/** A mail that was refused behind its data. */
export interface RefusedInboundMail extends Omit<NewInboundMail, 'content'> {
  /** As much as had come in by then. */
  sizeOctets: number;
  /** What its sender was told. */
  reply: string;
}

export interface WaitingInboundMail extends NewInboundMail {
  /** The order in which mails came in. */
  seq: number;
  /** How often a daemon ended while it worked on this mail alone. */
  tries: number;
}

/** A waiting mail that may have been in work when a daemon ended. */
export type InboundSuspect = Pick<WaitingInboundMail, 'seq' | 'tries'>;

/** What became of the wish to have a mail worked on again; only an unreadable one that still has its content is. */
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
  state: MessageState;
  /** The number of the last attempt. */
  attempts: number;
  createdAt: number;
  /** Where mail to its recipient's domain went last. */
  mxGroup: string | null;
  /** The tenant's own bounce subdomain, or null. */
  bouncesDomain: string | null;
}

/** What is remembered of a mail, for people and against repetition. */
export interface InboundVerdict {
  kind: Exclude<InboundKind, 'refused'>;
  effect: InboundEffect;
  /** A sentence. */
  reason: string;
  /** Equal for two reports that say the same; null where that does not matter. */
  digest: Buffer | null;
  messageId: string | null;
  tenantId: string | null;
  finding: Record<string, unknown>;
}

/** A change that a mail makes, beside the note of it. */
export type InboundAction =
  | { do: 'bounce'; bounce: BounceType; suppress: HardBounceNote | null; event: NewEvent }
  | { do: 'delay_notice'; event: NewEvent }
  /** Without a key it suppresses nobody. */
  | {
      do: 'complaint';
      suppressionKey: string | null;
      reason: 'complaint' | 'unsubscribe';
      weight: number;
      event: NewEvent;
    }
  | { do: 'unsubscribe'; suppressionKey: string }
  | { do: 'dmarc'; report: DmarcReportRecord; limits: DmarcLimits };

export interface InboundUpdate {
  seq: number;
  at: number;
  verdict: InboundVerdict;
  action: InboundAction | null;
}

/** What was really written: an action that finds nothing left to do changes nothing, and says so. */
export interface InboundResult {
  effect: InboundEffect;
  reason: string;
}

/** Of mails that prove no message: what their contents may take together. The oldest make room. */
export interface UnaskedStore {
  of: 'unasked';
  maxBytes: number;
}

/**
 * Of mails that came back for a message: what the contents of all of them may take together, of which the oldest
 * that were acted on make room; and what one message gets. What is beyond that is acted on like the others, so 250
 * means what it says; only its content goes then, and what waits for it is bounded.
 */
export interface ReturnedStore {
  of: 'returned';
  messageId: string;
  maxBytes: number;
  /** Of one message, within 24 hours. */
  mailsPerDay: number;
  bytesPerDay: number;
  /** Of all mails beyond these bounds that wait to be acted on. */
  waitingBytes: number;
}

export type ContentStore = UnaskedStore | ReturnedStore;

/** `full`: it was not kept; mails beyond their message's bounds wait, and have to be acted on first. */
export type KeptInbound = 'kept' | 'full';

/**
 * Anybody can send reports. One sender gets a share of each; sources that go beyond are summed up, and a report for
 * whose sums there is no room changes nothing.
 */
export interface DmarcLimits {
  rowsPerDomainAndDay: number;
  /** Of what all reports that come in on one UTC day may take in the store, as it estimates that. */
  bytesPerDay: number;
  /** Organizational domains of senders that report on very many domains: they have no share of their own. */
  largeReporters: readonly string[];
}

export interface DmarcReportRecord {
  /** Of the published policy. */
  domain: string;
  orgName: string;
  /** The domain whose aligned SPF or DKIM proves the sender of the mail; null: nothing does. */
  sender: string | null;
  /** The sender's organizational domain, which has the share. */
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
export interface InboundMailRecord extends Omit<NewInboundMail, 'content'> {
  sizeOctets: number;
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
  /** Without a `store` its content counts nowhere. */
  keepInbound(mail: NewInboundMail, store?: ContentStore): Promise<KeptInbound>;
  /** For people; of very many the oldest are forgotten. */
  noteRefusedInbound(mail: RefusedInboundMail): Promise<void>;
  /** What nobody has acted on yet, in the order of arrival, behind `afterSeq`. */
  waitingInbound(afterSeq: number, limit: number): Promise<WaitingInboundMail[]>;
  /**
   * At a worker's start: a mail that it worked on alone when it ended has one try more. Returns the first of what
   * waits, which it may have had in work, the least suspected first: `limit`, or its reach when that is more.
   * `worker` names the daemon across its restarts.
   */
  noteInterruptedInbound(worker: string, limit: number): Promise<InboundSuspect[]>;
  /** On disk before a worker works on this mail alone; null: on none any more. */
  noteInboundTrial(worker: string, seq: number | null): Promise<void>;
  /** On disk before a worker may have more than the usual number of the first waiting mails in work; null: no more. */
  noteInboundReach(worker: string, mails: number | null): Promise<void>;
  /** An operator wants what was kept as unreadable to be worked on again. */
  retryInbound(id: string): Promise<RetriedInbound>;
  /** For whoever proves the id by an HMAC. */
  findReported(messageId: string): Promise<ReportedMessage | null>;
  recordInbound(update: InboundUpdate): Promise<InboundResult>;

  /** Newest first; `unknown` when there is no mail with the id `before`. */
  listInbound(filter: InboundFilter): Promise<InboundMailRecord[] | 'unknown'>;
  /** Content null: retention has erased it. */
  getInbound(id: string): Promise<{ mail: InboundMailRecord; content: Buffer | null } | null>;
  /** Counts messages that came to a domain's name per day, newest day first. */
  listDmarcDays(domain: string, page: { since: string; limit: number }): Promise<DmarcDayRow[]>;

  /** Erases contents of mails that were acted on before the one time, and all else from before the other. */
  forgetInbound(before: { content: number; records: number }, limit: number): Promise<number>;
  /**
   * When the disk gets full: erases contents of mails that were acted on, the oldest first, those that prove no
   * message before the others; when there are none, the oldest day of DMARC reports. Returns how many, 0 when
   * nothing is left.
   */
  makeInboundRoom(limit: number): Promise<number>;
}
