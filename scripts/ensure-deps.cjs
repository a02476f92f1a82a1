// Makes node_modules match the lockfile, and does nothing when it already does. By default it installs what the
// program needs to run; with --dev also the tools for tests and checks.
// Plain CommonJS for Node 18.20 and newer: it runs before the pinned runtime is there.
//
// A daemon may be running from this node_modules. So npm installs into a folder beside it, which takes half a
// minute, and a failure leaves everything as it was. Then the development tools are moved in among the packages
// that are there already, which stay untouched; after a change of the lockfile the whole folder is exchanged.
const { createHash } = require('node:crypto');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { prune } = require('./prune-deps.cjs');

const root = path.join(__dirname, '..');
const modules = path.join(root, 'node_modules');
/** npm works in it. */
const staging = path.join(root, '.deps-install');
/** A symlink to nowhere that names the process which installs: it appears with its content, or not at all. */
const lock = path.join(root, '.deps-install.lock');
const STAMP = '.deps-stamp';
const platform = `${process.platform}-${process.arch}`;
const addonAbi = '127'; // the module version of the pinned Node 22
const OLDEST_NODE = [18, 20];
// module.registerHooks came with 22.15, type stripping without a flag with 22.18; undici and mailauth ask for 22.19.
const OLDEST_RUNTIME = [22, 19];
const LOCK_POLL_MS = 200;

class InstallError extends Error {}

function wantedHash() {
  const hash = createHash('sha256').update(platform);
  for (const name of ['package.json', 'package-lock.json', 'scripts/ensure-deps.cjs', 'scripts/prune-deps.cjs'])
    hash.update(fs.readFileSync(path.join(root, name)));
  return hash.digest('hex');
}

/** What node_modules was installed from, and with which kind of packages. */
function readStamp() {
  try {
    const [hash, kind] = fs.readFileSync(path.join(modules, STAMP), 'utf8').split(' ');
    return { hash, kind };
  } catch {
    return { hash: '', kind: '' };
  }
}

function isInstalled(wanted) {
  const { hash, kind } = readStamp();
  return hash === wanted.hash && (kind === wanted.kind || kind === 'development');
}

function isAtLeast([wantedMajor, wantedMinor]) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function checkNode() {
  if (isAtLeast(OLDEST_NODE)) return;
  throw new InstallError(
    `Node ${OLDEST_NODE.join('.')} or newer is needed to install; this is ${process.versions.node}.`,
  );
}

