// A disk that fails, and one that the kernel has made read-only, under a running daemon: one line per minute says what
// to do, and the daemon goes on by itself when the disk can be written again.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t from 'tap';
import { prepareBadDisk } from '../support/bad-disk.ts';
import type { Daemon } from '../support/daemon-process.ts';
import { noCompiler } from '../support/preloaded-library.ts';
import { testFolder } from '../support/test-folder.ts';
import { RECEIVER, registerSender, startWorld } from '../support/world.ts';
import { trySending } from './try-sending.ts';

const { EIO, EROFS } = os.constants.errno;

/** Lines that are no events. */
function complaints(daemon: Daemon): number {
  return daemon.lines.filter(({ level, fact }) => (level === 'error' || level === 'warn') && fact === undefined).length;
}

t.test('a disk that stops taking writes', { skip: noCompiler }, async (t) => {
  const folder = fs.realpathSync(testFolder(t));
  const data = path.join(folder, 'data');
  const disk = prepareBadDisk(data, folder);
  const { postrider, dns } = await startWorld(t, { settings: { data: { dir: data } }, launch: { env: disk.env } });
  const daemon = await postrider.serve();
  const sender = await registerSender({ postrider, dns }, daemon);

  // SQLite calls both an I/O error: what write() says of a disk that has become read-only is not among its codes.
  const fails = async (what: string, errno: number) => {
    const before = complaints(daemon);
    const seen = (fact: string) => daemon.find({ fact }).length;
    const [closed, opened, delivered] = [seen('intake_closed'), seen('intake_opened'), seen('delivered')];
    disk.fail(errno);
    let tried = 0;
    await daemon.until(() => {
      void trySending(daemon, sender, `${what}-${tried++}@${RECEIVER}`).catch(() => {});
      return seen('intake_closed') > closed;
    }, `close the intake: ${what}`);
    await daemon.logged({ fault: 'disk_failing' });
    t.match(await trySending(daemon, sender, `meanwhile@${RECEIVER}`), { status: 500, retryAfter: '10' });
    disk.heal();
    await daemon.until(() => seen('intake_opened') > opened, `open the intake: ${what}`);
    const added = complaints(daemon) - before;
    t.ok(added <= 5, `${added} lines in ${what}, after ${tried} calls`);
    t.match(await trySending(daemon, sender, `after-${what}@${RECEIVER}`), { status: 202 });
    await daemon.until(() => seen('delivered') > delivered, 'deliver what came after');
  };
  await fails('io-error', EIO);
  await fails('read-only', EROFS);
  const [said] = daemon.find({ fault: 'disk_failing' });
  t.match(said!.msg, /^the database cannot be written: .*\. The disk of data\.dir reports errors, .*: check dmesg/);
  t.same(await daemon.stop(), { code: 0, signal: null });
});
