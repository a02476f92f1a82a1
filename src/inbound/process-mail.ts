// From a mail to its consequences: recognised by its recipient, parsed, proven, decided. Nothing is
// written here: the returned update is one transaction of the store.
import type { Clock } from '../base/clock.ts';
import { describeError, unreachable } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { oneLine } from '../base/text/one-line.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import { judgeInboundMail, type SentFacts } from '../classify/judge-report.ts';
import { complainedEvent, delayNoticeEvent, reportedBounceEvent } from '../events/report-events.ts';
import { MAX_ADDRESS_OCTETS, suppressionKeyOf } from '../protocol/mail/addresses/address.ts';
import { declaredReply } from '../protocol/mail/inbound/auto-reply.ts';
import type {
  Complaint,
  DeliveryReport,
  HumanMail,
  InboundMail,
  KnownEnvelope,
} from '../protocol/mail/inbound/inbound-mail.ts';
import { readMail } from '../protocol/mail/inbound/mail-parts.ts';
import { readReportedDate } from '../protocol/mail/inbound/reported-date.ts';
import type {
  InboundAction,
  InboundOutcome,
  InboundVerdict,
  ReportedMessage,
  WaitingInboundMail,
} from '../store/inbound.ts';
import { decideComplaint } from './decide-complaint.ts';
import { decideReport, type ReportDecision } from './decide-report.ts';
import { complaintFinding, digestOf, reportFinding, short } from './findings.ts';
import type { ProofKit } from './proof.ts';
import { prove } from './proof.ts';
import { type InboundRecipient, type RecipientBook, type Role, recognise } from './recipients.ts';

/** The result for one mail. `later`: not yet, and nothing is recorded. */
export type ProcessedMail =
  | { kind: 'done'; update: InboundOutcome; message: ReportedMessage | null }
  | { kind: 'later'; reason: string };

export interface ProcessKit extends ProofKit {
  clock: Clock;
  ids: IdSource;
  rules: BounceRules;
  recipients: RecipientBook;
  platformSuppressionMs: number;
  /** The domain of the service's own mail. */
  serviceDkimDomain: string;
  read(bytes: Buffer, envelope: KnownEnvelope): InboundMail;
  /** Why this group's hard bounces are doubted; null: they are trusted. */
  doubtOf(mxGroup: string | null): string | null;
  /** Reads a DMARC report; null: the mail is not one. */
  readDmarc(mail: WaitingInboundMail): Promise<InboundOutcome | null>;
  /** Forwards mail that a person wrote to a role, if configured. */
  passOn(mail: WaitingInboundMail, role: Role, about: { from: string; subject: string }): Promise<PassedOn>;
}

export interface PassedOn {
  effect: 'forwarded' | 'kept';
  reason: string;
}

/** A mail that was the only one in progress at this many crashes has most likely caused them. */
const MAX_TRIES = 3;

interface Case {
  mail: WaitingInboundMail;
  recipients: InboundRecipient[];
  /** The message of its return path. */
  messageId: string | null;
  /** Null: it was not sent to a return path, or the message is no longer stored. */
  message: ReportedMessage | null;
  mayDefer: boolean;
}

/** `mayDefer` false: it has waited long enough, and is decided with what is known now. */
export async function processMail(
  mail: WaitingInboundMail,
  kit: ProcessKit,
  mayDefer: boolean,
): Promise<ProcessedMail> {
  if (mail.tries >= MAX_TRIES) {
    return done({
      ...BLANK,
      kind: 'unreadable',
      effect: 'kept',
      reason: `the daemon stopped ${mail.tries} times while it processed only this mail. The mail may be the cause, so it is not read. To try again: postrider inbound retry ${mail.id}`,
    });
  }
  const recipients = mail.recipients.map((address) => recognise(address, kit.recipients));
  const unsubscribe = recipients.find(({ kind }) => kind === 'unsubscribe');
  if (unsubscribe?.kind === 'unsubscribe') return processUnsubscribe(unsubscribe.messageId, kit);
  const returnPath = recipients.find(({ kind }) => kind === 'return_path');
  const messageId = returnPath?.kind === 'return_path' ? returnPath.messageId : null;
  if (recipients.some(({ kind }) => kind === 'dmarc')) {
    const dmarc = await kit.readDmarc(mail);
    if (dmarc) return { kind: 'done', update: dmarc, message: null };
  }
  const message = messageId === null ? null : await kit.store.inbound.findReported(messageId);
  const one: Case = { mail, recipients, messageId, message, mayDefer };
  return processFinding(readSafely(one, kit), one, kit);
}

