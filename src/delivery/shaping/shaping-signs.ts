// What an attempt's outcome says about the receiver's limits: a sign for the number of connections, and a
// pause if a bounce rule calls for one. Only the peer's behaviour counts; findings of our own say nothing
// about it.
import type { SmtpStage } from '../../base/outcome.ts';
import type { SuspendScope, SuspensionRule } from '../../classify/bounce-rule.ts';
import type { Label } from '../../classify/labels.ts';
import type { Suspension, SuspensionScope } from '../../store/shaping.ts';
import type { Judgement, Permanent, Temporary } from '../outcome/judge.ts';
import { type EarlierPause, pauseLength } from '../outcome/suspension-length.ts';
import type { Sign } from './adaptive-limit.ts';
import type { Provider } from './provider-limits.ts';

export interface ShapedAttempt {
  mxGroup: string;
  provider: Provider | null;
  tenantId: string;
  senderDomain: string;
  recipientDomain: string;
  /** Null: the default address. */
  sourceAddress: string | null;
  judgement: Judgement;
  others: OtherConnections;
  /** Whether mail to the group was delivered a moment ago. */
  delivering: boolean;
  /** The last pause of the same mail. */
  earlier(of: SuspensionTarget): EarlierPause | null;
}

/** The group's connections, except the one of this attempt. */
export interface OtherConnections {
  /** Open or being opened. */
  open: number;
  /** Open. */
  working: number;
  /** Open to the same hosts, from the same source address. */
  sameHosts: number;
}

/** What a pause applies to. */
export type SuspensionTarget = Pick<Suspension, 'mxGroup' | 'scope' | 'tenantId' | 'subject'>;

export interface Signs {
  sign: Sign | null;
  suspension: Suspension | null;
  /** The connection was one too many: its mail was not tried, and goes over the others. */
  surplus: boolean;
}

const NOTHING: Signs = { sign: null, suspension: null, surplus: false };

// 4.7.x about one message, its sender or its first appearance, not about our speed.
const NOT_OUR_SPEED: ReadonlySet<Label> = new Set<Label>([
  ...(['greylisted', 'auth_failed', 'dmarc_policy', 'sender_refused', 'spam_content'] as const),
  ...(['tls_required', 'recipient_refused', 'mailbox_full'] as const),
]);

/** Stages without a server's answer; a failure at STARTTLS or later had one. */
const BEFORE_THE_SESSION: ReadonlySet<SmtpStage> = new Set<SmtpStage>(['connect', 'greeting']);

export function readSigns(facts: ShapedAttempt, now: number): Signs {
  const { judgement } = facts;
  switch (judgement.kind) {
    case 'unreadable':
      return NOTHING;
    case 'delivered':
      return signs({ kind: 'delivered' });
    case 'temporary':
    case 'permanent':
      return judgement.peer.smtpCode === null ? ofSilence(judgement, facts.others) : ofReply(facts, judgement, now);
  }
}

/**
 * No host answered. If other connections to the same hosts work, or this one was closed before any was accepted, it was
 * one too many: some servers refuse without a reply. If others work with other hosts of the group, only the hosts of
 * this mail are silent.
 */
function ofSilence(judgement: Temporary | Permanent, { open, working, sameHosts }: OtherConnections): Signs {
  const { peer, reason } = judgement;
  const unanswered = judgement.kind === 'temporary' && judgement.noConnection && peer.mx !== null;
  if (!unanswered || !BEFORE_THE_SESSION.has(peer.stage)) return NOTHING;
  const wasAccepted = (peer.tried ?? [peer]).some(({ stage }) => stage === 'greeting');
  const mayStillOpen = working === 0 && open > 0 && wasAccepted;
  if (sameHosts > 0 || mayStillOpen) return { ...signs({ kind: 'full', reason, working }), surplus: true };
  return working > 0 ? NOTHING : signs({ kind: 'closed', reason });
}

