// Finds which of some hundred phrases are in a text without trying them all: the words of the
// text are looked up first, and a phrase is tried only when there is a word for each of its
// parts. A phrase that many rules use is tried once.
import { type Phrase, PREFIX_LENGTH, parsePhrase } from './phrase.ts';

/** A word is one that this part of this phrase waits for. */
interface Clue {
  phrase: number;
  /** A bit of its own for each part. */
  part: number;
}

// Long lists hold words that are in every other text: they cost more than they keep out.
const MAX_WORDS_OF_PART = 12;
/** So many parts have a bit. What a phrase has beyond them is left to its pattern. */
const MAX_PARTS = 16;

export class PhraseFinder {
  readonly #phrases: Phrase[] = [];
  readonly #complete: number[] = [];
  readonly #known = new Map<string, number>();
  readonly #byWord = new Map<string, Clue[]>();
  readonly #byPrefix = new Map<string, (Clue & { prefix: string })[]>();

  /** The number of the phrase in what find() returns. Throws an Error when it cannot be read. */
  add(source: string): number {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const phrase = parsePhrase(source);
    const number = this.#phrases.push(phrase) - 1;
    this.#known.set(source, number);
    const parts = telling(phrase.anchors);
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

  /** The numbers of the phrases in the words that wordsOf() made. */
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

/** The parts that are looked for first: those of few words, or else the one of fewest. */
function telling(parts: Phrase['anchors']): Phrase['anchors'] {
  const short = parts.filter((anchors) => anchors.length <= MAX_WORDS_OF_PART).slice(0, MAX_PARTS);
  return short.length > 0 ? short : [parts.reduce((best, next) => (next.length < best.length ? next : best))];
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
