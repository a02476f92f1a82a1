// A backup that is killed while it is written leaves nothing that looks like one, and the database as it was.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { timeInName } from '../../../src/store/sqlite/engine/kept-backups.ts';
import { newestSchema } from '../../../src/store/sqlite/engine/migrations.ts';
import { oldDatabase, schemaOf } from '../../support/old-database.ts';
import { newProgram, PROGRAM_ARGUMENTS } from '../../support/program.ts';
import { until } from '../../support/until.ts';

/** Large enough that a copy takes a while. */
const BYTES = 60_000_000;

function prepare(t: Test) {
  const program = newProgram();
  t.teardown(program.remove);
  const file = oldDatabase(program.dataDir, newestSchema() - 1);
  const db = new Database(file);
  db.prepare("INSERT INTO meta VALUES ('large', ?)").run('x'.repeat(BYTES));
  db.close();
  const dir = path.join(program.folder, 'backups');
  fs.mkdirSync(dir);
  return { ...program, file, dir };
}

/** Runs the program, and kills it as soon as a part of a backup is in the folder. */
async function killedWhileWriting(configFile: string, dir: string, args: string[]): Promise<NodeJS.Signals | null> {
  const watcher = fs.watch(dir);
  const child: ChildProcess = spawn(process.execPath, [...PROGRAM_ARGUMENTS, ...args, '--config', configFile]);
  watcher.on('change', (_, name) => {
    if (String(name).endsWith('.part')) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  watcher.close();
  return signal;
}

t.test('backup --to', async (t) => {
  const { configFile, dir, json } = prepare(t);
  t.equal(await killedWhileWriting(configFile, dir, ['backup', '--to', dir, '--keep', '1']), 'SIGKILL');
  t.same(
    fs.readdirSync(dir).filter((name) => name.endsWith('.db')),
    [],
  );
  const left = fs.readdirSync(dir).find((name) => name.endsWith('.part'))!;
  await until('the next second, and so another name', () => timeInName(Date.now()) > left.slice('postrider-'.length));
  const { file } = await json('backup', '--to', dir, '--keep', '1');
  const db = new Database(String(file), { readonly: true });
  t.teardown(() => void db.close());
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
});

t.test('the copy before a migration', async (t) => {
  const { configFile, dataDir, file, json } = prepare(t);
  t.equal(await killedWhileWriting(configFile, dataDir, ['migrate']), 'SIGKILL');
  t.equal(schemaOf(file), newestSchema() - 1, 'nothing was migrated');
  const copies = (ending: string) =>
    fs.readdirSync(dataDir).filter((name) => name.startsWith('postrider-schema') && name.endsWith(ending));
  t.same(copies('.db'), []);
  t.match(await json('migrate'), { to: newestSchema() });
  t.equal(copies('.db').length, 1);
  t.same(copies('.part'), [], 'what was left is gone');
});
