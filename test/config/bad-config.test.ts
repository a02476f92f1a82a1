// Runs test/bad-config: each file must be refused with exactly the problems that the `# expect:`
// lines at its top name. `# env: NAME=value` lines set variables for it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ConfigError, loadConfig } from '../../src/config/load.ts';

const FOLDER = path.join(import.meta.dirname, '../bad-config');

function notes(text: string, label: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`# ${label}: `))
    .map((line) => line.slice(label.length + 4).replaceAll('{folder}', FOLDER));
}

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.toml'));
t.ok(files.length >= 20, 'the folder is there');

for (const name of files) {
  t.test(name, async (t) => {
    const file = path.join(FOLDER, name);
    const text = readFileSync(file, 'utf8');
    const env = Object.fromEntries(notes(text, 'env').map((line) => line.split(/=(.*)/s).slice(0, 2)));
    const expected = notes(text, 'expect');
    t.ok(expected.length > 0, 'says what is wrong with it');
    const thrown = t.throws(() => loadConfig({ file, env }), ConfigError);
    t.same(thrown instanceof ConfigError && thrown.problems, expected);
  });
}
