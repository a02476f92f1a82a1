// A drill proves a backup beside the running daemon: it counts what is in it, opens every secret with the master key, and
// sends nothing. What is missing is said, with exit code 1.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { SEALED_TABLES } from '../../../src/store/sqlite/reading/census.ts';
import { oldDatabase } from '../../support/old-database.ts';
import { newProgram } from '../../support/program.ts';
import { testFolder } from '../../support/test-folder.ts';
import { RECEIVER, registerSender, send, startWorld } from '../../support/world.ts';

const leftovers = () => fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith('postrider-drill-'));

t.test('a backup of a service at work', async (t) => {
  const world = await startWorld(t);
  const { postrider, sink } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  await postrider.json('user', 'create', '--operator', '--email', 'op@example.com');
  const [sent] = await send(daemon, sender, `a@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: sent! });
  await postrider.json('queue', 'pause', '--domain', RECEIVER, '--reason', 'so that it waits');
  await send(daemon, sender, [`b@${RECEIVER}`, `c@${RECEIVER}`]);
  const backup = path.join(postrider.folder, 'backup.db');
  await postrider.json('backup', backup);
  const bytes = fs.readFileSync(backup);
  const known = leftovers();

  const found = await postrider.json('restore', 'drill', backup);
  t.match(found, {
    ...{ sound: true, problems: [], tenants: 1, users: 1, domains: 1, unfinished: 2 },
    messages: { delivered: 1, queued: 2 },
    contents: { read: 2, unreadable: 0 },
  });
  const { stored, opened } = found.secrets as Record<string, number>;
  t.equal(opened, stored);
  t.ok(stored! >= 3, `${stored} secrets: the service's own, and the domain's key`);
  const said = await postrider.run('restore', 'drill', backup);
  t.match(said, { code: 0, stderr: '' });
  t.match(
    said.stdout,
    /backup\.db is sound[\s\S]*messages: +1 delivered, 2 queued\nunfinished: +2; a restore holds them/,
  );
  t.ok(fs.readFileSync(backup).equals(bytes), 'the backup is as it was');
  t.equal(sink.mails.length, 1, 'nothing was sent');

  const db = new Database(backup);
  db.exec('DELETE FROM contents');
  db.close();
  const lost = await postrider.runHere('restore', 'drill', backup);
  t.match(lost, { code: 1, stdout: /is not complete:\n- 2 unfinished messages can't be read: / });
  fs.writeFileSync(backup, bytes);
  const master = path.join(postrider.folder, 'data', 'master.key');
  fs.writeFileSync(master, `${Buffer.alloc(32, 9).toString('base64')}\n`);
  const locked = await postrider.runHere('restore', 'drill', backup);
  t.match(locked, { code: 1, stdout: /- \d+ secrets can't be opened: the master key \w+ is not given/ });
  fs.rmSync(master);
  const missing = await postrider.runHere('restore', 'drill', backup);
  t.match(missing, { code: 1, stdout: /- \d+ secrets can't be opened: there is no master key; put a copy/ });
  t.notOk(fs.existsSync(master), 'none is created');

  fs.writeFileSync(backup, bytes.fill(0xa5, 3 * 4096, 6 * 4096));
  const damaged = await postrider.runHere('restore', 'drill', backup);
  t.match(damaged, { code: 1, stdout: '', stderr: /cannot be restored: .*(integrity check|malformed)/ });
  t.match(await postrider.runHere('restore', 'drill', `${backup}.no`), { code: 1, stderr: /no such file/ });
  t.same(leftovers(), known, 'no temporary folder is left');
});

t.test('a backup of an older version, where there is no data folder', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const old = oldDatabase(testFolder(t), 31);
  const found = await program.json('restore', 'drill', old);
  t.match(found, { sound: true, tenants: 1, schema: { backup: 31 }, secrets: { stored: 0, opened: 0 } });
  t.notOk(fs.existsSync(program.dataDir));
});

t.test('every table with secrets is opened', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  await program.json('migrate');
  const db = new Database(path.join(program.dataDir, 'postrider.db'), { readonly: true });
  t.teardown(() => void db.close());
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  const columns = db.prepare('SELECT name FROM pragma_table_info(?)').pluck();
  const sealed = tables.filter((table) => columns.all(table).some((column) => String(column).endsWith('sealed')));
  t.same(sealed.sort(), Object.keys(SEALED_TABLES).sort());
});