function isRunning(pid) {
  try {
    // A process id is used again; the command line tells whether it is still the same program.
    if (fs.existsSync('/proc/self/cmdline'))
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('ensure-deps');
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function tryLink() {
  try {
    fs.symlinkSync(String(process.pid), lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

function ownerOf(file) {
  try {
    return fs.readlinkSync(file);
  } catch {
    return null; // it was released just now
  }
}

/**
 * Two processes may see the same dead owner, and one of them may have locked again before the other acts. A rename
 * takes exactly one lock away, and shows whose it is: a running owner's is put back.
 */
function removeDeadLock() {
  const aside = `${lock}.${process.pid}`;
  try {
    fs.renameSync(lock, aside);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return; // another process was faster
  }
  const owner = ownerOf(aside);
  while (owner !== null && isRunning(owner) && !tryRestore(owner)) pause();
  fs.rmSync(aside, { force: true });
}

function tryRestore(owner) {
  try {
    fs.symlinkSync(owner, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return ownerOf(lock) === owner;
  }
}

/** A running owner whose lock is set aside for a moment, or null. What killed processes left is removed. */
function findOwnerSetAside() {
  const prefix = `${path.basename(lock)}.`;
  for (const name of fs.readdirSync(root).filter((each) => each.startsWith(prefix))) {
    const aside = path.join(root, name);
    const owner = ownerOf(aside);
    if (owner === null || owner === String(process.pid)) continue;
    if (isRunning(owner)) return owner;
    fs.rmSync(aside, { force: true });
  }
  return null;
}

/** Two commands that are started at the same time take turns; a lock whose owner was killed is taken over. */
function takeLock() {
  let announced = false;
  for (;;) {
    let owner;
    if (tryLink() || ownerOf(lock) === String(process.pid)) {
      owner = findOwnerSetAside();
      if (owner === null) return;
      fs.rmSync(lock, { force: true });
    } else {
      owner = ownerOf(lock);
      if (owner === null) continue;
      if (!isRunning(owner)) {
        removeDeadLock();
        continue;
      }
    }
    if (!announced) say(`waiting for process ${owner}, which is installing dependencies`);
    announced = true;
    pause();
  }
}

function releaseLock() {
  if (ownerOf(lock) === String(process.pid)) fs.rmSync(lock, { force: true });
}

function pause() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
}

function say(line) {
  process.stderr.write(`postrider: ${line}\n`);
}

function runNpm(kind) {
  fs.rmSync(staging, { recursive: true, force: true });
  fs.mkdirSync(staging);
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'shims'])
    fs.cpSync(path.join(root, name), path.join(staging, name), { recursive: true });
  // No install scripts: every native part comes as a prebuilt file inside its package. What is wanted is said both
  // ways, because NODE_ENV and the user's npm configuration choose otherwise.
  const scope = kind === 'development' ? ['--include=dev'] : ['--omit=dev'];
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=optional', ...scope];
  // npm's progress belongs to standard error: standard output is the program's.
  const { error, status, signal } = spawnSync('npm', args, { cwd: staging, stdio: ['ignore', 2, 2] });
  if (error?.code === 'ENOENT') throw new InstallError('npm is needed to install; on Debian: apt-get install npm');
  if (status !== 0)
    throw new InstallError(
      `npm ci failed (${error?.message ?? signal ?? `exit code ${status}`}); its messages are above. node_modules is as it was.`,
    );
}

/** npm 9 and 10 do not link the program of an optional package. */
function linkRuntime(installed) {
  const link = path.join(installed, '.bin/node');
  const target = path.join(installed, `node-${platform}`, 'bin/node');
  if (fs.existsSync(target)) {
    fs.mkdirSync(path.dirname(link), { recursive: true });
    if (!fs.existsSync(link)) fs.symlinkSync(path.relative(path.dirname(link), target), link);
  }
  checkRuntime(installed);
}

/** Where no runtime is packaged, the Node that runs this runs the program too: now, and at every later start. */
function checkRuntime(installed) {
  if (fs.existsSync(path.join(installed, '.bin/node'))) return;
  const { node, modules: abi } = process.versions;
  if (abi === addonAbi && isAtLeast(OLDEST_RUNTIME)) return;
  const [major, minor] = OLDEST_RUNTIME;
  throw new InstallError(
    `no runtime is packaged for ${platform}, and Node ${node} cannot run the program. Install Node ${major}, ` +
      `${major}.${minor} or newer, and run this again with it.`,
  );
}

/** Moves what is missing, and touches nothing that is there: both come from the same lockfile. */
function moveMissing(from, to) {
  for (const name of fs.readdirSync(from)) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if (name.startsWith('@') || name === '.bin') {
      fs.mkdirSync(target, { recursive: true });
      moveMissing(source, target);
    } else if (!fs.existsSync(target) && name !== STAMP) {
      fs.renameSync(source, target);
    }
  }
}

function addTools(installed) {
  moveMissing(installed, modules);
  // What npm and this script go by is told last.
  for (const name of ['.package-lock.json', STAMP]) fs.renameSync(path.join(installed, name), path.join(modules, name));
}

/** One rename after the other: whoever loads a module in between is the only one who could notice. */
function exchange(installed) {
  if (fs.existsSync(modules)) fs.renameSync(modules, path.join(staging, 'old'));
  fs.renameSync(installed, modules);
}

function install(wanted) {
  const tools = wanted.kind === 'development' ? ' and development tools' : '';
  say(`installing dependencies${tools} from the lockfile (once, takes half a minute)`);
  runNpm(wanted.kind);
  const installed = path.join(staging, 'node_modules');
  linkRuntime(installed);
  prune(installed, addonAbi);
  fs.writeFileSync(path.join(installed, STAMP), `${wanted.hash} ${wanted.kind}`);
  if (readStamp().hash === wanted.hash) addTools(installed);
  else exchange(installed);
}

function ensure(wanted) {
  if (isInstalled(wanted)) return checkRuntime(modules);
  checkNode();
  takeLock();
  try {
    if (!isInstalled(wanted)) install(wanted);
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
    releaseLock();
  }
}

/** bin/postrider compares the stamp's age with the lockfile's, which is cheaper than asking here. */
function touchStamp() {
  try {
    fs.utimesSync(path.join(modules, STAMP), new Date(), new Date());
  } catch {
    // A checkout that the service's user may only read.
  }
}

/** The service's user can only read the checkout. Without a cache everything works, so a failure is none. */
function fillSourceCache() {
  const packaged = path.join(modules, '.bin/node');
  const runtime = fs.existsSync(packaged) ? packaged : process.execPath;
  spawnSync(runtime, [path.join(__dirname, 'source-cache.cjs')], { stdio: 'ignore' });
}

/** What to tell of a failure; an unexpected one with its stack. */
function explain(error) {
  if (error instanceof InstallError) return error.message;
  if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return error.stack;
  const command = `node ${path.join(__dirname, 'ensure-deps.cjs')}`;
  return `dependencies must be installed, but this user may not write there (${error.message}). As its owner run: ${command}`;
}

try {
  const isDevelopment = process.argv.includes('--dev');
  ensure({ hash: wantedHash(), kind: isDevelopment ? 'development' : 'production' });
  touchStamp();
  if (!isDevelopment) fillSourceCache();
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
