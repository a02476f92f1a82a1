// Runs in a mount namespace of its own, as root there: the disk of the data folder is full under the running daemon,
// and has room again, without a restart; then it can only be read when the daemon starts. (Linux lets nobody remount a
// disk that is in use: a daemon whose disk turns read-only is not shown here.)
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Daemon } from '../support/daemon-process.ts';
import { RECEIVER, registerSender, startWorld } from '../support/world.ts';
import { trySending } from './try-sending.ts';

t.setTimeout(0); // the runner has its own limit

const DISK_MIB = 64;

/** Lines for want of a disk, but for those of events. */
function complaints(daemon: Daemon): number {
  return daemon.lines.filter(({ level, fact }) => (level === 'error' || level === 'warn') && fact === undefined).length;
}

t.test('the disk of a running daemon', async (t) => {
  // The intake's look at the room that is left would end the pressure before it begins.
  const { postrider, dns } = await startWorld(t, { settings: { intake: { min_disk_free: 0 } } });
  const data = path.join(postrider.folder, 'data');
  fs.mkdirSync(data, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0700`, 'none', data]);
  t.teardown(() => execFileSync('umount', ['--lazy', data]));
  const daemon = await postrider.serve();
  const sender = await registerSender({ postrider, dns }, daemon);
  const ballast = path.join(data, 'ballast');

  const fails = async (what: string, begin: () => void, end: () => void) => {
    const before = complaints(daemon);
    const closed = daemon.find({ fact: 'intake_closed' }).length;
    const opened = daemon.find({ fact: 'intake_opened' }).length;
    begin();
    let tried = 0;
    await daemon.until(() => {
      void trySending(daemon, sender, `${what}-${tried++}@${RECEIVER}`).catch(() => {});
      return daemon.find({ fact: 'intake_closed' }).length > closed;
    }, `close the intake: ${what}`);
    await daemon.until(() => daemon.find({ fault: what }).length > 0, `say what is the matter: ${what}`);
    end();
    await daemon.until(() => daemon.find({ fact: 'intake_opened' }).length > opened, `open the intake: ${what}`);
    const added = complaints(daemon) - before;
    t.ok(added <= 5, `${added} lines in ${what}, after ${tried} calls`);
    t.match(await trySending(daemon, sender, `after-${what}@${RECEIVER}`), { status: 202 });
  };

  await fails(
    'disk_full',
    () => {
      const fd = fs.openSync(ballast, 'w');
      try {
        for (;;) fs.writeSync(fd, Buffer.alloc(4096));
      } catch {
        fs.closeSync(fd); // full
      }
    },
    () => fs.rmSync(ballast),
  );
  t.same(await daemon.stop(), { code: 0, signal: null });

  execFileSync('mount', ['-o', 'remount,ro', data]);
  t.match(await postrider.run('serve'), { code: 1, stderr: /data cannot be used: the disk is read-only/ });
});
