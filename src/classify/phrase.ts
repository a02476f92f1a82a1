// Phrases: the small language in which bounce rules say what a text must contain. Words as
// wordsOf() leaves them, and `block*` (any ending), `the?` (optional), `(a|b c)` (alternatives) and
// `..` (up to six other words). Rules can't contain regular expressions: a pattern made from this
// language has no unbounded repetition and takes linear time on any text.

import { CLAUSE_END, PAUSE, SIGNS, spelledOut } from './words.ts';

/** A word, or the beginning of one. */
export interface Anchor {
  word: string;
  isPrefix: boolean;
}

export interface Phrase {
  /** Matches texts that wordsOf() normalized. */
  readonly pattern: RegExp;
  /** The text must have a word of each of these lists, or it can't contain the phrase. */
  anchors: readonly (readonly Anchor[])[];
}

type Part = 'gap' | { choices: Part[][]; optional: boolean } | { word: string; optional: boolean };

type Fail = (problem: string) => never;

export const PREFIX_LENGTH = 4;

/** How phrases write the signs that are not words. */
const WRITTEN: Readonly<Record<string, string>> = { ...SIGNS, ',': CLAUSE_END };
const NAME_SIGNS = Object.values(SIGNS).join('');
/** Names, addresses and pauses are not words: they may be between any two words, and gaps don't count them. */
const NO_WORDS = `(?:[${NAME_SIGNS}${PAUSE}] )*`;
const ANY_WORD = `[^ ${NAME_SIGNS}${CLAUSE_END}${PAUSE}]+ (?:[${NAME_SIGNS}] )*`;
/** `is not full` doesn't say `full`. In `is not currently …` the negated word is the one after the adverb. */
const NEGATION = '(?:not|never|longer) (?![^ ]+ly )';
const NEGATED = '(?: (?:is|are|was|were) (?:not|never|no longer)| (?:has|have) (?:not|never) been)(?! [^ ]+ly )';
/** A gap ends with its clause, and at a pause: the next clause may be about something else. */
const GAP = `(?:(?:${ANY_WORD}){0,5}?(?!${NEGATION})${ANY_WORD}(?:${PAUSE} ${NO_WORDS})?)??`;
const MAX_GAPS = 3;
const TOKEN = /\.\.|[()|?,]|[^\s()|?,]+/g;
const WORD = /^[a-z0-9\u00aa-\u1fff\u2c00-\uffff]+\*?$/;

/** Throws an Error that describes the problem. */
export function parsePhrase(source: string): Phrase {
  const fail: Fail = (problem) => {
    throw new Error(`"${source}": ${problem}`);
  };
  const tokens = spelledOut(source).match(TOKEN) ?? [];
  if (tokens.filter((token) => token === '..').length > MAX_GAPS) fail(`over ${MAX_GAPS} times ..`);
  const [row, ...others] = readRows(tokens, fail);
  if (tokens.length > 0 || others.length > 0) fail('| or ) outside of brackets');
  const anchors = requiredAnchors(row!);
  if (anchors.length === 0) fail(`no word that must be there (a word with * needs ${PREFIX_LENGTH} letters)`);
  // Made when a text first has the phrase's words: most phrases wait for that for ever, and a start would make them all.
  let pattern: RegExp | undefined;
  return {
    get pattern() {
      // The negation is checked last, once the phrase is found: a look-behind at every word costs more.
      pattern ??= new RegExp(` (?=${patternOf(row!)})(?<!${NEGATED} )`);
      return pattern;
    },
    anchors,
  };
}

/** Consumes rows of parts, separated by |, from the start of `tokens` up to the closing bracket. */
function readRows(tokens: string[], fail: Fail): Part[][] {
  const rows: Part[][] = [[]];
  while (tokens.length > 0 && tokens[0] !== ')') {
    const token = tokens.shift()!;
    if (token === '|') rows.push([]);
    else rows.at(-1)!.push(readPart(token, tokens, fail));
  }
  for (const row of rows) {
    if (row.length === 0 || row[0] === 'gap' || row.at(-1) === 'gap') fail('a row is empty, or begins or ends with ..');
  }
  return rows;
}

function readPart(token: string, rest: string[], fail: Fail): Part {
  if (token === '..') return 'gap';
  let choices: Part[][] | null = null;
  if (token === '(') {
    choices = readRows(rest, fail);
    if (rest.shift() !== ')') fail('a bracket is not closed');
  } else if (!WORD.test(token) && !Object.hasOwn(WRITTEN, token)) fail(`"${token}" is no word`);
  const optional = rest[0] === '?';
  if (optional) rest.shift();
  return choices ? { choices, optional } : { word: WRITTEN[token] ?? token, optional };
}

function patternOf(row: Part[]): string {
  return row.map(partPattern).join('');
}

function partPattern(part: Part): string {
  if (part === 'gap') return GAP;
  const inner = 'word' in part ? wordPattern(part.word) : part.choices.map(patternOf).join('|');
  return `(?:${inner})${part.optional ? '?' : ''}`;
}

function wordPattern(word: string): string {
  return word.endsWith('*') ? `${word.slice(0, -1)}[^ ]* ${NO_WORDS}` : `${word} ${NO_WORDS}`;
}

function requiredAnchors(row: Part[]): Anchor[][] {
  return row.flatMap((part) => {
    const anchors = part === 'gap' || part.optional ? null : anchorsOfPart(part);
    return anchors ? [anchors] : [];
  });
}

function anchorsOfPart(part: Exclude<Part, 'gap'>): Anchor[] | null {
  if ('word' in part) {
    const isPrefix = part.word.endsWith('*');
    const word = isPrefix ? part.word.slice(0, -1) : part.word;
    return isPrefix && word.length < PREFIX_LENGTH ? null : [{ word, isPrefix }];
  }
  const all = part.choices.map((row) => longest(requiredAnchors(row)));
  return all.some((anchors) => anchors === null) ? null : (all as Anchor[][]).flat();
}

/** One list of words is enough; the longest words are the rarest. */
function longest(lists: Anchor[][]): Anchor[] | null {
  return lists.reduce<Anchor[] | null>((best, next) => (best && shortest(best) >= shortest(next) ? best : next), null);
}

function shortest(anchors: Anchor[]): number {
  return Math.min(...anchors.map(({ word }) => word.length));
}