/** The parser should never throw; if it does, the mail is kept for a person. */
function readSafely({ mail, messageId, message }: Case, { read }: ProcessKit): InboundMail {
  const returnPath = messageId === null ? null : { recipient: message?.recipient ?? null };
  try {
    return read(mail.content, { hasNullSender: mail.mailFrom === '', returnPath });
  } catch (error) {
    return { kind: 'unreadable', reason: `it could not be read: ${describeError(error)}` };
  }
}

function processFinding(found: InboundMail, one: Case, kit: ProcessKit): Promise<ProcessedMail> | ProcessedMail {
  const { messageId } = one;
  switch (found.kind) {
    case 'report': {
      const written = writtenToRole(one);
      return written ? processHuman(written, one, kit) : processReport(found, one, kit);
    }
    case 'complaint':
      return processComplaint(found, one, kit);
    case 'auto_reply': {
      const written = writtenToRole(one);
      if (written) return processHuman(written, one, kit);
      const reason = `an automatic reply: ${found.evidence}`;
      const recipient = one.message?.recipient ?? null;
      const finding = { from: short(found.from), subject: short(found.subject), ...(recipient && { recipient }) };
      return done({ ...BLANK, kind: 'auto_reply', effect: 'none', reason, messageId, finding });
    }
    case 'human':
      return processHuman(found, one, kit);
    case 'unreadable':
      return done({ ...BLANK, kind: 'unreadable', effect: 'kept', reason: found.reason, messageId });
    default:
      return unreachable(found);
  }
}

/** What its parts are called if a program wrote it. */
const DECLARED_REPORT =
  /^multipart\/report$|^message\/(?:(?:global-)?delivery-status|feedback-report|disposition-notification)$/;

/**
 * Mail that people write to a role may quote a bounce, attach a mail, or use the words of automatic replies ("please
 * verify your email"). Null: a program wrote it, or to no role.
 */
function writtenToRole({ mail, recipients, messageId }: Case): HumanMail | null {
  const isToRole = recipients.some((recipient) => recipient.kind === 'role' && recipient.role !== 'fbl');
  if (!isToRole || messageId !== null || mail.mailFrom === '') return null;
  const { header, contentType, parts } = readMail(mail.content);
  const types = [contentType.type, ...parts.map(({ type }) => type)];
  if (declaredReply(header) !== null || types.some((type) => DECLARED_REPORT.test(type))) return null;
  return { kind: 'human', from: header.text('from'), subject: header.text('subject') };
}

function processReport(report: DeliveryReport, one: Case, kit: ProcessKit): ProcessedMail {
  const { messageId, message } = one;
  const facts = { mx: message?.mxGroup ?? null, sent: message && sentFacts(message, one.mail) };
  const { recipients } = judgeInboundMail(report, kit.rules, facts);
  const decision = decideReport({
    message: message && !one.mayDefer && message.state === 'sending' ? { ...message, state: 'deferred' } : message,
    cameToReturnPath: messageId !== null,
    recipients,
    expansions: report.expansions,
    isRecognised: report.unrecognised === undefined,
    doubt: kit.doubtOf(message?.mxGroup ?? null),
  });
  if (decision.decision === 'later') return { kind: 'later', reason: decision.reason };
  const finding = reportFinding(report, recipients);
  const verdict: InboundVerdict = {
    kind: 'report',
    effect: EFFECT_OF[decision.decision],
    reason: oneLine(decision.reason),
    digest: digestOf(finding),
    messageId,
    tenantId: message?.tenantId ?? null,
    finding,
  };
  const action = message && decision.decision !== 'nothing' ? reportAction(report, message, { decision, kit }) : null;
  return { kind: 'done', update: { verdict, action }, message };
}

/** It came to the return path under which the message was sent. */
function sentFacts({ from, recipient, subject }: ReportedMessage, mail: WaitingInboundMail): SentFacts {
  return { senders: [from, ...mail.recipients], recipient, subject };
}

const EFFECT_OF = { bounce: 'bounced', delay_notice: 'deferred', nothing: 'none' } as const;

