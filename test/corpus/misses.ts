// Known misses are a file for each measurement. A test fails when the file does not say exactly what was found, for
// better or worse; `WRITE_MISSES=1 npm test -- test/corpus` writes the files, and the difference is committed.
import fs from 'node:fs';
import type { Test } from 'tap';

export type MissesFile =
  | 'bounces'
  | 'made'
  | 'formats'
  | 'replies'
  | 'exchanged-names'
  | 'framed-samples'
  | 'leave-one-out';

const SHOWN = 20;
const isComment = (line: string) => line.startsWith('#');

/** `about` says more of misses than their lines do. */
export function compareMisses(
  t: Test,
  name: MissesFile,
  found: Iterable<string>,
  about = new Map<string, unknown>(),
): void {
  const file = new URL(`./misses/${name}.txt`, import.meta.url);
  const lines = fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const known = new Set(lines.filter((line) => !isComment(line)));
  const misses = [...new Set(found)].sort();
  if (process.env.WRITE_MISSES !== undefined) {
    fs.writeFileSync(file, `${[...lines.filter(isComment), ...misses].join('\n')}\n`);
    return void t.comment(`misses/${name}.txt was written: ${misses.length} misses`);
  }
  const added = misses.filter((miss) => !known.has(miss));
  const gone = [...known].filter((miss) => !misses.includes(miss));
  const details = added.slice(0, SHOWN).map((miss) => about.get(miss));
  t.same(added.slice(0, SHOWN), [], `${name}: ${added.length} misses are new`, { details });
  t.same(gone.slice(0, SHOWN), [], `${name}: ${gone.length} are right now: take them out of misses/${name}.txt`);
}
