// A root of another Debian release with chosen packages of it, made by mmdebstrap, in which commands run with
// process ids, /proc and mounts of their own. The network is the machine's.
//
// How the machine reaches its mirror and npm's registry (proxy, certificates) is read when the test runs and
// handed in; none of it is in the checkout.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { type Checkout, npmSettings, runInside } from './clean-checkout.ts';

/** Not /tmp, which may be a memory file system: a root with everything in it takes 1.5 GB. */
const ROOTS = '/var/tmp';
const CERTIFICATES = '/etc/ssl/certs/machine.crt';
/** Where the checkout is, inside. */
const HOME = '/srv/postrider';

/** Why no root can be made here, for `skip`; false when one can. */
export function noRoot(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, to make the root of another Debian';
  if (spawnSync('mmdebstrap', ['--version']).error !== undefined) return 'needs mmdebstrap: apt-get install mmdebstrap';
  if (spawnSync('unshare', ['--mount', 'mount', '--make-rprivate', '/']).status !== 0)
    return 'needs the right to make mount namespaces';
  return false;
}

/** Options of apt that say how files are fetched, in a file: a proxy's password must not be in a command line. */
function aptOptions(t: Test, file: string): string {
  const dump = execFileSync('apt-config', ['dump'], { encoding: 'utf8' });
  const lines = dump.split('\n').filter((line) => /^Acquire::(?:https?::|Check-|Retries|Max-FutureTime)/.test(line));
  fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  t.teardown(() => fs.rmSync(file, { force: true }));
  return `--aptopt=${file}`;
}

/** The mirror of this machine's own Debian, null when its lists do not say. */
function aptMirror(): string | null {
  const format = '$(CREATED_BY) $(LABEL) $(REPO_URI)';
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', format], { encoding: 'utf8' });
  return /^Packages Debian (\S+)$/m.exec(stdout ?? '')?.[1] ?? null;
}

/** Files that name resolvers and hosts, and the certificates that the machine trusts. */
function bringNetwork(root: string): string | undefined {
  for (const name of ['/etc/resolv.conf', '/etc/hosts']) fs.copyFileSync(name, path.join(root, name));
  const trusted = process.env.NODE_EXTRA_CA_CERTS;
  if (trusted === undefined) return undefined;
  fs.mkdirSync(path.join(root, path.dirname(CERTIFICATES)), { recursive: true });
  fs.copyFileSync(trusted, path.join(root, CERTIFICATES));
  return CERTIFICATES;
}

/** Ends with suite and target, which is a folder or a file. */
async function debootstrap(t: Test, args: string[]): Promise<void> {
  const [suite, target] = args.slice(-2) as [string, string];
  const mirror = aptMirror();
  const all = ['--variant=minbase', aptOptions(t, `${target}.apt.conf`), ...args, ...(mirror === null ? [] : [mirror])];
  const here = { folder: ROOTS, env: process.env as Record<string, string> };
  const made = await runInside({ ...here, inside: () => ['mmdebstrap', ...all] }, '');
  if (made.code !== 0) throw new Error(`mmdebstrap ${suite} ended with ${made.code}:\n${made.output}`);
}

/** The smallest root of a release with apt, and the packages, as an archive. */
export async function makeBase(t: Test, suite: string, file: string, packages: string[] = []): Promise<void> {
  await debootstrap(t, [...(packages.length > 0 ? [`--include=${packages.join(',')}`] : []), suite, file]);
}

/** An empty folder for a checkout in a new root. */
export async function newRoot(t: Test, suite: string, packages: string[]): Promise<Checkout> {
  const root = fs.mkdtempSync(path.join(ROOTS, `postrider-${suite}-`));
  t.teardown(() => fs.rmSync(root, { recursive: true, force: true }));
  await debootstrap(t, [`--include=${packages.join(',')}`, suite, root]);
  const settings = await npmSettings(bringNetwork(root));
  const folder = path.join(root, HOME);
  fs.mkdirSync(folder, { recursive: true });
  // The kernel ends everything inside with the first process, which `unshare` starts.
  // A mount point of its own, as the root of a machine is: or `unshare --mount` fails inside.
  const mounts = [`--bind ${root} ${root}`, `-t proc proc ${root}/proc`, `--rbind /dev ${root}/dev`];
  const enter = `${mounts.map((what) => `mount ${what} && `).join('')}exec chroot ${root} sh -c "$1"`;
  return {
    folder,
    env: { ...settings, PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' },
    inside: (command) => {
      const apart = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child'];
      return ['unshare', ...apart, 'sh', '-c', enter, 'sh', `cd ${HOME} && ${command}`];
    },
  };
}
