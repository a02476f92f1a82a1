// `npm run package`: makes the Debian package postrider_VERSION_ARCHITECTURE.deb of this machine's architecture with
// dpkg-deb, which every Debian has. Twice the same checkout gives the same bytes: times are those of the last commit,
// dependencies come from the lockfile. Options: --out DIR, --version VERSION, --compression xz|gzip|none.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { enabledUnits, layOut, packed } from './debian-tree.ts';
import type { Edition } from './manual-pages.ts';

const ROOT = path.join(import.meta.dirname, '..');
/** Or the source archive of a release. */
const IS_CLONE = fs.existsSync(path.join(ROOT, '.git'));
const DEBIAN = path.join(import.meta.dirname, 'debian');
/** Whose packages of the runtime and of both native addons exist. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };
const SCRIPTS = ['postinst', 'prerm', 'postrm'];
/** As other Debian tools take it from who builds. Without it, a name that no mail can be sent to. */
const MAINTAINER = `${process.env.DEBFULLNAME ?? 'The Postrider authors'} <${process.env.DEBEMAIL ?? 'postrider@example.org'}>`;
const PROGRAMS =
  /\/(?:usr\/lib\/postrider\/bin\/postrider|node_modules\/node-[^/]+\/bin\/node|DEBIAN\/(?:postinst|prerm|postrm))$/;

interface Wanted {
  edition: Edition;
  architecture: string;
  out: string;
  compression: string;
}

function readWanted(): Wanted {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: ROOT },
      version: { type: 'string', default: readVersion() },
      compression: { type: 'string', default: 'xz' },
    },
  });
  const architecture = ARCHITECTURES[process.arch];
  if (process.platform !== 'linux' || architecture === undefined)
    throw new Error(`no runtime is packaged for ${process.platform} ${process.arch}; amd64 and arm64 work`);
  // Policy section 5.6.12; it becomes part of a file's name.
  if (!/^\d[A-Za-z0-9.+~]*$/.test(values.version)) throw new Error(`"${values.version}" is not a version`);
  const { out, compression } = values;
  return {
    edition: { version: values.version, epoch: lastChange() },
    architecture,
    out: path.resolve(out),
    compression,
  };
}

function readVersion(): string {
  return (JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

/** In seconds since 1970 (reproducible-builds.org). In a release's source archive each file has the commit's time. */
function lastChange(): number {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined) return Number(given);
  if (!IS_CLONE) return Math.floor(fs.statSync(path.join(ROOT, 'package.json')).mtimeMs / 1000);
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }));
}

/** What git has; without git, what was unpacked, in whole folders. */
function sourceNames(): string[] {
  if (!IS_CLONE) return fs.readdirSync(ROOT).filter((name) => !/^(?:node_modules|\.deps-install.*)$/.test(name));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  return listed.toString().split('\0');
}

/** The sources, and production dependencies, in a folder of its own: the checkout may have tools and a cache. */
function installCheckout(folder: string): void {
  for (const name of sourceNames()) {
    const from = path.join(ROOT, name);
    if (name === '' || !fs.existsSync(from)) continue;
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.cpSync(from, path.join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
  execFileSync(process.execPath, [path.join(folder, 'scripts/ensure-deps.cjs')], { stdio: 'inherit' });
}

/** Everything below a folder in one order, folders before what is in them. */
function entriesOf(folder: string, below = ''): string[] {
  const entries = fs.readdirSync(path.join(folder, below), { withFileTypes: true });
  return entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const name = path.join(below, entry.name);
      return entry.isDirectory() ? [name, ...entriesOf(folder, name)] : [name];
    });
}

/** Modes and times say nothing of this machine and of this day. */
function settle(tree: string, epoch: number): void {
  for (const name of ['.', ...entriesOf(tree)]) {
    const target = path.join(tree, name);
    const stats = fs.lstatSync(target);
    if (!stats.isSymbolicLink()) fs.chmodSync(target, stats.isDirectory() || PROGRAMS.test(target) ? 0o755 : 0o644);
    fs.lutimesSync(target, epoch, epoch);
  }
}

interface Contents {
  installedKib: number;
  sums: string;
}

function readContents(tree: string): Contents {
  let installedKib = 0;
  const sums: string[] = [];
  for (const name of entriesOf(tree)) {
    const stats = fs.lstatSync(path.join(tree, name));
    // As dpkg-gencontrol counts: whole KiB of each file, one for anything else.
    installedKib += stats.isFile() ? Math.ceil(stats.size / 1024) : 1;
    if (!stats.isFile() || name.startsWith('etc/')) continue;
    sums.push(
      `${createHash('md5')
        .update(fs.readFileSync(path.join(tree, name)))
        .digest('hex')}  ${name}\n`,
    );
  }
  return { installedKib, sums: sums.join('') };
}

function changelog({ edition: { version, epoch } }: Wanted): string {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000');
  const entry = `  * Version ${version}; changelog.md in this folder says what has changed.`;
  return `postrider (${version}) unstable; urgency=medium\n\n${entry}\n\n -- ${MAINTAINER}  ${date}\n`;
}

function writeControl(tree: string, checkout: string, wanted: Wanted): void {
  const { installedKib, sums } = readContents(tree);
  const control = path.join(tree, 'DEBIAN');
  fs.mkdirSync(control);
  const facts: Record<string, string> = {
    VERSION: wanted.edition.version,
    ARCHITECTURE: wanted.architecture,
    MAINTAINER,
    INSTALLED_SIZE: String(installedKib),
    UNITS: enabledUnits(checkout).join(' '),
  };
  for (const name of ['control', ...SCRIPTS]) {
    const text = fs.readFileSync(path.join(DEBIAN, name), 'utf8');
    fs.writeFileSync(
      path.join(control, name),
      text.replace(/@([A-Z_]+)@/g, (_, fact: string) => facts[fact]!),
    );
  }
  fs.writeFileSync(path.join(control, 'conffiles'), '/etc/postrider/postrider.toml\n');
  fs.writeFileSync(path.join(control, 'md5sums'), sums);
}

async function build(work: string): Promise<string> {
  const wanted = readWanted();
  const { edition, architecture, out, compression } = wanted;
  const [checkout, tree] = [path.join(work, 'checkout'), path.join(work, 'tree')];
  installCheckout(checkout);
  await layOut({ checkout, tree, edition });
  const log = path.join(tree, 'usr/share/doc/postrider/changelog.gz');
  fs.writeFileSync(log, packed(changelog(wanted)));
  writeControl(tree, checkout, wanted);
  settle(tree, edition.epoch);
  const file = path.join(out, `postrider_${edition.version}_${architecture}.deb`);
  fs.mkdirSync(out, { recursive: true });
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', tree, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(edition.epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return file;
}

/** Not in /tmp, which may be a memory file system: checkout and tree take 350 MB. */
const work = fs.mkdtempSync(path.join(process.env.TMPDIR || '/var/tmp', 'postrider-package-'));
try {
  console.log(await build(work));
} finally {
  fs.rmSync(work, { recursive: true, force: true });
}
