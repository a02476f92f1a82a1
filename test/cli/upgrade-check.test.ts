// upgrade --check: what a start of this version would change, found by reading only.
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { programVersion } from '../../src/base/program-version.ts';
import { newestSchema } from '../../src/store/sqlite/engine/migrations.ts';
import { oldDatabase, schemaOf } from '../support/old-database.ts';
import { newProgram } from '../support/program.ts';
import { startWorld } from '../support/world.ts';

const NEWEST = newestSchema();

t.test('migrations to come, in a line each, and nothing is written', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { run, json, dataDir } = program;
  const file = oldDatabase(dataDir, 31);
  const digest = () => createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  const before = digest();
  const found = await json('upgrade', '--check');
  t.match(found, { possible: true, version: programVersion(), schema: { database: 31, program: NEWEST } });
  const migrations = found.migrations as object[];
  t.equal(migrations.length, NEWEST - 31);
  t.match(migrations[0], {
    schema: 32,
    name: '0032-scheduled.sql',
    writes_table_again: true,
    what: /^Mail for later: /,
  });
  t.match(migrations[1], { schema: 33, writes_table_again: false });
  t.match(migrations[6], { schema: 38, writes_table_again: true }, 'every row is changed');
  const { needed_bytes: needed, free_bytes: free } = found.room as { needed_bytes: number; free_bytes: number };
  t.ok(needed > 16 * 1024 * 1024 && free > 0);
  const said = await run('upgrade', '--check');
  t.match(said, { code: 0, stderr: '' });
  t.match(said.stdout, /^Postrider \S+ can start with this configuration and database\.\n/);
  t.match(said.stdout, /has schema 31; the next start migrates it to \d+/);
  t.match(said.stdout, /^- 0032-scheduled \(writes a whole table again\): Mail for later: .*\.$/m);
  t.equal(digest(), before);
  t.same(
    fs.readdirSync(dataDir).filter((name) => !name.startsWith('postrider.db')),
    [],
  );
});

t.test('what would refuse the start', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { runHere, configFile, dataDir } = program;
  await program.json('migrate');
  t.match(await runHere('upgrade', '--check'), { code: 0, stdout: new RegExp(`already has schema ${NEWEST}`) });
  const file = path.join(dataDir, 'postrider.db');
  const db = new Database(file);
  db.pragma(`user_version = ${NEWEST + 1}`);
  db.prepare("UPDATE meta SET value = '9.8.7' WHERE name = 'migrated_by'").run();
  db.close();
  const newer = await runHere('upgrade', '--check');
  const says = new RegExp(
    `schema ${NEWEST + 1} \\(of Postrider 9\\.8\\.7\\), and this Postrider knows schemas up to ${NEWEST}`,
  );
  t.match(newer, { code: 1, stdout: says });
  t.match(await runHere('migrate'), { code: 1, stderr: says }, 'and the start says the same');
  t.match(newer.stdout, /can't start/);

  fs.appendFileSync(configFile, 'dri = "x"\n\n[suppression]\nleap_share = 0.1\n');
  const { code, stdout } = await runHere('upgrade', '--check');
  t.equal(code, 1);
  t.match(stdout, /fail {2}configuration: .*data\.dri: unknown key; did you mean data\.dir\?/);
  t.match(stdout, /fail {2}configuration: .*suppression\.leap_share: this key is now called suppression\.spike_share/);
  t.match(stdout, says, 'the database is looked at nevertheless');
  fs.writeFileSync(file, 'a text of some length\n'.repeat(100));
  const foreign = await runHere('upgrade', '--check');
  t.match(foreign, { code: 1, stdout: /fail {2}database: .* was not made by Postrider/ });
  fs.writeFileSync(configFile, 'no TOML');
  t.match(await runHere('upgrade', '--check', '--json'), { code: 1, stdout: /"possible":false.*not valid TOML/ });
});

const noMount = process.getuid?.() === 0 ? false : 'only root can mount a small disk';

