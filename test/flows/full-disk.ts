// Runs in a mount namespace of its own, as root there: the data folder is a small file system
// that is filled and emptied under the running daemon.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { RECEIVER, registerSender, startWorld } from '../support/world.ts';
import { trySending } from './try-sending.ts';

const DISK_MIB = 64;

t.test('a disk that is nearly full, and has room again', async (t) => {
  const { postrider, dns } = await startWorld(t, { settings: { intake: { min_disk_free: 0.1 } } });
  const data = path.join(postrider.folder, 'data');
  fs.mkdirSync(data, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0700`, 'none', data]);
  t.teardown(() => execFileSync('umount', ['--lazy', data]));
  const daemon = await postrider.serve();
  const sender = await registerSender({ postrider, dns }, daemon);
  t.match(await trySending(daemon, sender, `before@${RECEIVER}`), { status: 202, retryAfter: null });

  const { bavail, bsize } = fs.statfsSync(data);
  const ballast = path.join(data, 'ballast');
  fs.writeFileSync(ballast, Buffer.alloc(bavail * bsize - 0.07 * DISK_MIB * 2 ** 20));
  await daemon.logged({ fact: 'intake_closed' });
  t.match(await trySending(daemon, sender, `meanwhile@${RECEIVER}`), {
    status: 500,
    retryAfter: '10',
    body: { message: /only [67](\.\d)? % of the disk is free; at least 1[02] % must be/ },
  });

  fs.rmSync(ballast);
  await daemon.logged({ fact: 'intake_opened' });
  t.match(await trySending(daemon, sender, `after@${RECEIVER}`), { status: 202 });
  await daemon.until(() => daemon.find({ fact: 'delivered' }).length === 2, 'deliver both');
  t.same(await daemon.stop(), { code: 0, signal: null });
});
