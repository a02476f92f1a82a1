// The systemd unit and the configuration agree on paths, privileges and the time to stop.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t from 'tap';
import { loadConfig } from '../src/config/load.ts';
import { loadMasterKeys } from '../src/operator/master-key.ts';
import { runInThisProcess } from './support/program.ts';

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

t.test('the daemon starts from the cached sources, as commands do', async (t) => {
  const program = readFileSync(path.join(import.meta.dirname, '../bin/postrider'), 'utf8');
  const [, started = ''] = /^exec "\$runtime" (.*) "\$@"$/m.exec(program) ?? [];
  const command = started.replaceAll('"', '').replaceAll('$root', '/opt/postrider');
  t.equal(setting('ExecStart'), `/opt/postrider/node_modules/.bin/node ${command} serve`);
});

t.test('the state lies where the daemon writes, and it may listen on port 25', async (t) => {
  t.equal(`/var/lib/${setting('StateDirectory')}`, config.data.dir);
  t.ok(config.smtp.port < 1024);
  t.equal(setting('AmbientCapabilities'), 'CAP_NET_BIND_SERVICE');
  t.not(setting('User'), 'root');
});

const found = spawnSync(
  'systemd-analyze',
  ['security', '--offline=true', '--no-pager', path.join(import.meta.dirname, '../systemd/postrider.service')],
  { encoding: 'utf8' },
);
const skip = found.error ? 'systemd-analyze is not here: apt-get install systemd' : false;

t.test('systemd finds it hardly exposed', { skip }, async (t) => {
  const level = /Overall exposure level for postrider\.service: ([\d.]+)/.exec(found.stdout)?.[1];
  t.ok(Number(level) <= 2, `${level} of 10; 2.0 at most`);
});

t.test('the master key can come as a credential', async (t) => {
  const dropIn = readFileSync(path.join(import.meta.dirname, '../systemd/master-key.conf'), 'utf8');
  const [, id] = /^LoadCredential=([\w.]+):\/etc\/postrider\/master\.key$/m.exec(dropIn) ?? [];
  const [, variable, file] = /^Environment=(\w+)=%d\/([\w.]+)$/m.exec(dropIn) ?? [];
  t.equal(file, id, 'systemd puts it under its id into the folder of credentials (%d)');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'postrider-credentials-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const key = Buffer.alloc(32, 7);
  writeFileSync(path.join(folder, id!), `${key.toString('base64')}\n`, { mode: 0o400 });
  const withKey = loadConfig({ env: { [variable!]: path.join(folder, id!) }, defaultFile: null });
  t.same(loadMasterKeys(withKey.config, { inUse: null, warn: (warning) => t.fail(warning) }), [key]);
});

t.test('the backup is of the same program, and hardly exposed', { skip }, async (t) => {
  const folder = path.join(import.meta.dirname, '../systemd');
  const backup = readFileSync(path.join(folder, 'postrider-backup.service'), 'utf8');
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(backup) ?? [];
  const program = setting('ExecStart')!.replace(/ serve$/, '');
  t.ok(command.startsWith(`${program} backup `));
  const args = command.slice(program.length + 1).split(' ');
  const target = mkdtempSync(path.join(os.tmpdir(), 'postrider-backups-'));
  t.teardown(() => rmSync(target, { recursive: true }));
  const here = args.map((arg) => arg.replace('/var/backups/postrider', target));
  const ran = await runInThisProcess(here, { POSTRIDER_DATA_DIR: path.join(target, 'data') });
  t.match(ran, { code: 1, stderr: /there is no database/ }, 'its arguments are those of the command');
  for (const unit of ['postrider-backup.service', 'postrider-backup.timer']) {
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path.join(folder, unit)], {
      encoding: 'utf8',
    });
    const ours = stderr.split('\n').filter((line) => line.includes(unit) && !/is not executable/.test(line));
    t.same(ours, [], unit);
  }
  const found = spawnSync('systemd-analyze', [
    ...['security', '--offline=true', '--no-pager'],
    path.join(folder, 'postrider-backup.service'),
  ]);
  const level = /Overall exposure level for postrider-backup\.service: ([\d.]+)/.exec(String(found.stdout))?.[1];
  t.ok(Number(level) <= 2, `${level} of 10; 2.0 at most`);
});
