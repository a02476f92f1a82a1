// From what a courier saw to what it means: delivered, to be tried again, or refused for good.
// Unknown means temporary. What a reply means stands in the bounce rules; only its consequence is here.
import { MINUTE_MS } from '../base/clock.ts';
import { unreachable } from '../base/errors.ts';
import { type DeliveryOutcome, noPeer } from '../base/outcome.ts';
import { type BounceRules, type Classification, classifyReply } from '../classify/classify-reply.ts';
import type { MailRoute } from '../protocol/dns/mail-route.ts';
import { findNamedDelay } from '../protocol/smtp/named-delay.ts';
import type { CourierResult } from './courier/messages.ts';

/** What a reply of the peer was found to mean; absent where the finding is our own. */
interface Explained {
  verdict?: Classification;
}

/** Given up, and what decided: the id of a bounce rule, or a name for a finding of our own. */
export type Permanent = Extract<DeliveryOutcome, { kind: 'permanent' }> & Explained & { rule: string };

export type Temporary = Extract<DeliveryOutcome, { kind: 'temporary' }> &
  Explained & {
    /** No connection came about: nobody answered, or none that did let us in. */
    nobodyOpened?: true;
  };

export type Judgement =
  | Extract<DeliveryOutcome, { kind: 'delivered' }>
  | Temporary
  | Permanent
  | { kind: 'unreadable'; reason: string };

export function judge(result: CourierResult, rules: BounceRules): Judgement {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', peer: result.peer };
    case 'refused':
      return judgeRefusal(result.peer, rules);
    case 'lost':
      return judgeLoss(result);
    case 'unsupported':
      return judgeUnsupported(result);
    case 'no_connection':
      return judgeClosedDoors(result.peer, rules);
    case 'insecure':
      return temporary(result.peer, result.peer.response);
    case 'unreadable':
      return result;
    default:
      return unreachable(result);
  }
}

/** Without a route nobody is called. */
export function judgeRoute(route: Exclude<MailRoute, { kind: 'hosts' }>): Exclude<Judgement, { kind: 'unreadable' }> {
  const peer = noPeer('resolve', route.reason);
  if (route.kind === 'unavailable') return temporary(peer, `DNS did not answer: ${route.reason}`);
  // 5.1.2 and 5.1.10 say that the domain is not there for mail; 5.4.4 only that no way was found.
  const bounce = route.enhancedCode === '5.4.4' ? 'soft' : 'hard';
  const rule = `route-${route.enhancedCode}`;
  return { kind: 'permanent', peer: { ...peer, enhancedCode: route.enhancedCode }, reason: route.reason, bounce, rule };
}

type Peer = DeliveryOutcome['peer'];

function judgeRefusal(peer: Peer, rules: BounceRules): Judgement {
  const verdict = classifyReply(peer, rules);
  const reason = `${peer.mx ?? 'the server'} said: ${peer.response} ${inBrackets(verdict)}`;
  // A rule can know better than the digit: greylisting is said with 550 too, and a message that
  // is too large with 452. A suspended message waits as well.
  if (peer.smtpCode === null || verdict.action !== 'give_up') {
    return { ...temporary(peer, reason), verdict, retryAfterMs: findNamedDelay(peer.response) };
  }
  return { kind: 'permanent', peer, reason, bounce: verdict.class, rule: verdict.rule, verdict };
}

/** A 5xx as greeting is about our connection, not about the recipient: it may pass. */
function judgeClosedDoors(peer: Peer, rules: BounceRules): Judgement {
  const reason = `no mail server of the recipient could be reached: ${peer.response}`;
  if (peer.smtpCode === null) return { ...temporary(peer, reason), nobodyOpened: true };
  const verdict = classifyReply(peer, rules);
  const explained = temporary(peer, `${reason} ${inBrackets(verdict)}`);
  return { ...explained, verdict, nobodyOpened: true, retryAfterMs: findNamedDelay(peer.response) };
}

function inBrackets({ label, rule, suspend }: Classification): string {
  const pause = suspend ? `; calls for a pause of ${suspend.forMs / MINUTE_MS} min of the ${suspend.scope}` : '';
  return `(${label}, rule ${rule}${pause})`;
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
