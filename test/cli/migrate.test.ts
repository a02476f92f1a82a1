// migrate --to: its arguments, and what it refuses before it has reached a PostgreSQL.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { lockDataFolder } from '../../src/store/sqlite/engine/data-lock.ts';
import { newestSchema } from '../../src/store/sqlite/engine/migrations.ts';
import { noteMoved } from '../../src/store/sqlite/engine/moved-mark.ts';
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
  fs.writeFileSync(file, Buffer.from('postgres://u:pässword@h/d', 'latin1'));
  t.match(await runHere('migrate', '--to', `@${file}`), { code: 1, stderr: /can't be read: it is not UTF-8 text/ });
  t.match(await runHere('migrate', '--to', 'postgres://u@h'), { code: 1, stderr: /store\.url can't be used/ });
  t.match(await runHere('migrate', '--back', '--to', url), { code: 0, stdout: /has not been moved; nothing to do/ });
});

t.test('the way back is told as it is typed, and store.url can stand for --to', async (t) => {
  const program = programWithDatabase(t);
  const { runHere, configFile, dataDir } = program;
  t.match(await runHere('migrate', '--back'), { code: 1, stderr: /there is no database in / });
  await program.json('migrate');
  t.match(await runHere('migrate', '--back'), { code: 0, stdout: /has not been moved; nothing to do/ });

  const port = await findFreePort();
  const url = `postgres://u:PASSWORD@127.0.0.1:${port}/mail`;
  const mark = { id: 'a', server: `mail at 127.0.0.1:${port}`, at: 0, complete: true };
  const asTyped = async (url: string | undefined, command: string) => {
    noteMoved(path.join(dataDir, 'postrider.db'), url === undefined ? mark : { ...mark, url });
    const migrate = await runHere('migrate');
    t.match(migrate, { code: 1, stdout: '' });
    t.equal(migrate.stderr.trim().split('first start on PostgreSQL: ')[1], command);
    const back = await runHere('migrate', '--back');
    t.match(back, { code: 1, stdout: '' });
    t.equal(back.stderr.trim().split('that it was moved to: ')[1], command);
  };
  await asTyped(undefined, 'postrider migrate --back --to postgres://USER:PASSWORD@HOST/DATABASE');
  const [more, last] = [`${url}?sslmode=require&port=1`, `${url}`];
  await asTyped(more, `postrider migrate --back --to '${more}'`);
  await asTyped(last, `postrider migrate --back --to ${last}`);

  const named = await runInThisProcess(['migrate', '--back', '--config', configFile], {
    POSTRIDER_STORE_URL: url.replace('PASSWORD', 'secret'),
  });
  t.match(named, { code: 1, stderr: `(mail at 127.0.0.1:${port}: it refused the connection` });
  t.notMatch(named.stderr, /secret/);
  t.match(await runHere('migrate', '--back', '--force'), { code: 0, stdout: /is used again/ });
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
