// docs/operate.md is followed as it stands, from an empty machine to a restored backup.
import t from 'tap';
import { newMachine } from './operator-machine.ts';
import { noCurl, openPage, plainEnv, walkPage } from './walk-page.ts';

// A dozen processes, on a machine that may be busy.
t.setTimeout(115_000);
const PATIENT = { timeout: 110_000, skip: noCurl };

t.test('docs/operate.md', PATIENT, async (t) => {
  const page = openPage('docs/operate.md');
  await walkPage(t, page, await newMachine(t, page.configurations.join('\n'), plainEnv()));
});
