// scripts/ensure-deps.cjs with a stand-in for npm that writes packages at once: what it installs when, what it
// leaves alone, and what it says when it cannot.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { until } from '../support/until.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** Notes how it was called, waits while a file `hold` exists, and fails while a file `fail` does. */
const NPM = `#!/usr/bin/env node
const fs = require('node:fs');
const path = require('node:path');
const checkout = process.env.CHECKOUT;
fs.appendFileSync(path.join(checkout, 'calls'), process.argv.slice(2).join(' ') + '\\n');
while (fs.existsSync(path.join(checkout, 'hold'))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
if (fs.existsSync(path.join(checkout, 'fail'))) process.exit(7);
const version = fs.readFileSync('package.json', 'utf8');
const put = (name) => {
  fs.mkdirSync(path.join('node_modules', path.dirname(name)), { recursive: true });
  fs.writeFileSync(path.join('node_modules', name), version);
};
const platform = process.platform + '-' + process.arch;
for (const name of ['library/index.js', 'library/index.js.map', '@scope/library/index.js', '@scarf/scarf/report.js',
  '.package-lock.json']) put(name);
if (!fs.existsSync(path.join(checkout, 'unpackaged')))
  for (const name of ['bin/node', 'include/node.h']) put('node-' + platform + '/' + name);
if (process.argv.includes('--include=dev')) for (const name of ['tool/index.js', '@scope/tool/index.js', '.bin/tool']) put(name);
`;

/** Loaded in front of the script: it stops where it would take a lock away, until a file `go` exists. */
const PAUSED_AT_LOCK = `
const fs = require('node:fs');
const path = require('node:path');
const checkout = process.env.CHECKOUT;
for (const name of ['rmSync', 'renameSync', 'unlinkSync']) {
  const original = fs[name];
  fs[name] = (target, ...rest) => {
    if (target === path.join(checkout, '.deps-install.lock') && !fs.existsSync(path.join(checkout, 'paused'))) {
      fs.writeFileSync(path.join(checkout, 'paused'), '');
      while (!fs.existsSync(path.join(checkout, 'go'))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
    return original(target, ...rest);
  };
}
`;

function newCheckout(t: Test) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-deps-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  const at = (...names: string[]) => path.join(folder, ...names);
  for (const name of ['ensure-deps', 'prune-deps', 'source-cache']
    .map((script) => `scripts/${script}.cjs`)
    .concat('.npmrc', 'shims'))
    fs.cpSync(path.join(ROOT, name), at(name), { recursive: true });
  fs.writeFileSync(at('package-lock.json'), '{}');
  fs.writeFileSync(at('package.json'), '{"version":"1"}');
  fs.mkdirSync(at('bin'));
  fs.writeFileSync(at('bin/npm'), NPM, { mode: 0o755 });
  const env = { PATH: `${at('bin')}${path.delimiter}${process.env.PATH}`, CHECKOUT: folder };
  const script = at('scripts/ensure-deps.cjs');
  return {
    at,
    script,
    env,
    has: (...names: string[]) => fs.existsSync(at('node_modules', ...names)),
    inode: (name: string) => fs.statSync(at('node_modules', name)).ino,
    calls: () => (fs.existsSync(at('calls')) ? fs.readFileSync(at('calls'), 'utf8').trim().split('\n') : []),
    run: (...args: string[]) => spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' }),
    start: (...args: string[]) =>
      spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }),
    /** With a script in front of it. */
    preload(code: string) {
      fs.writeFileSync(at('preload.cjs'), code);
      return ['--require', at('preload.cjs'), script];
    },
  };
}

/** As if this were another Node, as far as the script can tell. */
function runAs(checkout: ReturnType<typeof newCheckout>, versions: { node: string; modules: string }) {
  const value = JSON.stringify({ ...process.versions, ...versions });
  const args = checkout.preload(`Object.defineProperty(process, 'versions', { value: ${value} });`);
  return spawnSync(process.execPath, args, { env: checkout.env, encoding: 'utf8' });
}

function dead(): string {
  return String(spawnSync(process.execPath, ['-e', '0']).pid);
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.exitCode;
}

t.test('by default only what the program needs is installed, once', async (t) => {
  const checkout = newCheckout(t);
  const { status, stdout } = checkout.run();
  t.same([status, stdout], [0, '']);
  t.ok(checkout.has('library/index.js'));
  t.notOk(checkout.has('tool'));
  t.match(checkout.calls()[0], '--omit=dev');
  t.equal(checkout.run().status, 0);
  t.equal(checkout.calls().length, 1, 'the second run installs nothing');
  t.same(
    fs.readdirSync(checkout.at()).filter((name) => name.startsWith('.deps')),
    [],
    'nothing is left',
  );
});

