// The Debian package in the root of another Debian, with the test in the place of systemd: a chroot has none. The unit's
// program runs with the unit's user, group, folder, umask, capabilities and environment; what else the unit locks is not
// there. Maintainer scripts find a systemctl that asks the test to stop and start.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { type Checkout, type Ended, runInside } from './clean-checkout.ts';
import type { ApiAnswer, ApiCall, Json, LogLine } from './daemon-process.ts';
import { until } from './until.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const UNIT = '/usr/lib/systemd/system/postrider.service';
/** dpkg unpacks 150 MB on a machine that may be busy. */
const DPKG_MS = 300_000;
const START_MS = 60_000;
/** Enabling works in a chroot; what asks the manager is passed to the test, in a file that it removes when it has done it. */
const SYSTEMCTL = `#!/bin/sh
case " $* " in
  *' is-enabled '* | *' enable '*) SYSTEMD_OFFLINE=1 exec /usr/bin/systemctl "$@" ;;
  *' stop '*) action=stop ;;
  *' start '* | *' restart '*) action=start ;;
  *) exit 0 ;;
esac
echo "$*" >/srv/postrider/$action
while [ -e /srv/postrider/$action ]; do sleep 0.05; done
`;

/** Makes it of this checkout; gives the name of the file. */
export function buildPackage(out: string, version: string): string {
  const args = [path.join(ROOT, 'packaging/build-deb.ts'), '--out', out, '--version', version, '--compression', 'gzip'];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}

export interface Machine extends Checkout {
  /** The root, seen from the test. */
  root: string;
}

/** Of a root that debian-root.ts made. */
export function asMachine(checkout: Checkout): Machine {
  const root = path.join(checkout.folder, '../..');
  fs.writeFileSync(path.join(root, 'usr/local/bin/systemctl'), SYSTEMCTL, { mode: 0o755 });
  fs.mkdirSync(path.join(root, 'run/systemd/system'), { recursive: true });
  return { ...checkout, root };
}

export async function dpkg(machine: Machine, ...args: string[]): Promise<Ended> {
  return runInside(machine, `exec env DEBIAN_FRONTEND=noninteractive dpkg ${args.join(' ')}`);
}

/** Waits for the maintainer scripts to ask for it, does it, and lets them go on. */
export async function whenAsked<T>(machine: Machine, action: 'stop' | 'start', act: () => Promise<T>): Promise<T> {
  const file = path.join(machine.folder, action);
  await until(`a script asks to ${action}`, () => fs.existsSync(file), DPKG_MS);
  try {
    return await act();
  } finally {
    fs.rmSync(file);
  }
}

/** Runs a command of the package as root, as operators do. */
export async function commandJson(machine: Machine, ...args: string[]): Promise<Json> {
  const quoted = [...args, '--json'].map((arg) => `'${arg}'`).join(' ');
  const { code, output } = await runInside(machine, `exec postrider ${quoted}`);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`);
  return JSON.parse(output) as Json;
}

export interface Unit {
  httpPort: number;
  lines: LogLine[];
  call(key: string | null, route: string, call?: ApiCall): Promise<ApiAnswer>;
  logged(facts: Partial<LogLine>): Promise<LogLine>;
  /** SIGTERM, as the unit says; gives the exit code. */
  stop(): Promise<number | null>;
}

export async function startUnit(t: Test, machine: Machine): Promise<Unit> {
  const [program, ...args] = machine.inside(unitCommand(fs.readFileSync(path.join(machine.root, UNIT), 'utf8')));
  const child = spawn(program, args, { env: machine.env, stdio: ['ignore', 'pipe', 'pipe'] });
  // unshare takes what it started with it, but not what has changed its user since.
  t.teardown(() => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    process.kill(innerPid(child), 'SIGKILL');
    child.kill('SIGKILL');
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const lines: LogLine[] = [];
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as LogLine));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const logged = async (facts: Partial<LogLine>) => {
    const wanted = Object.entries(facts);
    const find = () => lines.find((line) => wanted.every(([name, value]) => line[name] === value));
    await until(`log ${JSON.stringify(facts)}`, () => isOver() || find(), START_MS);
    const found = find();
    if (!found) throw new Error(`ended without ${JSON.stringify(facts)}:\n${output}${JSON.stringify(lines.slice(-5))}`);
    return found;
  };
  const httpPort = Number((await logged({ msg: 'ready' })).http_port);
  return {
    httpPort,
    lines,
    logged,
    call: (key, route, call) => callApi(httpPort, { key, route, ...call }),
    async stop() {
      process.kill(innerPid(child), 'SIGTERM');
      return (await closed)[0];
    },
  };
}

/** What systemd would make of the unit, as far as it works in a chroot. */
function unitCommand(unit: string): string {
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  const [user, group] = [setting('User'), setting('Group')];
  const capabilities = setting('AmbientCapabilities').toLowerCase().replaceAll('cap_', '+');
  const privileges = [
    `--reuid=${user} --regid=${group} --init-groups --no-new-privs`,
    `--inh-caps=${capabilities} --ambient-caps=${capabilities} --bounding-set=-all,${capabilities}`,
  ].join(' ');
  const home = `/var/lib/${setting('StateDirectory')}`;
  const env = `PATH=/usr/bin:/bin HOME=${home} USER=${user} LOGNAME=${user} STATE_DIRECTORY=${home}`;
  const folder = setting('WorkingDirectory');
  return `cd ${folder} && umask ${setting('UMask')} && exec env -i ${env} setpriv ${privileges} ${setting('ExecStart')}`;
}

/** The process that unshare has started, which has become the daemon. */
function innerPid(unshare: ChildProcess): number {
  return Number(fs.readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').trim());
}

interface RoutedCall extends ApiCall {
  key: string | null;
  route: string;
}

async function callApi(port: number, { key, route, body, headers = {} }: RoutedCall): Promise<ApiAnswer> {
  const [method, target] = route.split(' ') as [string, string];
  const response = await fetch(`http://127.0.0.1:${port}${target}`, {
    method,
    headers: { ...headers, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse((await response.text()) || '{}') as Json };
}
