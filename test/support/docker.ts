// Docker of Debian 13 in a root and a network of its own: nothing of the machine's network, firewall or images is touched.
// The caller runs in that network already (`unshare --net`), so that published ports are on its own loopback. No registry
// is asked: images come from archives under the names that files ask for.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { until } from './until.ts';

export const DOCKER_PACKAGES = ['docker.io', 'docker-cli', 'docker-compose', 'docker-buildx', 'iptables', 'iproute2'];
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** The daemon and what it starts need them; /run is emptied with the namespace. */
const MOUNTS = (root: string) => [
  ['--bind', root, root],
  ['-t', 'proc', 'proc', `${root}/proc`],
  ['--rbind', '/dev', `${root}/dev`],
  ['--rbind', '/sys', `${root}/sys`],
  ['-t', 'tmpfs', 'tmpfs', `${root}/run`],
];
/** Not in a chroot: what is executed in a container later enters its mounts at the root of all of them. */
const PIVOT = 'cd "$0" && mkdir -p old && pivot_root . old && umount -l /old && exec env -i "$@"';
const START_MS = 60_000;
const MOST_OUTPUT = 64 * 1024 * 1024;

/** Standard output of `docker …`, run in the folder; fails as the command does. */
export type Docker = (...args: string[]) => Promise<string>;

/** `folder` is inside the root, and where commands run. Ends with the test. */
export async function startDocker(t: Test, root: string, folder: string): Promise<Docker> {
  for (const mount of MOUNTS(root)) execFileSync('mount', mount);
  const variables = [`PATH=${PATH}`, 'HOME=/root'];
  const inRoot = (...command: string[]) => [root, 'env', '-i', ...variables, ...command];
  execFileSync('chroot', inRoot('ip', 'link', 'set', 'lo', 'up'));
  const command = [...variables, 'dockerd', '--host', 'unix:///run/docker.sock'];
  const apart = ['--mount', '--propagation', 'private', 'sh', '-c', PIVOT, root, ...command];
  const daemon = spawn('unshare', apart, { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [daemon.stdout, daemon.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text));
  const ended = once(daemon, 'close');
  t.teardown(async () => {
    daemon.kill('SIGTERM');
    await ended;
    if (!t.passing()) t.comment(log.split('\n').slice(-30).join('\n'));
  });
  const there = path.join('/', path.relative(root, folder));
  const docker: Docker = async (...args) => {
    const command = inRoot('sh', '-c', 'cd "$0" && exec docker --host unix:///run/docker.sock "$@"', there, ...args);
    const { stdout } = await promisify(execFile)('chroot', command, { maxBuffer: MOST_OUTPUT });
    return stdout;
  };
  await until('Docker', () => docker('info').catch(() => false), START_MS);
  return docker;
}

/** For what containers reach from their own networks, and for ports that are published at one address. */
export function addAddresses(root: string, ...addresses: string[]): void {
  for (const address of addresses) execFileSync('chroot', [root, 'ip', 'address', 'add', `${address}/32`, 'dev', 'lo']);
}
