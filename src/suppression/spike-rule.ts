// Decides when a receiver's hard-bounce rate has spiked: a provider that answers 5.1.1 to every address for
// an hour has an outage, not a million closed mailboxes. The rule is data (configuration, `[suppression]`);
// here it is applied, by one pure decision.

export interface SpikeRule {
  /** The period that is judged. */
  windowMs: number;
  /** Fewer hard bounces are ignored. */
  minHardBounces: number;
  /** The minimum share of hard bounces for a spike. */
  share: number;
  /** The minimum multiple of the usual share for a spike. */
  factor: number;
}

export interface BounceCounts {
  messages: number;
  hard: number;
}

export interface SpikeDecision {
  decision: 'trust' | 'doubt';
  reason: string;
}

// The usual share before much is known: 2 % hard bounces in 100 messages.
const PRIOR: BounceCounts = { messages: 100, hard: 2 };

function usualShare({ messages, hard }: BounceCounts): number {
  return (hard + PRIOR.hard) / (messages + PRIOR.messages);
}

interface Words {
  what: string;
  /** What happened to such a message. */
  did: string;
}

const OF_A_RECEIVER: Words = { what: "this receiver's hard-bounce rate has spiked", did: 'bounced hard' };
export const OF_NO_ROUTE: Words = { what: 'mail without a route has spiked', did: 'had no route in DNS' };

export function decideSpike(
  recent: BounceCounts,
  before: BounceCounts,
  rule: SpikeRule,
  words = OF_A_RECEIVER,
): SpikeDecision {
  // A message delivered in an earlier window can bounce in this one.
  const share = recent.hard / Math.max(recent.messages, recent.hard, 1);
  const usual = usualShare(before);
  const facts = `${recent.hard} of the last ${recent.messages} messages ${words.did} (${percent(share)}; usual: ${percent(usual)})`;
  const isSpike = recent.hard >= rule.minHardBounces && share >= rule.share && share >= rule.factor * usual;
  if (!isSpike) return { decision: 'trust', reason: facts };
  return { decision: 'doubt', reason: `${words.what}: ${facts}` };
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
