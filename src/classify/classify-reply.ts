// What a receiving server's reply means: the first matching rule of config/bounce-rules.toml decides.
// No rule can override two facts: a temporary refusal is never a hard bounce, and a reply before RCPT
// is not about the recipient. A rule that contradicts one of them doesn't match, and the next ones
// are tried.
import { describeError } from '../base/errors.ts';
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { Action, BounceRule, StatusPattern, SuspensionRule } from './bounce-rule.ts';
import { isGuess, withoutGuesses } from './guesses.ts';
import { LABELS, type Label } from './labels.ts';
import { PhraseFinder } from './phrase-finder.ts';
import { wordsOf } from './words.ts';

export interface ServerReply {
  smtpCode: number | null;
  enhancedCode: string | null;
  response: string;
  /** Missing where it is unknown, as in later reports. */
  stage?: SmtpStage;
  /** The MX host that we connected to, or the MX group that we resolved; never a name from a text. */
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
  /** What should be paused, whatever happens to this message. */
  suspend: SuspensionRule | null;
}

/** Compiled rules. */
export interface BounceRules {
  readonly all: readonly BounceRule[];
  readonly finder: PhraseFinder;
  /** For each phrase of the finder, the rules that require it, and those that exclude it. */
  readonly requiredBy: readonly (readonly number[])[];
  readonly excludedBy: readonly (readonly number[])[];
  /** Phrases that ask for a guess. */
  readonly guesses: ReadonlySet<number>;
}

/** Calls `addProblem` for phrases that can't be parsed. The last rule must match everything. */
export function compileRules(all: readonly BounceRule[], addProblem: (problem: string) => void): BounceRules {
  const finder = new PhraseFinder();
  const guesses = new Set<number>();
  const requiredBy: number[][] = [];
  const excludedBy: number[][] = [];
  const note = (lists: number[][], phrase: string, rule: number) => {
    try {
      const number = finder.add(phrase);
      if (isGuess(phrase)) guesses.add(number);
      lists[number] ??= [];
      lists[number].push(rule);
    } catch (error) {
      addProblem(`${all[rule]!.id}: ${describeError(error)}`);
    }
  };
  for (const [number, { text, unless }] of all.entries()) {
    for (const phrase of text) note(requiredBy, phrase, number);
    for (const phrase of unless) note(excludedBy, phrase, number);
  }
  return { all, finder, requiredBy, excludedBy, guesses };
}

export function classifyReply(said: ServerReply, rules: BounceRules): Classification {
  const quoted = quotedIn(said);
  const outer = firstMatch(said, rules);
  if (quoted === null) return verdict(outer, said);
  const { inner, introduction } = quoted;
  // `Sender address rejected: … said: 550 5.1.1 User unknown`: the unknown user is our return path.
  const before = firstMatch({ ...said, response: introduction }, rules);
  if (before.text.length > 0 && before.label === 'sender_refused') return verdict(before, said);
  const within = firstMatch(inner, rules);
  const isSpecific = within.text.length > 0 || within.enhanced.length > 0;
  return isSpecific ? verdict(within, inner) : verdict(outer, said);
}