t.test('room', { skip: noMount }, async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { dataDir, folder } = program;
  const file = oldDatabase(dataDir, 31);
  const kept = path.join(folder, 'kept.db');
  fs.renameSync(file, kept);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', dataDir]);
  try {
    fs.copyFileSync(kept, file);
    const found = await program.runHere('upgrade', '--check');
    t.match(found, {
      code: 1,
      stdout: /fail {2}room: .* MiB are free, so the start will be refused: \d+ MiB are needed/,
    });
  } finally {
    execFileSync('umount', [dataDir]);
  }
});

t.test('beside a running daemon', async (t) => {
  const { postrider } = await startWorld(t);
  const daemon = await postrider.serve();
  t.match(await postrider.run('upgrade', '--check'), {
    code: 0,
    stdout: /ok {4}daemon: postrider: is running; the up/,
  });
  await daemon.stop();
  t.match(await postrider.run('upgrade', '--check'), { code: 0, stdout: /ok {4}daemon: postrider: is not running/ });
  t.equal(schemaOf(postrider.databaseFile), NEWEST);
});

t.test('what the start refuses besides, the check and the doctor say before', async (t) => {
  const offline = { mail_domains: [], known_domains: [], time_sources: [], blocklists: [] };
  const { postrider } = await startWorld(t, { settings: { doctor: offline } });
  const { configFile, databaseFile } = postrider;
  const keyFile = path.join(path.dirname(databaseFile), 'master.key');
  const daemon = await postrider.serve();
  const right = fs.readFileSync(keyFile, 'utf8');
  fs.rmSync(keyFile);
  const missing = new RegExp(
    `warn {2}master key: ${keyFile}:? does not exist, but ${databaseFile} has secrets .*credential`,
  );
  t.match(await postrider.runHere('upgrade', '--check'), { code: 0, stdout: missing }, 'the service may see one');
  t.match((await postrider.runHere('doctor')).stdout, missing);
  await daemon.stop();
  t.notOk(fs.existsSync(keyFile), 'neither creates one');

  const refused = async (refusal: RegExp, finding: RegExp) => {
    t.match(await postrider.run('serve'), { code: 1, stderr: refusal });
    t.match(await postrider.runHere('upgrade', '--check'), { code: 1, stdout: finding });
    return postrider.runHere('doctor');
  };
  const other = randomBytes(32).toString('base64');
  fs.writeFileSync(keyFile, other, { mode: 0o600 });
  const needs = `the secrets in ${databaseFile} need the master key with the ID`;
  const misfit = new RegExp(`fail {2}master key: ${keyFile}:? does not fit: ${needs}`);
  t.match((await refused(new RegExp(needs), misfit)).stdout, misfit);
  fs.writeFileSync(keyFile, 'short', { mode: 0o600 });
  const noKey = new RegExp(`fail {2}master key: ${keyFile}:? can't be used: .*is not 32 bytes`);
  t.match((await refused(/is not 32 bytes/, noKey)).stdout, noKey);
  fs.writeFileSync(keyFile, `${other}\n${right}`, { mode: 0o600 });
  t.notMatch((await postrider.runHere('upgrade', '--check')).stdout, /master key/, 'one of several fits');

  const text = fs.readFileSync(configFile, 'utf8');
  const limits = path.join(postrider.folder, 'limits.toml');
  fs.writeFileSync(limits, 'nonsense = 3\n');
  fs.writeFileSync(configFile, text.replace('[delivery]\n', `[delivery]\nprovider_limits_file = "${limits}"\n`));
  const nonsense = /nonsense: only \[\[provider\]\]/;
  t.match(await refused(nonsense, /fail {2}configuration: delivery\.provider_limits_file: .*nonsense: only/), {
    code: 1,
    stderr: nonsense,
  });
  fs.writeFileSync(configFile, text);

  for (const suffix of ['-wal', '-shm']) fs.rmSync(databaseFile + suffix, { force: true });
  fs.truncateSync(databaseFile);
  const emptied = new RegExp(`fail {2}database: .*the database ${databaseFile} is empty, but Postrider has run`);
  t.match((await refused(/is empty, but Postrider has run/, emptied)).stdout, emptied);
});
