// /usr/share/doc/postrider/copyright: our licence, and word for word that of each package inside, as their licences ask.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const NAMES = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const RULE = '-'.repeat(78);

interface Manifest {
  name: string;
  version: string;
  license?: string;
  author?: string | { name: string };
  homepage?: string;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Folders of packages: `node_modules/x`, `node_modules/@scope/x`, and those that packages bring themselves. */
export function packageFolders(modules: string): string[] {
  return globSync('**/package.json', { cwd: modules })
    .map((file) => path.dirname(file))
    .filter(
      (folder) =>
        /(?:^|\/node_modules\/)(?:@[^/]+\/)?[^@/][^/]*$/.test(folder) && isPackage(path.join(modules, folder)),
    )
    .sort();
}

function isPackage(folder: string): boolean {
  const { name, version } = readManifest(folder);
  return name !== undefined && version !== undefined;
}

/** Where a package has no file with its licence, the README may have it. */
function licenceTexts(folder: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
  const found = files.filter((name) => NAMES.test(name)).sort();
  if (found.length > 0) return found.map((name) => readFileSync(path.join(folder, name), 'utf8').trim());
  const readme = files.find((name) => /^readme/i.test(name));
  if (readme === undefined) return [];
  const [, section] = /^#+ *licen[cs]e\b[^\n]*\n(.*)/ims.exec(readFileSync(path.join(folder, readme), 'utf8')) ?? [];
  return section === undefined ? [] : [section.trim()];
}

function packageText(modules: string, folder: string): string {
  const { name, version, license, author, homepage } = readManifest(path.join(modules, folder));
  const holder = typeof author === 'string' ? author : author?.name;
  const facts = [
    `${name} ${version}`,
    `Files: /usr/lib/postrider/node_modules/${folder}`,
    ...(homepage ? [`Source: ${homepage}`] : []),
    ...(holder ? [`Author: ${holder}`] : []),
    `License: ${license ?? 'see below'}`,
  ];
  return [RULE, facts.join('\n'), ...licenceTexts(path.join(modules, folder))].join('\n\n');
}

/** Must be asked before documentation is removed from the packages. */
export function copyrightText(checkout: string, modules: string): string {
  const head = [
    'Postrider, with the Node.js runtime and the libraries that it uses.',
    'The sources of Postrider are in /usr/lib/postrider/src, without their types.',
    readFileSync(path.join(checkout, 'LICENSE'), 'utf8').trim(),
    'The packages below have licences of their own, and so have libraries inside of the runtime.\n' +
      'The Apache License 2.0 is also in /usr/share/common-licenses/Apache-2.0.',
  ];
  const packages = packageFolders(modules).map((folder) => packageText(modules, folder));
  return `${[...head, ...packages].join('\n\n')}\n`;
}
