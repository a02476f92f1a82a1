// What Prometheus itself says about the metrics page (`promtool check metrics`) and the alert rules.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { findFreePort } from '../support/free-port.ts';
import { registerSender, send, startWorld } from '../support/world.ts';

const ALERTS = path.join(import.meta.dirname, '../../docs/monitoring/alerts.yaml');
const isMissing = spawnSync('promtool', ['--version']).error !== undefined;
const skip = isMissing && 'promtool is not installed: apt-get install prometheus';

function promtool(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}`.trim() };
}

t.test('promtool finds nothing to complain about', { skip }, async (t) => {
  await t.test('on the page of a daemon at work', async (t) => {
    const port = await findFreePort();
    const world = await startWorld(t, { settings: { metrics: { port } } });
    const daemon = await world.postrider.serve();
    const sender = await registerSender(world, daemon);
    const [id] = await send(daemon, sender, 'a@receiver.test');
    await daemon.logged({ fact: 'delivered', message_id: id! });
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    t.match(page, /^postrider_attempts_total\{/m);
    t.same(promtool(['check', 'metrics'], page), { status: 0, said: '' });
  });

  await t.test('in the alert rules', async (t) => {
    t.match(promtool(['check', 'rules', ALERTS]), { status: 0, said: /SUCCESS/ });
  });
});
