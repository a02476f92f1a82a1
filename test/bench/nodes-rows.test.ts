// The rows about several machines: sums of turns, shares of SQLite, and the limit of a daemon's processor time.
import t from 'tap';
import { added, type Measured, nothingMeasured, rowsOf, usedOf } from '../../bench/sections/nodes-rows.ts';

/** Two turns of 10 s with 1,000 messages each end to end, and 10,000 accepted. */
function measured(daemonCores: number, serverCores: number): Measured {
  const cores = { mainThread: daemonCores / 2, otherThreads: daemonCores / 2, load: 0, sink: 0, elsewhere: 0.25 };
  const used = usedOf({ ...cores, server: serverCores }, 10);
  const all = nothingMeasured();
  for (let turn = 0; turn < 2; turn++) {
    all.accept = added(all.accept, { messages: 10_000, seconds: 10, ...used });
    all.endToEnd = added(all.endToEnd, { messages: 1000, seconds: 10, ...used });
    all.committed = added(all.committed, { groups: 100, verbs: 3000, roundTrips: 600, statements: 1200, tries: 101 });
    all.rest = added(all.rest, { calls: 1000, lost: 0, twice: 0 });
  }
  return all;
}

t.test('SQLite is what the others are compared with', async (t) => {
  const rows = rowsOf('SQLite', measured(1, 0), null);
  t.same(
    rows.map(({ what, measured }) => [what.trim(), measured]),
    [
      ['SQLite: accept, delivery held', '1,000 /s'],
      ['SQLite: end to end', '100 /s'],
      ['processor time of the daemon, per message', '10000 µs'],
      ['after draining: lost, twice', '0, 0'],
    ],
  );
  t.equal(rows[0]!.beside, 'other programs took 0.25 cores');
});

t.test('a daemon on PostgreSQL, its server apart', async (t) => {
  const rows = rowsOf('PostgreSQL', measured(1.05, 0.2), measured(1, 0));
  const [accept, , daemon, server, group, sent] = rows;
  t.match(accept!.beside, /^100 % of SQLite/);
  t.match(daemon, { measured: '10500 µs', limit: { wanted: '≤ 1.10 ×', met: true } });
  t.equal(daemon!.beside, '1.05 × SQLite; accepting alone 1050 µs, 1.05 ×');
  t.match(server, { measured: '2000 µs', beside: 'accepting alone 200 µs' });
  t.match(group, { measured: '30.0', beside: '0.10 commits per message, 1.01 tries each' });
  t.match(sent, { measured: '6.00, 12.0', beside: 'per message 0.60 and 1.20' });
});

t.test('a daemon that needs more than a tenth more does not pass', async (t) => {
  const [, , daemon] = rowsOf('PostgreSQL', measured(1.2, 0.2), measured(1, 0));
  t.equal(daemon!.limit!.met, false);
});
