// `npm run release` without what takes long: one version everywhere, what it refuses and what it says then, and a
// release of the source archive alone. test/nightly/release.test.ts makes all of it, twice.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { readSection } from '../../../packaging/release/changelog.ts';
import { GO_MODULE, releasePage } from '../../../packaging/release/page.ts';
import { isVersion, readVersion, setVersion, versionProblems } from '../../../packaging/release/versions.ts';
import { zip } from '../../../packaging/release/zip.ts';
import { findTool } from '../../clients/language.ts';
import { testFolder } from '../../support/test-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const VERSION = readVersion(ROOT);
const OTHER = '1.98.7';
/** Who commits is told by the environment: the machine need not have a name for it. */
const AUTHOR = { NAME: 'A test', EMAIL: 'test@example.org' };
const GIT_ENV = Object.fromEntries(
  Object.entries(AUTHOR).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ]),
);
/** What a release reads before it makes anything, and where a version could be. */
const COPIED = ['clients', 'docs', 'packaging', 'schema/openapi.json', 'schema/openapi.yaml'];
const COPIED_FILES = ['.gitignore', 'package.json', 'package-lock.json', 'README.md'];

/** Takes the test's folder: others lie beside it. */
function copyOfSources(t: Test): string {
  const folder = path.join(testFolder(t), 'copy');
  for (const name of [...COPIED, ...COPIED_FILES])
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  return folder;
}

function filesWith(folder: string, text: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/\/__pycache__\//.test(file) && fs.readFileSync(file, 'utf8').includes(text))
    .map((file) => path.relative(folder, file))
    .sort();
}

function change(folder: string, name: string, from: string | RegExp, to: string): void {
  const file = path.join(folder, name);
  const before = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, before.replace(from, to));
}

function release(folder: string, args: string[], env: Record<string, string> = {}) {
  const script = path.join(folder, 'packaging/release.ts');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, ...args],
    { encoding: 'utf8', env: { ...process.env, ...env } },
  );
  return { status, stdout, stderr };
}

/** A repository with one commit that can be released. */
function newRepository(t: Test): string {
  const folder = copyOfSources(t);
  change(folder, 'docs/changelog.md', /^## .*$/m, `## ${VERSION} (2026-11-30)`);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, env: { ...process.env, ...GIT_ENV }, stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A release');
  return folder;
}

t.test('every file that names the version has that of package.json', async (t) => {
  t.same(versionProblems(ROOT), []);
});

t.test('--set-version writes the version wherever it is named', async (t) => {
  const folder = copyOfSources(t);
  const { status, stdout } = release(folder, ['--set-version', OTHER]);
  t.equal(status, 0);
  t.equal(readVersion(folder), OTHER);
  t.same(versionProblems(folder), []);
  // Pages only show versions in examples.
  const isHistory = (file: string) => file.startsWith('docs/') || file.endsWith('/CHANGELOG.md');
  const named = filesWith(folder, OTHER);
  t.same(stdout.trim().split('\n').sort(), named, 'and says where');
  const left = filesWith(folder, VERSION).filter((file) => !isHistory(file));
  const parts = left.filter((file) => !versionsOfOthers(fs.readFileSync(path.join(folder, file), 'utf8')));
  t.same(parts, [], 'nothing else has it');
  setVersion(folder, VERSION);
  for (const file of named)
    t.ok(fs.readFileSync(path.join(folder, file)).equals(fs.readFileSync(path.join(ROOT, file))), file);
});

/** The lockfile has packages that happen to have the same version, and there are IP addresses. */
function versionsOfOthers(text: string): boolean {
  const escaped = VERSION.replaceAll('.', '\\.');
  return !new RegExp(`(?<![\\d.])${escaped}(?![\\d.])`).test(text) || text.includes('"lockfileVersion"');
}

t.test("Go's module has the path of its major version", async (t) => {
  const folder = copyOfSources(t);
  setVersion(folder, '2.0.0');
  const told = `clients/go/go.mod: the path of version 2 must end in /v2. Change it wherever "${GO_MODULE}" is named.`;
  t.same(versionProblems(folder), [told]);
  change(folder, 'clients/go/go.mod', GO_MODULE, `${GO_MODULE}/v2`);
  t.same(versionProblems(folder), []);
});

t.test('a version that is not of the form is refused', async (t) => {
  for (const version of ['1.2', 'v1.2.3', '1.2.3-rc.1', '01.2.3', '']) t.notOk(isVersion(version), version);
  const folder = copyOfSources(t);
  const { status, stderr } = release(folder, ['--set-version', 'v1.2.3']);
  t.equal(status, 1);
  t.equal(stderr, 'release: "v1.2.3" must be a version like 1.2.3.\n');
  t.equal(readVersion(folder), VERSION);
});

t.test('a release says everything that is in its way', async (t) => {
  const folder = newRepository(t);
  setVersion(folder, OTHER);
  change(folder, 'clients/go/doc.go', OTHER, VERSION);
  fs.mkdirSync(path.join(folder, 'dist'));
  fs.writeFileSync(path.join(folder, 'dist/old.deb'), '');
  const { status, stdout, stderr } = release(folder, ['--only', 'source']);
  t.equal(status, 1);
  t.equal(stdout, '');
  const lines = stderr.trim().split('\n');
  t.match(lines[0], / and \d+ more: not committed\. Commit, stash or delete this first\.$/);
  t.match(stderr, `clients/go/doc.go has version ${VERSION}, package.json has ${OTHER}: npm run release`);
  t.match(stderr, `docs/changelog.md says nothing about ${OTHER}`);
  t.match(stderr, `clients/ruby/CHANGELOG.md says nothing about ${OTHER}`);
  t.match(stderr, /dist is not empty: delete it, or choose another folder with --out\./);
  for (const line of lines) t.match(line, /^release: /);
});

t.test('a version is not released while the changelog calls it unreleased', async (t) => {
  const folder = newRepository(t);
  change(folder, 'docs/changelog.md', /^## .*$/m, `## ${VERSION} (unreleased)`);
  fs.writeFileSync(path.join(folder, 'new.txt'), '');
  const { status, stderr } = release(folder, ['--only', 'source', '--out', path.join(folder, 'new.txt')]);
  t.equal(status, 1);
  t.match(stderr, 'release: docs/changelog.md, new.txt: not committed.', 'a new file is a change, too');
  t.match(stderr, 'new.txt is not a folder: choose one with --out.');
  t.match(stderr, `must have the day of the release: "## ${VERSION} (YYYY-MM-DD)"`);
});

t.test("each missing tool is named with Debian's package", async (t) => {
  const folder = newRepository(t);
  const bin = path.join(folder, '../bin');
  fs.mkdirSync(bin);
  for (const name of ['git', 'tar']) fs.symlinkSync(findTool(name)!, path.join(bin, name));
  const { status, stderr } = release(folder, [], { PATH: bin });
  t.equal(status, 1);
  const packages = ['dpkg', 'npm', 'golang-go', 'ruby', 'default-jdk-headless', 'composer php-cli'];
  for (const name of packages) t.match(stderr, new RegExp(`which failed: apt-get install ${name}$`, 'm'));
  t.notOk(fs.existsSync(path.join(folder, 'dist')));
});

t.test('wrong arguments', async (t) => {
  const folder = copyOfSources(t);
  t.match(release(folder, ['--only', 'source,rpm']).stderr, /^release: --only rpm: the parts are source, deb, /);
  t.match(release(folder, ['--publish']).stderr, /^release: Unknown option '--publish'/);
  t.match(release(folder, ['--only', 'source']).stderr, /is not a clone of the repository/);
});

t.test('a release of the source archive', async (t) => {
  const folder = newRepository(t);
  const out = path.join(folder, '../out');
  const { status, stdout, stderr } = release(folder, ['--only', 'source', '--out', out]);
  t.equal(status, 0, stderr);
  const archive = `postrider-${VERSION}.tar.gz`;
  const files = ['RELEASE.md', 'SHA256SUMS', archive];
  t.same(
    stdout.trim().split('\n'),
    files.map((name) => path.join(out, name)),
  );
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, stdio: 'pipe' });
  const options = { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } } as const;
  const listed = execFileSync('tar', ['--full-time', '-tvf', path.join(out, archive)], options)
    .trim()
    .split('\n');
  const epoch = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: folder, encoding: 'utf8' });
  const time = new Date(Number(epoch) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  t.ok(listed.length > 100, `${listed.length} entries`);
  for (const line of listed) {
    t.match(line, /^(?:drwxr-xr-x|-rw[x-]r-[x-]r-[x-]) root\/root/);
    t.ok(line.includes(`${time} postrider-${VERSION}/`), line);
  }
  const page = fs.readFileSync(path.join(out, 'RELEASE.md'), 'utf8');
  t.match(page, `# Postrider ${VERSION}\n\n2026-11-30, commit \``);
  t.match(page, `| \`${archive}\` | ${fs.statSync(path.join(out, archive)).size} | source archive |`);
});

