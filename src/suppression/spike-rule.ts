// When a receiver's hard-bounce rate spikes: a provider that answers 5.1.1 for everybody, for an hour, has
// a bad hour and not a million closed mailboxes. The rule is data (configuration, `[suppression]`);
// here it is applied, by one pure decision.

export interface SpikeRule {
  /** Over which time it is looked. */
  windowMs: number;
  /** Fewer hard bounces than this say nothing. */
  minHardBounces: number;
  /** The share of hard bounces from which on they are doubted. */
  share: number;
  /** And how many times the usual share that must be. */
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

// What is taken as usual where little is known: 2 % of hard bounces over so many messages.
const PRIOR: BounceCounts = { messages: 100, hard: 2 };

function usualShare({ messages, hard }: BounceCounts): number {
  return (hard + PRIOR.hard) / (messages + PRIOR.messages);
}

interface Words {
  what: string;
  /** What such a message did. */
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
  // What was delivered in an earlier window can come back in this one.
  const share = recent.hard / Math.max(recent.messages, recent.hard, 1);
  const usual = usualShare(before);
  const facts = `${recent.hard} of the last ${recent.messages} messages ${words.did} (${percent(share)}; usual: ${percent(usual)})`;
  const spikes = recent.hard >= rule.minHardBounces && share >= rule.share && share >= rule.factor * usual;
  if (!spikes) return { decision: 'trust', reason: facts };
  return { decision: 'doubt', reason: `${words.what}: ${facts}` };
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
