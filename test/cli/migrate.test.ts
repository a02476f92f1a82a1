// migrate --to: its arguments, and what it refuses before it has reached a PostgreSQL.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { lockDataFolder } from '../../src/store/sqlite/engine/data-lock.ts';
import { newestSchema } from '../../src/store/sqlite/engine/migrations.ts';
import { findFreePort } from '../support/free-port.ts';
import { oldDatabase } from '../support/old-database.ts';
import { newProgram, runInThisProcess } from '../support/program.ts';

function programWithDatabase(t: Test) {
  const program = newProgram();
  t.teardown(program.remove);
  return program;
}

t.test('arguments that do not belong together', async (t) => {
  const program = programWithDatabase(t);
  const refused = async (args: string[], stderr: RegExp) => {
    t.match(await program.runHere('migrate', ...args), { code: 2, stdout: '', stderr }, args.join(' '));
  };
  await refused(['--back'], /--back needs --to/);
  await refused(['--force'], /--force needs --back/);
  await refused(['--back', '--force', '--to', 'env'], /give --to or --force/);
  await refused(['--to', 'env'], /POSTRIDER_STORE_URL is not set/);
  const mistyped = await program.runHere('migrate', '--to', 'mysql://u:secret@h/d');
  t.match(mistyped, { code: 2, stderr: /--to: must be postgres:\/\/USER:PASSWORD@HOST\/DATABASE, @FILE or env/ });
  t.notMatch(mistyped.stderr, /secret/);
  t.match(await program.runHere('migrate', '--help'), { code: 0, stdout: /POSTRIDER_STORE_URL/ });
});

t.test('where the URL comes from; an error names the server without the password', async (t) => {
  const program = programWithDatabase(t);
  const { runHere, configFile, folder } = program;
  await program.json('migrate');
  const port = await findFreePort();
  const url = `postgres://u:secret@127.0.0.1:${port}/mail?sslmode=disable`;
  const file = path.join(folder, 'url');
  fs.writeFileSync(file, `${url}\n`);
  const args = ['migrate', '--config', configFile, '--to'];
  const answers = [
    await runHere('migrate', '--to', url),
    await runHere('migrate', '--to', `@${file}`),
    await runInThisProcess([...args, 'env'], { POSTRIDER_STORE_URL: url }),
  ];
  const says = `the database could not be used (mail at 127.0.0.1:${port}: it refused the connection`;
  for (const answer of answers) {
    t.match(answer, { code: 1, stdout: '', stderr: says });
    t.notMatch(answer.stderr, /secret/);
  }
  t.match(await runHere('migrate', '--to', `@${folder}/none`), {
    code: 1,
    stderr: /the file with the URL can't be read: .*none/,
  });
  t.match(await runHere('migrate', '--to', 'postgres://u@h'), { code: 1, stderr: /store\.url can't be used/ });
  t.match(await runHere('migrate', '--back', '--to', url), { code: 0, stdout: /has not been moved; nothing to do/ });
});

t.test('data folders that cannot be moved', async (t) => {
  const { runHere, dataDir, json } = programWithDatabase(t);
  const to = ['migrate', '--to', 'postgres://u@127.0.0.1:1/mail'];
  t.match(await runHere(...to), { code: 1, stderr: /there is no database in / });
  const file = oldDatabase(dataDir, 31);
  t.match(await runHere(...to), {
    code: 1,
    stderr: /has schema 31, and this version copies schema \d+ only: run postr/,
  });
  t.match(await json('migrate'), { from: 31, to: newestSchema() });
  const lock = lockDataFolder(dataDir);
  t.match(await runHere(...to), { code: 1, stderr: /another Postrider process uses .*: stop it first/ });
  lock.release();
  const journal = path.join(dataDir, 'results.journal');
  fs.writeFileSync(journal, '{"format":1}\n');
  t.match(await runHere(...to), { code: 1, stderr: /results of deliveries that are not in the database yet: start/ });
  fs.writeFileSync(journal, Buffer.alloc(64));
  t.match(
    await runHere(...to),
    { code: 1, stderr: /refused the connection/ },
    'an empty journal is in the way of nothing',
  );
  t.ok(fs.existsSync(file));
});