t.test("a changelog's section", async (t) => {
  const text = '# Changelog\n\n## 1.10.0 (2026-12-01)\n\n- New.\n  More.\n\n## 1.1.0\n\n- Old.\n';
  t.same(readSection(text, '1.10.0'), { remark: '2026-12-01', body: '- New.\n  More.' });
  t.same(readSection(text, '1.1.0'), { remark: '', body: '- Old.' });
  t.equal(readSection(text, '1.1'), null);
});

t.test('the page says how each file is installed', async (t) => {
  const names = ['postrider_1.2.3_amd64.deb', 'postrider-client-1.2.3.jar', 'postrider-client-1.2.3-javadoc.jar'];
  const page = releasePage({
    version: '1.2.3',
    commit: { id: 'abc', epoch: 0 },
    section: { remark: '2026-12-01', body: '- New.' },
    files: names.map((name) => ({ name, bytes: 7 })),
  });
  t.match(page, /^apt install \.\/postrider_1\.2\.3_amd64\.deb$/m);
  t.match(page, /^mvn .*-Dfile=postrider-client-1\.2\.3\.jar -DpomFile=postrider-client-1\.2\.3\.pom$/m);
  t.equal(page.match(/^mvn/gm)?.length, 1);
  t.match(page, '| `postrider-client-1.2.3-javadoc.jar` | 7 | client library for Java: documentation |');
  t.match(page, /## Changes\n\n- New\.\n$/);
});

t.test('a zip file has one time, and the modes of plain files', async (t) => {
  const entries = [
    { name: 'a/ü.txt', content: Buffer.from('text '.repeat(100)) },
    { name: 'empty', content: Buffer.alloc(0) },
  ];
  const file = path.join(testFolder(t), 'made.zip');
  fs.writeFileSync(file, zip(entries, Date.UTC(2026, 10, 30, 13, 14, 16) / 1000));
  const script = `import sys, zipfile
for entry in (archive := zipfile.ZipFile(sys.argv[1])).infolist():
    print(entry.filename, entry.date_time, oct(entry.external_attr >> 16), len(archive.read(entry)))`;
  const python = findTool('/usr/bin/python3') ?? 'python3';
  const listed = execFileSync(python, ['-c', script, file], { encoding: 'utf8', env: { PYTHONUTF8: '1' } });
  const facts = '(2026, 11, 30, 13, 14, 16) 0o100644';
  t.equal(listed, `a/ü.txt ${facts} 500\nempty ${facts} 0\n`);
});