t.test('what nothing loads is deleted, and the runtime is linked', async (t) => {
  const checkout = newCheckout(t);
  checkout.run();
  t.notOk(checkout.has('library/index.js.map'), 'source maps');
  t.notOk(checkout.has('@scarf'), 'an install script that reports home, and the empty folder around it');
  const platform = `${process.platform}-${process.arch}`;
  t.notOk(checkout.has(`node-${platform}/include`), 'headers of the runtime');
  t.equal(fs.readlinkSync(checkout.at('node_modules/.bin/node')), `../node-${platform}/bin/node`);
});

t.test('the sources are stripped for users who can only read', async (t) => {
  const checkout = newCheckout(t);
  const cached = () => fs.globSync('.cache/postrider/stripped-*/src/*.ts', { cwd: checkout.at('node_modules') }).length;
  fs.mkdirSync(checkout.at('src'));
  fs.writeFileSync(checkout.at('src/main.ts'), 'const a: number = 1;\n');
  t.equal(checkout.run().status, 0);
  t.equal(cached(), 0, 'the stand-in for the runtime cannot be run, which stops nothing');
  fs.rmSync(checkout.at('node_modules/.bin/node'));
  fs.symlinkSync(process.execPath, checkout.at('node_modules/.bin/node'));
  t.equal(checkout.run().status, 0);
  t.equal(cached(), 1);
});

t.test('development tools are added beside the packages that a daemon may have open', async (t) => {
  const checkout = newCheckout(t);
  checkout.run();
  const names = ['', 'library', 'library/index.js', '@scope/library/index.js'];
  const before = names.map(checkout.inode);
  t.equal(checkout.run('--dev').status, 0);
  t.ok(checkout.has('tool/index.js'));
  t.ok(checkout.has('@scope/tool/index.js'));
  t.ok(checkout.has('.bin/tool'));
  t.same(names.map(checkout.inode), before, 'the files are the same ones');
  t.equal(checkout.run().status, 0);
  t.equal(checkout.calls().length, 2, 'an installation with tools also serves the program');
  t.ok(checkout.has('tool/index.js'), 'and keeps them');
});

t.test('a new lockfile exchanges the folder only when everything is there', async (t) => {
  const checkout = newCheckout(t);
  checkout.run('--dev');
  fs.writeFileSync(checkout.at('package.json'), '{"version":"2"}');
  fs.writeFileSync(checkout.at('hold'), '');
  const child = checkout.start();
  await until('npm is called', () => checkout.calls().length === 2);
  t.equal(fs.readFileSync(checkout.at('node_modules/library/index.js'), 'utf8'), '{"version":"1"}', 'meanwhile');
  fs.rmSync(checkout.at('hold'));
  t.equal(await exitCode(child), 0);
  t.equal(fs.readFileSync(checkout.at('node_modules/library/index.js'), 'utf8'), '{"version":"2"}', 'then');
  t.notOk(checkout.has('tool'), 'a server that had tools loses them');
});

t.test('a failure of npm is told and leaves everything as it was', async (t) => {
  const checkout = newCheckout(t);
  checkout.run();
  fs.writeFileSync(checkout.at('package.json'), '{"version":"2"}');
  fs.writeFileSync(checkout.at('fail'), '');
  const { status, stderr } = checkout.run();
  t.equal(status, 1);
  t.match(stderr, 'npm ci failed (exit code 7)');
  t.notMatch(stderr, /at .*ensure-deps/, 'no stack');
  t.equal(fs.readFileSync(checkout.at('node_modules/library/index.js'), 'utf8'), '{"version":"1"}');
  fs.rmSync(checkout.at('fail'));
  t.equal(checkout.run().status, 0, 'the next run installs');
});

t.test('a machine without npm is told what to install', async (t) => {
  const checkout = newCheckout(t);
  const env = { PATH: checkout.at('nowhere') };
  const { status, stderr } = spawnSync(process.execPath, [checkout.script], { env, encoding: 'utf8' });
  t.equal(status, 1);
  t.match(stderr, 'apt-get install npm');
});

t.test('two at the same time take turns', async (t) => {
  const checkout = newCheckout(t);
  fs.writeFileSync(checkout.at('hold'), '');
  const first = checkout.start('--dev');
  await until('npm is called', () => checkout.calls().length === 1);
  const second = checkout.start();
  let said = '';
  second.stderr.on('data', (part: Buffer) => (said += part));
  await until('the second waits', () => said.includes('waiting for process'));
  fs.rmSync(checkout.at('hold'));
  t.same(await Promise.all([exitCode(first), exitCode(second)]), [0, 0]);
  t.equal(checkout.calls().length, 1, 'the second needs no installation of its own');
});

