// The Java library. Maven's plugins cannot be fetched without a network, so javac and jar make
// what the pom describes: the jar and that with the sources. Runner and snippets know the jar only.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Installed, Language, Program, Site } from '../language.ts';

const JDK = 'default-jdk-headless';
/** Without the compiler that pays off after minutes, and several collectors: all of this lives for seconds. */
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
const SHORT_LIVED_TOOL = SHORT_LIVED.map((option) => `-J${option}`);
/** The oldest Java that the library is for, and nothing that javac has to say about it. */
const COMPILE = [...SHORT_LIVED_TOOL, '-Xlint:all', '-Werror', '--release', '11', '-encoding', 'UTF-8'];

export const java: Language = {
  name: 'java',
  title: 'Java',
  fence: 'java',
  tools: [
    ...['java', 'javac', 'jar', 'javadoc'].map((command) => ({ command, debianPackage: JDK })),
    { command: 'mvn', debianPackage: 'maven' },
  ],
  typing: 'static',
  fromCheckout: {
    cannot: "Maven would fetch its plugins, and there is no network; it reads the pom in the package's own test",
  },
  install,
};

async function install(site: Site): Promise<Installed> {
  const { source, folder, run } = site;
  const main = path.join(source, 'src/main/java');
  const classes = path.join(folder, 'classes');
  await run('javac', [...COMPILE, '-d', classes, ...(await sources(main))]);

  const jar = path.join(folder, 'postrider.jar');
  await Promise.all([
    pack(site, { jar, classes, main }),
    unitTests(site, classes),
    documentation(site, main),
    checkManifest(site),
  ]);
  const runner = path.join(folder, 'runner');
  await run('javac', [...COMPILE, '-cp', jar, '-d', runner, ...(await sources(path.join(source, 'conformance')))]);
  return {
    runner: start(`${jar}${path.delimiter}${runner}`, 'Runner', folder),
    async snippet(code, name) {
      const place = path.join(folder, name);
      const mainClass = /class (\w+)/.exec(code)?.[1];
      if (mainClass === undefined) throw new Error('the snippet has no class');
      await mkdir(place, { recursive: true });
      await writeFile(path.join(place, `${mainClass}.java`), code);
      await run('javac', [...COMPILE, '-cp', jar, '-d', place, path.join(place, `${mainClass}.java`)]);
      return start(`${jar}${path.delimiter}${place}`, mainClass, folder);
    },
  };
}

async function pack(
  { source, folder, run }: Site,
  made: { jar: string; classes: string; main: string },
): Promise<void> {
  const manifest = path.join(folder, 'MANIFEST.MF');
  await writeFile(manifest, 'Automatic-Module-Name: dev.postrider\n');
  const inside = path.join(folder, 'inside/META-INF');
  await mkdir(inside, { recursive: true });
  await copyFile(path.join(source, 'LICENSE'), path.join(inside, 'LICENSE'));
  const license = ['-C', path.dirname(inside), 'META-INF/LICENSE'];
  await run('jar', [
    ...SHORT_LIVED_TOOL,
    '--create',
    '--file',
    made.jar,
    '--manifest',
    manifest,
    ...license,
    '-C',
    made.classes,
    '.',
  ]);
  const module = await run('jar', [...SHORT_LIVED_TOOL, '--describe-module', '--file', made.jar]);
  if (!module.includes('dev.postrider automatic')) throw new Error(`the jar is no module dev.postrider: ${module}`);
  const withSources = path.join(folder, 'postrider-sources.jar');
  await run('jar', [...SHORT_LIVED_TOOL, '--create', '--file', withSources, ...license, '-C', made.main, '.']);
}

/** All that Maven can do without its plugins; with an empty repository, as on a fresh machine. */
async function checkManifest({ source, folder, run }: Site): Promise<void> {
  const pom = await readFile(path.join(source, 'pom.xml'), 'utf8');
  const code = await readFile(path.join(source, 'src/main/java/dev/postrider/Postrider.java'), 'utf8');
  const version = /VERSION = "(.+)"/.exec(code)?.[1];
  if (!pom.includes(`<version>${version}</version>`)) throw new Error(`pom.xml is not for version ${version}`);
  const options = ['-o', '-q', `-Dmaven.repo.local=${path.join(folder, 'repository')}`];
  await run('mvn', [...options, 'validate'], { cwd: source, env: { MAVEN_OPTS: SHORT_LIVED.join(' ') } });
}

/** Fails when anything that users see is not described. */
async function documentation({ folder, run }: Site, main: string): Promise<void> {
  const packages = ['-subpackages', 'dev.postrider', '-exclude', 'dev.postrider.internal'];
  const strict = [...SHORT_LIVED_TOOL, '-quiet', '-Xdoclint:all', '-Werror', '-encoding', 'UTF-8'];
  await run('javadoc', [...strict, '-d', path.join(folder, 'javadoc'), '-sourcepath', main, ...packages]);
}

/** They see what is private to the package, and so are no part of the conformance suite. */
async function unitTests({ source, folder, run }: Site, classes: string): Promise<void> {
  const compiled = path.join(folder, 'tests');
  await run('javac', [
    ...COMPILE,
    '-cp',
    classes,
    '-d',
    compiled,
    ...(await sources(path.join(source, 'src/test/java'))),
  ]);
  await run('java', [...SHORT_LIVED, '-cp', `${classes}${path.delimiter}${compiled}`, 'dev.postrider.UnitTestMain']);
}

async function sources(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((name) => name.endsWith('.java')).map((name) => path.join(folder, name));
}

function start(classPath: string, mainClass: string, cwd: string): Program {
  return { command: 'java', args: [...SHORT_LIVED, '-cp', classPath, mainClass], cwd };
}
