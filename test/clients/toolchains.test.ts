// Says which client libraries cannot be tested on this machine, and how to install what is missing; the
// tests of most of them take long, and are run by `npm run thorough`.
import t from 'tap';
import { findTool, type Language, missingTools } from './language.ts';
import { go } from './languages/go.ts';
import { java } from './languages/java.ts';
import { node } from './languages/node.ts';
import { php } from './languages/php.ts';
import { python } from './languages/python.ts';
import { ruby } from './languages/ruby.ts';

const LANGUAGES: Language[] = [node, python, go, java, php, ruby];

for (const language of LANGUAGES) {
  const missing = missingTools(language);
  if (missing !== null) console.error(missing);
  t.test(`the ${language.title} library can be tested here`, { skip: missing ?? false }, async (t) => {
    const nowhere = language.tools.filter(({ command }) => findTool(command) === null);
    t.same(nowhere, []);
  });
}

t.test('what is missing is named, with the package that has it', async (t) => {
  const tools = [{ command: 'no-such-compiler', debianPackage: 'cobol' }];
  t.match(missingTools({ ...go, title: 'COBOL', tools }), /COBOL.*cobol/s);
});
