// The parts of a release that are client libraries, each packed by the tools of its language. Where those write times,
// owners or an order of their own into the archive, its files are packed again.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { GO_MODULE } from './page.ts';
import { copySource, gzip, type Part, readTree, run, type Site } from './part.ts';
import { zip } from './zip.ts';

/** Debian's, if there is one: another Python that comes first in PATH does not see Debian's packages. */
const PYTHON = fs.existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const JDK = 'apt-get install default-jdk-headless';

export const CLIENT_PARTS: Part[] = [
  { name: 'node', tools: [{ check: ['npm', '--version'], install: 'apt-get install npm' }], make: makeNode },
  {
    name: 'python',
    tools: [
      { check: [PYTHON, '--version'], install: 'apt-get install python3' },
      {
        check: [PYTHON, '-W', 'ignore', '-c', 'import setuptools.build_meta, wheel'],
        install: 'apt-get install python3-setuptools python3-wheel',
      },
    ],
    make: makePython,
  },
  { name: 'go', tools: [{ check: ['go', 'version'], install: 'apt-get install golang-go' }], make: makeGo },
  { name: 'ruby', tools: [{ check: ['gem', '--version'], install: 'apt-get install ruby' }], make: makeRuby },
  {
    name: 'java',
    tools: ['javac', 'javadoc'].map((name) => ({ check: [name, '--version'], install: JDK })),
    make: makeJava,
  },
  {
    name: 'php',
    tools: [{ check: ['composer', '--version', '--no-interaction'], install: 'apt-get install composer php-cli' }],
    make: makePhp,
  },
];

function makeNode(site: Site): void {
  const options = ['--ignore-scripts', '--offline', '--pack-destination', site.out];
  run(site, ['npm', 'pack', ...options], { cwd: copySource(site, 'clients/node') });
}

/** A wheel can be made twice as it is. A sdist has the times of its generated files, and the user's name. */
function makePython(site: Site): void {
  const { work, out, version } = site;
  const cwd = copySource(site, 'clients/python');
  const build = 'import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])';
  run(site, [PYTHON, '-W', 'ignore', '-c', build, out], { cwd });
  const [made, unpacked] = [path.join(work, 'made'), path.join(work, 'unpacked')];
  for (const folder of [made, unpacked]) fs.mkdirSync(folder);
  run(site, [PYTHON, '-W', 'ignore', '-c', build.replace('build_wheel', 'build_sdist'), made], { cwd });
  run(site, ['tar', '-xf', path.join(made, fs.readdirSync(made)[0]!), '-C', unpacked]);
  // PEP 625; older versions of setuptools leave the hyphen.
  const name = `postrider_client-${version}`;
  fs.renameSync(path.join(unpacked, fs.readdirSync(unpacked)[0]!), path.join(unpacked, name));
  fs.writeFileSync(path.join(out, `${name}.tar.gz`), gzip(tar(site, unpacked, name)));
}

function tar({ commit }: Site, folder: string, name: string): Buffer {
  const order = ['--sort=name', `--mtime=@${commit.epoch}`, '--format=ustar'];
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  return execFileSync('tar', [...order, ...owner, '-C', folder, '-cf', '-', name], { maxBuffer: 2 ** 28 });
}

/** The library's own command lays out what a module proxy serves; the zip file is part of that. */
function makeGo(site: Site): void {
  const { work, out, version } = site;
  const cwd = copySource(site, 'clients/go');
  // Writable, so that the folder can be deleted; and no other version of Go than the machine's.
  const env = { GOPROXY: 'off', GOFLAGS: '-modcacherw', GOTOOLCHAIN: 'local' };
  run(site, ['go', 'run', './conformance/pack', path.join(work, 'proxy')], { cwd, env });
  const packed = path.join(work, 'proxy', GO_MODULE, '@v', `v${version}.zip`);
  fs.copyFileSync(packed, path.join(out, `postrider-go-v${version}.zip`));
}

function makeRuby(site: Site): void {
  const cwd = copySource(site, 'clients/ruby');
  const gem = path.join(site.out, `postrider-client-${site.version}.gem`);
  run(site, ['gem', 'build', 'postrider-client.gemspec', '--output', gem], { cwd });
}

/** What pom.xml describes, without Maven: its plugins would have to be fetched, and Debian has other versions of them. */
function makeJava(site: Site): void {
  const { work, out, version, commit } = site;
  const home = copySource(site, 'clients/java');
  const main = path.join(home, 'src/main/java');
  const [classes, pages] = [path.join(work, 'classes'), path.join(work, 'javadoc')];
  const sources = readTree(main).filter(({ name }) => name.endsWith('.java'));
  const compile = ['--release', '11', '-encoding', 'UTF-8', '-d', classes];
  run(site, ['javac', ...compile, ...sources.map(({ name }) => path.join(main, name))]);
  const packages = ['-subpackages', 'dev.postrider', '-exclude', 'dev.postrider.internal'];
  const options = ['-quiet', '-notimestamp', '-locale', 'en', '-encoding', 'UTF-8', '-docencoding', 'UTF-8'];
  run(site, ['javadoc', ...options, '-d', pages, '-sourcepath', main, ...packages]);

  const license = { name: 'META-INF/LICENSE', content: fs.readFileSync(path.join(home, 'LICENSE')) };
  const manifest = (...lines: string[]) => ({
    name: 'META-INF/MANIFEST.MF',
    content: Buffer.from(['Manifest-Version: 1.0', ...lines, '', ''].join('\r\n')),
  });
  const base = path.join(out, `postrider-client-${version}`);
  const write = (suffix: string, folder: string, ...lines: string[]) =>
    fs.writeFileSync(`${base}${suffix}`, zip([manifest(...lines), license, ...readTree(folder)], commit.epoch));
  write('.jar', classes, 'Automatic-Module-Name: dev.postrider');
  write('-sources.jar', main);
  write('-javadoc.jar', pages);
  fs.copyFileSync(path.join(home, 'pom.xml'), `${base}.pom`);
}

/** Composer chooses the files. Packed without a repository, they have to name their version themselves. */
function makePhp(site: Site): void {
  const { work, out, version, commit } = site;
  const cwd = copySource(site, 'clients/php');
  const env = {
    COMPOSER_HOME: path.join(work, 'composer'),
    COMPOSER_ALLOW_SUPERUSER: '1',
    COMPOSER_DISABLE_NETWORK: '1',
    COMPOSER_NO_INTERACTION: '1',
    COMPOSER_ROOT_VERSION: version,
  };
  run(site, ['composer', 'archive', '--format=tar', `--dir=${work}`, '--file=package'], { cwd, env });
  const unpacked = path.join(work, 'unpacked');
  fs.mkdirSync(unpacked);
  run(site, ['tar', '-xf', 'package.tar', '-C', unpacked]);
  const file = path.join(unpacked, 'composer.json');
  const { name, ...rest } = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
  fs.writeFileSync(file, `${JSON.stringify({ name, version, ...rest }, null, 2)}\n`);
  fs.writeFileSync(path.join(out, `postrider-client-php-${version}.zip`), zip(readTree(unpacked), commit.epoch));
}
