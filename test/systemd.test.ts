// The systemd unit and the configuration agree on paths, privileges and the time to stop.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { loadConfig } from '../src/config/load.ts';

const unit = readFileSync(path.join(import.meta.dirname, '../systemd/postrider.service'), 'utf8');
const { config } = loadConfig({ env: {}, defaultFile: null });

function setting(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];
}

t.test('systemd waits longer than the drain may take', async (t) => {
  const waitMs = Number(setting('TimeoutStopSec')) * 1000;
  t.ok(waitMs >= config.stop.grace + 10_000, `${waitMs} ms, drain ${config.stop.grace} ms`);
  t.equal(setting('KillSignal'), 'SIGTERM');
});

t.test('the state lies where the daemon writes, and it may listen on port 25', async (t) => {
  t.equal(`/var/lib/${setting('StateDirectory')}`, config.data.dir);
  t.ok(config.smtp.port < 1024);
  t.equal(setting('AmbientCapabilities'), 'CAP_NET_BIND_SERVICE');
  t.not(setting('User'), 'root');
});
