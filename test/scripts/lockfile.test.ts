// What package.json and the lockfile must be like so that npm 9.2.0 (Debian 12 and 13) installs them, and so
// that a server gets no development tools. test/nightly/npm-9.test.ts does it with the real npm.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = path.join(import.meta.dirname, '../..');
const DEVELOPMENT =
  /^node_modules\/(?:@biomejs|@tapjs|@types|@typescript|axe-core|playwright|tap|typescript)(?:\/|-|$)/;

interface Entry {
  version?: string;
  link?: boolean;
  dev?: boolean;
  resolved?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const read = (name: string) => JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));
const manifest = read('package.json') as Entry & { overrides: Record<string, string>; engines: { node: string } };
const { packages } = read('package-lock.json') as { packages: Record<string, Entry> };
const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;
const edges = Object.entries(packages).flatMap(([from, entry]) =>
  kinds.flatMap((kind) => Object.entries(entry[kind] ?? {}).map(([name, spec]) => ({ from, name, spec }))),
);

t.test('npm can compare every override with what it overrides', async (t) => {
  // npm 9.2.0 takes a git address or a folder there for a range of versions: "Invalid comparator".
  const overridden = edges.filter(({ name }) => name in manifest.overrides);
  t.same(
    overridden.filter(({ spec }) => /[:/]/.test(spec)),
    [],
  );
});

t.test('nothing comes from anywhere but the registry', async (t) => {
  t.same(
    edges.filter(({ spec }) => /^(?:git|https?:|github:)|\.git\b|^[\w-]+\/[\w.-]+(?:#|$)/.test(spec)),
    [],
  );
  const elsewhere = Object.entries(packages).filter(([, { resolved, link }]) => resolved !== undefined && !link);
  t.same(elsewhere, [], 'no address of a registry either');
});

t.test('development tools are development dependencies', async (t) => {
  const tools = Object.keys(packages).filter((location) => DEVELOPMENT.test(location));
  t.ok(tools.length > 20, 'the tools are there');
  t.same(
    tools.filter((location) => packages[location]!.dev !== true),
    [],
  );
});

t.test('development tools can be added to a production install without touching it', async (t) => {
  const nested = Object.entries(packages).filter(([location, { dev }]) => {
    const inside = location.lastIndexOf('/node_modules/');
    return dev === true && inside > 0 && packages[location.slice(0, inside)]?.dev !== true;
  });
  t.same(nested, [], 'none lies inside a package of the program');
});

t.test('any Node from 18.20 on can start the project', async (t) => {
  t.equal(manifest.engines.node, '>=18.20');
});
