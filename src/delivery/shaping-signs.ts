// What the outcome of an attempt says about the receiver's patience: a sign for the number of
// connections, and a pause where a bounce rule calls for one. Only what the peer did counts;
// findings of our own say nothing about it.
import type { SmtpStage } from '../base/outcome.ts';
import type { SuspendScope } from '../classify/bounce-rule.ts';
import type { Label } from '../classify/labels.ts';
import type { Suspension, SuspensionScope } from '../store/shaping.ts';
import type { Sign } from './adaptive-limit.ts';
import type { Judgement, Permanent, Temporary } from './judge.ts';
import type { Provider } from './provider-limits.ts';

export interface AttemptFacts {
  mxGroup: string;
  provider: Provider | null;
  tenantId: string;
  senderDomain: string;
  recipientDomain: string;
  /** Null: the default address. */
  sourceAddress: string | null;
  judgement: Judgement;
  /** Whether other connections to the group are open and being answered. */
  othersWork: boolean;
}

export interface Signs {
  sign: Sign | null;
  suspension: Suspension | null;
}

const NOTHING: Signs = { sign: null, suspension: null };

// 4.7.x that is about one message, its sender or its first appearance, not about how much we send.
const NOT_OUR_SPEED: ReadonlySet<Label> = new Set<Label>([
  ...(['greylisted', 'auth_failed', 'dmarc_policy', 'sender_refused', 'spam_content'] as const),
  ...(['tls_required', 'recipient_refused', 'mailbox_full'] as const),
]);

/** Nobody was there; a failure at STARTTLS or later was somebody. */
const AT_THE_DOOR: ReadonlySet<SmtpStage> = new Set<SmtpStage>(['connect', 'greeting']);

export function readSigns(facts: AttemptFacts, now: number): Signs {
  const { judgement } = facts;
  switch (judgement.kind) {
    case 'unreadable':
      return NOTHING;
    case 'delivered':
      return { sign: { kind: 'delivered' }, suspension: null };
    case 'temporary':
    case 'permanent':
      return judgement.peer.smtpCode === null ? ofSilence(judgement) : ofReply(facts, judgement, now);
  }
}

function ofSilence(judgement: Temporary | Permanent): Signs {
  const { peer, reason } = judgement;
  const nobody = judgement.kind === 'temporary' && judgement.nobodyOpened && peer.mx !== null;
  if (!nobody || !AT_THE_DOOR.has(peer.stage)) return NOTHING;
  return { sign: { kind: 'closed', reason }, suspension: null };
}

function ofReply(facts: AttemptFacts, judgement: Temporary | Permanent, now: number): Signs {
  const { reason, verdict, peer } = judgement;
  if (!verdict) return NOTHING;
  const atTheDoor = judgement.kind === 'temporary' && judgement.nobodyOpened === true;
  if (verdict.suspend) {
    const { forMs, scope } = verdict.suspend;
    // "Too many connections" to one of many that work: that one was too many, no more.
    if (scope === 'group' && atTheDoor && facts.othersWork) {
      return { sign: { kind: 'slow_down', reason, forMs }, suspension: null };
    }
    return ofSuspension(
      facts,
      { scope: reachOf(scope, facts, judgement), rule: verdict.rule, until: now + forMs },
      now,
    );
  }
  if (atTheDoor && !facts.othersWork) return { sign: { kind: 'closed', reason }, suspension: null };
  const slow = peer.smtpCode === 421 || /^4\.7\./.test(peer.enhancedCode ?? '');
  if (!slow || NOT_OUR_SPEED.has(verdict.label)) return { sign: { kind: 'answered' }, suspension: null };
  return { sign: { kind: 'slow_down', reason, forMs: null }, suspension: null };
}

/**
 * Customers of a hoster can write the texts of its permanent refusals from RCPT on (transport
 * rules, content compliance). Such a text must not stop everybody's mail to that hoster.
 */
function reachOf(scope: SuspendScope, facts: AttemptFacts, { peer }: Temporary | Permanent): SuspensionScope {
  const { provider, recipientDomain } = facts;
  if (scope === 'sender_domain' || !provider?.customerDomains) return scope;
  const isFinal = (peer.smtpCode ?? 0) >= 500;
  const isLate = peer.stage === 'rcpt' || peer.stage === 'data' || peer.stage === 'dot';
  return isFinal && isLate && !provider.ownDomains.includes(recipientDomain) ? 'domain' : scope;
}

function ofSuspension(
  facts: AttemptFacts,
  { scope, rule, until }: { scope: SuspensionScope; rule: string; until: number },
  now: number,
): Signs {
  const { mxGroup, tenantId, senderDomain, recipientDomain, sourceAddress, judgement } = facts;
  if (judgement.kind === 'unreadable') return NOTHING;
  const subject = { group: '', source: sourceAddress ?? '', sender_domain: senderDomain, domain: recipientDomain }[
    scope
  ];
  const reply = `${judgement.peer.smtpCode} ${judgement.peer.response}`;
  const suspension: Suspension = {
    ...{ mxGroup, scope, subject, rule, reply, since: now, until },
    tenantId: scope === 'sender_domain' ? tenantId : null,
  };
  if (scope !== 'group') return { sign: { kind: 'answered' }, suspension };
  return { sign: { kind: 'suspended', reason: reply, until }, suspension };
}