function signs(sign: Sign): Signs {
  return { ...NOTHING, sign };
}

function ofReply(facts: ShapedAttempt, judgement: Temporary | Permanent, now: number): Signs {
  const { reason, verdict, peer } = judgement;
  if (!verdict) return NOTHING;
  const { open, working } = facts.others;
  const noConnection = judgement.kind === 'temporary' && judgement.noConnection === true;
  const isTemporary = (peer.smtpCode ?? 0) < 500;
  const { suspend } = verdict;
  // Refused while others are open or may still be accepted: the words don't matter. If the last of them is
  // refused, too, that reply decides about the group.
  if (noConnection && open > 0 && (isTemporary || suspend?.scope === 'group')) {
    return { ...signs({ kind: 'full', reason, working }), surplus: true };
  }
  // 421 closes only this connection (RFC 5321 section 3.8).
  if (suspend?.scope === 'group' && peer.smtpCode === 421 && working > 0) {
    return signs({ kind: 'full', reason, working });
  }
  // Recent deliveries from our address say more than one temporary refusal of it, unless its rule treats
  // these words as a verdict.
  if (suspend?.scope === 'source' && isTemporary && suspend.fromMs === null && facts.delivering && working > 0) {
    return signs({ kind: 'slow_down', reason });
  }
  if (suspend) return ofSuspension(facts, { suspend, judgement, rule: verdict.rule }, now);
  if (noConnection && working === 0) return signs({ kind: 'closed', reason });
  const slow = peer.smtpCode === 421 || /^4\.7\./.test(peer.enhancedCode ?? '');
  if (!slow || NOT_OUR_SPEED.has(verdict.label)) return signs({ kind: 'answered' });
  return signs({ kind: 'slow_down', reason });
}

/**
 * A hoster's customers can write the texts of its permanent refusals from RCPT on (transport rules, content
 * compliance). Such a text must not stop all mail to that hoster.
 */
function reachOf(scope: SuspendScope, facts: ShapedAttempt, { peer }: Temporary | Permanent): SuspensionScope {
  const { provider, recipientDomain } = facts;
  if (scope === 'sender_domain' || !provider?.customerDomains) return scope;
  const isFinal = (peer.smtpCode ?? 0) >= 500;
  const isLate = peer.stage === 'rcpt' || peer.stage === 'data' || peer.stage === 'dot';
  return isFinal && isLate && !provider.ownDomains.includes(recipientDomain) ? 'domain' : scope;
}

function ofSuspension(
  facts: ShapedAttempt,
  { suspend, judgement, rule }: { suspend: SuspensionRule; judgement: Temporary | Permanent; rule: string },
  now: number,
): Signs {
  const { smtpCode, response } = judgement.peer;
  const target = suspensionTarget(reachOf(suspend.scope, facts, judgement), facts);
  const until = now + pauseLength({ suspend, smtpCode, response, earlier: facts.earlier(target) }, now);
  const reply = `${smtpCode} ${response}`;
  const suspension: Suspension = { ...target, rule, reply, since: now, until };
  const sign: Sign = target.scope === 'group' ? { kind: 'suspended', reason: reply, until } : { kind: 'answered' };
  return { ...signs(sign), suspension };
}

type TargetFacts = Pick<ShapedAttempt, 'mxGroup' | 'tenantId' | 'senderDomain' | 'recipientDomain' | 'sourceAddress'>;

/** The pause of this scope that the message is subject to. */
export function suspensionTarget(scope: SuspensionScope, facts: TargetFacts): SuspensionTarget {
  const { mxGroup, tenantId, senderDomain, recipientDomain, sourceAddress } = facts;
  const subjects = { group: '', source: sourceAddress ?? '', sender_domain: senderDomain, domain: recipientDomain };
  return { mxGroup, scope, subject: subjects[scope], tenantId: scope === 'sender_domain' ? tenantId : null };
}
