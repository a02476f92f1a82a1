// What every command says where the data folder cannot be used: it is a file, another user's, or has no database.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { makeDataFolder } from '../../src/operator/data-folder.ts';
import { noOtherUser, OTHER_USER } from '../support/other-user.ts';
import { newProgram, runProgram } from '../support/program.ts';
import { testFolder } from '../support/test-folder.ts';

const LIST = ['tenant', 'list'];
const CREATE = ['tenant', 'create', '--name', 'Acme'];

t.test('a folder without a database', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const says = `there is no database in ${program.dataDir}. If this is not the data folder`;
  for (const command of [LIST, ['backup', path.join(program.folder, 'b.db')]]) {
    t.match(await program.runHere(...command), { code: 1, stdout: '', stderr: says }, command.join(' '));
  }
  t.notOk(fs.existsSync(program.dataDir));
});

t.test('a file where the folder should be', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  for (const dir of ['postrider.toml', 'postrider.toml/below']) {
    fs.writeFileSync(program.configFile, `[data]\ndir = "${dir}"\n`);
    const says = new RegExp(
      `${program.configFile}(/below)? cannot be used: (it is not a|part of its path is not a) folder`,
    );
    for (const command of [LIST, CREATE, ['backup', path.join(program.folder, 'b.db')], ['migrate'], ['serve']]) {
      t.match(await program.run(...command), { code: 1, stdout: /^(\{.*\}\n)?$/, stderr: says }, command.join(' '));
    }
    t.match(await program.runHere('address', 'explain', 'a@x.test'), { code: 0, stdout: says });
  }
});

t.test("another user's folder", { skip: noOtherUser }, async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  fs.chmodSync(program.folder, 0o755);
  await program.json(...CREATE);
  const as = (args: string[]) => runProgram([...args, '--config', program.configFile], OTHER_USER);
  const says = new RegExp(`${program.dataDir}(/control.sock; run|.* permission denied).*sudo -u`);
  for (const command of [LIST, CREATE, ['backup', '/tmp/never.db'], ['migrate'], ['restore', '/dev/null'], ['serve']]) {
    t.match(await as(command), { code: 1, stdout: /^(\{.*\}\n)?$/, stderr: says }, command.join(' '));
  }
  t.match(await as(['address', 'explain', 'a@x.test']), { code: 0, stdout: says });
});

t.test("what root's commands make in it is its owner's", { skip: noOtherUser }, async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  fs.chmodSync(program.folder, 0o755);
  fs.mkdirSync(program.dataDir, { mode: 0o700 });
  fs.writeFileSync(path.join(program.dataDir, 'notes.txt'), '');
  fs.chownSync(program.dataDir, OTHER_USER.uid, OTHER_USER.gid);
  const ownedByRoot = () =>
    fs.readdirSync(program.dataDir).filter((name) => fs.statSync(path.join(program.dataDir, name)).uid === 0);
  await program.json(...CREATE);
  t.same(ownedByRoot(), ['notes.txt']);
  const backup = path.join(program.folder, 'b.db');
  t.match(await program.runHere('backup', backup), { code: 0 });
  t.match(await program.runHere('restore', backup, '--force'), { code: 0 });
  t.same(ownedByRoot(), ['notes.txt'], 'nor does a restore shut the service out');
  const asService = await runProgram([...LIST, '--config', program.configFile], OTHER_USER);
  t.match(asService, { code: 0, stdout: /Acme/ });
});

t.test('a folder that cannot be made is refused, not tried for ever', async (t) => {
  t.throws(() => makeDataFolder('/proc/none/data'), {
    message: /\/proc\/none\/data cannot be used: no such file or folder/,
  });
  const folder = path.join(testFolder(t), 'a/b/c');
  makeDataFolder(folder);
  makeDataFolder(folder);
  t.equal(fs.statSync(path.dirname(folder)).mode & 0o777, 0o700);
});

t.test('a database that cannot be used is named', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const file = path.join(program.dataDir, 'postrider.db');
  const copy = path.join(program.folder, 'b.db');
  const says = async (command: string[], reason: RegExp) => {
    const { code, stdout, stderr } = await program.runHere(...command);
    t.equal(code, 1, command.join(' '));
    t.equal(stdout, '');
    t.ok(stderr.includes(file), stderr);
    t.match(stderr, reason);
  };
  fs.mkdirSync(program.dataDir);
  fs.writeFileSync(file, 'a text of some length\n'.repeat(100));
  await says(LIST, /was not made by Postrider/);
  await says(['migrate'], /file is not a database/);
  await says(['backup', copy], /file is not a database/);
  fs.rmSync(file);
  fs.mkdirSync(file);
  for (const command of [LIST, ['migrate'], ['backup', copy]]) await says(command, /cannot be used: /);
  t.notOk(fs.existsSync(copy));
});
