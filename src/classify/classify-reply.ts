// What a reply of a receiving server means: the first rule of config/bounce-rules.toml that fits
// decides. Two things no rule can change: a temporary refusal is never a hard bounce, and what was
// said before the recipient was named is not about the recipient. Such a rule does not fit such a
// reply, and the rules behind it get their turn.
import { describeError } from '../base/errors.ts';
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { Action, BounceRule, PauseRule, StatusPattern } from './bounce-rule.ts';
import { LABELS, type Label } from './labels.ts';
import { PhraseFinder } from './phrase-finder.ts';
import { wordsOf } from './words.ts';

export interface SaidReply {
  smtpCode: number | null;
  enhancedCode: string | null;
  response: string;
  /** Left out where it is not known, as in reports that come later. */
  stage?: SmtpStage;
  /** The MX host that we connected to, or the MX group that we resolved; never a name out of a text. */
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
  suspend: PauseRule | null;
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
  const inner = quotedIn(said);
  const outer = firstThatFits(said, rules);
  if (inner === null) return verdict(outer, said);
  const within = firstThatFits(inner, rules);
  const tells = within.text.length > 0 || within.enhanced.length > 0;
  return tells ? verdict(within, inner) : verdict(outer, said);
}

// `5.0.350 Remote server returned an error -> 550 5.1.1 No such user` (Exchange Online), `5.1.0 - Unknown
// address error 550-'5.1.1 User unknown'` (Cisco): the reply of the server behind is the reason.
const QUOTED_REPLY =
  /(?:->|=>|\b(?:error|reply|response|returned|said|responded(?: with)?)(?: was)?:?)\s{0,3}['"(]{0,2}(5\d\d)[\s-]{1,3}['"]?(?:#?(5\.\d{1,3}\.\d{1,3})[\s:]{0,3})?(?=\S)/i;

/** The reply that a permanent one quotes behind its own words; null: it quotes none. */
function quotedIn(said: SaidReply): SaidReply | null {
  const match = QUOTED_REPLY.exec(said.response.slice(0, 1_000));
  const leading = said.smtpCode === null ? said.enhancedCode : String(said.smtpCode);
  // A temporary reply is left as the relaying server gave it: it goes on trying.
  if (match === null || match.index === 0 || (leading !== null && leading[0] !== '5')) return null;
  const response = said.response.slice(match.index + match[0].length);
  return { ...said, smtpCode: Number(match[1]), enhancedCode: match[2] ?? null, response };
}

function firstThatFits(said: SaidReply, rules: BounceRules): BounceRule {
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
  return rule;
}

interface Facts {
  smtpCode: string | null;
  /** The enhanced code at its dots. */
  status: readonly string[] | null;
  /** The first digit of the reply, or null where there is no code at all. */
  digit: string | null;
  stage: SmtpStage | null;
  /** Of a group all of its hosts: its domain's owner chose them, and a strange one does not speak for a provider. */
  hosts: readonly string[];
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
    hosts: mx?.toLowerCase().split(',') ?? [],
  };
}

/** Before RCPT the server does not know the recipient: whatever the words, they are about us or about the server. */
const BEFORE_THE_RECIPIENT: ReadonlySet<SmtpStage> = new Set(['connect', 'greeting', 'ehlo', 'starttls', 'mail']);

const ABOUT_THE_RECIPIENT: ReadonlySet<Label> = new Set([
  'no_mailbox',
  'no_domain',
  'mailbox_disabled',
  'mailbox_moved',
  'mailbox_suspended',
  'mailbox_full',
  'mailbox_unavailable',
  'recipient_refused',
]);

function fits(rule: BounceRule, facts: Facts): boolean {
  if (rule.class === 'hard' && facts.digit === '4') return false;
  const isAboutRecipient = rule.class === 'hard' || ABOUT_THE_RECIPIENT.has(rule.label);
  if (isAboutRecipient && BEFORE_THE_RECIPIENT.has(facts.stage!)) return false;
  if (rule.codes.length > 0 && !rule.codes.some((code) => isOfCode(code, facts))) return false;
  if (rule.enhanced.length > 0 && !rule.enhanced.some((pattern) => isOfStatus(pattern, facts.status))) {
    return false;
  }
  if (rule.stages.length > 0 && !rule.stages.includes(facts.stage!)) return false;
  return rule.mx.length === 0 || rule.mx.some((domain) => isServedBy(domain, facts.hosts));
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

function isServedBy(domain: string, hosts: readonly string[]): boolean {
  return hosts.length > 0 && hosts.every((host) => host === domain || host.endsWith(`.${domain}`));
}

function verdict(rule: BounceRule, said: SaidReply): Classification {
  const { digit } = factsOf(said);
  // Unknown means temporary.
  const action = rule.action ?? (digit === '5' || rule.class === 'hard' ? 'give_up' : 'retry');
  const { id, class: bounce, label, suspend } = rule;
  return { class: bounce, label, action, rule: id, reason: LABELS[label], suspend };
}
