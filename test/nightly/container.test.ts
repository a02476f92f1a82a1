// The container image of packaging/Dockerfile. No registry is asked: the base is made by mmdebstrap under the name that the
// Dockerfile asks for, so it is not shown that Debian's published image has the same packages. buildah builds without an
// isolation of its own (chroot), crun runs it as compose.yaml says: not root, no capabilities, read-only root file
// system. Not shown: Docker, networks of containers and published ports (it has the machine's network), and compose itself.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { makeBase, noRoot } from '../support/debian-root.ts';
import { findFreePort } from '../support/free-port.ts';
import { buildPackage } from '../support/installed-package.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const START_MS = 60_000;
const PROGRAMS = ['buildah', 'crun'];
/** Where cgroups of version 1 are mounted beside version 2, crun gives up; in this mount namespace it sees the latter only. */
const CRUN =
  'if [ -d /sys/fs/cgroup/unified ]; then mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup; fi; exec crun "$@"';

function missing(): string | false {
  const absent = PROGRAMS.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  return noRoot() || (absent.length > 0 && `needs ${absent.join(' and ')}: apt-get install ${absent.join(' ')}`);
}

interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  WorkingDir: string;
  StopSignal: string;
  Volumes: Record<string, unknown>;
  Healthcheck: { Test: string[] };
}

t.test('the container image', { skip: missing() }, async (t) => {
  const folder = testFolder(t);
  const buildah = (...args: string[]): string => {
    const store = [
      '--storage-driver',
      'vfs',
      '--root',
      path.join(folder, 'store'),
      '--runroot',
      path.join(folder, 'run'),
    ];
    const { status, stdout, stderr } = spawnSync('buildah', [...store, ...args], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`buildah ${args[0]} ended with ${status}: ${stderr}`);
    return stdout.trim();
  };
  const dockerfile = path.join(ROOT, 'packaging/Dockerfile');
  const [, base = ''] = /^FROM (\S+)$/m.exec(fs.readFileSync(dockerfile, 'utf8')) ?? [];
  const [, suite = ''] = /^docker\.io\/library\/debian:(\w+)-slim$/.exec(base) ?? [];
  const empty = buildah('from', 'scratch');
  buildah('add', empty, await makeBase(t, suite, path.join(folder, 'base.tar')), '/');
  buildah('commit', empty, base);

  const context = path.join(folder, 'context');
  buildPackage(context, '1.2.3');
  fs.cpSync(path.join(ROOT, '.dockerignore'), path.join(context, '.dockerignore'));
  buildah(
    'bud',
    '--isolation',
    'chroot',
    '--pull-never',
    '--format',
    'docker',
    '--file',
    dockerfile,
    '--tag',
    'postrider',
    context,
  );
  const container = buildah('from', '--pull-never', 'postrider');
  const rootfs = buildah('mount', container);
  t.teardown(() => buildah('umount', container));
  const inspected = JSON.parse(buildah('inspect', '--type', 'image', 'postrider')) as {
    Docker: { config: ImageConfig };
  };
  const { config } = inspected.Docker;
  t.same(
    [config.User, config.StopSignal, Object.keys(config.Volumes)],
    ['postrider', 'SIGTERM', ['/var/lib/postrider']],
  );
  t.notOk(fs.existsSync(path.join(rootfs, 'context')) && fs.readdirSync(path.join(rootfs, 'context')).length > 0);

  const [uid, gid] = idsOf(rootfs, config.User);
  const start = async (t: Test, args: string[]) => {
    const httpPort = await findFreePort();
    const bundle = path.join(folder, args[0]!);
    // A named volume gets the owner that the folder has in the image.
    const data = path.join(bundle, 'data');
    fs.mkdirSync(data, { recursive: true, mode: 0o700 });
    fs.chownSync(data, uid, gid);
    const env = [
      ...config.Env.filter((each) => !/_PORT=/.test(each)),
      `POSTRIDER_HTTP_PORT=${httpPort}`,
      'POSTRIDER_SMTP_PORT=0',
    ];
    const process_ = { user: { uid, gid }, args: [...config.Entrypoint, ...args], env, cwd: config.WorkingDir };
    fs.writeFileSync(path.join(bundle, 'config.json'), JSON.stringify(bundleConfig(process_, rootfs, data)));
    return { httpPort, ...runContainer(t, bundle, args[0]!) };
  };

  t.test('serves, is healthy, and drains on SIGTERM', async (t) => {
    const { httpPort, crun, ended, output } = await start(t, ['serve']);
    await until('it is ready', () => output().includes('"msg":"ready"') || ended(), START_MS);
    t.match(output(), '"msg":"ready"');
    t.equal((await fetch(`http://127.0.0.1:${httpPort}/healthz`)).status, 200);
    const user = ['exec', '--user', `${uid}:${gid}`, 'serve'];
    const [kind, ...check] = config.Healthcheck.Test;
    t.equal(kind, 'CMD');
    t.equal(crun(...user, ...check).status, 0, 'the health check');
    t.match(
      crun(...user, 'postrider', 'tenant', 'create', '--name', 'Acme', '--json').stdout,
      /"id"/,
      'commands reach the daemon',
    );
    t.not(crun(...user, 'touch', '/var/tmp/x').status, 0, 'nothing can be written but the volume and /tmp');
    crun('kill', 'serve', 'TERM');
    t.equal(await until('it ends', () => ended(), START_MS), 'exit 0');
    t.match(output(), '"msg":"stopped"', 'it was closed, not killed');
  });

  t.test('runs the sandbox', async (t) => {
    const { httpPort, crun, ended, output } = await start(t, ['sandbox']);
    await until('it is ready', () => output().includes('Ctrl-C stops it') || ended(), START_MS);
    t.match(output(), `:${httpPort}/emails`, 'it prints the first call');
    crun('kill', 'sandbox', 'TERM');
    t.equal(await until('it ends', () => ended(), START_MS), 'exit 0');
  });
});

