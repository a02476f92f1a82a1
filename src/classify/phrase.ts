// Phrases: the small language in which bounce rules say what a text must contain. Words as
// wordsOf() leaves them, and beside them `block*` (any ending), `the?` (may be missing), `(a|b c)`
// (one of these) and `..` (up to six other words). No regular expressions from outside: what
// comes out of this language has no unbounded repetition and takes linear time on any text.

import { CLAUSE_END, PAUSE, SIGNS, spelledOut } from './words.ts';

/** A word, or the beginning of one. */
export interface Anchor {
  word: string;
  isPrefix: boolean;
}

export interface Phrase {
  /** To be tried on what wordsOf() made of a text. */
  pattern: RegExp;
  /** Of each of these lists the text must have one word, or the phrase cannot be in it. */
  anchors: readonly (readonly Anchor[])[];
}

type Part = 'gap' | { choices: Part[][]; optional: boolean } | { word: string; optional: boolean };

type Complain = (problem: string) => never;

export const PREFIX_LENGTH = 4;

/** How a phrase writes what is not a word in a text. */
const WRITTEN: Readonly<Record<string, string>> = { ...SIGNS, ',': CLAUSE_END };
const NAME_SIGNS = Object.values(SIGNS).join('');
/** Names, addresses and pauses are not words: they may be between any two, and gaps do not count them. */
const NO_WORDS = `(?:[${NAME_SIGNS}${PAUSE}] )*`;
const ANY_WORD = `[^ ${NAME_SIGNS}${CLAUSE_END}${PAUSE}]+ (?:[${NAME_SIGNS}] )*`;
/** `is not full` does not say `full`. Of `is not currently …`, the word behind is denied. */
const NEGATION = '(?:not|never|longer) (?![^ ]+ly )';
const NEGATED = '(?: (?:is|are|was|were) (?:not|never|no longer)| (?:has|have) (?:not|never) been)(?! [^ ]+ly )';
/** A gap ends where the clause does, and at a pause: the clause behind it may be about something else. */
const GAP = `(?:(?:${ANY_WORD}){0,5}?(?!${NEGATION})${ANY_WORD}(?:${PAUSE} ${NO_WORDS})?)??`;
const MAX_GAPS = 3;
const TOKEN = /\.\.|[()|?,]|[^\s()|?,]+/g;
const WORD = /^[a-z0-9\u00aa-\u1fff\u2c00-\uffff]+\*?$/;

/** Throws an Error that says what is wrong with the phrase. */
export function parsePhrase(source: string): Phrase {
  const complain: Complain = (problem) => {
    throw new Error(`"${source}": ${problem}`);
  };
  const tokens = spelledOut(source).match(TOKEN) ?? [];
  if (tokens.filter((token) => token === '..').length > MAX_GAPS) complain(`over ${MAX_GAPS} times ..`);
  const [row, ...others] = readRows(tokens, complain);
  if (tokens.length > 0 || others.length > 0) complain('| or ) outside of brackets');
  const anchors = requiredAnchors(row!);
  if (anchors.length === 0) complain(`no word that must be there (a word with * needs ${PREFIX_LENGTH} letters)`);
  // The negation is looked for last, where the phrase was found: looking behind at every word costs more.
  return { pattern: new RegExp(` (?=${patternOf(row!)})(?<!${NEGATED} )`), anchors };
}

/** Takes rows of parts, separated by |, from the beginning of `tokens` up to the bracket that ends them. */
function readRows(tokens: string[], complain: Complain): Part[][] {
  const rows: Part[][] = [[]];
  while (tokens.length > 0 && tokens[0] !== ')') {
    const token = tokens.shift()!;
    if (token === '|') rows.push([]);
    else rows.at(-1)!.push(readPart(token, tokens, complain));
  }
  for (const row of rows) {
    if (row.length === 0 || row[0] === 'gap' || row.at(-1) === 'gap')
      complain('a row is empty, or begins or ends with ..');
  }
  return rows;
}

function readPart(token: string, rest: string[], complain: Complain): Part {
  if (token === '..') return 'gap';
  let choices: Part[][] | null = null;
  if (token === '(') {
    choices = readRows(rest, complain);
    if (rest.shift() !== ')') complain('a bracket is not closed');
  } else if (!WORD.test(token) && !Object.hasOwn(WRITTEN, token)) complain(`"${token}" is no word`);
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

/** Of a choice of several words one will do: the longest, since long words are rare. */
function longest(lists: Anchor[][]): Anchor[] | null {
  return lists.reduce<Anchor[] | null>((best, next) => (best && shortest(best) >= shortest(next) ? best : next), null);
}

function shortest(anchors: Anchor[]): number {
  return Math.min(...anchors.map(({ word }) => word.length));
}
