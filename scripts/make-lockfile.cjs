// `npm run lockfile`: makes package-lock.json from package.json, in an empty folder, because npm leaves out
// optional packages of other platforms where a node_modules exists. Needs npm 10 or newer.
//
// hyper-express depends on a git tag of uWebSockets.js, which shims/uwebsockets stands in for. The override for
// that is only here: npm 9.2.0 (Debian 12 and 13) cannot compare any override with a dependency that is a git
// address, and then refuses the whole lockfile. Without an override, npm would fetch the git repository; so the
// lockfile that is kept does not have this one dependency of hyper-express. `npm ci` reads nothing else.
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const root = path.join(__dirname, '..');
const STAND_IN = 'uWebSockets.js';
/** An optional native addon of piscina for thread priorities, which we set by node:os: seventeen packages for nothing. */
const UNUSED_SCOPE = '@napi-rs/';

/**
 * mailauth pins one version of these. npm would give acme-client newer ones beside it, some of which share a copy with
 * the pinned ones and some not; but each copy knows only the ASN.1 types that were declared with it, so that no
 * certificate request could be made. Their ranges all allow this version.
 */
const ASN1_VERSION = '2.8.0';
const ASN1_PACKAGES = ['cms', 'csr', 'ecc', 'pfx', 'pkcs8', 'pkcs9', 'rsa', 'schema', 'x509', 'x509-attr'];

function isGit(spec) {
  return /^(?:git|github:|gitlab:|bitbucket:)/.test(spec);
}

/** Removes the dependency that the stand-in satisfies; any other git address is a mistake. */
function removeGitDependencies(lock) {
  for (const [location, entry] of Object.entries(lock.packages)) {
    for (const [name, spec] of Object.entries(entry.dependencies ?? {})) {
      if (!isGit(spec)) continue;
      if (name !== STAND_IN) throw new Error(`${location} depends on ${name} by a git address: ${spec}`);
      delete entry.dependencies[name];
    }
    // Which registry a package comes from is decided where it is installed.
    if (!entry.link) delete entry.resolved;
  }
}

function removeUnused(lock) {
  for (const [location, entry] of Object.entries(lock.packages)) {
    if (location.startsWith(`node_modules/${UNUSED_SCOPE}`)) delete lock.packages[location];
    const names = Object.keys(entry.optionalDependencies ?? {});
    const kept = names.filter((name) => !name.startsWith(UNUSED_SCOPE));
    if (kept.length === 0) delete entry.optionalDependencies;
    else for (const name of names) if (!kept.includes(name)) delete entry.optionalDependencies[name];
  }
}

function make(folder) {
  const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  manifest.overrides = { ...manifest.overrides, [STAND_IN]: `$${STAND_IN}` };
  for (const name of ASN1_PACKAGES) manifest.overrides[`@peculiar/asn1-${name}`] = ASN1_VERSION;
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  for (const name of ['package-lock.json', '.npmrc', 'shims'])
    fs.cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  const args = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit' });
  const lock = JSON.parse(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));
  removeGitDependencies(lock);
  removeUnused(lock);
  fs.writeFileSync(path.join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-lockfile-'));
try {
  make(folder);
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