t.test('compose.yaml runs it as the test does', async (t) => {
  const file = parse(fs.readFileSync(path.join(ROOT, 'packaging/compose.yaml'), 'utf8'), { merge: true }) as Compose;
  t.same(Object.keys(file.services), ['postrider', 'sandbox']);
  for (const [name, service] of Object.entries(file.services)) {
    const { read_only, cap_drop, security_opt, tmpfs } = service;
    t.same(
      { read_only, cap_drop, security_opt, tmpfs },
      { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], tmpfs: ['/tmp'] },
      name,
    );
    const volumes = service.volumes.map((volume) => volume.split(':')[0]!).filter((volume) => !volume.startsWith('.'));
    for (const volume of volumes) t.ok(volume in file.volumes, `${name}: ${volume}`);
  }
});

interface Compose {
  services: Record<string, { volumes: string[] } & Record<string, unknown>>;
  volumes: Record<string, unknown>;
}

function idsOf(rootfs: string, user: string): [number, number] {
  const line = new RegExp(`^${user}:x:(\\d+):(\\d+):`, 'm').exec(
    fs.readFileSync(path.join(rootfs, 'etc/passwd'), 'utf8'),
  );
  return [Number(line![1]), Number(line![2])];
}

/** An OCI runtime's configuration, with what compose.yaml asks for. */
function bundleConfig(process_: object, rootfs: string, data: string): object {
  const none: string[] = [];
  const capabilities = { bounding: none, effective: none, permitted: none, inheritable: none, ambient: none };
  return {
    ociVersion: '1.0.0',
    process: { ...process_, terminal: false, noNewPrivileges: true, capabilities },
    root: { path: rootfs, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev'] },
      { destination: '/var/lib/postrider', type: 'bind', source: data, options: ['bind', 'rw'] },
    ],
    linux: { namespaces: [{ type: 'pid' }, { type: 'mount' }] },
  };
}

function runContainer(t: Test, bundle: string, id: string) {
  const state = path.join(bundle, 'state');
  const apart = ['--mount', '--propagation', 'private', 'sh', '-c', CRUN, 'sh', '--root', state];
  const args = [...apart, '--cgroup-manager=disabled', 'run', '--bundle', bundle, id];
  const child: ChildProcess = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', (part) => (text += part));
  const closed = once(child, 'close');
  const crun = (...more: string[]) => spawnSync('unshare', [...apart, ...more], { encoding: 'utf8' });
  t.teardown(async () => {
    crun('delete', '--force', id);
    await closed;
  });
  const ended = () =>
    child.exitCode !== null ? `exit ${child.exitCode}` : child.signalCode !== null ? child.signalCode : null;
  return { crun, ended, output: () => text };
}
