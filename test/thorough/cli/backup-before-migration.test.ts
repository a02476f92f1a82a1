// A migration has no way back but the copy that is made before it: by the daemon and by commands, kept for the last
// upgrades, and refused where there is no room for it. What breaks off leaves the old database as it was.
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { newestSchema } from '../../../src/store/sqlite/engine/migrations.ts';
import { prepareBadDisk } from '../../support/bad-disk.ts';
import { oldDatabase, schemaOf } from '../../support/old-database.ts';
import { noCompiler } from '../../support/preloaded-library.ts';
import { type Finished, newProgram, PROGRAM } from '../../support/program.ts';
import { startWorld } from '../../support/world.ts';

const OLD = newestSchema() - 1;
const COPY = new RegExp(`^postrider-schema-${String(OLD).padStart(4, '0')}-\\d{8}T\\d{6}Z\\.db$`);

function prepare(t: Test) {
  const program = newProgram();
  t.teardown(program.remove);
  const file = oldDatabase(program.dataDir, OLD);
  const copies = () => fs.readdirSync(program.dataDir).filter((name) => name.startsWith('postrider-schema'));
  return { ...program, file, copies };
}

t.test('the daemon copies the database, says so, and goes on', async (t) => {
  const { postrider } = await startWorld(t);
  const dataDir = path.dirname(postrider.databaseFile);
  oldDatabase(dataDir, OLD);
  const daemon = await postrider.serve();
  const [said] = daemon.lines.filter(({ msg }) => /^backed up the database to .* before migrating it/.test(msg));
  t.match(said, { level: 'info', from: OLD, to: newestSchema() });
  t.equal(schemaOf(String(said!.file)), OLD);
  t.equal(schemaOf(postrider.databaseFile), newestSchema());
  await daemon.stop();
  const again = await postrider.serve();
  t.equal(again.lines.filter(({ msg }) => msg.startsWith('backed up')).length, 0, 'once');
});

t.test('commands do, too, and the last copies are kept', async (t) => {
  const { dataDir, file, copies, runHere, configFile } = prepare(t);
  // Of newer schemas, too: somebody has gone back to the old version since.
  const earlier = ['0008-20260101', '9998-20250101', '9999-20250101'].map((of) => `postrider-schema-${of}T000000Z.db`);
  const failed = `postrider-schema-${String(OLD).padStart(4, '0')}-20260101T000000Z.db`;
  for (const name of [...earlier, failed, `${failed}.part`]) fs.writeFileSync(path.join(dataDir, name), name);
  const said = await runHere('tenant', 'list');
  t.match(said, { code: 0, stdout: /kept/, stderr: /backed up the database to .* before migrating it from schema/ });
  const [first, copy, ...more] = copies();
  t.same(more, []);
  t.equal(first, earlier[0], 'the last by their time');
  t.match(copy, COPY);
  t.not(copy, failed, 'one per schema: the start that failed has left the other');
  t.equal(schemaOf(path.join(dataDir, copy!)), OLD);
  t.equal(fs.statSync(path.join(dataDir, copy!)).mode & 0o777, 0o600);

  for (const suffix of ['', '-wal', '-shm']) fs.rmSync(file + suffix, { force: true });
  for (const name of copies()) fs.rmSync(path.join(dataDir, name));
  oldDatabase(dataDir, OLD);
  fs.appendFileSync(configFile, 'upgrade_backups = 0\n');
  t.match(await runHere('migrate'), { code: 0, stderr: '', stdout: /migrated from version/ });
  t.same(copies(), [], 'none when none is wanted');
});

t.test('a new database is not copied', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  t.match(await program.runHere('migrate'), { code: 0, stderr: '' });
  t.same(fs.readdirSync(program.dataDir).sort(), ['postrider.db', 'writer.lock']);
});

const noMount = process.getuid?.() === 0 ? false : 'only root can mount a small disk';

t.test('no room for the copy', { skip: noMount }, async (t) => {
  const { folder, dataDir, file, copies, runHere, configFile } = prepare(t);
  const kept = path.join(folder, 'kept.db');
  fs.renameSync(file, kept);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', dataDir]);
  try {
    fs.copyFileSync(kept, file);
    const says = /there is no room to back it up first: \d+ MiB are needed in .*, \d MiB are free.*upgrade_backups = 0/;
    t.match(await runHere('migrate'), { code: 1, stdout: '', stderr: says });
    t.equal(schemaOf(file), OLD);
    t.same(copies(), []);
    fs.appendFileSync(configFile, 'upgrade_backups = 0\n');
    t.match(await runHere('migrate'), { code: 0 });
  } finally {
    execFileSync('umount', [dataDir]);
  }
});

t.test('a disk that gets full', { skip: noCompiler }, async (t) => {
  const { folder, dataDir, file, copies, json, configFile } = prepare(t);
  const disk = prepareBadDisk(fs.realpathSync(dataDir), folder);
  disk.fail(os.constants.errno.ENOSPC);
  const migrate = (more: Record<string, string> = {}) =>
    new Promise<Finished>((resolve) => {
      const options = { env: { PATH: process.env.PATH, ...disk.env, ...more } };
      execFile(PROGRAM, ['migrate', '--config', configFile], options, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      });
    });
  t.match(await migrate(), { code: 1, stdout: '', stderr: /the data folder .* cannot be used: the disk is full/ });
  const butTheLock = { DISK_FOLDER: path.join(disk.env.DISK_FOLDER, 'postrider') };
  const copying = await migrate(butTheLock);
  t.match(copying, { code: 1, stdout: '', stderr: /the backup .* cannot be written: the disk is full/ });
  t.same(copies(), []);
  const migrating = await migrate({ ...butTheLock, POSTRIDER_DATA_UPGRADE_BACKUPS: '0' });
  const says =
    /could not be migrated from schema \d+ to \d+: the disk is full. It is unchanged, and the version before/;
  t.match(migrating, { code: 1, stdout: '', stderr: says });
  t.equal(schemaOf(file), OLD);
  disk.heal();
  t.match(await json('migrate'), { from: OLD, to: newestSchema() }, 'running it again works');
});