// `5.0.350 Remote server returned an error -> 550 5.1.1 No such user` (Exchange Online), `5.1.0 - Unknown
// address error 550-'5.1.1 User unknown'` (Cisco): the quoted reply of the next server is the reason.
const QUOTED_REPLY =
  /(?:->|=>|\b(?:error|reply|response|returned|said|responded(?: with)?)(?: was)?:?)\s{0,3}['"(]{0,2}(5\d\d)[\s-]{1,3}['"]?(?:#?(5\.\d{1,3}\.\d{1,3})[\s:]{0,3})?(?=\S)/i;

/** The reply that a permanent reply quotes after its own words; null: it quotes none. */
function quotedIn(said: ServerReply): { inner: ServerReply; introduction: string } | null {
  const match = QUOTED_REPLY.exec(said.response.slice(0, 1_000));
  const leading = said.smtpCode === null ? said.enhancedCode : String(said.smtpCode);
  // A temporary reply counts as the relaying server gave it: that server keeps trying.
  if (match === null || match.index === 0 || (leading !== null && leading[0] !== '5')) return null;
  const response = said.response.slice(match.index + match[0].length);
  const inner = { ...said, smtpCode: Number(match[1]), enhancedCode: match[2] ?? null, response };
  return { inner, introduction: said.response.slice(0, match.index) };
}

function firstMatch(said: ServerReply, rules: BounceRules): BounceRule {
  const facts = factsOf(said);
  const words = wordsOf(said.response);
  const phrases = rules.finder.find(words);
  const [required, excluded] = [rulesWith(phrases, rules.requiredBy), rulesWith(phrases, rules.excludedBy)];
  const stated = statedPhrases(words, phrases, rules);
  const requiredByStated = stated === phrases ? required : rulesWith(stated, rules.requiredBy);
  const hasPhrase = (rule: BounceRule, number: number) =>
    rule.text.length === 0 || (rule.class === 'hard' ? requiredByStated : required).has(number);
  const rule = rules.all.find(
    (candidate, number) => hasPhrase(candidate, number) && matches(candidate, facts) && !excluded.has(number),
  );
  if (!rule) throw new Error('the bounce rules do not end with one that fits everything');
  return rule;
}

/** The phrases that the text states, not guesses: `the mailbox may not exist` is no reason for a hard bounce. */
function statedPhrases(words: string, phrases: readonly number[], { finder, guesses }: BounceRules): readonly number[] {
  const stated = withoutGuesses(words);
  if (stated === words) return phrases;
  return [...finder.find(stated), ...phrases.filter((phrase) => guesses.has(phrase))];
}

/** The rules that these phrases are noted for. */
function rulesWith(phrases: readonly number[], lists: readonly (readonly number[])[]): Set<number> {
  return new Set(phrases.flatMap((phrase) => lists[phrase] ?? []));
}

interface Facts {
  smtpCode: string | null;
  /** The enhanced code, split at the dots. */
  status: readonly string[] | null;
  /** The first digit of the reply, or null without any code. */
  digit: string | null;
  stage: SmtpStage | null;
  /** For a group, all of its hosts: a domain's owner chooses them, and a foreign one doesn't speak for a provider. */
  hosts: readonly string[];
}

// An enhanced code that is not at the beginning: qmail and its relatives write `(#5.1.1)`.
const CODE_IN_TEXT = /(?:^|[\s(#])#?([45]\.\d{1,3}\.\d{1,3})(?![.\w])/;

function factsOf({ smtpCode, enhancedCode, response, stage, mx }: ServerReply): Facts {
  const code = smtpCode === null ? null : String(smtpCode);
  const inText = enhancedCode ?? CODE_IN_TEXT.exec(response.slice(0, 1_000))?.[1] ?? null;
  // RFC 2034 section 4: a class that contradicts the reply code is not an enhanced code.
  const agreed = code !== null && inText !== null && inText[0] !== code[0] ? null : inText;
  return {
    smtpCode: code,
    status: agreed?.split('.') ?? null,
    digit: code?.[0] ?? agreed?.[0] ?? null,
    stage: stage ?? null,
    hosts: mx?.toLowerCase().split(',') ?? [],
  };
}

/** Before RCPT the server doesn't know the recipient: its reply is about us or the server, whatever the words. */
const BEFORE_RCPT: ReadonlySet<SmtpStage> = new Set(['connect', 'greeting', 'ehlo', 'starttls', 'mail']);

const ABOUT_RECIPIENT: ReadonlySet<Label> = new Set([
  'no_mailbox',
  'no_domain',
  'mailbox_disabled',
  'mailbox_moved',
  'mailbox_suspended',
  'mailbox_full',
  'mailbox_unavailable',
  'recipient_refused',
]);

function matches(rule: BounceRule, facts: Facts): boolean {
  if (rule.class === 'hard' && facts.digit === '4') return false;
  const isAboutRecipient = rule.class === 'hard' || ABOUT_RECIPIENT.has(rule.label);
  if (isAboutRecipient && BEFORE_RCPT.has(facts.stage!)) return false;
  if (rule.codes.length > 0 && !rule.codes.some((code) => matchesCode(code, facts))) return false;
  if (rule.enhanced.length > 0 && !rule.enhanced.some((pattern) => matchesStatus(pattern, facts.status))) {
    return false;
  }
  if (rule.stages.length > 0 && !rule.stages.includes(facts.stage!)) return false;
  return rule.mx.length === 0 || rule.mx.some((domain) => isServedBy(domain, facts.hosts));
}

function matchesCode(code: string, { smtpCode, digit }: Facts): boolean {
  return code.endsWith('xx') ? digit === code[0] : smtpCode === code;
}

function matchesStatus(pattern: StatusPattern, status: readonly string[] | null): boolean {
  if (status === null) return false;
  return pattern.every((part, index) => {
    if (part === '*' || part === status[index]) return true;
    // `60x`: 600 to 609, as Exchange Online numbers its families.
    return part.endsWith('x') && status[index]!.length === part.length && status[index]!.startsWith(part.slice(0, -1));
  });
}

function isServedBy(domain: string, hosts: readonly string[]): boolean {
  return hosts.length > 0 && hosts.every((host) => host === domain || host.endsWith(`.${domain}`));
}

function verdict(rule: BounceRule, said: ServerReply): Classification {
  const { digit } = factsOf(said);
  // Unknown means temporary.
  const action = rule.action ?? (digit === '5' || rule.class === 'hard' ? 'give_up' : 'retry');
  const { id, class: bounce, label, suspend } = rule;
  return { class: bounce, label, action, rule: id, reason: LABELS[label], suspend };
}
