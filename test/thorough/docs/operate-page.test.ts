// docs/operate.md is followed as it stands, from an empty machine to a restored backup.
import t from 'tap';
import { newMachine } from '../../docs/operator-machine.ts';
import { noCurl, openPage, plainEnv, walkPage } from '../../docs/walk-page.ts';

// A dozen processes, on a machine that may be busy.
const NEEDS_CURL = { skip: noCurl };

t.test('docs/operate.md', NEEDS_CURL, async (t) => {
  const page = openPage('docs/operate.md');
  await walkPage(t, page, await newMachine(t, page.configurations.join('\n'), plainEnv()));
});
