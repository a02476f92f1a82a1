// What stops the daemon before it starts, each with exit code 1 and a sentence that says what to
// do: a database of a newer version or of somebody else, a wrong configuration, a taken port.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import t from 'tap';
import { withDatabase } from '../../support/database.ts';
import { startWorld } from '../../support/world.ts';

t.test('a database of a newer version is left alone', async (t) => {
  const { postrider } = await startWorld(t);
  await (await postrider.serve()).stop();
  const known = withDatabase(postrider.databaseFile, (db) => {
    const version = db.pragma('user_version', { simple: true }) as number;
    db.pragma(`user_version = ${version + 1}`);
    return version;
  });
  const refused = new RegExp(`schema ${known + 1}.*knows schemas up to ${known}: start the newer version, or restore`);
  const before = fs.readFileSync(postrider.databaseFile);
  t.match(await postrider.run('serve'), { code: 1, stderr: refused });
  t.match(await postrider.runHere('tenant', 'list'), { code: 1, stderr: refused });
  t.ok(before.equals(fs.readFileSync(postrider.databaseFile)), 'not a byte of it has changed');
});

t.test('a database of somebody else is left alone', async (t) => {
  const { postrider } = await startWorld(t);
  fs.mkdirSync(path.dirname(postrider.databaseFile));
  withDatabase(postrider.databaseFile, (db) => db.exec('CREATE TABLE cats (name TEXT)'));
  t.match(await postrider.run('serve'), { code: 1, stderr: /not made by Postrider/ });
  fs.writeFileSync(postrider.databaseFile, 'no database at all, but long enough to be read as one'.repeat(100));
  t.match(await postrider.runHere('tenant', 'list'), { code: 1, stderr: /not made by Postrider/ });
});

t.test('a database that has lost everything is not begun again in silence', async (t) => {
  const { postrider } = await startWorld(t);
  await (await postrider.serve()).stop();
  const { databaseFile } = postrider;
  const folder = path.dirname(databaseFile);
  const backup = path.join(folder, '..', 'backup.db');
  t.match(await postrider.runHere('tenant', 'create', '--name', 'Acme'), { code: 0 });
  t.match(await postrider.runHere('backup', backup), { code: 0 });
  const empty = () => fs.truncateSync(databaseFile);
  const dropTables = () => {
    for (const suffix of ['', '-wal', '-shm']) fs.rmSync(databaseFile + suffix, { force: true });
    withDatabase(databaseFile, (db) => db.pragma('user_version = 0') && db.exec('CREATE TABLE a (b); DROP TABLE a'));
  };
  for (const [lose, what] of [
    [empty, 'is empty'],
    [dropTables, 'has no tables'],
  ] as const) {
    lose();
    const before = fs.readFileSync(databaseFile);
    const refused = new RegExp(
      `${databaseFile} ${what}.*\\(master.key and writer.lock\\).*postrider restore.*remove the folder ${folder}`,
    );
    t.match(await postrider.run('serve'), { code: 1, stderr: refused }, `serve: ${what}`);
    const other = [['tenant', 'list'], ['tenant', 'create', '--name', 'A'], ['migrate'], ['backup', `${backup}.2`]];
    for (const args of other) {
      t.match(await postrider.runHere(...args), { code: 1, stderr: refused }, `${args.join(' ')}: ${what}`);
    }
    t.ok(before.equals(fs.readFileSync(databaseFile)), 'it is left as it was found');
  }
  fs.rmSync(path.join(folder, 'master.key'));
  t.match(
    await postrider.run('serve'),
    { code: 1, stderr: /\(writer\.lock\)/ },
    'the lock alone tells of earlier days',
  );
  t.match(await postrider.runHere('restore', backup, '--force'), { code: 0 });
  t.match(await postrider.runHere('tenant', 'list'), { code: 0, stdout: /Acme/ });
});

t.test('an empty file, and what an interrupted first start has left, keep nobody from the first start', async (t) => {
  const { postrider } = await startWorld(t);
  const folder = path.dirname(postrider.databaseFile);
  fs.mkdirSync(folder);
  fs.writeFileSync(postrider.databaseFile, '');
  fs.writeFileSync(`${postrider.databaseFile}.draft`, 'half a database');
  await (await postrider.serve()).stop();
  fs.rmSync(postrider.databaseFile);
  await (await postrider.serve()).stop();
  t.same(
    fs.readdirSync(folder).filter((name) => name.endsWith('.draft')),
    [],
  );
});

t.test('a wrong configuration names its keys', async (t) => {
  const wrong = { http: { port: 99_999, colour: 'red' }, delivery: { retry_steps: ['soon'] } };
  const { postrider } = await startWorld(t, { settings: wrong });
  const { code, stdout, stderr } = await postrider.run('serve');
  t.match({ code, stdout }, { code: 1, stdout: '' });
  for (const key of ['http.port', 'http.colour', 'delivery.retry_steps']) t.ok(stderr.includes(key), key);
  t.notOk(fs.existsSync(postrider.databaseFile), 'nothing was begun');
});

for (const engine of ['uws', 'node']) {
  t.test(`a port that somebody else has (${engine})`, async (t) => {
    const taken = net.createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    t.teardown(() => taken.close());
    const { port } = taken.address() as net.AddressInfo;
    const { postrider } = await startWorld(t, { settings: { http: { engine, port } } });
    t.match(await postrider.run('serve'), {
      code: 1,
      stderr: new RegExp(
        `http\\.port: cannot listen on \\S+:${port} \\(another program uses this port .* choose another http\\.port`,
      ),
    });
    t.match(await postrider.runHere('tenant', 'list'), { code: 0 }, 'what had been opened is closed again');
  });
}
