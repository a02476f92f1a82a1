// The consequence of a delivery report: one pure decision, with its reason. It acts only on the message
// of its return path; the recipients that it names are for display.
import type { BounceType } from '../base/outcome.ts';
import type { JudgedRecipient } from '../classify/judge-report.ts';
import { aliasKeyOf } from '../protocol/mail/addresses/address.ts';
import type { Expansion } from '../protocol/mail/inbound/inbound-mail.ts';
import type { ReportedMessage } from '../store/inbound.ts';
import { ENDED_STATES } from '../store/queue.ts';

export type ReportDecision =
  | ReportedBounce
  | { decision: 'delay_notice'; reason: string; judged: JudgedRecipient }
  /** The attempt may not be recorded yet. */
  | { decision: 'later'; reason: string }
  | { decision: 'nothing'; reason: string };

export interface ReportedBounce {
  decision: 'bounce';
  reason: string;
  bounce: BounceType;
  suppress: boolean;
  judged: JudgedRecipient;
  /** The address that failed, if it is another one: the message was forwarded, or went to the members of a group. */
  forwardedTo?: string;
}

export interface ReportFacts {
  /** The message of its return path; null: it was not sent to one, or the message is no longer stored. */
  message: ReportedMessage | null;
  cameToReturnPath: boolean;
  recipients: readonly JudgedRecipient[];
  /** What the report says of them. */
  expansions: readonly Expansion[];
  /** False: only its return path and empty sender show that it is a report. */
  isRecognised: boolean;
  /** Why this receiver's hard bounces are doubted; null: they are trusted. */
  doubt: string | null;
}

export function decideReport(facts: ReportFacts): ReportDecision {
  const { message, cameToReturnPath, recipients, doubt } = facts;
  if (!cameToReturnPath) return nothing('the report was not sent to a return path, so it belongs to no message');
  if (message === null) return nothing('the message of this return path is no longer stored');
  const judged = recipientOf(message.recipient, recipients);
  if (judged === null) return nothing('the report names no recipient');
  if (judged.kind === 'delivered_notice') return nothing(`not a failure: ${judged.reason}`);
  if (message.state === 'sending') return { decision: 'later', reason: 'the message is still being sent' };
  const said = facts.isRecognised ? saidBy(judged) : UNKNOWN_CAUSE;
  const why = `${judged.reason}${judged.rule === null ? '' : `, rule ${judged.rule}`}`;
  if (judged.action === 'delayed' && ENDED_STATES.includes(message.state)) {
    return nothing(`a delay notice for a message that is already ${message.state}`);
  }
  if (judged.action === 'delayed') return { decision: 'delay_notice', reason: `${said} (${why})`, judged };
  if (!facts.isRecognised)
    return { decision: 'bounce', reason: `${said} (${why})`, bounce: 'soft', suppress: false, judged };
  const forwardedTo =
    forwardingTarget(judged, message.recipient) ??
    expandedTo(judged, message.recipient, facts.expansions) ??
    deadMember(judged, message.recipient, recipients);
  if (forwardedTo !== null) {
    const reason = `a copy that was forwarded to ${forwardedTo} could not be delivered: ${said} (${why})`;
    return { decision: 'bounce', reason, bounce: 'soft', suppress: false, judged, forwardedTo };
  }
  if (judged.kind === 'hard' && doubt !== null) {
    return { decision: 'bounce', reason: `${said} (${why}; ${doubt})`, bounce: 'soft', suppress: false, judged };
  }
  // A second report may be about another member of a group.
  const isAboutOther = message.state === 'bounced' && !isSameMailbox(judged.recipient, message.recipient);
  const suppress = judged.kind === 'hard' && !isAboutOther;
  return { decision: 'bounce', reason: `${said} (${why})`, bounce: judged.kind, suppress, judged };
}

const UNKNOWN_CAUSE =
  'a report of unknown cause: it was sent to the return path with an empty sender, and nothing in it was recognised';

function saidBy({ remoteMta, diagnostic, status }: JudgedRecipient): string {
  return `${remoteMta ?? 'the receiving side'} reports: ${diagnostic ?? status ?? 'no reason'}`;
}

/** A report may name several recipients: ours by its address, or else the first that failed. */
function recipientOf(recipient: string, all: readonly JudgedRecipient[]): JudgedRecipient | null {
  const named = (key: (address: string) => string) =>
    all.find((judged) => addressesOf(judged).some((address) => key(address) === key(recipient)));
  const own = named((address) => address.toLowerCase()) ?? named(aliasKeyOf);
  return own ?? all.find(({ action }) => action === 'failed') ?? all[0] ?? null;
}

function addressesOf({ recipient, originalRecipient }: JudgedRecipient): string[] {
  return [recipient, originalRecipient].filter((address) => address !== null);
}

function isSameMailbox(one: string | null, other: string): boolean {
  return one !== null && aliasKeyOf(one) === aliasKeyOf(other);
}

/** One foreign address is no proof of forwarding: servers put the mailbox's internal name in Final-Recipient. */
function forwardingTarget(judged: JudgedRecipient, recipient: string): string | null {
  const addresses = addressesOf(judged);
  if (addresses.length < 2 || addresses.some((address) => aliasKeyOf(address) === aliasKeyOf(recipient))) return null;
  return judged.recipient;
}

/** The report's own words for it, whatever its fields name. */
function expandedTo(judged: JudgedRecipient, recipient: string, expansions: readonly Expansion[]): string | null {
  const target = judged.recipient;
  if (target === null || isSameMailbox(target, recipient)) return null;
  const isTarget = expansions.some(({ from, to }) => isSameMailbox(from, recipient) && isSameMailbox(to, target));
  return isTarget ? target : null;
}

/** The message has one recipient, so a report about several other addresses is about the members of a group. */
function deadMember(judged: JudgedRecipient, recipient: string, all: readonly JudgedRecipient[]): string | null {
  const own = aliasKeyOf(recipient);
  if (judged.kind !== 'hard' || judged.recipient === null || aliasKeyOf(judged.recipient) === own) return null;
  const ofOurs = all.filter((each) => addressesOf(each).some((address) => aliasKeyOf(address) === own));
  const reported = (ofOurs.length > 0 ? ofOurs : all).flatMap((each) => each.recipient ?? []);
  return new Set(reported.map(aliasKeyOf)).size > 1 ? judged.recipient : null;
}

function nothing(reason: string): ReportDecision {
  return { decision: 'nothing', reason };
}
