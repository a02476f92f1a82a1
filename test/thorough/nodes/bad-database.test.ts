// Databases that a daemon can't use: it says in one sentence what to do, and ends, or waits for one that is away. Those that
// fail it while it runs: it
// accepts nothing that is not on disk, says no names of servers to tenants, and recovers without a restart.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { trySending } from '../../flows/try-sending.ts';
import type { Daemon } from '../../support/daemon-process.ts';
import { startNodes } from '../../support/nodes.ts';
import { within } from '../../support/patience.ts';
import { type PostgresServer, postgresMissing, startPostgres, startStandby } from '../../support/postgres-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { messageIdOf, RECEIVER, registerSender } from '../../support/world.ts';

t.test('what a start says of a database that it cannot use', { skip: postgresMissing() }, async (t) => {
  const world = await startNodes(t, ['a']);
  const { server } = world;
  await server.run(
    'postgres',
    `CREATE ROLE clerk LOGIN PASSWORD 'safe'; CREATE ROLE reader LOGIN; CREATE ROLE guest LOGIN`,
  );
  const strict = await startStrict(t);
  const made = async (sql: string) => {
    const name = await server.createDatabase();
    await server.run(name, sql);
    return name;
  };
  const foreign = await made('CREATE SCHEMA postrider; CREATE TABLE postrider.letters (id int)');
  const newer = await made(`CREATE SCHEMA postrider; CREATE TABLE postrider.meta (name text, value text);
    INSERT INTO postrider.meta VALUES ('schema_version', '999'), ('migrated_by', '9.9.9')`);
  const [, inUse] = /\/(test_\d+)$/.exec(world.url)!;
  await server.run(inUse!, 'GRANT USAGE ON SCHEMA postrider TO reader; GRANT SELECT ON postrider.meta TO reader');
  const refused: readonly [what: string, url: string, said: RegExp][] = [
    [
      'a wrong URL',
      'postgres://127.0.0.1/postrider',
      /has no user name: postgres:\/\/USER:password@host:5432\/database/,
    ],
    [
      'a wrong password',
      strict.url('postgres', 'clerk:wrong'),
      /rejected the password of this user: correct it in store\.url/,
    ],
    ['no such database', server.url('nothing'), /no database of this name: create it with CREATE DATABASE/],
    ['another program', server.url(foreign), /was not made by Postrider: name another database in store\.url/],
    ['a newer schema', server.url(newer), /schema 999 \(of Postrider 9\.9\.9\).*: start the newer version/],
    [
      'no right to create',
      server.url(await server.createDatabase(), 'reader'),
      /GRANT CREATE ON DATABASE "test_\d+" TO "reader"/,
    ],
    [
      'no right to its tables',
      server.url(inUse!, 'reader'),
      /lacks rights: make it the owner of the schema, postrider/,
    ],
    [
      'no right to its schema',
      server.url(inUse!, 'guest'),
      /the database test_\d+ at 127.*lacks rights: make it the owner of the schema, postrider/,
    ],
    ['TLS that is not there', `${server.url(inUse!)}?sslmode=require`, /offers no TLS, which store\.url asks for/],
  ];
  for (const [what, url, said] of refused) {
    const daemon = world.install('b', { store: { url, node: 'b' } }).spawn();
    const { code } = await within(30_000, `end: ${what}`, daemon.ended);
    t.equal(code, 1, what);
    t.match(daemon.output, said, what);
    t.notMatch(daemon.output, /\n {4}at |:wrong@/, `${what}: a sentence, without a stack and passwords`);
  }
});

t.test('a start waits for a database that is away', { skip: postgresMissing() }, async (t) => {
  const world = await startNodes(t, ['a']);
  const { server } = world;
  const [, inUse] = /\/(test_\d+)$/.exec(world.url)!;
  const start = (url: string) => world.install('b', { store: { url, node: 'b' } }).spawn();
  const waiting = (daemon: Daemon) =>
    daemon.lines.filter(({ msg }) => String(msg).startsWith('the start waits for the '));
  const waits = (daemon: Daemon, reason: RegExp) =>
    daemon.until(() => waiting(daemon).some(({ msg }) => reason.test(String(msg))), `wait: ${reason}`);

  const proxy = await startTcpProxy(t, server);
  proxy.refuse(true);
  const early = start(server.url(inUse!).replace(`:${server.port}/`, `:${proxy.port}/`));
  await waits(early, /^the start waits for the database: test_\d+ at 127\.0\.0\.1:\d+: the connection was lost/);
  proxy.refuse(false);
  t.ok(await within(60_000, 'the start', early.ready), 'and goes on');
  t.equal(waiting(early).length, 1, 'said once');
  await early.stop();

  const standby = await startStandby(t, server, 'db2');
  const promoted = start(standby.url(inUse!));
  await waits(promoted, /it is a standby, and not the primary/);
  await standby.run('postgres', 'SELECT pg_promote()');
  t.ok(await within(60_000, 'the start', promoted.ready));
  await promoted.stop();

  const stopped = start(await crowded(t));
  await waits(stopped, /no free connection: raise max_connections there/);
  t.match(await within(30_000, 'the end', stopped.stop()), { code: 1, signal: null });
  t.match(stopped.output, /postrider serve: stopped before the database could be used/);
});

