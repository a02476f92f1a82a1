// The simulated power cut itself: what was synced stays, what was not is taken back, as far as the draw says.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { noCompiler } from '../support/preloaded-library.ts';
import { testFolder } from '../support/test-folder.ts';
import { preparePowerCuts } from './power-cut.ts';

const SYNCED = 'a'.repeat(4096);
const LATER = 'b'.repeat(1024);

/** Writes, syncs, overwrites, appends, truncates; then it ends without a further sync. */
const PROGRAM = `
  const fs = require('node:fs');
  const fd = fs.openSync(process.argv[1], 'w+');
  fs.writeSync(fd, ${JSON.stringify(SYNCED)}, 0);
  fs.fdatasyncSync(fd);
  fs.writeSync(fd, ${JSON.stringify(LATER)}, 512);
  fs.writeSync(fd, 'appended', 4096);
  const other = fs.openSync(process.argv[1] + '-cut', 'w+');
  fs.writeSync(other, ${JSON.stringify(SYNCED)});
  fs.fsyncSync(other);
  fs.ftruncateSync(other, 10);
  process.kill(process.pid, 'SIGKILL');
`;

function stage(folder: string) {
  const data = path.join(folder, 'data');
  fs.mkdirSync(data);
  const cuts = preparePowerCuts(data, folder);
  if (cuts === null) throw new Error('there is no C compiler');
  const file = path.join(data, 'file');
  try {
    execFileSync(process.execPath, ['-e', PROGRAM, file], { env: { ...process.env, ...cuts.env } });
  } catch (error) {
    if ((error as { signal?: string }).signal !== 'SIGKILL') throw error;
  }
  return { cuts, file, read: () => [fs.readFileSync(file, 'utf8'), fs.readFileSync(`${file}-cut`, 'utf8')] };
}

const written = `${SYNCED.slice(0, 512)}${LATER}${SYNCED.slice(1536)}appended`;

for (const [survives, outcome] of [
  [0, [SYNCED, SYNCED]],
  [1, [written, SYNCED.slice(0, 10)]],
] as const) {
  t.test(`what is left when ${survives * 100} % of the unsynced writes survive`, { skip: noCompiler }, async (t) => {
    const on = stage(testFolder(t));
    t.same(on.read(), [written, SYNCED.slice(0, 10)], 'a kill alone loses nothing');
    t.equal(on.cuts.cut(survives, () => 0.5).writes, 3);
    t.same(on.read(), outcome);
    t.equal(on.cuts.cut(0, () => 0.5).writes, 0, 'what a cut left is durable');
    t.same(on.read(), outcome);
  });
}

t.test('a write may be torn', { skip: noCompiler }, async (t) => {
  const on = stage(testFolder(t));
  let turn = 0;
  on.cuts.cut(0.5, () => (turn++ % 2 === 0 ? 0 : 1)); // every second block survives
  t.equal(on.read()[0], `${SYNCED.slice(0, 512)}${LATER.slice(0, 512)}${SYNCED.slice(1024)}appended`);
});
