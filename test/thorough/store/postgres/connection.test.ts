// Connections to PostgreSQL: values in both directions, and what people read when there is no connection.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { Fault } from '../../../../src/base/errors.ts';
import type { PostgresConnection } from '../../../../src/store/postgres/engine/connection.ts';
import {
  isConflict,
  isConnectionLost,
  isDuplicate,
  isOutdatedPlan,
  storeFault,
} from '../../../../src/store/postgres/engine/database-fault.ts';
import { connect, Primary } from '../../../../src/store/postgres/engine/primary.ts';
import { parseServerAddress } from '../../../../src/store/postgres/engine/server-address.ts';
import { Session } from '../../../../src/store/postgres/engine/session.ts';
import { closedUrl } from '../../../support/free-port.ts';
import { patience } from '../../../support/patience.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';
import { createTestAuthority } from '../../../support/test-authority.ts';
import { testFolder } from '../../../support/test-folder.ts';

const TERMS = { applicationName: 'a test' };

async function open(t: Test, url: string, terms = {}): Promise<PostgresConnection> {
  const connection = await connect(parseServerAddress(url), { ...TERMS, ...terms });
  t.teardown(() => connection.end());
  return connection;
}

/** One value there and back. */
async function there(connection: PostgresConnection, type: string, value: unknown): Promise<unknown> {
  const statement = { name: `a ${type}`, text: `SELECT $1::${type}`, names: [] };
  return ((await connection.send(statement, [value], 'arrays')).rows as unknown[][])[0]![0];
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const url = server.url(await server.createDatabase());

  t.test('values come back as SQLite gives them', async (t) => {
    const connection = await open(t, url);
    for (const [type, value] of [
      ['bigint', Date.UTC(2026, 0, 1)],
      ['bigint', -(2 ** 53) + 1],
      ['double precision', 0.25],
      ['bytea', Buffer.from([0, 255, 92])],
      ['bytea', Buffer.alloc(0)],
      ['text', 'it\'s "fine" \\ ü 😀\n'],
      ['text', 'with \0 and \uffff and \uffff0 and \uffff1'],
      ['text', null],
    ] as const) {
      t.strictSame(await there(connection, type, value), value, `${type} ${value}`);
    }
    const { rows } = await connection.sendText(
      `SELECT true AS yes, false AS no, sum(n) AS sum FROM (VALUES (7::bigint)) v (n)`,
    );
    t.strictSame(rows, [{ yes: 1, no: 0, sum: 7 }]);
  });

  t.test('statements are sent without waiting for answers, and answered in order', async (t) => {
    const connection = await open(t, url);
    const text = 'SELECT $1::bigint';
    const answers = await Promise.all(
      [1, 2, 3].map((value) => connection.send({ name: 'one', text, names: [] }, [value], 'arrays')),
    );
    t.strictSame(
      answers.map(({ rows }) => rows),
      [[[1]], [[2]], [[3]]],
    );
  });

  t.test('each connection has limits, a name, and the search path', async (t) => {
    const connection = await open(t, url);
    const show = async (setting: string) =>
      (await connection.sendText(`SELECT current_setting('${setting}') AS is`)).rows[0];
    t.strictSame(await show('lock_timeout'), { is: '2s' });
    t.strictSame(await show('statement_timeout'), { is: '10s' });
    t.strictSame(await show('idle_in_transaction_session_timeout'), { is: '5s' });
    t.strictSame(await show('application_name'), { is: 'a test' });
    t.strictSame(await show('search_path'), { is: 'postrider,pg_temp' });
  });

  t.test('errors that say what to do next', async (t) => {
    const [one, two] = [await open(t, url), await open(t, url)];
    await one.sendText(
      'CREATE TABLE public.pairs (id bigint PRIMARY KEY, value bigint); INSERT INTO public.pairs VALUES (1, 1)',
    );
    const duplicate = await errorOf(one.sendText('INSERT INTO public.pairs VALUES (1, 2)'));
    t.ok(isDuplicate(duplicate));
    t.match(storeFault(duplicate), {
      message: 'the database could not be used',
      detail: /PostgreSQL reports: duplicate key/,
    });

    for (const connection of [one, two]) {
      await connection.sendText('BEGIN ISOLATION LEVEL SERIALIZABLE');
      await connection.sendText('SELECT * FROM public.pairs');
    }
    await one.sendText('UPDATE public.pairs SET value = 2; COMMIT');
    t.ok(isConflict(await errorOf(two.sendText('UPDATE public.pairs SET value = 3'))));
    await two.sendText('ROLLBACK');

    const all = { name: 'all', text: 'SELECT * FROM public.pairs', names: [] };
    await one.send(all, [], 'arrays');
    await two.sendText('ALTER TABLE public.pairs ADD COLUMN more bigint');
    t.ok(isOutdatedPlan(await errorOf(one.send(all, [], 'arrays'))));
  });

  t.test('a connection that is lost fails what is in flight, and a session opens another one', async (t) => {
    const session = new Session(new Primary(parseServerAddress(url)), TERMS);
    t.teardown(() => session.close());
    const connection = await session.connection();
    t.equal(await session.connection(), connection);
    const error = await errorOf(connection.sendText('SELECT pg_terminate_backend(pg_backend_pid())'));
    t.ok(isConnectionLost(error), String(error));
    t.match(storeFault(error), { detail: /shut down, or an administrator/ });
    const next = await session.connection();
    t.strictSame((await next.sendText('SELECT 1 AS one')).rows, [{ one: 1 }]);
  });

  t.test('a server that does not answer any more', async (t) => {
    const proxy = await startTcpProxy(t, server);
    const connection = await open(t, url.replace(`:${server.port}`, `:${proxy.port}`), { silenceMs: patience(200) });
    proxy.hold();
    const error = await errorOf(Promise.all([connection.sendText('SELECT 1'), connection.sendText('SELECT 2')]));
    t.ok(isConnectionLost(error), String(error));
    t.equal(connection.isLost, true);
  });

  t.test('reasons why there is no connection', async (t) => {
    const refused = (to: string, detail: RegExp) =>
      t.rejects(connect(parseServerAddress(to), TERMS), { name: 'Fault', detail }, to.replace(/^.*@/, ''));
    await refused(server.url('nothing'), /nothing at 127\.0\.0\.1:\d+: .*no database of this name: create it/);
    await refused(server.url('postgres', 'nobody'), /does not let this user in/);
    await refused(`${url}?sslmode=require`, /offers no TLS, which store.url asks for/);
    const { host } = new URL(await closedUrl());
    await refused(`postgres://post@${host}/mail`, /refused the connection: is PostgreSQL running there/);
    await refused('postgres://post@nowhere.invalid/mail', /its host name can't be resolved/);
    await refused('postgres://post@/mail?host=/no/such/folder', /no Unix socket/);
    const latin = await server.createDatabase();
    await server.run('postgres', `DROP DATABASE ${latin}`);
    await server.run('postgres', `CREATE DATABASE ${latin} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    await refused(server.url(latin), /encoding is LATIN1: create one with ENCODING 'UTF8'/);
  });

  t.test('of several hosts the one that answers is taken, over TCP and a Unix socket', async (t) => {
    const { host } = new URL(await closedUrl());
    const connection = await open(t, url.replace('@', `@${host},`));
    t.equal(connection.isLost, false);
    const database = new URL(url).pathname;
    await open(t, `postgres://owner@${database}?host=${server.socketFolder}&port=${server.port}`);
  });

  t.test('no room for another connection', async (t) => {
    const small = await startPostgres(t, { settings: { max_connections: '5', superuser_reserved_connections: '3' } });
    await small.run('postgres', 'CREATE ROLE clerk LOGIN');
    const address = parseServerAddress(small.url('postgres', 'clerk'));
    const first = await connect(address, TERMS);
    const faults = [await errorOf(connect(address, TERMS)), await errorOf(connect(address, TERMS))];
    await first.end();
    t.match(faults.at(-1), { detail: /no free connection: raise max_connections/ });
  });
});

t.test('passwords and TLS', { skip: postgresMissing() }, async (t) => {
  const authority = createTestAuthority();
  t.teardown(() => authority.close());
  const { certFile, keyFile } = authority.issue('localhost');
  const files = { 'server.crt': certFile, 'server.key': keyFile };
  const server = await startPostgres(t, { settings: { ssl: 'on' }, files });
  await server.run('postgres', `SET password_encryption = 'scram-sha-256'; CREATE ROLE clerk LOGIN PASSWORD 's@fe'`);
  await server.useRules('hostssl all clerk all scram-sha-256', 'local all all trust', 'host all owner all trust');
  const caFile = path.join(testFolder(t), 'ca.pem');
  fs.writeFileSync(caFile, authority.ca);
  const url = (password: string, host: string, mode: string) =>
    `postgres://clerk:${password}@${host}:${server.port}/postgres?sslmode=${mode}`;
  const encrypted = async (to: string) => {
    const connection = await open(t, to);
    const { rows } = await connection.sendText('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return rows;
  };
  t.strictSame(await encrypted(url('s%40fe', '127.0.0.1', 'prefer')), [{ ssl: 1 }]);
  t.strictSame(await encrypted(url('s%40fe', 'localhost', `verify-full&sslrootcert=${caFile}`)), [{ ssl: 1 }]);
  const refused = (to: string, detail: RegExp) =>
    t.rejects(connect(parseServerAddress(to), TERMS), { name: 'Fault', detail });
  await refused(
    url('s%40fe', '127.0.0.1', `verify-full&sslrootcert=${caFile}`),
    /certificate is not trusted: .*sslrootcert/,
  );
  await refused(url('s%40fe', 'localhost', 'verify-full'), /certificate is not trusted/);
  await refused(url('wrong', 'localhost', 'require'), /rejected the password of this user: correct it in store.url/);
  const bare = `postgres://clerk@localhost:${server.port}/postgres?sslmode=require`;
  await refused(bare, /wants a password, and there is none: store\.password_file names/);
  const passwordFile = path.join(testFolder(t), 'password');
  fs.writeFileSync(passwordFile, 's@fe\n');
  const session = new Session(new Primary(parseServerAddress(`${bare}&password_file=${passwordFile}`)), TERMS);
  t.teardown(() => session.close());
  await session.connection();
  await server.run('postgres', `ALTER ROLE clerk PASSWORD 'changed'`);
  fs.writeFileSync(passwordFile, 'changed\n');
  session.drop();
  t.equal((await session.connection()).isLost, false, 'a changed password needs no restart');
  await refused(url('s%40fe', '127.0.0.1', 'disable'), /does not let this user in: check store.url, and pg_hba.conf/);
  t.ok(storeFault(new Fault('a reason')), 'a fault stays as it is');
});
