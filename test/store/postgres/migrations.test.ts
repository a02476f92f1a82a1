// Migrations of PostgreSQL: where they lead, what they refuse, and that many nodes may try at once.
import fs from 'node:fs';
import Database from 'better-sqlite3';
import t from 'tap';
import { applyMigrations } from '../../../src/store/postgres/engine/apply-migrations.ts';
import { isMigrated, knownMigrations, migrate, newestSchema } from '../../../src/store/postgres/engine/migrations.ts';
import { connect } from '../../../src/store/postgres/engine/primary.ts';
import { parseServerAddress } from '../../../src/store/postgres/engine/server-address.ts';
import { MoveTarget } from '../../../src/store/postgres/moving/target.ts';
import { migrate as migrateSqlite } from '../../../src/store/sqlite/engine/migrations.ts';
import { postgresMissing, startPostgres } from '../../support/postgres-server.ts';
import { dumpSchema } from './schema-dump.ts';

const GOLDEN = fs.readFileSync(new URL('../golden/postgres-schema.txt', import.meta.url), 'utf8');
const ALL = knownMigrations();

t.test('migrations are numbered without gaps', async (t) => {
  t.strictSame(
    ALL.map(({ version }) => version),
    ALL.map((_, index) => index + 1),
  );
  t.equal(newestSchema(), ALL.length);
});

