// What a mail that comes in is: one of five findings. A finding says what the mail says, whoever
// wrote it: recipients that it names are shown to people and act on nobody.

/** What the listener knows of a mail, and its octets do not say. */
export interface KnownEnvelope {
  /** `MAIL FROM:<>`: a program sent it, and wants no answer (RFC 5321 section 4.5.5). */
  hasNullSender: boolean;
  /** Null: it came to no return path of ours. `recipient` null: the message of the return path is no longer known. */
  returnPath: { recipient: string | null } | null;
}

export type InboundMail = DeliveryReport | Complaint | AutoReply | HumanMail | Unreadable;

/** RFC 3464 section 2.3.3. */
export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

/** One recipient of a delivery report. */
export interface ReportedRecipient {
  /** As the report writes it; null: it does not say. */
  address: string | null;
  /** Before forwarding, where the report tells. */
  originalAddress: string | null;
  action: ReportedAction;
  /** RFC 3463, as the report says it; null: it does not. */
  status: string | null;
  /** The texts that say why, the most telling first; never empty strings. */
  diagnostics: readonly string[];
  /** The text of the whole report, where it is about this recipient alone; null: it is not, or there is none. */
  context: string | null;
  /** The server that refused, without its type. */
  remoteMta: string | null;
}

export interface DeliveryReport {
  kind: 'report';
  /** At least one; in the order of the report. */
  recipients: readonly ReportedRecipient[];
  /** The server that wrote the report. */
  reportingMta: string | null;
  original: OriginalMessage | null;
  /** Present where only the way it came shows that it is a report, and nothing in it says of what. */
  unrecognised?: { from: string; subject: string };
}

export interface Complaint {
  kind: 'complaint';
  /** RFC 5965 section 7.3, in lower case: `abuse`, `not-spam`, `opt-out`, `fraud`, `virus`, `auth-failure`, `other` … */
  feedbackType: string;
  /** Those that complain, where the report does not hide them. */
  recipients: readonly string[];
  userAgent: string | null;
  /** As the report writes it. */
  arrivalDate: string | null;
  reportedDomain: string | null;
  sourceIp: string | null;
  reportingMta: string | null;
  original: OriginalMessage | null;
}

/** Written by a program for a person: never counted, never answered. */
export interface AutoReply {
  kind: 'auto_reply';
  /** What shows it. */
  evidence: string;
  /** Whose program it is. */
  from: string | null;
  subject: string;
}

export interface HumanMail {
  kind: 'human';
  from: string;
  subject: string;
}

/** Nothing that a mail system writes. */
export interface Unreadable {
  kind: 'unreadable';
  reason: string;
}

/** What a report holds of the message that it is about. */
export interface OriginalMessage {
  /** Without its angle brackets. */
  messageId: string | null;
  /** What could be our tokens; whether they are, only their HMAC says. Addresses without brackets. */
  returnPaths: readonly string[];
  /** CFBL-Feedback-ID (RFC 9477). */
  feedbackIds: readonly string[];
  to: readonly string[];
  /** The whole message as it was embedded, for the check of its signature; null where only its header came back. */
  content: Buffer | null;
}
