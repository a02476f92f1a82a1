// Threads that give way to others, in a process that was started with a lower priority and may not raise it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { noOtherUser, OTHER_USER } from '../support/other-user.ts';

const MODULE = new URL('../../src/threads/lower-priority.ts', import.meta.url).href;
const THREAD = `
  import { getPriority } from 'node:os';
  const { lowerPriority } = await import(${JSON.stringify(MODULE)});
  lowerPriority(2);
  process.stdout.write(String(getPriority()));
`;
const PROGRAM = `
  const { Worker } = require('node:worker_threads');
  const url = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(THREAD)});
  new Worker(new URL(url)).on('error', (error) => { throw error; });
`;

async function priorityWith(niceness: string): Promise<string> {
  const args = ['-n', niceness, process.execPath, '-e', PROGRAM];
  const { stdout } = await promisify(execFile)('nice', args, { cwd: '/', ...OTHER_USER });
  return stdout;
}

t.test('from where the process is, and never up', { skip: noOtherUser }, async (t) => {
  const own = Number((await promisify(execFile)('nice')).stdout);
  for (const [niceness, reached] of [
    ['0', Math.min(19, own + 2)],
    ['10', Math.min(19, own + 12)],
    ['19', 19],
  ] as const) {
    t.equal(await priorityWith(niceness), String(reached), niceness);
  }
});