t.test('both databases have the same tables and columns', async (t) => {
  const db = new Database(':memory:');
  t.teardown(() => void db.close());
  migrateSqlite(db);
  const ofSqlite = db
    .prepare(
      `SELECT t.name || '.' || c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
    )
    .pluck()
    .all() as string[];
  const ofPostgres = GOLDEN.split(/\n{2,}/).flatMap((block) => {
    const [table, ...lines] = block.split('\n');
    return lines
      .flatMap((line) => line.match(/^ {2}([a-z_]+) (?:bigint|bytea|text|double|uuid)\b/)?.[1] ?? [])
      .map((name) => `${table}.${name}`);
  });
  const onlyHere = ['config_version.id', 'config_version.version', 'commit_marks.mark'];
  t.strictSame(ofPostgres.sort(), [...ofSqlite, ...onlyHere].sort(), 'a migration of one is needed for the other, too');
});

t.test('in a database', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const emptyDatabase = async () => {
    const name = await server.createDatabase();
    return { name, address: parseServerAddress(server.url(name)) };
  };

  t.test('all migrations lead to the schema that is on record', async (t) => {
    const { name, address } = await emptyDatabase();
    t.strictSame(
      await migrate(address),
      ALL.map((migration) => migration.name),
    );
    t.equal(
      await dumpSchema(server.url(name)),
      GOLDEN,
      'when this was meant: node test/store/postgres/update-golden.ts',
    );
    t.strictSame(await migrate(address), [], 'and again, nothing is left to do');
  });

  t.test('of many nodes that start at once, one migrates', async (t) => {
    const { address } = await emptyDatabase();
    const done = await Promise.all([1, 2, 3, 4].map(() => migrate(address)));
    t.strictSame(done.map((names) => names.length).sort(), [0, 0, 0, ALL.length]);
  });

  t.test('a migration that fails leaves nothing behind', async (t) => {
    const { name, address } = await emptyDatabase();
    // A function of the same name and arguments is in the way of the first statement.
    await server.run(
      name,
      `CREATE SCHEMA postrider; CREATE FUNCTION postrider.max(a bigint, b bigint) RETURNS bigint LANGUAGE sql RETURN a`,
    );
    await t.rejects(migrate(address), { code: '42723' });
    const { rows } = await server.run(name, `SELECT to_regclass('postrider.meta') AS meta`);
    t.strictSame(rows, [{ meta: null }]);
    await server.run(name, 'DROP FUNCTION postrider.max(bigint, bigint)');
    t.equal((await migrate(address)).length, ALL.length);
  });

  t.test('tables of another program in the same database are no obstacle', async (t) => {
    const { name, address } = await emptyDatabase();
    await server.run(name, 'CREATE TABLE messages (id int); CREATE TABLE meta (name text)');
    t.equal((await migrate(address)).length, ALL.length);
    const { rows } = await server.run(name, 'SELECT * FROM public.messages');
    t.strictSame(rows, []);
  });

  t.test('what another program or a newer version has made is refused', async (t) => {
    const refused = async (sql: string, message: RegExp) => {
      const { name, address } = await emptyDatabase();
      await server.run(name, sql);
      await t.rejects(migrate(address), { name: 'Fault', permanence: 'permanent', message });
    };
    const foreign =
      /the schema postrider in the database test_\d+ at 127\.0\.0\.1:\d+ was not made by Postrider: name another/;
    await refused('CREATE SCHEMA postrider; CREATE TABLE postrider.letters (id int)', foreign);
    await refused('CREATE SCHEMA postrider; CREATE TABLE postrider.meta (id int)', foreign);
    await refused('CREATE SCHEMA postrider; CREATE TABLE postrider.meta (name text, value text)', foreign);
    const newer = `CREATE SCHEMA postrider; CREATE TABLE postrider.meta (name text, value text);
      INSERT INTO postrider.meta VALUES ('schema_version', '999'), ('migrated_by', '9.9.9')`;
    const few = `${newer}, ('usable_from', '${newestSchema() + 1}')`;
    for (const sql of [newer, few])
      await refused(
        sql,
        /has schema 999 \(of Postrider 9\.9\.9\), and this Postrider knows schemas up to \d+: start the newer/,
      );
  });

  t.test('beside a newer version that only added, this one works', async (t) => {
    const { name, address } = await emptyDatabase();
    await migrate(address);
    const newer = `UPDATE postrider.meta SET value = CASE name WHEN 'schema_version' THEN '999' ELSE '9.9.9' END
      WHERE name IN ('schema_version', 'migrated_by')`;
    await server.run(name, newer);
    const said: unknown[] = [];
    t.strictSame(await migrate(address, (text, isWarning) => said.push({ text, isWarning })), []);
    t.match(said, [{ text: /newer schema 999 \(of Postrider 9\.9\.9\).*upgrade this daemon, too/, isWarning: true }]);
    t.equal(await isMigrated(address), true, 'and so do its commands');
    const { rows } = await server.run(name, `SELECT value FROM postrider.meta WHERE name = 'schema_version'`);
    t.strictSame(rows, [{ value: '999' }], 'it leaves the schema as it is');
    await t.rejects(MoveTarget.open(address), { message: /has schema 999/ }, 'but a copy is of one version');
  });

  t.test('a table that is in use is waited for briefly, again and again, and others go on meanwhile', async (t) => {
    const { name, address } = await emptyDatabase();
    await migrate(address);
    const dump = await connect(address, { applicationName: 'a dump', patient: true });
    t.teardown(() => dump.end());
    await dump.sendText('BEGIN; LOCK TABLE postrider.tenants IN ACCESS SHARE MODE');
    const connection = await connect(address, { applicationName: 'postrider-migration', patient: true });
    t.teardown(() => connection.end());
    const sql = 'ALTER TABLE tenants ADD COLUMN region text';
    const due = { migrations: [{ version: 999, name: '0999-region.sql', sql }], usableFrom: 1 };
    const said: string[] = [];
    const tried = Promise.withResolvers<void>();
    const tell = (text: string) => {
      said.push(text);
      tried.resolve();
    };
    const applied = applyMigrations(connection, due, { currentVersion: async () => newestSchema(), tell });
    await tried.promise;
    // Between two tries, or behind one: never for longer than a daemon waits.
    for (let looks = 0; looks < 20; looks++) await server.run(name, 'SELECT count(*) FROM postrider.tenants');
    t.match(said, [/other transactions use the tables.*it is tried again.*pg_stat_activity/]);
    await dump.sendText('COMMIT');
    t.strictSame(await applied, ['0999-region.sql']);
  });

  t.test('a command that only reads migrates nothing', async (t) => {
    const { name, address } = await emptyDatabase();
    t.equal(await isMigrated(address), false);
    await migrate(address);
    t.equal(await isMigrated(address), true);
    await server.run(name, `UPDATE postrider.meta SET value = 'soon' WHERE name = 'schema_version'`);
    await t.rejects(isMigrated(address), { message: /was not made by Postrider/ });
  });

  t.test('a user without rights is told what to grant', async (t) => {
    const { name } = await emptyDatabase();
    await server.run('postgres', 'CREATE ROLE clerk LOGIN');
    await t.rejects(migrate(parseServerAddress(server.url(name, 'clerk'))), {
      message: new RegExp(`GRANT CREATE ON DATABASE "${name}" TO "clerk"`),
    });
  });
});
