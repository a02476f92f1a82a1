// Thousands of seeded sequences of the store's verbs in all orders, compared with a model in memory: what no test of
// a single verb can find is what one verb does to another.
// WALKS=20000 takes more of them, SEED=7 repeats one.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { openContentReader } from '../../../src/store/sqlite/reading/courier-reads.ts';
import { newDatabase } from '../../support/new-database.ts';
import { VERB_NAMES, wrapVerbs } from '../../support/wrap-verbs.ts';
import { aroundSteps } from './around-steps.ts';
import { compare } from './compare.ts';
import { messageSteps } from './message-steps.ts';
import { otherSteps } from './other-steps.ts';
import { restoredSteps } from './restored-steps.ts';
import { begin, tenantSteps } from './tenant-steps.ts';
import { Walk } from './walk.ts';
import { writtenSteps } from './written-steps.ts';

const FIRST_SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
const STEPS = 200;
const COMPARED_EVERY = 25;
/** So many walks call every verb. */
const ENOUGH_FOR_ALL_VERBS = 100;
export const ALL_STEPS = [
  ...tenantSteps,
  ...messageSteps,
  ...aroundSteps,
  ...otherSteps,
  ...writtenSteps,
  ...restoredSteps,
];

/** The verbs that were called at least once. */
const called = new Set<string>();

export async function takeRandomWalks(t: Test, usual: number): Promise<void> {
  // Where there is memory to write to: what is tried here is not the disk.
  const folder = fs.mkdtempSync(path.join(fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir(), 'postrider-walk-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  const walks = process.env.SEED === undefined ? Number(process.env.WALKS ?? usual) : 1;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + walks; seed++) {
    const file = path.join(folder, `${seed}.db`);
    await newDatabase(file);
    const problem = await walkOnce(seed, file);
    if (!t.equal(problem, null, `seed ${seed}`)) return;
    for (const suffix of ['', '-wal', '-shm']) fs.rmSync(`${file}${suffix}`, { force: true });
  }
  const never = VERB_NAMES.filter((verb) => !called.has(verb));
  const about = `${walks} walks of ${STEPS} steps, from seed ${FIRST_SEED}`;
  t.strictSame(walks >= ENOUGH_FOR_ALL_VERBS ? never : [], [], `note: ${about}; every verb was called`);
}

async function walkOnce(seed: number, file: string): Promise<string | null> {
  const store = await openSqliteStore({ file });
  const contents = openContentReader(file);
  const noting = wrapVerbs(store, (name, verb) => (...args) => {
    called.add(name);
    return verb(...args);
  });
  const walk = new Walk(seed, { store: noting, contents });
  store.notices.listen({
    webhooksDue(webhookIds) {
      for (const id of webhookIds) walk.heard.add(id);
    },
  });
  try {
    await begin(walk);
    for (let taken = 0; taken < STEPS; taken += COMPARED_EVERY) {
      await walk.take(ALL_STEPS, COMPARED_EVERY);
      await compare(walk);
    }
    return null;
  } catch (error) {
    return `${(error as Error).stack}\nafter:\n  ${walk.trace.join('\n  ')}`;
  } finally {
    contents.close();
    await store.close();
  }
}
