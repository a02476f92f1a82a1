// What a command costs in processor time, as multiples of what Node itself costs when it does nothing.
import t from 'tap';
import { leastOf } from '../support/processor-time.ts';
import { PROGRAM } from '../support/program.ts';
import { startWorld } from '../support/world.ts';

/** In times of `node -e 0`. */
const AT_MOST = { version: 4, help: 8, queueList: 8 };

t.test('the version, the help, and a list that the daemon gives', async (t) => {
  const { postrider } = await startWorld(t);
  await postrider.serve();
  await postrider.json('tenant', 'create', '--name', 'Acme');
  const { nothing, ...spent } = await leastOf({
    nothing: [process.execPath, '-e', '0'],
    version: [PROGRAM, '--version'],
    help: [PROGRAM, 'help'],
    queueList: [PROGRAM, 'queue', 'list', '--config', postrider.configFile],
  });
  t.comment({ nothing, ...spent });
  for (const [name, most] of Object.entries(AT_MOST)) {
    const times = spent[name as keyof typeof spent] / nothing;
    t.ok(times <= most, `${name}: ${times.toFixed(1)} times node -e 0, at most ${most}`);
  }
});
