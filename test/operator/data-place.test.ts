// Where the configuration says that the data is.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { dataFolder, sqliteFile } from '../../src/operator/data-folder.ts';
import { testFolder } from '../support/test-folder.ts';

const DATA = { dir: '/var/lib/postrider' };

t.test('in SQLite, without a URL', async (t) => {
  const folder = dataFolder({ data: DATA, store: { url: null, password_file: null } });
  t.match(folder, { store: { driver: 'sqlite' }, storeName: '/var/lib/postrider/postrider.db' });
  t.equal(sqliteFile(folder), '/var/lib/postrider/postrider.db');
});

t.test('in PostgreSQL, with a password that no message names', async (t) => {
  const passwordFile = path.join(testFolder(t), 'password');
  fs.writeFileSync(passwordFile, 'p@ss/$1 ü\nignored\n');
  const url = 'postgres://postrider@db1,db2/mail?sslmode=require';
  const folder = dataFolder({ data: DATA, store: { url, password_file: passwordFile } });
  t.strictSame(folder.store, {
    driver: 'postgres',
    url: `postgres://postrider:${encodeURIComponent('p@ss/$1 ü')}@db1,db2/mail?sslmode=require`,
  });
  t.equal(folder.storeName, 'postgres://db1,db2/mail');
  t.equal(folder.database, null);
  t.throws(() => sqliteFile(folder), /the data is in PostgreSQL \(postgres:\/\/db1,db2\/mail\)/);
  const inUrl = dataFolder({ data: DATA, store: { url: 'postgres://u:secret@db/mail', password_file: null } });
  t.notMatch(inUrl.storeName, /secret/);
  const missing = { url, password_file: '/nowhere/password' };
  t.throws(() => dataFolder({ data: DATA, store: missing }), /store\.password_file can't be read/);
});
