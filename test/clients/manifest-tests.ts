// What every client library brings beside its code: manifest, README, changelog, licence.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import type { Language } from './language.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const MANIFESTS: Record<Language['name'], string> = {
  node: 'package.json',
  python: 'pyproject.toml',
  go: 'go.mod',
  java: 'pom.xml',
  php: 'composer.json',
  ruby: 'postrider-client.gemspec',
};

/** The same name wherever a registry has one; docs/development.md says why. */
const NAMES: Record<Language['name'], string> = {
  node: 'postrider-client',
  python: 'postrider-client',
  go: 'postrider.example/postrider-go',
  java: '<artifactId>postrider-client</artifactId>',
  php: 'postrider/client',
  ruby: 'postrider-client',
};

export async function manifestTests(t: Test, { name }: Language): Promise<void> {
  const file = (...parts: string[]) => path.join(ROOT, 'clients', name, ...parts);
  t.ok(existsSync(file(MANIFESTS[name])), `has ${MANIFESTS[name]}`);
  t.equal(readFileSync(file('LICENSE'), 'utf8'), readFileSync(path.join(ROOT, 'LICENSE'), 'utf8'), 'the same licence');
  // PyPI's is a stranger's program, and the others can become one any day.
  const readme = readFileSync(file('README.md'), 'utf8');
  t.notMatch(readme, /(?:npm|pip|gem) install postrider|composer require postrider\/postrider|go get github/);
  t.match(readFileSync(file(MANIFESTS[name]), 'utf8'), NAMES[name], 'the name that the README uses');
  t.match(readme, NAMES[name]);
  const released = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync(file('CHANGELOG.md'), 'utf8'))?.[1];
  t.match(released, /^\d+\.\d+\.\d+$/, 'the changelog names a semantic version');
}
