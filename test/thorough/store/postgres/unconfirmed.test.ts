// With a synchronous standby, an answer means that both servers have it. When the wait for the standby is ended, PostgreSQL
// calls the transaction committed, with a warning or after the connection is lost: nothing may be answered then.
import t from 'tap';
import { InDoubt } from '../../../../src/base/errors.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { Bench, T0 } from '../../../store/conformance/harness.ts';
import { postgresMissing, startPostgres, startStandby } from '../../../support/postgres-server.ts';
import { until } from '../../../support/until.ts';

const noContents = () => {
  throw new Error('not opened by this test');
};

t.test('with a standby', { skip: postgresMissing() }, async (t) => {
  const primary = await startPostgres(t);
  const standby = await startStandby(t, primary, 'second');
  await primary.run('postgres', "ALTER SYSTEM SET synchronous_standby_names = 'second'");
  await primary.run('postgres', 'SELECT pg_reload_conf()');
  const confirms = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
  await until('the standby confirms', async () => (await primary.run('postgres', confirms)).rowCount === 1);
  const database = await primary.createDatabase();
  const { rows } = await standby.run('postgres', 'SELECT pid FROM pg_stat_wal_receiver');
  const receiver = Number((rows[0] as { pid: number }).pid);
  t.teardown(() => process.kill(receiver, 'SIGCONT'));
  const failed: Error[] = [];
  const store = await openPostgresStore({
    url: primary.url(database),
    silenceMs: 3000,
    onFailedCommit: (error) => failed.push(error as Error),
  });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: noContents });
  const { domain } = await bench.sender('acme.test');
  await bench.accept(domain, ['a@x.test']);

  process.kill(receiver, 'SIGSTOP');
  for (const end of ['pg_terminate_backend', 'pg_cancel_backend']) {
    const accepted = bench.accept(domain, [`${end}@x.test`]);
    const waits = `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`;
    void until('it waits for the standby', async () => (await primary.run(database, waits)).rowCount === 1);
    const error = await accepted.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    t.ok(error instanceof InDoubt, end);
    t.match(error, { detail: /no standby has confirmed it, so it may count later/ }, end);
  }
  t.equal(failed.length, 2, 'and the intake is closed');
  // The server notices an end that only the client knows of when it answers the next time: once the standby confirms.
  const open = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'postrider-writes'`;
  process.kill(receiver, 'SIGCONT');
  await store.proveWritable(T0);
  await bench.accept(domain, ['c@x.test']);
  await until('one connection writes', async () => (await primary.run(database, open)).rowCount === 1);
  t.equal(await store.figures.countOpenMessages(), 4, 'they are there all the same: nobody was told so');
});
