// Each kind of fault once, in an order by chance, upon three daemons and the two servers of their database under load;
// `npm run chaos -- --store postgres` does that for an hour. The seed is printed, and SEED=… repeats the order.
import fs from 'node:fs';
import t from 'tap';
import { KINDS, missingForFaults } from '../../chaos/nodes/faults.ts';
import { History } from '../../chaos/nodes/history.ts';
import { runNodes } from '../../chaos/nodes/run-nodes.ts';
import { describeFigures } from '../../chaos/nodes/tell-nodes.ts';
import { testFolder } from '../../support/test-folder.ts';

/** A fault must have hit work, or the run shows nothing. */
const LEAST_PER_FAULT = 2;

t.test('what was promised is kept over faults', { skip: missingForFaults() }, async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const history = new History(testFolder(t));
  // Each is a step, so that a slow machine is not taken for one that hangs.
  let faults = 0;
  const onFault = ({ number }: { number: number }, what: string) =>
    t.equal(number, ++faults, `fault ${number}: ${what}`);
  const { findings, figures } = await runNodes(t, { seed, faults: KINDS, history, onFault });
  await history.close();
  for (const [name, problems] of Object.entries(findings)) t.same(problems, [], `${name} (SEED=${seed})`);
  t.ok(figures.promised > LEAST_PER_FAULT * KINDS, `note: SEED=${seed}, ${describeFigures(figures)}`);
  t.ok(figures.queued > 0, 'at the SMTP doors, too');
  t.ok(figures.reports > 0, 'and those who report got something done');
  t.ok(figures.hit > 0, 'the faults hit messages in hand');
  t.ok(figures.closedDoors > 0, 'a tenant was suspended, and a key revoked');
  t.equal(figures.promotions, 1);
  t.ok(fs.readFileSync(history.file, 'utf8').includes('"what":"healed"'), 'the history says what happened');
});
