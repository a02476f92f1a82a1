// How fast the machine is, as tests learn it: bounded, the worst of the last measurements, read anew each time.
import t from 'tap';
import { boundPace, keepPace, MAX_PACE, measurePace, RUN_FOLDER_VARIABLE, readPace } from '../../scripts/test-pace.ts';
import { pace, patience, within } from '../support/patience.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('a measurement is bounded and has a reason', async (t) => {
  const { factor, reason } = await measurePace();
  t.ok(factor >= 1 && factor <= MAX_PACE, `${factor}`);
  t.not(reason, '');
  t.same([0.2, 3, 1e9, Number.NaN].map(boundPace), [1, 3, MAX_PACE, 1]);
});

t.test('the run leaves its pace where every test reads it', async (t) => {
  const folder = testFolder(t);
  t.equal(readPace(folder), null);
  const factors = [7, 2];
  const measure = async () => ({ factor: factors.shift() ?? 1, reason: 'test' });
  const kept = await keepPace(folder, measure);
  t.teardown(kept.stop);
  t.same(kept.first, { factor: 7, reason: 'test' });
  t.equal(readPace(folder), 7);

  const before = process.env[RUN_FOLDER_VARIABLE];
  t.teardown(() => {
    if (before === undefined) delete process.env[RUN_FOLDER_VARIABLE];
    else process.env[RUN_FOLDER_VARIABLE] = before;
  });
  process.env[RUN_FOLDER_VARIABLE] = folder;
  t.ok(pace() >= 7 && pace() <= MAX_PACE, 'the load average may say more');
  t.ok(patience(100) >= 700);
});

t.test('a fence against hanging', async (t) => {
  t.equal(await within(10_000, 'it comes', Promise.resolve(1)), 1);
  await t.rejects(within(1, 'it never comes', new Promise(() => {})), /^not within [\d.]+ s: it never comes$/);
});