function reportAction(
  { reportingMta, unrecognised }: DeliveryReport,
  message: ReportedMessage,
  { decision, kit }: { decision: Extract<ReportDecision, { decision: 'bounce' | 'delay_notice' }>; kit: ProcessKit },
): InboundAction {
  const { judged } = decision;
  const now = kit.clock.now();
  const stamp = { id: kit.ids.next(), at: now };
  const facts = {
    smtpCode: judged.smtpCode,
    enhancedCode: judged.status,
    diagnostic: short(judged.diagnostic ?? unrecognised?.subject ?? null, MAX_DIAGNOSTIC_CHARACTERS),
    mx: short(judged.remoteMta),
    reportingMta: short(reportingMta),
    attempt: message.attempts,
  };
  if (decision.decision === 'delay_notice')
    return { do: 'delay_notice', event: delayNoticeEvent(stamp, message, facts) };
  const { bounce, suppress, forwardedTo } = decision;
  const note = {
    suppressionKey: suppressionKeyOf(message.recipient),
    mxGroup: message.mxGroup,
    rule: judged.rule ?? 'report',
    platformExpiresAt: now + kit.platformSuppressionMs,
    needsSecondTenant: true,
  };
  const event = reportedBounceEvent(stamp, message, {
    ...facts,
    bounce,
    suppressed: suppress,
    ...(forwardedTo !== undefined && { forwardedTo: oneLine(forwardedTo, MAX_ADDRESS_OCTETS) }),
  });
  return { do: 'bounce', bounce, suppress: suppress ? note : null, event };
}

/** The same limit as for SMTP replies. */
const MAX_DIAGNOSTIC_CHARACTERS = 1000;

async function processComplaint(complaint: Complaint, one: Case, kit: ProcessKit): Promise<ProcessedMail> {
  const { feedbackType, original } = complaint;
  const { proof, message, messageId, weight } = await prove({ returnPath: one.messageId, original }, kit);
  const decision = decideComplaint({ feedbackType, proof, message, ofService: isServiceMail(message, kit) });
  const finding = complaintFinding(complaint, proof);
  const written = message && decision.decision === 'complaint' ? null : writtenToRole(one);
  if (written) return processHuman(written, one, kit);
  const common = { kind: 'complaint', reason: decision.reason, messageId, finding, digest: digestOf(finding) } as const;
  const tenantId = message?.tenantId ?? null;
  if (!message || decision.decision === 'nothing') {
    return { kind: 'done', update: { verdict: { ...common, effect: 'none', tenantId }, action: null }, message };
  }
  const event = complainedEvent({ id: kit.ids.next(), at: kit.clock.now() }, message, {
    feedbackType: oneLine(feedbackType, 100),
    userAgent: short(complaint.userAgent),
    arrivalDate: complaint.arrivalDate === null ? null : readReportedDate(complaint.arrivalDate),
    reportedDomain: short(complaint.reportedDomain),
    suppressed: decision.suppressAs !== null,
  });
  const action = {
    do: 'complaint',
    suppressionKey: decision.suppressAs === null ? null : suppressionKeyOf(message.recipient),
    reason: decision.suppressAs ?? 'complaint',
    weight,
    event,
  } as const;
  const effect = decision.suppressAs === 'unsubscribe' ? 'unsubscribed' : 'complained';
  return { kind: 'done', update: { verdict: { ...common, effect, tenantId }, action }, message };
}

/** No tenant may register this domain. */
function isServiceMail(message: ReportedMessage | null, { serviceDkimDomain }: ProcessKit): boolean {
  return message?.fromDomain === serviceDkimDomain;
}

async function processUnsubscribe(messageId: string, kit: ProcessKit): Promise<ProcessedMail> {
  const message = await kit.store.inbound.findReported(messageId);
  const verdict = { ...BLANK, kind: 'unsubscribe', messageId } as const;
  if (!message) return done({ ...verdict, effect: 'none', reason: 'the message is no longer stored' });
  const action = { do: 'unsubscribe', suppressionKey: suppressionKeyOf(message.recipient) } as const;
  const reason = "a mail was sent to the message's unsubscribe address";
  const { tenantId } = message;
  return {
    kind: 'done',
    update: { verdict: { ...verdict, effect: 'unsubscribed', reason, tenantId }, action },
    message,
  };
}

async function processHuman(
  { from, subject }: { from: string; subject: string },
  { mail, recipients, messageId }: Case,
  kit: ProcessKit,
): Promise<ProcessedMail> {
  const role = recipients.find(({ kind }) => kind === 'role');
  const finding = { from: short(from), subject: short(subject) };
  const verdict = { ...BLANK, kind: 'human', messageId, finding } as const;
  if (role?.kind !== 'role') {
    return done({ ...verdict, effect: 'kept', reason: 'a person wrote to an address meant for programs' });
  }
  return done({ ...verdict, ...(await kit.passOn(mail, role.role, { from, subject })) });
}

const BLANK = { digest: null, messageId: null, tenantId: null, finding: {} } as const;

function done(verdict: InboundVerdict): ProcessedMail {
  return { kind: 'done', update: { verdict, action: null }, message: null };
}
