// From a courier's result to its meaning: delivered, temporary or permanent. Unknown means temporary. What a
// reply means is in the bounce rules; only the consequence is here.
import { MINUTE_MS } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { DeliveryOutcome, TriedHost } from '../../base/outcome.ts';
import { type BounceRules, type Classification, classifyReply } from '../../classify/classify-reply.ts';
import type { Label } from '../../classify/labels.ts';
import { namingSender, type Parties } from '../../classify/own-names.ts';
import { findNamedDelay } from '../../protocol/smtp/named-delay.ts';
import { allTakeNoMail, whatWasTried } from '../../protocol/smtp/tried-hosts.ts';
import type { WaitingMessage } from '../../store/queue.ts';
import type { CourierResult } from '../courier/messages.ts';
import { pauseBounds } from './suspension-length.ts';

/** The classification of the peer's reply; missing for a finding of our own. */
interface Explained {
  verdict?: Classification;
}

/** Given up; `rule` is what decided: the id of a bounce rule, or a name for a finding of our own. */
export type Permanent = Extract<DeliveryOutcome, { kind: 'permanent' }> &
  Explained & {
    rule: string;
    /** Given up without a verdict on the recipient: it fails instead of bouncing. */
    end?: 'failed';
  };

export type Temporary = Extract<DeliveryOutcome, { kind: 'temporary' }> &
  Explained & {
    /** No host accepted a connection. */
    noConnection?: true;
    /** When to retry, regardless of the retry ladder. */
    nextAt?: number;
    /** The latest time of the retry. */
    notAfter?: number;
    /** The tenant is notified, regardless of earlier notices. */
    notify?: true;
  };

export type Judgement =
  | Extract<DeliveryOutcome, { kind: 'delivered' }>
  | Temporary
  | Permanent
  | { kind: 'unreadable'; reason: string };

/** All addresses at these domains are ours: return paths, and those of the tenant, whose own bounce domain is below. */
export function partiesOf(
  { from, fromDomain, recipient }: Pick<WaitingMessage, 'from' | 'fromDomain' | 'recipient'>,
  bouncesDomain: string,
): Parties {
  return { senders: [from, fromDomain, bouncesDomain], recipients: [recipient] };
}

/** `parties`: of the message. */
export function judge(result: CourierResult, rules: BounceRules, parties: Parties): Judgement {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', peer: result.peer };
    case 'refused':
      return judgeRefusal(result.peer, rules, parties);
    case 'lost':
      return judgeLoss(result);
    case 'unsupported':
      return judgeUnsupported(result);
    case 'no_connection':
      return judgeNoConnection(result, rules);
    case 'insecure':
      return temporary(result.peer, result.peer.response);
    case 'unreadable':
      return result;
    default:
      return unreachable(result);
  }
}

type Peer = DeliveryOutcome['peer'];

function judgeRefusal(peer: Peer, rules: BounceRules, parties: Parties): Judgement {
  const verdict = classifyRefusal(peer, rules, parties);
  const reason = `${peer.mx ?? 'the server'} said: ${peer.response} ${inBrackets(verdict, peer)}`;
  // A rule can overrule the digit: greylisting is announced with 550, too, and a message that is too large
  // with 452. A suspended message waits as well.
  if (peer.smtpCode === null || verdict.action !== 'give_up') {
    return { ...temporary(peer, reason), verdict, retryAfterMs: findNamedDelay(peer.response) };
  }
  return { kind: 'permanent', peer, reason, bounce: verdict.class, rule: verdict.rule, verdict };
}

/** Only what looks like a hard bounce is looked at again: elsewhere, a name of ours changes nothing that matters. */
function classifyRefusal(peer: Peer, rules: BounceRules, parties: Parties): Classification {
  const verdict = classifyReply(peer, rules);
  if (verdict.class !== 'hard') return verdict;
  const response = namingSender(peer.response, parties);
  return response === peer.response ? verdict : classifyReply({ ...peer, response }, rules);
}

const BLAMES_US: ReadonlySet<Label> = new Set<Label>([
  ...(['ip_reputation', 'domain_reputation', 'reverse_dns', 'spam_content', 'sender_refused', 'rate_limited'] as const),
]);

/** Block lists say 521, too: blame of the sender is temporary. 5.3.2 is about the host, whatever the words. */
function blamesUs(host: TriedHost, rules: BounceRules): boolean {
  return host.enhancedCode !== '5.3.2' && BLAMES_US.has(classifyReply(host, rules).label);
}

/** A 5xx greeting is about our connection, not the recipient, so it may be temporary. */
function judgeNoConnection(
  { peer, asked }: Extract<CourierResult, { kind: 'no_connection' }>,
  rules: BounceRules,
): Judgement {
  const { tried = [] } = peer;
  const words = tried.length > 0 ? whatWasTried(tried) : peer.response;
  if (asked === 'all' && allTakeNoMail(tried) && !tried.some((host) => blamesUs(host, rules))) {
    const all = `no mail server of the recipient's domain accepts mail (RFC 7504): ${words}`;
    return { kind: 'permanent', peer, reason: all, bounce: 'soft', rule: 'no-host-takes-mail', end: 'failed' };
  }
  const reason = `no mail server of the recipient accepted a connection: ${words}`;
  if (peer.smtpCode === null) return { ...temporary(peer, reason), noConnection: true };
  const verdict = classifyReply(peer, rules);
  const explained = temporary(peer, `${reason} ${inBrackets(verdict, peer)}`);
  return { ...explained, verdict, noConnection: true, retryAfterMs: findNamedDelay(peer.response) };
}

function inBrackets({ label, rule, suspend }: Classification, { smtpCode }: Peer): string {
  if (!suspend) return `(${label}, rule ${rule})`;
  const { first, longest } = pauseBounds(suspend, smtpCode);
  const minutes = first === longest ? `${first / MINUTE_MS}` : `${first / MINUTE_MS} to ${longest / MINUTE_MS}`;
  return `(${label}, rule ${rule}; calls for a pause of ${minutes} min of the ${suspend.scope})`;
}

function judgeLoss({ peer, afterDot }: Extract<CourierResult, { kind: 'lost' }>): Judgement {
  if (!afterDot) return temporary(peer, `the connection to ${peer.mx} was lost: ${peer.response}`);
  const reason = `the connection to ${peer.mx} was lost after the message was sent, so it may have arrived: ${peer.response}`;
  return { ...temporary(peer, reason), ambiguous: true };
}

function judgeUnsupported({ peer, need }: Extract<CourierResult, { kind: 'unsupported' }>): Permanent {
  const enhancedCode = { smtputf8: '5.6.7', eightbit: '5.6.3', size: '5.3.4' }[need];
  const reason = `${peer.mx}: ${peer.response}`;
  return { kind: 'permanent', peer: { ...peer, enhancedCode }, reason, bounce: 'soft', rule: `no-${need}` };
}

function temporary(peer: Peer, reason: string): Temporary {
  return { kind: 'temporary', peer, reason, ambiguous: false, retryAfterMs: null };
}
