// Twenty kills and power cuts of the real daemon under load; `npm run chaos` does a thousand. The seed is printed, and
// SEED=… repeats the schedule.
import t from 'tap';
import { runChaos } from '../../chaos/run-chaos.ts';

const KILLS = 20;
/** A kill must have hit work, or the run shows nothing. */
const LEAST_PER_KILL = 2;

t.test('what was promised is kept over kills and power cuts', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  // Each is a step, so that a slow machine is not taken for one that hangs.
  let kills = 0;
  const onKill = ({ number, moment }: { number: number; moment: string }) =>
    t.equal(number, ++kills, `kill ${number}: ${moment}`);
  const { findings, losses, powerCutsSimulated } = await runChaos(t, { seed, kills: KILLS, onKill });
  t.ok(powerCutsSimulated, `note: SEED=${seed}; a C compiler is there (apt-get install gcc libc6-dev)`);
  for (const [name, problems] of Object.entries(findings)) t.same(problems, [], name);
  const { promised, queued, leftovers, reports, inFlight, twice, byMoment, powerCuts } = losses;
  t.comment(JSON.stringify({ promised, queued, leftovers, reports, inFlight, twice, powerCuts, byMoment }));
  t.ok(promised + queued > LEAST_PER_KILL * KILLS, 'the clients got something done between the kills');
  t.ok(promised > 0 && queued > 0, 'over HTTP and at the SMTP door');
  t.ok(reports > 0, 'and so did those who report');
  t.ok(inFlight > 0, 'the kills hit messages in flight');
});
