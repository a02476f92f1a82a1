// `npm run release` in two clones at different places, with another umask, time zone, language and home: all files are
// the same to the byte. Then what the release's page says about each file is followed: checksums, and the client
// libraries installed without a network. The .deb is tried by debian-package.test.ts.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { type Language, missingTools, openSite } from '../clients/language.ts';
import { go } from '../clients/languages/go.ts';
import { java } from '../clients/languages/java.ts';
import { node } from '../clients/languages/node.ts';
import { php } from '../clients/languages/php.ts';
import { python } from '../clients/languages/python.ts';
import { ruby } from '../clients/languages/ruby.ts';
import { readBlocks } from '../clients/read-blocks.ts';
import { copyCheckout, npmSettings } from '../support/clean-checkout.ts';
import { testFolder } from '../support/test-folder.ts';

const VERSION = '1.98.7';
const SOURCE = path.join(import.meta.dirname, '../..');
/** Debian's npm has no `npm sbom`. */
const NPM = 'npm@10.9.4';
const GO_MODULE = 'postrider.example/postrider-go';
const AUTHOR = ['-c', 'user.name=A test', '-c', 'user.email=test@example.org'];
/** How the page's line for a library begins. */
const INSTALLS: [Language, string][] = [
  [node, 'npm '],
  [python, 'pip '],
  [go, 'unzip -q '],
  [ruby, 'gem '],
  [php, 'composer '],
];

function missing(): string | false {
  const tools = [node, python, go, ruby, php, java].map(missingTools).filter((tool) => tool !== null);
  const hasZip = spawnSync('php', ['-r', 'exit(extension_loaded("zip") ? 0 : 1);']).status === 0;
  if (!hasZip) tools.push('Composer cannot read zip files: apt-get install php-zip');
  for (const name of ['dpkg-deb', 'unzip'])
    if (spawnSync(name, ['--help']).error) tools.push(`${name} is not here: apt-get install ${name.split('-')[0]}`);
  return tools.length > 0 && tools.join('; ');
}

