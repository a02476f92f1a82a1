// backup --to, as a timer calls it: whole files or none, checked, and only its own older ones deleted.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { prepareBadDisk } from '../support/bad-disk.ts';
import { noCompiler } from '../support/preloaded-library.ts';
import { type Finished, newProgram, PROGRAM, runInThisProcess } from '../support/program.ts';

async function prepare(t: Test) {
  const program = newProgram();
  t.teardown(program.remove);
  await program.json('tenant', 'create', '--name', 'kept');
  const dir = path.join(program.folder, 'backups');
  fs.mkdirSync(dir);
  return { ...program, dir };
}

const named = (day: number, ending: string) => `postrider-202601${String(day).padStart(2, '0')}T000000Z.${ending}`;

t.test('database and configuration, and the last N of them', async (t) => {
  const { run, runHere, dir, configFile, dataDir } = await prepare(t);
  const others = ['postrider-schema-0030-20260101T000000Z.db', 'postrider-20260101T000000Z.db.gpg', 'mine.db'];
  for (const name of [...others, ...[1, 2, 3].flatMap((day) => [named(day, 'db'), named(day, 'toml')])]) {
    fs.writeFileSync(path.join(dir, name), name);
  }
  const left = path.join(dir, `${named(1, 'db')}.part`);
  fs.writeFileSync(left, 'what a crash has left');
  fs.utimesSync(left, 0, 0);
  const said = await run('backup', '--to', dir, '--keep', '2');
  t.match(said, { code: 0, stderr: '' });
  t.match(
    said.stdout,
    /does not contain the master key[\s\S]*Keep a copy of the master key.* apart from the backups\.[\s\S]*Deleted: /,
  );
  fs.writeFileSync(path.join(dataDir, 'master.key'), 'a key', { mode: 0o600 });
  const names = fs.readdirSync(dir).sort();
  const fresh = names.filter((name) => /^postrider-\d{8}T/.test(name) && !name.startsWith('postrider-202601'));
  t.match(fresh, [/\.db$/, /\.toml$/]);
  t.same(
    names.filter((name) => !fresh.includes(name)),
    [...others, named(3, 'db'), named(3, 'toml')].sort(),
  );
  t.equal(fs.readFileSync(path.join(dir, fresh[1]!), 'utf8'), fs.readFileSync(configFile, 'utf8'));
  for (const name of fresh) t.equal(fs.statSync(path.join(dir, name)).mode & 0o777, 0o600);
  const db = new Database(path.join(dir, fresh[0]!), { readonly: true });
  t.equal(db.prepare('SELECT name FROM tenants').pluck().get(), 'kept');
  db.close();

  const again = path.join(dir, 'again');
  fs.mkdirSync(again);
  const { stdout } = await runHere('backup', '--to', again);
  t.ok(stdout.includes(`the master key (${path.join(dataDir, 'master.key')})`), 'where there is one');

  t.match(await runHere('backup', '--to', path.join(dir, 'no')), { code: 1, stderr: /cannot be used: no such file/ });
  t.match(await runHere('backup', '--to', configFile), { code: 1, stderr: /it is not a folder/ });
  t.match(await runHere('backup', 'a.db', '--to', dir), { code: 2, stderr: /not both/ });
  t.match(await runHere('backup', 'a.db', '--keep', '3'), { code: 2, stderr: /--keep needs --to/ });
});

t.test('one just made stays, also when the clock was set back since the others', async (t) => {
  const { json, dir } = await prepare(t);
  const later = ['postrider-99980101T000000Z.db', 'postrider-99990101T000000Z.db'];
  for (const name of later) fs.writeFileSync(path.join(dir, name), name);
  const { file, deleted } = (await json('backup', '--to', dir, '--keep', '2')) as { file: string; deleted: string[] };
  t.same(deleted, [path.join(dir, later[0]!)]);
  t.ok(fs.existsSync(file));
});

t.test('a configuration with the master key is not copied', async (t) => {
  const { json, dir, configFile } = await prepare(t);
  fs.appendFileSync(configFile, `[secrets]\nmaster_key = "${Buffer.alloc(32, 7).toString('base64')}"\n`);
  t.match(await json('backup', '--to', dir), { config_file: null, master_key: /secrets\.master_key/, deleted: [] });
  t.equal(fs.readdirSync(dir).length, 1);
  for (const value of [Buffer.alloc(32, 8).toString('base64'), '']) {
    const args = ['backup', '--to', fs.mkdtempSync(path.join(dir, 'more-')), '--json', '--config', configFile];
    const { stdout } = await runInThisProcess(args, { POSTRIDER_SECRETS_MASTER_KEY: value });
    t.match(JSON.parse(stdout), { config_file: null }, 'nor one whose key a variable overrides');
  }
});

t.test('a disk that is full', { skip: noCompiler }, async (t) => {
  const { folder, configFile, json } = await prepare(t);
  const dir = fs.realpathSync(path.join(folder, 'backups'));
  fs.writeFileSync(path.join(dir, named(1, 'db')), 'an earlier one');
  const disk = prepareBadDisk(dir, folder);
  disk.fail(os.constants.errno.ENOSPC);
  const env = { PATH: process.env.PATH, ...disk.env };
  for (const target of [['--to', dir, '--keep', '1'], [path.join(dir, 'copy.db')]]) {
    const said = await new Promise<Finished>((resolve) => {
      execFile(PROGRAM, ['backup', ...target, '--config', configFile], { env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      });
    });
    t.match(said, { code: 1, stdout: '', stderr: /the backup .*\.db cannot be written: the disk is full/ });
  }
  t.same(fs.readdirSync(dir), [named(1, 'db')], 'nothing by half, and the earlier one is still there');
  disk.heal();
  t.match(await json('backup', '--to', dir, '--keep', '1'), { deleted: [path.join(dir, named(1, 'db'))] });
});
