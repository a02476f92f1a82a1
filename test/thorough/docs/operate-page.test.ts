// docs/install.md, then docs/operate.md on the same machine, are followed as they stand, from an empty one to a restored backup.
import t from 'tap';
import { newMachine } from '../../docs/operator-machine.ts';
import { noCurl, openPage, plainEnv, walkPages } from '../../docs/walk-page.ts';

// A dozen processes, on a machine that may be busy.
const NEEDS_CURL = { skip: noCurl };

t.test('docs/install.md, docs/operate.md', NEEDS_CURL, async (t) => {
  const pages = ['docs/install.md', 'docs/operate.md'].map(openPage);
  const configuration = pages.flatMap((page) => page.configurations).join('\n');
  await walkPages(t, pages, await newMachine(t, configuration, plainEnv()));
});