function git(folder: string, ...args: string[]): void {
  execFileSync('git', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The steps of docs/releasing.md up to the release itself. */
function prepare(folder: string): void {
  copyCheckout(folder);
  execFileSync(process.execPath, ['packaging/release.ts', '--set-version', VERSION], { cwd: folder });
  for (const name of fs.globSync('{docs/changelog,clients/*/CHANGELOG}.md', { cwd: folder })) {
    const file = path.join(folder, name);
    const heading = name.startsWith('docs') ? `## ${VERSION} (2026-11-30)` : `## ${VERSION}`;
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/^(?=## )/m, `${heading}\n\n- No changes.\n\n`));
  }
  git(folder, 'init', '--quiet');
  git(folder, 'add', '--all');
  git(folder, ...AUTHOR, 'commit', '--quiet', '--message', VERSION);
}

interface Circumstances {
  out: string;
  umask: string;
  env: Record<string, string>;
}

/** As `npm run release` does, with no dependencies in the checkout: it needs none. */
function release(checkout: string, { out, umask, env }: Circumstances): void {
  const command = `umask ${umask}; exec "$0" packaging/release.ts --out "$1"`;
  execFileSync('sh', ['-c', command, process.execPath, out], { cwd: checkout, env, stdio: ['ignore', 'ignore', 2] });
}

function names(folder: string): string[] {
  return fs.readdirSync(folder).sort();
}

t.test('a release', { skip: missing() }, async (t) => {
  const folder = testFolder(t);
  const [first, second] = [path.join(folder, 'one'), path.join(folder, 'another/place')];
  const [out, again] = [path.join(folder, 'out'), path.join(folder, 'again')];
  const npm = path.join(folder, 'npm');
  const settings = await npmSettings();
  const plain = { ...settings, HOME: folder, PATH: `${npm}/node_modules/.bin:${process.env.PATH}` };
  execFileSync('npm', ['install', '--prefix', npm, '--ignore-scripts', '--no-audit', NPM], {
    env: { ...plain, PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 2],
  });
  prepare(first);
  execFileSync('sh', ['-c', 'umask 077; exec git clone --quiet "$0" "$1"', first, second]);

  release(first, { out, umask: '022', env: { ...plain, LANG: 'C', TZ: 'UTC' } });
  const other = { LANG: 'de_DE.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'Asia/Tokyo', HOME: second, NODE_ENV: 'production' };
  release(second, { out: again, umask: '077', env: { ...plain, ...other } });

  t.test('is the same to the byte when it is made again', async (t) => {
    t.same(names(again), names(out));
    t.equal(names(out).length, 15, names(out).join(' '));
    for (const name of names(out)) {
      const [one, two] = [out, again].map((place) => fs.readFileSync(path.join(place, name)));
      t.ok(one!.equals(two!), name);
    }
    git(first, 'diff', '--exit-code', 'HEAD');
  });

  t.test('has a checksum of every file, and a page that names it', async (t) => {
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, stdio: 'pipe' });
    const summed = fs.readFileSync(path.join(out, 'SHA256SUMS'), 'utf8').match(/(?<= {2}).*/g) ?? [];
    const files = names(out).filter((name) => name !== 'SHA256SUMS' && name !== 'RELEASE.md');
    t.same(summed, files, 'sorted');
    const page = fs.readFileSync(path.join(out, 'RELEASE.md'), 'utf8');
    for (const name of files) t.match(page, `| \`${name}\` | ${fs.statSync(path.join(out, name)).size} |`);
    t.match(page, /## Changes\n\n- No changes\.\n$/, "of this version's section only");
  });

  t.test('has a package of its version', async (t) => {
    const [deb = ''] = names(out).filter((name) => name.endsWith('.deb'));
    t.equal(
      execFileSync('dpkg-deb', ['--field', path.join(out, deb), 'Version'], { encoding: 'utf8' }).trim(),
      VERSION,
    );
  });

  t.test('has a list of everything that is inside', async (t) => checkSbom(t, out));

  for (const [language, begin] of INSTALLS)
    t.test(`installs the ${language.title} library as the page says`, async (t) =>
      followPage(t, { out, language, begin }),
    );
  t.test('has a Go module that a module proxy can serve', async (t) => serveModule(t, out));
  t.test('has a jar', async (t) => useJar(t, out));
});

interface Sbom {
  bomFormat: string;
  specVersion: string;
  serialNumber: string;
  metadata: { timestamp: string; component: { name: string; version: string; type: string } };
  components: { 'bom-ref': string; name: string; version: string; purl: string; hashes?: object[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

async function checkSbom(t: Test, out: string): Promise<void> {
  const sbom = JSON.parse(fs.readFileSync(path.join(out, `postrider-${VERSION}.cdx.json`), 'utf8')) as Sbom;
  t.equal(sbom.bomFormat, 'CycloneDX');
  t.match(sbom.specVersion, /^1\.\d$/);
  t.match(sbom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.match(sbom.metadata.component, { name: 'postrider', version: VERSION, type: 'application' });
  const { packages } = JSON.parse(fs.readFileSync(path.join(SOURCE, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; dev?: boolean; link?: boolean }>;
  };
  const production = Object.entries(packages)
    .filter(([place, { dev, link }]) => place.includes('node_modules/') && !dev && !link)
    .map(([place, { version }]) => `${place.split('node_modules/').at(-1)}@${version}`);
  const listed = sbom.components.map(({ name, version }) => `${name}@${version}`);
  for (const name of production) t.ok(listed.includes(name), name);
  t.ok(production.length > 50, `${production.length} packages`);
  t.notOk(
    listed.some((name) => /^(?:tap|typescript|playwright-core)@/.test(name)),
    'no development tool',
  );
  const refs = new Set([`postrider@${VERSION}`, ...sbom.components.map((component) => component['bom-ref'])]);
  const edges = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
  t.same(
    edges.filter((ref) => !refs.has(ref)),
    [],
    'dependencies are of what is listed',
  );
}

interface Followed {
  out: string;
  language: Language;
  begin: string;
}

async function followPage(t: Test, { out, language, begin }: Followed): Promise<void> {
  const [block] = readBlocks(fs.readFileSync(path.join(out, 'RELEASE.md'), 'utf8'), 'bash');
  const line = block!.code.split('\n').find((text) => text.startsWith(begin));
  if (line === undefined) throw new Error(`the page has no line "${begin}…"`);
  if ('cannot' in language.fromCheckout) throw new Error(language.fromCheckout.cannot);
  const folder = testFolder(t);
  const project = path.join(folder, 'project');
  fs.cpSync(out, project, { recursive: true, filter: (name) => !name.endsWith('.deb') });
  for (const [file, text] of Object.entries(language.fromCheckout.project))
    fs.writeFileSync(path.join(project, file), text);
  const { run } = openSite(out, project);
  const env = language.fromCheckout.env(folder);
  await run('bash', ['-eu', '-c', line], { env });
  const [command, ...args] = language.fromCheckout.loads;
  t.match(await run(command, args, { env }), /loaded/, line);
  if (language !== python) return;
  const sources = ['-m', 'pip', 'install', '--target', 'from-sources', `./postrider_client-${VERSION}.tar.gz`];
  await run(command, sources, { env });
  t.ok(fs.existsSync(path.join(project, 'from-sources/postrider/__init__.py')), 'and its source distribution');
}

/** `go` checks names and sizes in the zip file when it unpacks it (golang.org/x/mod/zip). */
async function serveModule(t: Test, out: string): Promise<void> {
  const folder = testFolder(t);
  const version = `v${VERSION}`;
  const place = path.join(folder, 'proxy', GO_MODULE, '@v');
  fs.mkdirSync(place, { recursive: true });
  const archive = path.join(out, `postrider-go-${version}.zip`);
  fs.copyFileSync(archive, path.join(place, `${version}.zip`));
  const manifest = execFileSync('unzip', ['-p', archive, `${GO_MODULE}@${version}/go.mod`]);
  fs.writeFileSync(path.join(place, `${version}.mod`), manifest);
  fs.writeFileSync(path.join(place, `${version}.info`), JSON.stringify({ Version: version }));
  fs.writeFileSync(path.join(place, 'list'), `${version}\n`);
  const user = path.join(folder, 'user');
  fs.mkdirSync(user);
  if ('cannot' in go.fromCheckout) throw new Error(go.fromCheckout.cannot);
  for (const [file, text] of Object.entries(go.fromCheckout.project)) fs.writeFileSync(path.join(user, file), text);
  const { run } = openSite(out, user);
  const env = { ...go.fromCheckout.env(folder), GOPROXY: `file://${path.join(folder, 'proxy')}`, GOSUMDB: 'off' };
  await run('go', ['get', `${GO_MODULE}@latest`], { env });
  t.equal(await run('sh', ['-c', 'go run . 2>&1'], { env }), `loaded ${VERSION}\n`);
  t.match(await run('go', ['mod', 'verify'], { env }), 'all modules verified');
}

async function useJar(t: Test, out: string): Promise<void> {
  const folder = testFolder(t);
  const code =
    'class Use { public static void main(String[] a) { System.out.println(dev.postrider.Postrider.VERSION); } }';
  fs.writeFileSync(path.join(folder, 'Use.java'), code);
  const { run } = openSite(out, folder);
  const jar = path.join(out, `postrider-client-${VERSION}.jar`);
  await run('javac', ['-cp', jar, 'Use.java']);
  t.equal(await run('java', ['-cp', `${jar}${path.delimiter}.`, 'Use']), `${VERSION}\n`);
  t.match(await run('jar', ['--describe-module', '--file', jar]), 'dev.postrider');
  const inside = (kind: string) => run('jar', ['--list', '--file', jar.replace(/\.jar$/, `-${kind}.jar`)]);
  t.match(await inside('sources'), /^dev\/postrider\/Postrider\.java$/m);
  t.match(await inside('javadoc'), /^dev\/postrider\/Postrider\.html$/m);
}
