// Two servers of store.url accept writes: a standby was promoted, and the primary before it came back as it was. All that a
// daemon does goes to the one that was promoted.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { connect, Primary } from '../../../../src/store/postgres/engine/primary.ts';
import { parseServerAddress } from '../../../../src/store/postgres/engine/server-address.ts';
import { readServerNote } from '../../../../src/store/postgres/engine/server-note.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openPostgresCourierReads } from '../../../../src/store/postgres/reads.ts';
import { readServerFacts } from '../../../../src/store/postgres/server-facts.ts';
import { Bench } from '../../../store/conformance/harness.ts';
import { within } from '../../../support/patience.ts';
import { postgresMissing, startPostgres, startStandby } from '../../../support/postgres-server.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';
import { testFolder } from '../../../support/test-folder.ts';
import { until } from '../../../support/until.ts';

const TERMS = { applicationName: 'a test' };
const noContents = () => {
  throw new Error('not opened by this test');
};

/** As a daemon does from its start to its end. */
async function use(url: string): Promise<void> {
  const store = await openPostgresStore({ url });
  await store.figures.countOpenMessages().finally(() => store.close());
}

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
    const primary = new Primary(parseServerAddress(url), { tell: (text, isWarning) => told.push([text, isWarning]) });
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

  t.test('a start while only the old one answers does not take it, if a daemon has used the other', async (t) => {
    const { old, standby, database, url, promote } = await startPair(t);
    const noteFile = path.join(testFolder(t), 'server.json');
    const noted = `${url}?${new URLSearchParams({ server_note: noteFile }).toString()}`;
    await use(noted);
    t.match(readServerNote(noteFile), { timeline: '00000001' });
    await promote();
    await use(noted);
    const note = readServerNote(noteFile);
    t.match(note, { timeline: '00000002' });
    await standby.die();
    const why = new RegExp(
      `at 127.0.0.1:${old.port}: it was the primary before another one was promoted, which must be started. ` +
        `If that one is lost for good, stop all daemons, remove ${noteFile} of each`,
    );
    await t.rejects(use(noted), { name: 'Fault', detail: why });
    await t.rejects(connect(parseServerAddress(noted), TERMS), { name: 'Fault', detail: why }, 'nor does a command');
    t.strictSame(readServerNote(noteFile), note);

    fs.rmSync(noteFile);
    await use(noted);
    t.match(readServerNote(noteFile), { timeline: '00000001' }, 'as its operator says');
    fs.writeFileSync(noteFile, JSON.stringify({ system: '1', timeline: '00000009' }));
    await use(noted);
    t.match(readServerNote(noteFile), { system: note!.system, timeline: '00000001' }, 'another database has its own');
    fs.writeFileSync(noteFile, '{');
    await old.run(database, 'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; CREATE ROLE clerk LOGIN');
    await old.run(
      database,
      'GRANT ALL ON SCHEMA postrider TO clerk; GRANT ALL ON ALL TABLES IN SCHEMA postrider TO clerk',
    );
    const connection = await new Primary(parseServerAddress(old.url(database, 'clerk'))).connect(TERMS);
    t.strictSame(connection.server, { system: '', timeline: '00000001' }, 'who may not know which it is');
    await connection.end();
    const ofClerk = parseServerAddress(`${old.url(database, 'clerk')}?server_note=${noteFile}`);
    await (await new Primary(ofClerk, { isNoted: true }).connect(TERMS)).end();
    t.equal(readServerNote(noteFile), null, 'notes nothing');
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
