// No new mail is taken while the process is too large or its disk nearly full: POST /emails says
// why and when to come back, other calls are answered, and what is queued is delivered.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { trySending } from '../../flows/try-sending.ts';
import { RECEIVER, registerSender, send, startWorld } from '../../support/world.ts';

t.test('a process that is too large', async (t) => {
  const mood = { willing: false };
  const onRcpt = () => (mood.willing ? null : { code: 451, text: '4.3.2 Not now' });
  const settings = { intake: { max_memory_mib: 0 }, delivery: { retry_steps: ['1h'] } };
  const { postrider, dns } = await startWorld(t, { sink: { onRcpt }, settings });
  const roomy = await postrider.serve();
  const sender = await registerSender({ postrider, dns }, roomy);
  const [waiting] = await send(roomy, sender, `waiting@${RECEIVER}`);
  await roomy.logged({ fact: 'deferred', message_id: waiting! });
  await roomy.stop();

  const config = fs.readFileSync(postrider.configFile, 'utf8');
  fs.writeFileSync(postrider.configFile, config.replace('max_memory_mib = 0', 'max_memory_mib = 1'));
  mood.willing = true;
  const daemon = await postrider.serve();
  const { reason } = await daemon.logged({ fact: 'intake_closed' });
  t.match(reason, /the process uses \d+ MiB of memory; the limit is 1 MiB/);
  t.match(await trySending(daemon, sender, `new@${RECEIVER}`), {
    status: 500,
    retryAfter: '10',
    body: { error: 'internal_error', message: /the process uses \d+ MiB of memory/ },
  });
  t.match(await daemon.call(sender.key, 'GET /domains'), { status: 200 });
  t.match(await daemon.call(null, 'GET /healthz'), { status: 200, body: { status: 'ok' } });
  await postrider.json('queue', 'retry', waiting!);
  await daemon.logged({ fact: 'delivered', message_id: waiting! });
});

t.test('a disk that is nearly full, and has room again', async (t) => {
  // A file system of its own, in a mount namespace that ends with its process.
  const script = fileURLToPath(new URL('../../flows/full-disk.ts', import.meta.url));
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const inside = [...asRoot, '--mount', process.execPath, script];
  const child = spawn('unshare', inside, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const code = new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(new Error('this test needs `unshare` (Debian package util-linux)')));
    child.on('exit', resolve);
  });
  const [said, complained, ended] = await Promise.all([text(child.stdout), text(child.stderr), code]);
  t.equal(ended, 0, 'the scenario in its namespace passes');
  if (ended !== 0) t.comment(`${said}\n${complained}`);
});
