// The five kinds of inbound mail. A finding has only the mail's own claims, whoever wrote it: recipients that it names
// are shown to people and have no effect.

/** What the listener knows about a mail besides its content. */
export interface KnownEnvelope {
  /** `MAIL FROM:<>`: a program sent it, and expects no reply (RFC 5321 section 4.5.5). */
  hasNullSender: boolean;
  /**
   * Null: it did not come to a return path of ours. `recipient` null: the return path's message is not stored any more.
   */
  returnPath: { recipient: string | null } | null;
}

export type InboundMail = DeliveryReport | Complaint | AutoReply | HumanMail | Unreadable;

/** RFC 3464 section 2.3.3. */
export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

/** One recipient of a delivery report. */
export interface ReportedRecipient {
  /** As in the report; null: missing. */
  address: string | null;
  /** The address before forwarding, if the report has it. */
  originalAddress: string | null;
  action: ReportedAction;
  /** RFC 3463, as in the report; null: missing. */
  status: string | null;
  /** Texts with the reason, the most informative first; never empty strings. */
  diagnostics: readonly string[];
  /** The text of the whole report, if it is about this recipient alone; otherwise null. */
  context: string | null;
  /** The server that rejected it, without its type. */
  remoteMta: string | null;
}

/** A recipient was replaced by another one: by an alias, a mailing list or a group. */
export interface Expansion {
  from: string;
  to: string;
}

export interface DeliveryReport {
  kind: 'report';
  /** At least one; in the order of the report. */
  recipients: readonly ReportedRecipient[];
  /** The server that wrote the report. */
  reportingMta: string | null;
  original: OriginalMessage | null;
  /** What its text says of them. */
  expansions: readonly Expansion[];
  /** Present if only its delivery path shows that it is a report, and its content does not say about what. */
  unrecognised?: { from: string; subject: string };
}

export interface Complaint {
  kind: 'complaint';
  /** RFC 5965 section 7.3, in lower case: `abuse`, `not-spam`, `opt-out`, `fraud`, `virus`, `auth-failure`, `other` … */
  feedbackType: string;
  /** The complaining recipients, unless the report hides them. */
  recipients: readonly string[];
  userAgent: string | null;
  /** As in the report. */
  arrivalDate: string | null;
  reportedDomain: string | null;
  sourceIp: string | null;
  reportingMta: string | null;
  original: OriginalMessage | null;
}

/** Written by a program on behalf of a person: never counted, never answered. */
export interface AutoReply {
  kind: 'auto_reply';
  /** The sign that shows it. */
  evidence: string;
  /** The person whose program it is. */
  from: string | null;
  subject: string;
}

export interface HumanMail {
  kind: 'human';
  from: string;
  subject: string;
}

/** Not written by a mail system. */
export interface Unreadable {
  kind: 'unreadable';
  reason: string;
}

/** What a report contains of its original message. */
export interface OriginalMessage {
  /** Without its angle brackets. */
  messageId: string | null;
  /** Candidates for our tokens, to be verified by their HMAC. Addresses without brackets. */
  returnPaths: readonly string[];
  /** CFBL-Feedback-ID (RFC 9477). */
  feedbackIds: readonly string[];
  from: readonly string[];
  to: readonly string[];
  subject: string;
  /** The whole embedded message, to verify its signature; null if only its header was returned, or it is too large. */
  content: Buffer | null;
}
