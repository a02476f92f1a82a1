// Two servers of store.url accept writes: a standby was promoted, and the primary before it came back as it was. All that a
// daemon does goes to the one that was promoted.
import t, { type Test } from 'tap';
import { connect, Primary } from '../../../../src/store/postgres/engine/primary.ts';
import { parseServerAddress } from '../../../../src/store/postgres/engine/server-address.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openPostgresCourierReads } from '../../../../src/store/postgres/reads.ts';
import { readServerFacts } from '../../../../src/store/postgres/server-facts.ts';
import { Bench } from '../../../store/conformance/harness.ts';
import { within } from '../../../support/patience.ts';
import { postgresMissing, startPostgres, startStandby } from '../../../support/postgres-server.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';
import { until } from '../../../support/until.ts';

const TERMS = { applicationName: 'a test' };
const noContents = () => {
  throw new Error('not opened by this test');
};

/** A primary and a standby that has all of it, both among the hosts of one address. */
async function startPair(t: Test) {
  const old = await startPostgres(t);
  const database = await old.createDatabase();
  const standby = await startStandby(t, old, 'second');
  const url = old.url(database).replace(`:${old.port}/`, `:${old.port},127.0.0.1:${standby.port}/`);
  const names = { old: `127.0.0.1:${old.port}`, standby: `127.0.0.1:${standby.port}` };
  const promote = async () => {
    const caughtUp = 'SELECT pg_last_wal_replay_lsn()::text AS lsn';
    const { rows } = await old.run(database, 'SELECT pg_current_wal_lsn()::text AS lsn');
    const { lsn } = rows[0] as { lsn: string };
    const reached = `SELECT 1 FROM (${caughtUp}) AS now WHERE now.lsn::pg_lsn >= '${lsn}'`;
    while ((await standby.run('postgres', reached)).rowCount === 0);
    await standby.run('postgres', 'SELECT pg_promote()');
  };
  return { old, standby, database, url, names, promote };
}

t.test('with two servers', { skip: postgresMissing() }, async (t) => {
  t.test('the one that was promoted last is taken, and the log warns of the other', async (t) => {
    const { old, standby, url, names, promote } = await startPair(t);
    const told: [string, boolean][] = [];
    const primary = new Primary(parseServerAddress(url), (text, isWarning) => told.push([text, isWarning]));
    const before = await primary.connect(TERMS);
    t.equal(primary.host, names.old);
    await promote();
    const [first, second] = [await primary.connect(TERMS), await primary.connect(TERMS)];
    t.equal(primary.host, names.standby);
    t.strictSame(primary.outdated, [names.old]);
    t.equal(primary.isOutdated(before), true);
    t.equal(primary.isOutdated(first), false);
    t.match(told, [
      [new RegExp(`is used at ${names.old}$`), false],
      [new RegExp(`is used at ${names.standby}, which was promoted$`), false],
      [new RegExp(`^${names.old} accepts writes, too, .*before that one was promoted. Stop it`), true],
    ]);
    t.equal(told.length, 3, 'once');
    t.match(await readServerFacts(url, Date.now), { host: names.standby, outdated: [names.old] });
    await Promise.all([before, first, second].map((connection) => connection.end()));
    await standby.die();
    t.equal((await connect(parseServerAddress(url), TERMS)).isLost, false, 'whoever has not seen the other takes it');
    const why = new RegExp(`at ${names.old}: it was the primary before another one was promoted`);
    await t.rejects(primary.connect(TERMS), { name: 'Fault', detail: why });
    await old.stop();
  });

  t.test('a store and couriers that were open before leave the old one', async (t) => {
    const { old, standby, database, url, promote } = await startPair(t);
    const store = await openPostgresStore({ url });
    t.teardown(() => store.close());
    const bench = new Bench({ store, openContents: noContents });
    const { contents, transportSecurity } = openPostgresCourierReads(url);
    t.teardown(() => {
      contents.close();
      transportSecurity.close();
    });
    const { domain } = await bench.sender('acme.test');
    const { receipt } = await bench.accept(domain, ['a@x.test']);
    t.match(await contents.readSome(receipt.messageIds), [{ kind: 'content' }]);
    t.equal(await store.figures.countOpenMessages(), 1);
    await promote();
    const ofWriter = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'postrider-writes'`;
    t.equal((await old.run(database, ofWriter)).rowCount, 1);
    const later = await bench.accept(domain, ['b@x.test']);
    t.equal(await store.figures.countOpenMessages(), 2, 'reads follow');
    t.match(await contents.readSome(later.receipt.messageIds), [{ kind: 'content' }], 'couriers follow');
    const messages = 'SELECT count(*)::int AS count FROM postrider.messages';
    t.match((await standby.run(database, messages)).rows, [{ count: 2 }]);
    t.match((await old.run(database, messages)).rows, [{ count: 1 }]);
  });

  t.test('a promoted server that says nothing for a moment is found when it does', async (t) => {
    const { old, standby, url, promote } = await startPair(t);
    const proxy = await startTcpProxy(t, standby);
    const primary = new Primary(parseServerAddress(url.replace(`:${standby.port}/`, `:${proxy.port}/`)));
    await promote();
    proxy.hold();
    const early = await primary.connect(TERMS);
    t.equal(primary.host, `127.0.0.1:${old.port}`);
    proxy.release();
    await until('its answer comes', () => primary.isOutdated(early));
    const next = await primary.connect(TERMS);
    t.equal(primary.host, `127.0.0.1:${proxy.port}`);
    await Promise.all([early.end(), next.end()]);
  });

  t.test('a host that says nothing is not waited for', async (t) => {
    const { old, standby, url } = await startPair(t);
    const proxy = await startTcpProxy(t, standby);
    proxy.hold();
    const silent = url.replace(`:${standby.port}/`, `:${proxy.port}/`);
    const primary = new Primary(parseServerAddress(silent));
    for (let time = 0; time < 20; time++) {
      const connection = await within(10_000, 'a connection', primary.connect(TERMS));
      t.equal(primary.host, `127.0.0.1:${old.port}`);
      await connection.end();
    }
  });
});