t.test('the lock of a process that was killed is taken over', async (t) => {
  const checkout = newCheckout(t);
  fs.symlinkSync(dead(), checkout.at('.deps-install.lock'));
  fs.mkdirSync(checkout.at('.deps-install/node_modules/half'), { recursive: true });
  t.equal(checkout.run().status, 0);
  t.notOk(checkout.has('half'), 'what it left is not used');
});

t.test('of two that see the same dead owner, one takes over and the other waits', async (t) => {
  const checkout = newCheckout(t);
  fs.symlinkSync(dead(), checkout.at('.deps-install.lock'));
  fs.writeFileSync(checkout.at('hold'), '');
  const args = checkout.preload(PAUSED_AT_LOCK);
  const slow = spawn(process.execPath, args, { env: checkout.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  slow.stderr.on('data', (part: Buffer) => (said += part));
  await until('the slow one has seen the dead owner', () => fs.existsSync(checkout.at('paused')));
  const fast = checkout.start();
  await until('npm is called', () => checkout.calls().length === 1);
  fs.writeFileSync(checkout.at('go'), '');
  await until('the slow one acts', () => said.includes('waiting for process') || checkout.calls().length > 1);
  t.match(said, `waiting for process ${fast.pid}`);
  t.equal(fs.readlinkSync(checkout.at('.deps-install.lock')), String(fast.pid), 'the lock is back in its place');
  fs.rmSync(checkout.at('hold'));
  t.same(await Promise.all([exitCode(fast), exitCode(slow)]), [0, 0]);
  t.equal(checkout.calls().length, 1, 'npm never ran twice at once');
  t.same(
    fs.readdirSync(checkout.at()).filter((name) => name.startsWith('.deps')),
    [],
    'nothing is left',
  );
});

t.test('a running owner whose lock is set aside is waited for, and a dead one is forgotten', async (t) => {
  const checkout = newCheckout(t);
  const lock = checkout.at('.deps-install.lock');
  fs.writeFileSync(checkout.at('hold'), '');
  const owner = checkout.start();
  await until('npm is called', () => checkout.calls().length === 1);
  fs.renameSync(lock, `${lock}.1`);
  const second = checkout.start();
  let said = '';
  second.stderr.on('data', (part: Buffer) => (said += part));
  await until('the second waits', () => said.includes(`waiting for process ${owner.pid}`));
  fs.rmSync(checkout.at('hold'));
  t.same(await Promise.all([exitCode(owner), exitCode(second)]), [0, 0]);
  t.equal(checkout.calls().length, 1);
  t.notOk(
    fs.readdirSync(checkout.at()).some((name) => name.startsWith('.deps')),
    'nothing is left',
  );
});

t.test('where no runtime is packaged, a Node that cannot run the program is refused', async (t) => {
  const checkout = newCheckout(t);
  fs.writeFileSync(checkout.at('unpackaged'), '');
  for (const versions of [
    { node: '22.10.0', modules: '127' },
    { node: '22.18.0', modules: '127' },
    { node: '24.1.0', modules: '137' },
  ]) {
    const { status, stderr } = runAs(checkout, versions);
    t.equal(status, 1, versions.node);
    t.match(stderr, `Node ${versions.node} cannot run the program. Install Node 22, 22.19 or newer`);
    t.notOk(checkout.has('library'), 'nothing is installed');
  }
  t.equal(runAs(checkout, { node: '22.19.0', modules: '127' }).status, 0);
  t.equal(checkout.calls().length, 4);
  const later = runAs(checkout, { node: '22.10.0', modules: '127' });
  t.match([later.status, later.stderr], [1, /22\.19 or newer/], 'at a later start, too');
});

t.test('with a packaged runtime any Node may start it', async (t) => {
  const checkout = newCheckout(t);
  t.equal(runAs(checkout, { node: '18.20.0', modules: '108' }).status, 0);
  t.equal(runAs(checkout, { node: '18.20.0', modules: '108' }).status, 0);
});

t.test('a user who may not write is told who may', { skip: process.getuid?.() !== 0 && 'needs root' }, async (t) => {
  const checkout = newCheckout(t);
  fs.chmodSync(checkout.at(), 0o755);
  const nobody = { env: checkout.env, encoding: 'utf8', uid: 65534, gid: 65534 } as const;
  const { status, stderr } = spawnSync(process.execPath, [checkout.script], nobody);
  t.equal(status, 1);
  t.match(stderr, /may not write there .*As its owner run: node \//);
});
