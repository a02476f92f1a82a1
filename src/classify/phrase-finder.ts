// Finds which of several hundred phrases a text contains without trying them all: it looks up the text's
// words first, and tries a phrase only if there is a word for each of its parts. A phrase that many
// rules share is tried once.
import { type Phrase, PREFIX_LENGTH, parsePhrase } from './phrase.ts';

/** A word that may match this part of this phrase. */
interface Clue {
  phrase: number;
  /** One bit per part. */
  part: number;
}

// Long lists contain words of every other text: looking them up costs more than it saves.
const MAX_WORDS_OF_PART = 12;
/** The parts that have a bit. Further parts of a phrase are left to its pattern. */
const MAX_PARTS = 16;

export class PhraseFinder {
  readonly #phrases: Phrase[] = [];
  readonly #complete: number[] = [];
  readonly #known = new Map<string, number>();
  readonly #byWord = new Map<string, Clue[]>();
  readonly #byPrefix = new Map<string, (Clue & { prefix: string })[]>();

  /** Returns the phrase's number in the results of find(). Throws an Error if it can't be parsed. */
  add(source: string): number {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const phrase = parsePhrase(source);
    const number = this.#phrases.push(phrase) - 1;
    this.#known.set(source, number);
    const parts = selectiveParts(phrase.anchors);
    this.#complete.push(2 ** parts.length - 1);
    for (const [place, anchors] of parts.entries()) {
      const clue = { phrase: number, part: 1 << place };
      for (const { word, isPrefix } of anchors) {
        if (isPrefix) append(this.#byPrefix, word.slice(0, PREFIX_LENGTH), { ...clue, prefix: word });
        else append(this.#byWord, word, clue);
      }
    }
    return number;
  }

  /** The numbers of the phrases in a text that wordsOf() normalized. */
  find(words: string): number[] {
    const seen = new Uint16Array(this.#phrases.length);
    const found: number[] = [];
    const note = ({ phrase, part }: Clue) => {
      if (seen[phrase] === this.#complete[phrase]) return;
      seen[phrase]! |= part;
      if (seen[phrase] === this.#complete[phrase] && this.#phrases[phrase]!.pattern.test(words)) found.push(phrase);
    };
    for (const word of new Set(words.split(' '))) {
      for (const clue of this.#byWord.get(word) ?? NONE) note(clue);
      for (const clue of this.#byPrefix.get(word.slice(0, PREFIX_LENGTH)) ?? NONE) {
        if (word.startsWith(clue.prefix)) note(clue);
      }
    }
    return found;
  }
}

const NONE: readonly never[] = [];

/** The most selective parts: those with few words, or else the one with the fewest. */
function selectiveParts(parts: Phrase['anchors']): Phrase['anchors'] {
  const short = parts.filter((anchors) => anchors.length <= MAX_WORDS_OF_PART).slice(0, MAX_PARTS);
  return short.length > 0 ? short : [parts.reduce((best, next) => (next.length < best.length ? next : best))];
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
