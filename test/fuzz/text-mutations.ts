// Texts that nobody wrote: seeds with characters changed, pieces lost, doubled, moved, mixed with those
// of another seed, and with words that mean something to the parser.
import type { SeededRandom } from './seeded-random.ts';

export interface Material {
  seeds: readonly string[];
  /** What the grammar is made of, and what has hurt parsers before. */
  words: readonly string[];
  /** Rare, since they take most of the time. */
  longWords?: readonly string[];
}

const LONG_WORD_CHANCE = 0.003;
const UNTOUCHED_CHANCE = 0.05;

export function mutateText(material: Material, random: SeededRandom): string {
  let text = random.pick(material.seeds);
  if (random.chance(UNTOUCHED_CHANCE)) return text;
  const changes = 1 + random.below(5);
  for (let change = 0; change < changes; change++) text = changeText(text, material, random);
  return text;
}

export function changeText(text: string, { seeds, words, longWords = [] }: Material, random: SeededRandom): string {
  const [from, to] = [random.below(text.length + 1), random.below(text.length + 1)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  const isLong = longWords.length > 0 && random.chance(LONG_WORD_CHANCE);
  switch (random.below(8)) {
    case 0:
      return (
        text.slice(0, from) +
        String.fromCharCode(random.below(random.chance(0.8) ? 256 : 65_536)) +
        text.slice(from + 1)
      );
    case 1:
      return text.slice(0, from) + text.slice(Math.min(to, from + 1 + random.below(10)));
    case 2:
      return text.slice(0, to) + text.slice(from);
    case 3:
    case 4:
      return text.slice(0, from) + random.pick(isLong ? longWords : words) + text.slice(from);
    case 5: {
      const other = random.pick(seeds);
      const start = random.below(other.length);
      return text.slice(0, from) + other.slice(start, start + random.below(200)) + text.slice(from);
    }
    case 6:
      return text.slice(0, from) + flipCase(text.slice(from, to)) + text.slice(to);
    default:
      return text.slice(0, random.chance(0.3) ? from : text.length) + random.pick(words);
  }
}

function flipCase(text: string): string {
  return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
}

/** The same octets, cut where the network might. */
export function cut(octets: Buffer, random: SeededRandom): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < octets.length; ) {
    const length = 1 + random.below(random.chance(0.3) ? 3 : 400);
    pieces.push(octets.subarray(at, at + length));
    at += length;
  }
  return pieces;
}
