// Deletes from a fresh node_modules what no command of the checkout loads: binaries for other platforms and Node
// versions, sources of native code, source maps, tests and pages of packages. Licences and types stay.
// Plain CommonJS for Node 18.20 and newer, as scripts/ensure-deps.cjs, which calls it.
const fs = require('node:fs');
const path = require('node:path');

/** Never loaded: `@scarf/scarf` is an install script that reports home, `node-addon-api` is C++ headers. */
const UNUSED_PACKAGES = ['@scarf/scarf', 'node-addon-api'];
const UNUSED_FOLDERS = ['better-sqlite3/deps', 'better-sqlite3/src', 'bintrees/test', 'undici/docs'];
/** The two files that are served at /docs, and what has to come with them. */
const SWAGGER_FILES = [
  'package.json',
  'LICENSE',
  'NOTICE',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
];

function remove(target) {
  fs.rmSync(target, { recursive: true, force: true });
}

function removeAllBut(folder, keep) {
  if (!fs.existsSync(folder)) return;
  for (const name of fs.readdirSync(folder)) if (!keep(name)) remove(path.join(folder, name));
}

function removeSourceMaps(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const target = path.join(folder, entry.name);
    if (entry.isDirectory()) removeSourceMaps(target);
    else if (/\.[cm]?[jt]s\.map$/.test(entry.name)) remove(target);
  }
}

/** npm 9 does not read a package's `libc` and installs biome for glibc and musl. */
function removeOtherLibc(modules) {
  if (process.platform !== 'linux') return;
  const glibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  const isOurs = (name) => !name.startsWith('cli-') || name.endsWith('-musl') !== glibc;
  removeAllBut(path.join(modules, '@biomejs'), isOurs);
}

/** npm 9 and 10 leave the folders of packages that they passed over. */
function removeEmptyScopes(modules) {
  for (const name of fs.readdirSync(modules)) {
    const scope = path.join(modules, name);
    if (name.startsWith('@') && fs.readdirSync(scope).length === 0) fs.rmdirSync(scope);
  }
}

/** `addonAbi` is the module version of the Node that runs the checkout. */
exports.prune = function prune(modules, addonAbi) {
  const { platform, arch } = process;
  const addon = `uws_${platform}_${arch}_${addonAbi}.node`;
  removeAllBut(path.join(modules, 'uws-pack/dist/bin'), (name) => !name.endsWith('.node') || name === addon);
  const isOurs = (name) => name.startsWith(platform) && name.endsWith(`${arch}.node`);
  removeAllBut(path.join(modules, 'better-sqlite3/prebuilds'), isOurs);
  removeAllBut(path.join(modules, 'swagger-ui-dist'), (name) => SWAGGER_FILES.includes(name));
  removeAllBut(path.join(modules, `node-${platform}-${arch}`), (name) =>
    ['bin', 'LICENSE', 'package.json'].includes(name),
  );
  removeOtherLibc(modules);
  for (const name of [...UNUSED_PACKAGES, ...UNUSED_FOLDERS]) remove(path.join(modules, name));
  removeSourceMaps(modules);
  removeEmptyScopes(modules);
};
