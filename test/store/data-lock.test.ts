// One writer per data folder, and no lock that outlives its holder.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { lockDataFolder } from '../../src/store/sqlite/engine/data-lock.ts';
import { testFolder } from '../support/test-folder.ts';

const HOLD_LOCK = fileURLToPath(new URL('./hold-lock.ts', import.meta.url));
const REFUSAL = { name: 'Fault', message: /another Postrider process uses .*: stop it first/, permanence: 'permanent' };

/** Starts a second process that locks the folder, and waits for what it has to say. */
async function lockElsewhere(t: Test, folder: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [HOLD_LOCK, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => void child.kill('SIGKILL'));
  const [said] = (await once(readline.createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, said };
}

t.test('a folder is locked once', async (t) => {
  const folder = path.join(testFolder(t), 'data');
  const lock = lockDataFolder(folder);
  t.equal(fs.statSync(folder).mode & 0o777, 0o700, 'made for the owner only');
  t.throws(() => lockDataFolder(folder), REFUSAL, 'not twice in one process');
  const { said } = await lockElsewhere(t, folder);
  t.match(said, REFUSAL.message, 'not in another process');
  lock.release();
  lock.release();
  lockDataFolder(folder).release();
});

t.test('a lock ends with its holder, however it ends', async (t) => {
  const folder = testFolder(t);
  for (const end of ['SIGKILL', 'SIGTERM'] as const) {
    const { child, said } = await lockElsewhere(t, folder);
    t.equal(said, 'locked');
    t.throws(() => lockDataFolder(folder), REFUSAL);
    child.kill(end);
    await once(child, 'exit');
    lockDataFolder(folder).release();
  }
  const { child } = await lockElsewhere(t, folder);
  child.stdin?.end();
  await once(child, 'exit');
  const lock = lockDataFolder(folder);
  t.teardown(() => lock.release());
  t.match(await lockElsewhere(t, folder), { said: REFUSAL.message });
});

t.test('folders are locked apart', async (t) => {
  const folder = testFolder(t, { a: {}, b: {} });
  const locks = ['a', 'b'].map((name) => lockDataFolder(path.join(folder, name)));
  t.throws(() => lockDataFolder(path.join(folder, 'a')), REFUSAL);
  for (const lock of locks) lock.release();
});

t.test('what is no second writer is not called one', async (t) => {
  const folder = testFolder(t, { 'writer.lock': 'no lock but a text\n'.repeat(100) });
  t.throws(() => lockDataFolder(folder), /not a database/);
});
