// What a reply of a receiving server means: the first rule of config/bounce-rules.toml that fits
// decides. Two things no rule can change: a temporary refusal is never a hard bounce, and nor is
// what was said before the recipient was named. A hard rule does not fit such a reply, and the
// rules behind it get their turn.
import { describeError } from '../base/errors.ts';
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { Action, BounceRule, StatusPattern, Suspension } from './bounce-rule.ts';
import { LABELS, type Label } from './labels.ts';
import { PhraseFinder } from './phrase-finder.ts';
import { wordsOf } from './words.ts';

export interface SaidReply {
  smtpCode: number | null;
  enhancedCode: string | null;
  response: string;
  /** Left out where it is not known, as in reports that come later. */
  stage?: SmtpStage;
  mx?: string | null;
}

export interface Classification {
  class: BounceType;
  label: Label;
  action: Action;
  /** The id of the rule that decided. */
  rule: string;
  /** One sentence for people. */
  reason: string;
  /** Who should make a pause, whatever becomes of this message. */
  suspend: Suspension | null;
}

/** Rules that are ready for use. */
export interface BounceRules {
  readonly all: readonly BounceRule[];
  readonly finder: PhraseFinder;
  /** For each phrase that the finder knows, the rules that want it, and those that do not. */
  readonly wantedBy: readonly (readonly number[])[];
  readonly unwantedBy: readonly (readonly number[])[];
}

/** Tells of phrases that cannot be read. The last rule must fit everything. */
export function compileRules(all: readonly BounceRule[], complain: (problem: string) => void): BounceRules {
  const finder = new PhraseFinder();
  const wantedBy: number[][] = [];
  const unwantedBy: number[][] = [];
  const note = (lists: number[][], phrase: string, rule: number) => {
    try {
      const number = finder.add(phrase);
      lists[number] ??= [];
      lists[number].push(rule);
    } catch (error) {
      complain(`${all[rule]!.id}: ${describeError(error)}`);
    }
  };
  for (const [number, { text, unless }] of all.entries()) {
    for (const phrase of text) note(wantedBy, phrase, number);
    for (const phrase of unless) note(unwantedBy, phrase, number);
  }
  return { all, finder, wantedBy, unwantedBy };
}

export function classifyReply(said: SaidReply, rules: BounceRules): Classification {
  const facts = factsOf(said);
  const [wanted, unwanted] = [new Set<number>(), new Set<number>()];
  for (const phrase of rules.finder.find(wordsOf(said.response))) {
    for (const rule of rules.wantedBy[phrase] ?? []) wanted.add(rule);
    for (const rule of rules.unwantedBy[phrase] ?? []) unwanted.add(rule);
  }
  const rule = rules.all.find(
    (candidate, number) =>
      (candidate.text.length === 0 || wanted.has(number)) && fits(candidate, facts) && !unwanted.has(number),
  );
  if (!rule) throw new Error('the bounce rules do not end with one that fits everything');
  return verdict(rule, facts);
}

interface Facts {
  smtpCode: string | null;
  /** The enhanced code at its dots. */
  status: readonly string[] | null;
  /** The first digit of the reply, or null where there is no code at all. */
  digit: string | null;
  stage: SmtpStage | null;
  mx: string | null;
}

// Where the enhanced code is not at the beginning: qmail and its relatives write it `(#5.1.1)`.
const CODE_IN_TEXT = /(?:^|[\s(#])#?([45]\.\d{1,3}\.\d{1,3})(?![.\w])/;

function factsOf({ smtpCode, enhancedCode, response, stage, mx }: SaidReply): Facts {
  const code = smtpCode === null ? null : String(smtpCode);
  const inText = enhancedCode ?? CODE_IN_TEXT.exec(response.slice(0, 1_000))?.[1] ?? null;
  // RFC 2034 section 4: a class that does not agree with the reply code is none.
  const agreed = code !== null && inText !== null && inText[0] !== code[0] ? null : inText;
  return {
    smtpCode: code,
    status: agreed?.split('.') ?? null,
    digit: code?.[0] ?? agreed?.[0] ?? null,
    stage: stage ?? null,
    mx: mx?.toLowerCase() ?? null,
  };
}

/** At these stages nobody has named the recipient yet: whatever the words, they are not about it. */
const BEFORE_THE_RECIPIENT: ReadonlySet<SmtpStage> = new Set(['connect', 'greeting', 'ehlo', 'starttls', 'mail']);

function fits(rule: BounceRule, facts: Facts): boolean {
  if (rule.class === 'hard' && (facts.digit === '4' || BEFORE_THE_RECIPIENT.has(facts.stage!))) return false;
  if (rule.codes.length > 0 && !rule.codes.some((code) => isOfCode(code, facts))) return false;
  if (rule.enhanced.length > 0 && !rule.enhanced.some((pattern) => isOfStatus(pattern, facts.status))) {
    return false;
  }
  if (rule.stages.length > 0 && !rule.stages.includes(facts.stage!)) return false;
  return rule.mx.length === 0 || (facts.mx !== null && rule.mx.some((domain) => isBelow(domain, facts.mx!)));
}

function isOfCode(code: string, { smtpCode, digit }: Facts): boolean {
  return code.endsWith('xx') ? digit === code[0] : smtpCode === code;
}

function isOfStatus(pattern: StatusPattern, status: readonly string[] | null): boolean {
  if (status === null) return false;
  return pattern.every((part, place) => {
    if (part === '*' || part === status[place]) return true;
    // `60x`: 600 to 609, as Exchange Online numbers its families.
    return part.endsWith('x') && status[place]!.length === part.length && status[place]!.startsWith(part.slice(0, -1));
  });
}

function isBelow(domain: string, host: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function verdict(rule: BounceRule, { digit }: Facts): Classification {
  // Unknown means temporary.
  const action = rule.action ?? (digit === '5' || rule.class === 'hard' ? 'give_up' : 'retry');
  const { id, class: bounce, label, suspend } = rule;
  return { class: bounce, label, action, rule: id, reason: LABELS[label], suspend };
}
