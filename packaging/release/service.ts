// The parts of a release that are the service itself: source archive, Debian package, SBOM.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { gzip, neutral, type Part, run, type Site } from './part.ts';

export const SERVICE_PARTS: Part[] = [
  { name: 'source', tools: [], make: makeSource },
  {
    name: 'deb',
    tools: [
      { check: ['dpkg-deb', '--version'], install: 'apt-get install dpkg' },
      { check: ['npm', '--version'], install: 'apt-get install npm' },
    ],
    make: makeDeb,
  },
  {
    name: 'sbom',
    tools: [
      // npm 9 prints help for unknown commands, too.
      {
        check: ['sh', '-c', 'npm sbom --help | grep -q sbom-format'],
        install: 'npm install --global npm@10 (Debian has npm 9, which has no sbom command)',
      },
    ],
    make: makeSbom,
  },
];

function makeSource({ archive, out, version }: Site): void {
  fs.writeFileSync(path.join(out, `postrider-${version}.tar.gz`), gzip(fs.readFileSync(archive)));
}

/** npm has to know its registry, and whoever builds names the maintainer: the user's environment stays. */
function makeDeb(site: Site): void {
  const script = path.join(site.source, 'packaging/build-deb.ts');
  const env = { ...process.env, ...neutral(site) };
  run(site, [process.execPath, '--disable-warning=ExperimentalWarning', script, '--out', site.out], { env });
}

interface Sbom {
  serialNumber: string;
  metadata: { timestamp: string };
}

interface Lockfile {
  packages: Record<string, { dev?: boolean; devDependencies?: object }>;
}

/** npm draws the number of the document and its time anew each time. */
function makeSbom(site: Site): void {
  const { work, out, version, commit } = site;
  // npm calls the service by the name of its folder.
  const cwd = path.join(work, 'postrider');
  fs.mkdirSync(cwd);
  writeProductionManifests(site.source, cwd);
  const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const sbom = JSON.parse(run(site, ['npm', 'sbom', ...options], { cwd })) as Sbom;
  sbom.serialNumber = `urn:uuid:${uuidOf(`postrider ${version} ${commit.id}`)}`;
  sbom.metadata.timestamp = new Date(commit.epoch * 1000).toISOString();
  fs.writeFileSync(path.join(out, `postrider-${version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
}

/** Without development tools. `npm sbom --omit=dev` also omits what they share with the program (npm 10 and 11). */
function writeProductionManifests(source: string, target: string): void {
  const read = (name: string) => JSON.parse(fs.readFileSync(path.join(source, name), 'utf8'));
  const write = (name: string, content: object) => fs.writeFileSync(path.join(target, name), JSON.stringify(content));
  const manifest = read('package.json') as { devDependencies?: object };
  delete manifest.devDependencies;
  write('package.json', manifest);
  const lock = read('package-lock.json') as Lockfile;
  delete lock.packages['']!.devDependencies;
  for (const [place, { dev }] of Object.entries(lock.packages)) if (dev) delete lock.packages[place];
  write('package-lock.json', lock);
}

/** RFC 9562, version 8: the rest of the bits is a hash. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
