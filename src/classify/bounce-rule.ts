// One rule of config/bounce-rules.toml after reading: which replies it is about and what they
// mean. Which of several rules decides is said in classify-reply.ts.
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { Label } from './labels.ts';

/** What becomes of the message: tried again, given up, or kept while its sender makes a pause. */
export type Action = 'retry' | 'give_up' | 'suspend';

/** Who has to make a pause: everybody for this MX group, one of our IP addresses, one sender domain. */
export type SuspendScope = 'group' | 'source' | 'sender_domain';

export interface PauseRule {
  /** The time after a refusal for good, and the longest after temporary ones. */
  forMs: number;
  /** The first pause after a temporary refusal; null: a minute. */
  fromMs: number | null;
  scope: SuspendScope;
}

/** `5.1.1`, `*.7.*` or `5.7.60x`, at its dots. */
export type StatusPattern = readonly string[];

export interface BounceRule {
  id: string;
  /** Such as `550` or `5xx`; empty: any. */
  codes: readonly string[];
  /** Empty: any, or none at all. */
  enhanced: readonly StatusPattern[];
  /** Phrases of which one must be in the text; empty: any text. */
  text: readonly string[];
  /** Phrases none of which may be in the text. */
  unless: readonly string[];
  /** Empty: any. */
  stages: readonly SmtpStage[];
  /** Domains at or below which all MX hosts must be, or ids of providers whose MX group it must be; empty: any. */
  mx: readonly string[];
  class: BounceType;
  label: Label;
  /** Its words stand in most reports, whatever the reason: there, those of other rules go first. */
  isGeneral: boolean;
  /** Null: as the first digit of the reply says. */
  action: Action | null;
  suspend: PauseRule | null;
  /** What such servers really say: code, enhanced code if any, text. */
  samples: readonly string[];
}
