// The version of a release is that of package.json. It is written again wherever a package of another language, a page
// or the API's description must name it; `npm run release -- --set-version X.Y.Z` writes all of them. The module for Go
// has its version in doc.go and in the git tag clients/go/vX.Y.Z (docs/releasing.md).
import fs from 'node:fs';
import path from 'node:path';

interface Place {
  file: string;
  /** Matches the version alone, and only there. */
  at: RegExp;
}

const SOURCE: Place = { file: 'package.json', at: /(?<=^ {2}"version": ")[^"]+/m };
const PLACES: Place[] = [
  SOURCE,
  { file: 'package-lock.json', at: /(?<=^ {2}"version": ")[^"]+/m },
  { file: 'package-lock.json', at: /(?<=^ {4}"": \{\n {6}"name": "postrider",\n {6}"version": ")[^"]+/m },
  { file: 'schema/openapi.yaml', at: /(?<=^ {2}version: ).+/m },
  { file: 'schema/openapi.json', at: /(?<=^ {2}"version": ")[^"]+/m },
  { file: 'clients/node/package.json', at: /(?<=^ {2}"version": ")[^"]+/m },
  { file: 'clients/python/postrider/_version.py', at: /(?<=^__version__ = ")[^"]+/m },
  { file: 'clients/go/doc.go', at: /(?<=^const Version = ")[^"]+/m },
  { file: 'clients/ruby/lib/postrider/version.rb', at: /(?<=^ {2}VERSION = ')[^']+/m },
  { file: 'clients/php/src/Client.php', at: /(?<=public const VERSION = ')[^']+/ },
  { file: 'clients/java/pom.xml', at: /(?<=^ {2}<version>)[^<]+/m },
  { file: 'clients/java/src/main/java/dev/postrider/Postrider.java', at: /(?<=String VERSION = ")[^"]+/ },
  { file: 'clients/java/README.md', at: /(?<=^ {2}<version>)[^<]+/m },
];

/** A pre-release has another form in each language; there is none yet. */
const FORM = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/;

export function isVersion(text: string): boolean {
  return FORM.test(text);
}

function found(root: string, { file, at }: Place): string | null {
  return at.exec(fs.readFileSync(path.join(root, file), 'utf8'))?.[0] ?? null;
}

export function readVersion(root: string): string {
  const version = found(root, SOURCE);
  if (version === null) throw new Error(`${SOURCE.file} has no version`);
  return version;
}

/** One sentence for each place that has another version than package.json. */
export function versionProblems(root: string): string[] {
  const version = readVersion(root);
  const form = isVersion(version) ? [] : [`${SOURCE.file}: "${version}" must be a version like 1.2.3.`];
  const others = PLACES.flatMap((place) => {
    const other = found(root, place);
    if (other === version) return [];
    const has = other === null ? 'has no version' : `has version ${other}`;
    return [`${place.file} ${has}, ${SOURCE.file} has ${version}: npm run release -- --set-version ${version}`];
  });
  return [...form, ...others, ...goProblems(root, version)];
}

/** From version 2 on, Go wants the major version in the module's path, too. */
function goProblems(root: string, version: string): string[] {
  const module = /(?<=^module )\S+/m.exec(fs.readFileSync(path.join(root, 'clients/go/go.mod'), 'utf8'))?.[0];
  const major = version.split('.')[0]!;
  if (Number(major) < 2 || module?.endsWith(`/v${major}`)) return [];
  return [
    `clients/go/go.mod: the path of version ${major} must end in /v${major}. Change it wherever "${module}" is named.`,
  ];
}

/** Returns the files it has changed. */
export function setVersion(root: string, version: string): string[] {
  const changed = new Set<string>();
  for (const { file, at } of PLACES) {
    const before = fs.readFileSync(path.join(root, file), 'utf8');
    if (!at.test(before)) throw new Error(`${file} has no version where one is expected: ${at}`);
    const after = before.replace(at, version);
    if (after === before) continue;
    fs.writeFileSync(path.join(root, file), after);
    changed.add(file);
  }
  return [...changed];
}