async function startStrict(t: Test): Promise<PostgresServer> {
  const server = await startPostgres(t);
  await server.run('postgres', `CREATE ROLE clerk LOGIN PASSWORD 'safe'`);
  await server.useRules('host all owner 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256');
  return server;
}

/** A server whose connections are all taken, but for those of superusers. */
async function crowded(t: Test): Promise<string> {
  const server = await startPostgres(t, { settings: { max_connections: '4', superuser_reserved_connections: '3' } });
  await server.run('postgres', 'CREATE ROLE guest LOGIN');
  return server.url('postgres', 'guest');
}

/** Which only operators may read. */
const NAMES = /127\.0\.0\.1|clerk|mail at|postgres/i;

const noMount = process.getuid?.() === 0 ? postgresMissing() : 'only root can mount a small disk';

t.test('a database that fails a running daemon', { skip: noMount }, async (t) => {
  const world = await startNodes(t, ['a']);
  const { server, dns, sink } = world;
  const disk = await mountSmallDisk(t, server);
  await server.run('postgres', 'CREATE ROLE clerk LOGIN');
  await server.run('postgres', 'CREATE DATABASE mail OWNER clerk TEMPLATE template0 TABLESPACE small');
  const postrider = world.install('b', { store: { url: server.url('mail', 'clerk'), node: 'b' } });
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  const promised: string[] = [];
  let calls = 0;
  const isAccepted = async (t: Test) => {
    const { status, body, retryAfter } = await trySending(daemon, sender, `${calls++}@${RECEIVER}`);
    if (status === 202) promised.push(...(body.message_ids as string[]));
    else if (status !== 500 || !/^[A-Z].*\.$/.test(String(body.message)) || NAMES.test(JSON.stringify(body)))
      t.fail(`${status} ${retryAfter}: ${JSON.stringify(body)}`);
    return status === 202;
  };

  const failures = async () => {
    const { rows } = await server.run('postgres', `SELECT xact_rollback FROM pg_stat_database WHERE datname = 'mail'`);
    return Number((rows[0] as { xact_rollback: string }).xact_rollback);
  };

  await t.test('its disk is full, and has room again', async (t) => {
    fillUp(disk.ballast);
    await until('mail is refused', async () => !(await isAccepted(t)), 60_000);
    await daemon.until(() => daemon.find({ fault: 'database_disk_full' }).length > 0, 'say whose disk is full');
    t.notMatch(daemon.output, /disk of data\.dir/);
    const failedSince = await failures();
    await until('it has looked again, and again', async () => (await failures()) > failedSince + 3, 60_000);
    t.equal(daemon.find({ fact: 'intake_closed' }).length, 1, 'and mail was refused all the time');
    fs.rmSync(disk.ballast);
    await until('mail is accepted', () => isAccepted(t), 60_000);
  });

  await t.test('it has no free connection, and has some again', async (t) => {
    await server.run('postgres', 'ALTER DATABASE mail CONNECTION LIMIT 0');
    await server.run('postgres', `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'mail'`);
    await until('mail is refused', async () => !(await isAccepted(t)), 60_000);
    await daemon.until(() => /raise max_connections there/.test(daemon.output), 'say what to do');
    t.ok(daemon.running, 'it waits');
    await server.run('postgres', 'ALTER DATABASE mail CONNECTION LIMIT -1');
    await until('mail is accepted', () => isAccepted(t), 60_000);
  });

  const arrived = () => new Set(sink.mails.map(({ raw }) => messageIdOf(raw)));
  await until('all that was promised arrives', () => promised.every((id) => arrived().has(id)), 60_000);
  t.ok(promised.length > 1, `${promised.length} messages`);
});

/** A tablespace of its own: without room for its log PostgreSQL ends, and for tables it fails what needs room. */
async function mountSmallDisk(t: Test, server: PostgresServer): Promise<{ ballast: string }> {
  const folder = testFolder(t);
  const { uid, gid } = fs.statSync(server.dataFolder);
  const disk = path.join(folder, 'disk');
  fs.mkdirSync(disk);
  fs.chmodSync(folder, 0o755);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=32m,mode=0700,uid=${uid},gid=${gid}`, 'none', disk]);
  t.teardown(() => execFileSync('umount', ['--lazy', disk]));
  fs.mkdirSync(path.join(disk, 'tables'));
  fs.chownSync(path.join(disk, 'tables'), uid, gid);
  await server.run('postgres', `CREATE TABLESPACE small LOCATION '${path.join(disk, 'tables')}'`);
  return { ballast: path.join(disk, 'ballast') };
}

function fillUp(file: string): void {
  const handle = fs.openSync(file, 'w');
  try {
    for (;;) fs.writeSync(handle, Buffer.alloc(4096));
  } catch {
    fs.closeSync(handle); // full
  }
}
