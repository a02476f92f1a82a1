// A machine to operate the service on, inside a temporary folder: /etc, /var and so on lie
// there, systemd and sudo are played by the scripts in stand-ins/, and the program is the real one.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { findFreePort } from '../support/free-port.ts';
import type { Place } from './walk-page.ts';

const CHECKOUT = path.join(import.meta.dirname, '../..');
const STAND_INS = path.join(import.meta.dirname, 'stand-ins');
const FOLDERS = ['etc/postrider', 'etc/systemd/system', 'opt', 'usr/local/bin', 'var/backups/postrider', 'var/lib'];

export async function newMachine(t: Test, configuration: string, env: Record<string, string>): Promise<Place> {
  // Directly below the system's temporary folder: the name of the control socket must not be long.
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-docs-'));
  for (const folder of FOLDERS) fs.mkdirSync(path.join(root, folder), { recursive: true });
  fs.symlinkSync(CHECKOUT, path.join(root, 'opt/postrider'));
  fs.writeFileSync(path.join(root, 'etc/postrider/postrider.toml'), configuration);

  const port = await findFreePort();
  const differences: Record<string, string> = { 'http://127.0.0.1:8080': `http://127.0.0.1:${port}` };
  for (const folder of ['/etc/', '/opt/', '/usr/local/', '/var/']) differences[folder] = root + folder;
  const machineEnv = {
    ...env,
    MACHINE: root,
    PATH: [STAND_INS, path.join(root, 'usr/local/bin'), env.PATH].join(path.delimiter),
    POSTRIDER_DATA_DIR: path.join(root, 'var/lib/postrider'),
    POSTRIDER_HTTP_PORT: String(port),
    POSTRIDER_SMTP_HOST: '127.0.0.1',
    POSTRIDER_SMTP_PORT: '0',
    // Off: the page's port may be in use here.
    POSTRIDER_METRICS_PORT: '0',
    // The disk of this machine may be nearly full.
    POSTRIDER_INTAKE_MIN_DISK_FREE: '0',
    // Nobody answers there: no question leaves the machine.
    POSTRIDER_DNS_SERVERS: '127.0.0.1:9',
  };
  t.teardown(() => {
    spawnSync(path.join(STAND_INS, 'systemctl'), ['halt'], { env: machineEnv });
    if (t.passing()) fs.rmSync(root, { recursive: true, force: true });
    else t.comment(`left for a look: ${root}`);
  });
  return { cwd: root, env: machineEnv, differences };
}
