// The benchmark's daemons on PostgreSQL: two share a database and the traffic, the figures of what they send to it add up,
// and the server's processor time is known.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t from 'tap';
import { watchBloat } from '../../../bench/bloat-watch.ts';
import { databaseMissing, withDatabaseServer } from '../../../bench/postgres.ts';
import { DaemonWatch } from '../../../bench/profile/daemon-watch.ts';
import type { RunContext } from '../../../bench/run-context.ts';
import { drain, reconcile, sendTraffic } from '../../../bench/traffic.ts';
import { withPostrider } from '../../../bench/with-postrider.ts';
import { patience } from '../../support/patience.ts';

function runIn(folder: string): RunContext {
  const options = {
    ...{ seconds: 1, connections: 20, inFlight: 100, domains: 4, sink: 'own' as const, dir: os.tmpdir(), backlog: 1 },
    ...{ only: [], against: [], rounds: 1, profile: false, save: false, minutes: 1 },
  };
  const watch = (section: string) => new DaemonWatch(section, null);
  return { options, folder, limits: null, postfix: null, watch };
}

/** What the daemons said last about messages that did not arrive. */
function loggedOfMissing(
  folder: string,
  calls: readonly { messageId: string }[],
  arrivals: readonly { messageId: string }[],
): string[] {
  const arrived = new Set(arrivals.map(({ messageId }) => messageId));
  const missing = calls.map(({ messageId }) => messageId).filter((id) => !arrived.has(id));
  if (missing.length === 0) return [];
  const lines = ['node', 'node-2'].flatMap((section) =>
    fs.readFileSync(path.join(folder, section, 'postrider.log'), 'utf8').split('\n'),
  );
  return missing.flatMap((id) => lines.filter((line) => line.includes(id)).slice(-3));
}

t.test('two daemons on one database', { skip: databaseMissing() }, async (t) => {
  // Shorter than a test's own: the path of a Unix socket has at most 107 bytes.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-test-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  const run = runIn(folder);
  const settings = { shared_preload_libraries: 'pg_stat_statements' };
  await withDatabaseServer({ dir: run.options.dir, settings }, async (makeDatabase) => {
    const database = await makeDatabase();
    const plan = { section: 'node', database: database.url, daemons: 2, tellsCommits: true };
    await withPostrider(run, plan, async ({ postrider, others, sink }) => {
      const watch = await watchBloat(database);
      const traffic = await sendTraffic({
        ...{ postrider, others, sink, server: database, folder, connections: 20, inFlight: 100, pauseMs: 0 },
        ...{ warmUpMs: 500, measuredMs: patience(3000) },
      });
      await drain(sink, traffic.calls.length, patience(30_000));
      const arrivals = (await sink.arrivals())!;
      t.strictSame(loggedOfMissing(folder, traffic.calls, arrivals), [], 'all have arrived');
      t.same(reconcile(traffic.calls, arrivals), { lost: 0, twice: 0 });
      t.ok(traffic.cores!.server > 0, 'the time of the server is known');

      t.equal(others.length, 1);
      for (const daemon of [postrider, ...others]) {
        const { groups, verbs, roundTrips, statements, tries } = await daemon.committed();
        t.ok(verbs > groups, 'groups of several, so half of the traffic came here');
        t.ok(roundTrips > groups && statements > roundTrips && tries >= groups, 'all of it on PostgreSQL');
      }

      const { tables, statements } = await watch.look().finally(() => watch.close());
      const messages = tables.find(({ name }) => name === 'messages')!;
      t.ok(messages.live + messages.dead >= traffic.calls.length, 'statistics of the tables');
      t.ok(
        statements.some(({ text }) => text.includes('messages')),
        'statistics of the statements',
      );
    });
  });
});
