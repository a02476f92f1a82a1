// What is fuzzed: something that makes inputs out of seeds, and says what is wrong with what became
// of one. The same random choices make the same input, so a failure is named by two numbers.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SeededRandom } from './seeded-random.ts';

export interface FuzzTarget {
  name: string;
  open(): OpenTarget<unknown> | Promise<OpenTarget<unknown>>;
}

export interface OpenTarget<Input> {
  mutate(random: SeededRandom): Input;
  /** What is wrong, or null. It may throw: that is wrong too. */
  run(input: Input): string | null | Promise<string | null>;
  /** The input as a person reads it; JSON without. */
  show?(input: Input): string;
  /** How often inputs came to where they should: inputs that are all refused at the door try nothing. */
  reached: Record<string, number>;
  /** For what waits on sockets. */
  atOnce?: number;
  close?(): Promise<void>;
}

const SEEDS = new URL('./seeds/', import.meta.url);

/** One seed per line. JSON strings where a seed has characters that no line can hold. */
export function seedLines(file: string): string[] {
  const lines = readFileSync(new URL(file, SEEDS), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => (file.endsWith('.jsonl') ? JSON.parse(line) : line));
}

/** One seed per file. */
export function seedFiles(folder: string): string[] {
  const path = fileURLToPath(new URL(`${folder}/`, SEEDS));
  return readdirSync(path)
    .sort()
    .map((name) => readFileSync(path + name, 'utf8'));
}

/** What was made as the same value must be the same text. */
export function difference(what: string, one: unknown, other: unknown): string | null {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  return first === second ? null : `${what}: ${first} and ${second}`;
}
