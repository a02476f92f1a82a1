// `npm run release`: makes all files of a release from the last commit, and publishes nothing (docs/releasing.md).
// Options: --out DIR, --only PART,PART, and --set-version X.Y.Z, which only writes the version wherever it is named.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CHANGELOG, changelogProblems, readSection } from './release/changelog.ts';
import { CLIENT_PARTS } from './release/clients.ts';
import { releasePage } from './release/page.ts';
import { type Commit, type Part, StepFailure } from './release/part.ts';
import { SERVICE_PARTS } from './release/service.ts';
import { isVersion, readVersion, setVersion, versionProblems } from './release/versions.ts';

const ROOT = path.join(import.meta.dirname, '..');
const PARTS: Part[] = [...SERVICE_PARTS, ...CLIENT_PARTS];
const SUMS = 'SHA256SUMS';
const PAGE = 'RELEASE.md';
const MAX_SHOWN_CHANGES = 5;
const MAX_ARCHIVE_BYTES = 2 ** 30;

interface Wanted {
  parts: Part[];
  out: string;
}

/** What to do, one sentence each. */
class Refusal extends Error {
  constructor(problems: readonly string[]) {
    super(problems.map((problem) => `release: ${problem}`).join('\n'));
  }
}

function readArguments() {
  const options = { out: { type: 'string' }, only: { type: 'string' }, 'set-version': { type: 'string' } } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new Refusal([(error as Error).message]);
  }
}

function readWanted(): Wanted | { version: string } {
  const { out = path.join(ROOT, 'dist'), only, 'set-version': version } = readArguments();
  if (version !== undefined) {
    if (!isVersion(version)) throw new Refusal([`"${version}" must be a version like 1.2.3.`]);
    return { version };
  }
  const known = PARTS.map(({ name }) => name);
  const names = only?.split(',') ?? known;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Refusal([`--only ${unknown.join(',')}: the parts are ${known.join(', ')}.`]);
  return { parts: PARTS.filter(({ name }) => names.includes(name)), out: path.resolve(out) };
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}

function checkoutProblems(): string[] {
  if (!fs.existsSync(path.join(ROOT, '.git')))
    return [`${ROOT} is not a clone of the repository; a release needs one.`];
  const changes = git('status', '--porcelain').split('\n').filter(Boolean);
  if (changes.length === 0) return [];
  const more = changes.length > MAX_SHOWN_CHANGES ? ` and ${changes.length - MAX_SHOWN_CHANGES} more` : '';
  const names = changes.slice(0, MAX_SHOWN_CHANGES).map((line) => line.slice(3));
  return [`${names.join(', ')}${more}: not committed. Commit, stash or delete this first.`];
}

function outProblems(out: string): string[] {
  if (!fs.existsSync(out)) return [];
  if (!fs.statSync(out).isDirectory()) return [`${out} is not a folder: choose one with --out.`];
  if (fs.readdirSync(out).length === 0) return [];
  return [`${out} is not empty: delete it, or choose another folder with --out.`];
}

function toolProblems(parts: readonly Part[]): string[] {
  return parts.flatMap(({ name, tools }) =>
    tools
      .filter(({ check: [command, ...args] }) => !succeeds(command, args))
      .map(({ check, install }) => `${name} needs ${check.join(' ')}, which failed: ${install}`),
  );
}

function succeeds(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The user's settings of git must not change a byte: line ends, attributes, modes. */
function archiveCommit(work: string, version: string): { archive: string; source: string } {
  const settings = ['core.autocrlf=false', 'core.eol=lf', 'core.attributesFile=/dev/null', 'tar.umask=0022'];
  const options = ['--format=tar', `--prefix=postrider-${version}/`, 'HEAD'];
  const [archive, source] = [path.join(work, 'commit.tar'), path.join(work, 'commit')];
  const args = [...settings.flatMap((setting) => ['-c', setting]), 'archive', ...options];
  fs.writeFileSync(archive, execFileSync('git', args, { cwd: ROOT, maxBuffer: MAX_ARCHIVE_BYTES }));
  fs.mkdirSync(source);
  execFileSync('tar', ['-xf', archive, '-C', source, '--strip-components=1']);
  return { archive, source };
}

function checksums(folder: string): string {
  const sum = (name: string) =>
    createHash('sha256')
      .update(fs.readFileSync(path.join(folder, name)))
      .digest('hex');
  const names = fs.readdirSync(folder).sort();
  return names.map((name) => `${sum(name)}  ${name}\n`).join('');
}

function makeRelease(work: string, parts: readonly Part[]): string {
  const version = readVersion(ROOT);
  const [id = '', epoch] = git('log', '-1', '--format=%H %ct').trim().split(' ');
  const commit: Commit = { id, epoch: Number(epoch) };
  const { archive, source } = archiveCommit(work, version);
  const out = path.join(work, 'out');
  fs.mkdirSync(out);
  for (const part of parts) {
    console.error(`release: making ${part.name}`);
    const place = path.join(work, part.name);
    fs.mkdirSync(place);
    part.make({ archive, source, work: place, out, version, commit });
  }
  const sums = checksums(out);
  const files = fs
    .readdirSync(out)
    .sort()
    .map((name) => ({ name, bytes: fs.statSync(path.join(out, name)).size }));
  const section = readSection(fs.readFileSync(path.join(source, CHANGELOG), 'utf8'), version)!;
  fs.writeFileSync(path.join(out, SUMS), sums);
  fs.writeFileSync(path.join(out, PAGE), releasePage({ version, commit, section, files }));
  return out;
}

function release({ parts, out }: Wanted): void {
  const problems = [
    ...checkoutProblems(),
    ...versionProblems(ROOT),
    ...changelogProblems(ROOT, readVersion(ROOT)),
    ...outProblems(out),
    ...toolProblems(parts),
  ];
  if (problems.length > 0) throw new Refusal(problems);
  // Not in /tmp, which may be a memory file system: the Debian package alone takes 700 MB.
  const work = fs.mkdtempSync(path.join(process.env.TMPDIR || '/var/tmp', 'postrider-release-'));
  try {
    fs.cpSync(makeRelease(work, parts), out, { recursive: true });
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
  for (const name of fs.readdirSync(out).sort()) console.log(path.join(out, name));
}

// Archives have the modes of the files that are packed.
process.umask(0o022);
try {
  const wanted = readWanted();
  if ('parts' in wanted) release(wanted);
  else for (const file of setVersion(ROOT, wanted.version)) console.log(file);
} catch (error) {
  const isTold = error instanceof Refusal || error instanceof StepFailure;
  console.error(isTold ? error.message : error);
  process.exitCode = 1;
}
