// What the outcome of an attempt says about the receiver's patience: a sign for the number of
// connections, and a pause where a bounce rule calls for one. Only what the peer did counts;
// findings of our own say nothing about it.
import type { SmtpStage } from '../../base/outcome.ts';
import type { SuspendScope, PauseRule as SuspensionWish } from '../../classify/bounce-rule.ts';
import type { Label } from '../../classify/labels.ts';
import type { Suspension, SuspensionScope } from '../../store/shaping.ts';
import type { Judgement, Permanent, Temporary } from '../outcome/judge.ts';
import { type EarlierPause, pauseLength } from '../outcome/pause-length.ts';
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
  /** The pause before, of the same mail. */
  earlier(of: SuspensionTarget): EarlierPause | null;
}

/** The connections to the group beside the one that the attempt was made over. */
export interface OtherConnections {
  /** Those that are open or being opened. */
  open: number;
  /** Those of them that are open. */
  working: number;
  /** Those of them that are open to the same hosts, from the same address of ours. */
  sameHosts: number;
}

/** Whose pause it is. */
export type SuspensionTarget = Pick<Suspension, 'mxGroup' | 'scope' | 'tenantId' | 'subject'>;

export interface Signs {
  sign: Sign | null;
  suspension: Suspension | null;
  /** The connection was one too many: its mail goes over the others, and was not tried. */
  surplus: boolean;
}

const NOTHING: Signs = { sign: null, suspension: null, surplus: false };

// 4.7.x that is about one message, its sender or its first appearance, not about how much we send.
const NOT_OUR_SPEED: ReadonlySet<Label> = new Set<Label>([
  ...(['greylisted', 'auth_failed', 'dmarc_policy', 'sender_refused', 'spam_content'] as const),
  ...(['tls_required', 'recipient_refused', 'mailbox_full'] as const),
]);

/** Nobody was there; a failure at STARTTLS or later was somebody. */
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
 * No host answered. Where others work with the same hosts, or this one was closed before any could be let in, the
 * connection was one too many: some servers refuse without a word. Where others work with other hosts of the group, only
 * those of this mail are silent.
 */
function ofSilence(judgement: Temporary | Permanent, { open, working, sameHosts }: OtherConnections): Signs {
  const { peer, reason } = judgement;
  const nobody = judgement.kind === 'temporary' && judgement.nobodyOpened && peer.mx !== null;
  if (!nobody || !BEFORE_THE_SESSION.has(peer.stage)) return NOTHING;
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
  const atTheDoor = judgement.kind === 'temporary' && judgement.nobodyOpened === true;
  const isTemporary = (peer.smtpCode ?? 0) < 500;
  const { suspend } = verdict;
  // Whatever the words: it was refused while others are open or may still be let in. When the last
  // of them is refused too, that one says what the group is to do.
  if (atTheDoor && open > 0 && (isTemporary || suspend?.scope === 'group')) {
    return { ...signs({ kind: 'full', reason, working }), surplus: true };
  }
  // 421 ends this connection only (RFC 5321 section 3.8).
  if (suspend?.scope === 'group' && peer.smtpCode === 421 && working > 0) {
    return signs({ kind: 'full', reason, working });
  }
  // What mail of our address was delivered a moment ago says more than one temporary refusal of it,
  // unless its rule knows that these words are a verdict.
  if (suspend?.scope === 'source' && isTemporary && suspend.fromMs === null && facts.delivering && working > 0) {
    return signs({ kind: 'slow_down', reason });
  }
  if (suspend) return ofSuspension(facts, { suspend, judgement, rule: verdict.rule }, now);
  if (atTheDoor && working === 0) return signs({ kind: 'closed', reason });
  const slow = peer.smtpCode === 421 || /^4\.7\./.test(peer.enhancedCode ?? '');
  if (!slow || NOT_OUR_SPEED.has(verdict.label)) return signs({ kind: 'answered' });
  return signs({ kind: 'slow_down', reason });
}

/**
 * Customers of a hoster can write the texts of its permanent refusals from RCPT on (transport
 * rules, content compliance). Such a text must not stop everybody's mail to that hoster.
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
  { suspend, judgement, rule }: { suspend: SuspensionWish; judgement: Temporary | Permanent; rule: string },
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

/** Which pause of this scope the message is subject to. */
export function suspensionTarget(scope: SuspensionScope, facts: TargetFacts): SuspensionTarget {
  const { mxGroup, tenantId, senderDomain, recipientDomain, sourceAddress } = facts;
  const subjects = { group: '', source: sourceAddress ?? '', sender_domain: senderDomain, domain: recipientDomain };
  return { mxGroup, scope, subject: subjects[scope], tenantId: scope === 'sender_domain' ? tenantId : null };
}
