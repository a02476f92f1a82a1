// Lays out the files of the Debian package from a checkout with production dependencies. Debian's policy is obeyed
// where the package meets it: documentation that the program serves is in /usr/lib and only linked from /usr/share/doc
// (section 12.3), nothing is installed outside of /usr but the configuration.
import fs from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { bashCompletion } from './bash-completion.ts';
import { copyrightText } from './copyright.ts';
import { configurationPage, type Edition, programPage } from './manual-pages.ts';

const DEBIAN = path.join(import.meta.dirname, 'debian');
const PROGRAM = 'usr/lib/postrider';
const DOCUMENTATION = 'usr/share/doc/postrider';
const CHECKOUT_HOME = '/opt/postrider';
/** What the program reads at run time, and what operators look up. Of `clients` only the READMEs, which it shows. */
const FOLDERS = ['config', 'docs', 'schema', 'shims'];
/** Nothing loads them. Licences stay, in other files. */
const UNUSED = /(?:\.d\.[cm]?ts|\.tsbuildinfo|\.md|\.markdown|\/prebuilds\/[^/]*musl[^/]*)$/i;
/** Beside a package's package.json. */
const UNUSED_FOLDERS = /^(?:test|tests|test-jest|spec|examples?|bench|benchmark|docs)$/;
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;

export interface Layout {
  /** A checkout with production dependencies in it. */
  checkout: string;
  /** The empty folder that becomes the package. */
  tree: string;
  edition: Edition;
}

export async function layOut({ checkout, tree, edition }: Layout): Promise<void> {
  const modules = path.join(checkout, 'node_modules');
  const copyright = copyrightText(checkout, modules);
  copyProgram(checkout, path.join(tree, PROGRAM), edition.version);
  copyModules(modules, path.join(tree, PROGRAM, 'node_modules'));
  link(tree, 'usr/bin/postrider', '../lib/postrider/bin/postrider');
  layOutUnits(checkout, tree);
  put(tree, 'etc/postrider/postrider.toml', fs.readFileSync(path.join(DEBIAN, 'postrider.toml')));
  put(tree, 'usr/share/man/man1/postrider.1.gz', packed(await programPage(edition)));
  put(tree, 'usr/share/man/man5/postrider.toml.5.gz', packed(configurationPage(edition)));
  put(tree, 'usr/share/bash-completion/completions/postrider', await bashCompletion());
  put(tree, 'usr/share/lintian/overrides/postrider', fs.readFileSync(path.join(DEBIAN, 'lintian-overrides')));
  put(tree, `${DOCUMENTATION}/copyright`, copyright);
  for (const name of fs.readdirSync(path.join(tree, PROGRAM, 'docs')).filter((name) => name.endsWith('.md')))
    link(tree, `${DOCUMENTATION}/${name}`, `../../../lib/postrider/docs/${name}`);
}

function put(tree: string, name: string, content: string | Buffer): void {
  const file = path.join(tree, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

function link(tree: string, name: string, target: string): void {
  fs.mkdirSync(path.dirname(path.join(tree, name)), { recursive: true });
  fs.symlinkSync(target, path.join(tree, name));
}

/** zlib writes no time and no name into it; policy section 12.1 asks for level 9. */
export function packed(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

function copyProgram(checkout: string, program: string, version: string): void {
  for (const name of FOLDERS) fs.cpSync(path.join(checkout, name), path.join(program, name), { recursive: true });
  for (const name of fs.globSync('clients/*/README.md', { cwd: checkout }))
    put(program, name, fs.readFileSync(path.join(checkout, name)));
  for (const name of fs.globSync('src/**/*', { cwd: checkout, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const file = path.join(name.parentPath, name.name);
    put(program, path.relative(checkout, file), sourceOf(file));
  }
  put(program, 'scripts/source-cache.cjs', fs.readFileSync(path.join(import.meta.dirname, 'stripped-sources.cjs')));
  put(program, 'bin/postrider', fs.readFileSync(path.join(DEBIAN, 'postrider.sh')));
  const { name, description, license, type } = JSON.parse(
    fs.readFileSync(path.join(checkout, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  put(program, 'package.json', `${JSON.stringify({ name, version, description, license, type }, null, 2)}\n`);
}

function sourceOf(file: string): string | Buffer {
  const content = fs.readFileSync(file);
  return file.endsWith('.ts') ? stripTypeScriptTypes(content.toString()) : content;
}

/** No dot files, which are settings of tools for developers; of the links to programs only the runtime's. */
function copyModules(from: string, to: string): void {
  const isKept = (source: string): boolean => {
    const [name, folder] = [path.basename(source), path.dirname(source)];
    if (name.startsWith('.')) return false;
    if (UNUSED_FOLDERS.test(name) && fs.existsSync(path.join(folder, 'package.json'))) return false;
    return LICENCE.test(name) || !UNUSED.test(source);
  };
  fs.cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: isKept });
  removeEmptyFolders(to);
  link(to, '.bin/node', fs.readlinkSync(path.join(from, '.bin/node')));
}

function removeEmptyFolders(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(path.join(folder, entry.name));
  if (fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
}

/** The units of a checkout in /opt, with the package's paths. Where they say how to install a checkout, they say nothing. */
function layOutUnits(checkout: string, tree: string): void {
  for (const name of unitNames(checkout)) {
    const unit = fs.readFileSync(path.join(checkout, 'systemd', name), 'utf8');
    const packaged = unit
      .slice(unit.search(/^\[/m))
      .replace(/^Documentation=.*$/m, 'Documentation=man:postrider(1)')
      .replaceAll(CHECKOUT_HOME, `/${PROGRAM}`);
    put(tree, `usr/lib/systemd/system/${name}`, packaged);
  }
  for (const name of fs.globSync('*.conf', { cwd: path.join(checkout, 'systemd') }))
    put(tree, `${PROGRAM}/systemd/${name}`, fs.readFileSync(path.join(checkout, 'systemd', name)));
}

export function unitNames(checkout: string): string[] {
  return fs.globSync('*.{service,timer}', { cwd: path.join(checkout, 'systemd') }).sort();
}

/** Those that an operator enables; the others are started by them. */
export function enabledUnits(checkout: string): string[] {
  return unitNames(checkout).filter((name) =>
    fs.readFileSync(path.join(checkout, 'systemd', name), 'utf8').includes('\n[Install]'),
  );
}
