// What the Debian package makes from the registries: manual pages that man(1) has no warning about and that name
// every command and every key, and a completion that bash runs.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { bashCompletion } from '../../packaging/bash-completion.ts';
import { configurationPage, programPage } from '../../packaging/manual-pages.ts';
import { label } from '../../src/cli/help.ts';
import { COMMAND_NAMES, loadCommands } from '../../src/cli/registry.ts';
import { ALL_KEYS } from '../../src/config/keys.ts';
import { testFolder } from '../support/test-folder.ts';

const EDITION = { version: '1.2.3', epoch: 1_790_000_000 };
const noMan = spawnSync('man', ['--version']).error !== undefined;
const skip = noMan ? 'man is not here: apt-get install man-db groff' : false;

function shown(folder: string, page: string): { text: string; warnings: string } {
  const file = path.join(folder, 'page');
  writeFileSync(file, page);
  const options = { encoding: 'utf8', env: { ...process.env, MANWIDTH: '300', LC_ALL: 'C.UTF-8' } } as const;
  const { stdout, stderr } = spawnSync('man', ['--warnings', '--local-file', file], options);
  return { text: stdout, warnings: stderr };
}

t.test('postrider(1) has every command with its options', { skip }, async (t) => {
  const { text, warnings } = shown(testFolder(t), await programPage(EDITION));
  t.equal(warnings, '');
  const words = text.replace(/\s+/g, ' ');
  for (const { name, summary, options } of await loadCommands(COMMAND_NAMES)) {
    t.match(text, new RegExp(`^ +${name}$`, 'm'), name);
    t.ok(words.includes(summary), `${name}: ${summary}`);
    for (const [key, option] of Object.entries(options)) {
      const explained = `${label(key, option)} ${option.summary}`.replaceAll('…', '...');
      t.ok(words.includes(explained), `${name}: ${explained}`);
    }
  }
});

t.test('postrider.toml(5) has every key', { skip }, async (t) => {
  const { text, warnings } = shown(testFolder(t), configurationPage(EDITION));
  t.equal(warnings, '');
  for (const { name, key } of ALL_KEYS) t.match(text, new RegExp(`^ +#?${key} = `, 'm'), name);
  t.match(text, /^ {3}\[http\]$/m);
});

t.test('bash completes commands, options and files', async (t) => {
  const folder = testFolder(t);
  writeFileSync(path.join(folder, 'completion'), await bashCompletion());
  const complete = (...words: string[]): string => {
    const script = `. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _postrider; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', 'postrider', ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
    // Outside of a completion bash has none to set options of.
    t.equal(stderr.replace(/^.*compopt: not currently executing completion function\n/m, ''), '');
    return stdout.trim();
  };
  const first = [...new Set(COMMAND_NAMES.map((name) => name.split(' ')[0]))];
  t.equal(complete(''), [...first, 'help', '--help', '--version'].join(' '));
  t.equal(complete('tena'), 'tenant');
  t.equal(complete('tenant', 's'), 'show set');
  t.equal(complete('tenant', 'create', '--n'), '--name');
  t.equal(complete('doctor', 'd'), 'daemon');
  t.equal(complete('doctor', '--j'), '--json');
  t.equal(complete('help', 'tenant', 'c'), 'create');
  t.equal(complete('serve', '--config', 'co'), 'completion');
  t.equal(complete('bounce', 'explain', 'co'), 'completion');
});
