// One parsed rule of config/bounce-rules.toml: which replies it matches and what they mean. Which of
// several matching rules decides is in classify-reply.ts.
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { Label } from './labels.ts';

/** What happens to the message: it is retried, given up, or kept while its sender is paused. */
export type Action = 'retry' | 'give_up' | 'suspend';

/** What is paused: all mail to this MX group, one of our IP addresses, or one sender domain. */
export type SuspendScope = 'group' | 'source' | 'sender_domain';

export interface SuspensionRule {
  /** How long after a permanent refusal, and at most after temporary ones. */
  forMs: number;
  /** The first pause after a temporary refusal; null: one minute. */
  fromMs: number | null;
  scope: SuspendScope;
}

/** `5.1.1`, `*.7.*` or `5.7.60x`, split at the dots. */
export type StatusPattern = readonly string[];

export interface BounceRule {
  id: string;
  /** Such as `550` or `5xx`; empty: any. */
  codes: readonly string[];
  /** Empty: any code, or none. */
  enhanced: readonly StatusPattern[];
  /** Phrases, one of which the text must contain; empty: any text. */
  text: readonly string[];
  /** Phrases that the text must not contain. */
  unless: readonly string[];
  /** Empty: any. */
  stages: readonly SmtpStage[];
  /** Domains that all MX hosts must be at or below, or ids of providers whose MX group it must be; empty: any. */
  mx: readonly string[];
  class: BounceType;
  label: Label;
  /** Its phrases are in most reports, whatever the reason: in reports, other rules take precedence. */
  isGeneral: boolean;
  /** Null: decided by the first digit of the reply. */
  action: Action | null;
  suspend: SuspensionRule | null;
  /** Real replies that the rule must match: code, enhanced code if any, text. */
  samples: readonly string[];
}
