// What follows from a delivery report: one pure decision, with its reason. It acts on the message of
// its return path alone; recipients that it names are shown to people.
import type { BounceType } from '../base/outcome.ts';
import type { JudgedRecipient } from '../classify/judge-report.ts';
import { aliasKeyOf } from '../protocol/mail/address.ts';
import type { ReportedMessage } from '../store/inbound.ts';

export type ReportDecision =
  | ReportedBounce
  | { decision: 'delay_notice'; reason: string; judged: JudgedRecipient }
  /** It may be that the attempt is not written down yet. */
  | { decision: 'later'; reason: string }
  | { decision: 'nothing'; reason: string };

export interface ReportedBounce {
  decision: 'bounce';
  reason: string;
  bounce: BounceType;
  suppress: boolean;
  judged: JudgedRecipient;
  /** The address that could not be reached, when that is another: a copy was forwarded there. */
  forwardedTo?: string;
}

export interface ReportFacts {
  /** Whose return path it came to; null: it came to none, or the message is no longer known. */
  message: ReportedMessage | null;
  cameToReturnPath: boolean;
  recipients: readonly JudgedRecipient[];
  /** False: only the way it came shows that it is a report. */
  isRecognised: boolean;
  /** Why hard bounces of this receiver are not believed at the moment; null: they are. */
  doubt: string | null;
}

export function decideReport(facts: ReportFacts): ReportDecision {
  const { message, cameToReturnPath, recipients, doubt } = facts;
  if (!cameToReturnPath) return nothing('the report was not sent to a return path, so it belongs to no message');
  if (message === null) return nothing('the message of this return path is no longer stored');
  const judged = whatItSaysOf(message.recipient, recipients);
  if (judged === null) return nothing('the report names no recipient');
  if (judged.kind === 'delivered_notice') return nothing(`not a failure: ${judged.reason}`);
  if (message.state === 'sending') return { decision: 'later', reason: 'the message is still being sent' };
  const said = facts.isRecognised ? saidBy(judged) : UNKNOWN_CAUSE;
  const why = `${judged.reason}${judged.rule === null ? '' : `, rule ${judged.rule}`}`;
  if (judged.action === 'delayed' && (message.state === 'bounced' || message.state === 'failed')) {
    return nothing(`a delay notice for a message that is already ${message.state}`);
  }
  if (judged.action === 'delayed') return { decision: 'delay_notice', reason: `${said} (${why})`, judged };
  if (!facts.isRecognised)
    return { decision: 'bounce', reason: `${said} (${why})`, bounce: 'soft', suppress: false, judged };
  const forwardedTo = forwardedBy(judged, message.recipient);
  if (forwardedTo !== null) {
    const reason = `a copy that was forwarded to ${forwardedTo} could not be delivered: ${said} (${why})`;
    return { decision: 'bounce', reason, bounce: 'soft', suppress: false, judged, forwardedTo };
  }
  if (judged.kind === 'hard' && doubt !== null) {
    return { decision: 'bounce', reason: `${said} (${why}; ${doubt})`, bounce: 'soft', suppress: false, judged };
  }
  const suppress = judged.kind === 'hard';
  return { decision: 'bounce', reason: `${said} (${why})`, bounce: judged.kind, suppress, judged };
}

const UNKNOWN_CAUSE =
  'a report of unknown cause: it was sent to the return path with an empty sender, and nothing in it was recognised';

function saidBy({ remoteMta, diagnostic, status }: JudgedRecipient): string {
  return `${remoteMta ?? 'the receiving side'} reports: ${diagnostic ?? status ?? 'no reason'}`;
}

/** A report may be about several; ours by its address, or else the first that failed. */
function whatItSaysOf(recipient: string, all: readonly JudgedRecipient[]): JudgedRecipient | null {
  const named = (key: (address: string) => string) =>
    all.find((judged) => namesOf(judged).some((address) => key(address) === key(recipient)));
  const own = named((address) => address.toLowerCase()) ?? named(aliasKeyOf);
  return own ?? all.find(({ action }) => action === 'failed') ?? all[0] ?? null;
}

function namesOf({ recipient, originalRecipient }: JudgedRecipient): string[] {
  return [recipient, originalRecipient].filter((address) => address !== null);
}

/** One foreign name is not enough: servers write their internal name of the same mailbox as Final-Recipient. */
function forwardedBy(judged: JudgedRecipient, recipient: string): string | null {
  const names = namesOf(judged);
  if (names.length < 2 || names.some((address) => aliasKeyOf(address) === aliasKeyOf(recipient))) return null;
  return judged.recipient;
}

function nothing(reason: string): ReportDecision {
  return { decision: 'nothing', reason };
}
