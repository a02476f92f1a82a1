// A daemon that lacks what it needs: too few files, or a disk that can only be read, are refused at the start; a disk
// that is full makes one line per minute, and the daemon goes on by itself when there is room again.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { PROGRAM } from '../support/program.ts';
import { startWorld } from '../support/world.ts';

function serveWith(files: number, configFile: string) {
  const script = `ulimit -n ${files} && exec "$0" serve --config "$1"`;
  return spawn('sh', ['-c', script, PROGRAM, configFile], { stdio: ['ignore', 'pipe', 'pipe'] });
}

t.test('too few open files are refused, with the number and what to do', async (t) => {
  const { postrider } = await startWorld(t, { settings: { delivery: { workers: 2 } } });
  const child = serveWith(64, postrider.configFile);
  const code = new Promise((resolve) => child.on('exit', resolve));
  const [said] = await Promise.all([text(child.stderr), text(child.stdout)]);
  t.equal(await code, 1);
  t.match(
    said,
    /the open-file limit is 64, but with delivery\.workers = 2 Postrider needs at least 160: .*LimitNOFILE/,
  );
  t.notOk(fs.existsSync(postrider.databaseFile), 'nothing was begun');
});

t.test('as many files as it says are enough to run', async (t) => {
  const { postrider } = await startWorld(t, { settings: { delivery: { workers: 2 } } });
  const child = serveWith(160, postrider.configFile);
  t.teardown(() => child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (piece) => {
      log += piece;
      if (log.includes('"msg":"ready"')) resolve();
    });
    child.on('exit', () => reject(new Error(`it ended: ${log}`)));
  });
  // What comes with the first courier session and list is not open yet.
  const open = fs.readdirSync(`/proc/${child.pid}/fd`).length;
  t.ok(open <= 100, `${open} are open`);
  t.notMatch(log, /"level":"error"/);
  child.kill('SIGTERM');
  t.equal(await ended, 0);
});

t.test('a disk that is full, and one that can only be read', async (t) => {
  const script = fileURLToPath(new URL('./starved-disk.ts', import.meta.url));
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const child = spawn('unshare', [...asRoot, '--mount', process.execPath, script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const code = new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(new Error('this test needs `unshare` (Debian package util-linux)')));
    child.on('exit', resolve);
  });
  const [said, complained, ended] = await Promise.all([text(child.stdout), text(child.stderr), code]);
  t.equal(ended, 0, 'the scenario in its namespace passes');
  if (ended !== 0) t.comment(`${said}\n${complained}`);
});
