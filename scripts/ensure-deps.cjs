// Makes node_modules match the lockfile, and does nothing when it already does.
// Plain CommonJS for Node 18 and newer: it runs before the pinned runtime is there.
// A plain `npm ci` in prestart would delete node_modules under a running daemon.
const { createHash } = require('node:crypto');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const modules = path.join(root, 'node_modules');
const stampFile = path.join(modules, '.deps-stamp');
const platform = `${process.platform}-${process.arch}`;
const addonAbi = '127'; // the module version of the pinned Node 22

function wantedStamp() {
  const hash = createHash('sha256').update(platform);
  for (const name of ['package.json', 'package-lock.json', 'scripts/ensure-deps.cjs'])
    hash.update(fs.readFileSync(path.join(root, name)));
  return hash.digest('hex');
}

function currentStamp() {
  try {
    return fs.readFileSync(stampFile, 'utf8');
  } catch {
    return '';
  }
}

function install() {
  process.stderr.write('postrider: installing dependencies from the lockfile (once, takes half a minute)\n');
  // No install scripts: every native part comes as a prebuilt file inside its package.
  // Dev dependencies stay even under NODE_ENV=production, or `npm test` would fail there.
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional'], {
    cwd: root,
    stdio: ['ignore', 2, 2], // npm's progress belongs to standard error: standard output is the program's
  });
}

// Binaries that come as optional packages, one per platform: npm 10 does not link them,
// and depending on the umbrella package of biome would pull in packages for ten platforms.
function linkBinary(name, packageName, file) {
  const link = path.join(modules, '.bin', name);
  const target = path.join(modules, packageName, file);
  if (fs.existsSync(target) && !fs.existsSync(link)) {
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(path.relative(path.dirname(link), target), link);
  }
  return fs.existsSync(link);
}

function linkBinaries() {
  linkBinary('biome', `@biomejs/cli-${platform}`, 'biome');
  if (linkBinary('node', `node-${platform}`, path.join('bin', 'node'))) return;
  if (process.versions.modules === addonAbi) return; // the system's own Node is a Node 22
  throw new Error(
    `postrider: no Node 22 runtime is packaged for ${platform}; install Node 22 and run this again with it`,
  );
}

function removeAllBut(dir, keep) {
  if (!fs.existsSync(dir)) return;
  for (const name of fs.readdirSync(dir))
    if (!keep(name)) fs.rmSync(path.join(dir, name), { recursive: true, force: true });
}

// 200 MB of binaries for other platforms and Node versions.
function prune() {
  removeAllBut(
    path.join(modules, 'uws-pack', 'dist', 'bin'),
    (name) => !name.endsWith('.node') || name === `uws_${process.platform}_${process.arch}_${addonAbi}.node`,
  );
  removeAllBut(
    path.join(modules, 'better-sqlite3', 'prebuilds'),
    (name) => name.startsWith(process.platform) && name.endsWith(`${process.arch}.node`),
  );
  const served = [
    'package.json',
    'LICENSE',
    'NOTICE',
    'swagger-ui.css',
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
  ];
  removeAllBut(path.join(modules, 'swagger-ui-dist'), (name) => served.includes(name));
  fs.rmSync(path.join(modules, 'better-sqlite3', 'deps'), { recursive: true, force: true });
  for (const part of ['include', 'share', 'lib'])
    fs.rmSync(path.join(modules, `node-${platform}`, part), { recursive: true, force: true });
}

const stamp = wantedStamp();
if (currentStamp() !== stamp) {
  install();
  linkBinaries();
  prune();
  fs.writeFileSync(stampFile, stamp);
} else {
  // bin/postrider compares its age with the lockfile's, which is cheaper than asking here.
  try {
    fs.utimesSync(stampFile, new Date(), new Date());
  } catch {
    // A checkout that the service's user may only read.
  }
}
