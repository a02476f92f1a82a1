// Thousands of seeded sequences of the store's verbs in all orders, compared with a model in memory: what no test of
// a single verb can find is what one verb does to another.
// WALKS=20000 for more of them, SEED=7 for one of them again.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/verbs/contents.ts';
import { VERB_NAMES, wrapVerbs } from '../support/wrap-verbs.ts';
import { aroundSteps } from './walk/around-steps.ts';
import { compare } from './walk/compare.ts';
import { messageSteps } from './walk/message-steps.ts';
import { otherSteps } from './walk/other-steps.ts';
import { begin, tenantSteps } from './walk/tenant-steps.ts';
import { Walk } from './walk/walk.ts';

const WALKS = Number(process.env.WALKS ?? (process.env.CI === 'true' ? 2000 : 500));
const FIRST_SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
const STEPS = 200;
const COMPARED_EVERY = 25;
const ALL_STEPS = [...tenantSteps, ...messageSteps, ...aroundSteps, ...otherSteps];

/** The verbs that were called at least once. */
const called = new Set<string>();

t.setTimeout(0); // the runner has its own limit

t.test(`random walks from seed ${FIRST_SEED}`, async (t) => {
  // Where there is memory to write to: what is tried here is not the disk.
  const folder = fs.mkdtempSync(path.join(fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir(), 'postrider-walk-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  const template = path.join(folder, 'template.db');
  await (await openSqliteStore({ file: template })).close();
  const walks = process.env.SEED === undefined ? WALKS : 1;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + walks; seed++) {
    const file = path.join(folder, `${seed}.db`);
    fs.copyFileSync(template, file);
    const problem = await walkOnce(seed, file);
    if (problem) return t.fail(`seed ${seed}: ${problem}`);
    for (const suffix of ['', '-wal', '-shm']) fs.rmSync(`${file}${suffix}`, { force: true });
  }
  t.pass(`note: ${walks} walks of ${STEPS} steps, from seed ${FIRST_SEED}`);
  const never = VERB_NAMES.filter((verb) => !called.has(verb));
  if (walks >= 100) t.strictSame(never, [], 'every verb was called');
});

async function walkOnce(seed: number, file: string): Promise<string | null> {
  const store = await openSqliteStore({ file });
  const contents = openContentReader(file);
  const noting = wrapVerbs(store, (name, verb) => (...args) => {
    called.add(name);
    return verb(...args);
  });
  const walk = new Walk(seed, { store: noting, contents });
  store.watchDeliveries((webhookIds) => {
    for (const id of webhookIds) walk.heard.add(id);
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
