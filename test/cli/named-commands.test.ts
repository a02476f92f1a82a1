// Every command that a text of the program names exists, and takes the options that stand with it: mails, refusals,
// log lines and pages tell people what to type.
import path from 'node:path';
import t from 'tap';
import { lineAt, readSources, type Source } from '../architecture/read-source.ts';
import { commandProblem } from '../docs/command-problem.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Texts in which the word is no program: labels that keys are derived with, and passwords that people guess. */
const OTHER_TEXTS = ['src/base/vault.ts', 'src/links/link-token.ts', 'src/tenants/accounts/guessed-passwords.ts'];
/** The program, a word or two, and what follows them up to the end of the clause or of the text. */
const NAMED = /\bpostrider ([a-z][a-z-]*(?: [a-z][a-z-]*)?)((?:(?!postrider )[^.;:\\<\n])*)/g;

function namedCommands({ file, withoutComments }: Source): { at: string; command: string }[] {
  return [...withoutComments.matchAll(NAMED)].map((match) => {
    const options = match[2]!.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [];
    return {
      at: `${file}:${lineAt(withoutComments, match.index)}`,
      command: ['postrider', match[1], ...options].join(' '),
    };
  });
}

const source = (text: string): Source => ({ file: 'a.ts', text, withoutComments: text, codeOnly: '', imports: [] });

t.test('offenders are caught', async (t) => {
  const problems = (text: string) => namedCommands(source(text)).map(({ command }) => commandProblem(command));
  t.same(problems('see (postrider audit list) or postrider message list'), ['no such command', 'no such command']);
  t.same(problems('`postrider queue show ID --row`; postrider doctor'), ['no option row', null]);
  t.same(problems('postrider suppression remove --since TIME, postrider serve makes it'), [null, null]);
});

t.test('src/', async (t) => {
  const sources = readSources(ROOT).filter(({ file }) => !OTHER_TEXTS.includes(file));
  const named = sources.flatMap(namedCommands);
  t.ok(named.length > 20, `${named.length} were found`);
  for (const { at, command } of named) t.equal(commandProblem(command), null, `${at}: ${command}`);
});
