// Where the configuration says that the data is.
import t from 'tap';
import { dataFolder, sqliteFile } from '../../src/operator/data-folder.ts';

const DATA = { dir: '/var/lib/postrider' };

t.test('in SQLite, without a URL', async (t) => {
  const folder = dataFolder({ data: DATA, store: { url: null, password_file: null } });
  t.match(folder, { store: { driver: 'sqlite' }, storeName: '/var/lib/postrider/postrider.db' });
  t.equal(sqliteFile(folder), '/var/lib/postrider/postrider.db');
});

t.test('in PostgreSQL, with a password that no message names', async (t) => {
  const passwordFile = '/etc/postrider/pass word';
  const url = 'postgres://postrider@db1,db2/mail?sslmode=require';
  const folder = dataFolder({ data: DATA, store: { url, password_file: passwordFile } });
  t.strictSame(folder.store, {
    driver: 'postgres',
    url: `${url}&server_note=%2Fvar%2Flib%2Fpostrider%2Fserver.json&password_file=%2Fetc%2Fpostrider%2Fpass+word`,
  });
  t.equal(folder.storeName, 'postgres://db1,db2/mail');
  t.equal(folder.database, null);
  t.throws(() => sqliteFile(folder), /the data is in PostgreSQL \(postgres:\/\/db1,db2\/mail\)/);
  const inUrl = dataFolder({ data: DATA, store: { url: 'postgres://u:secret@db/mail', password_file: null } });
  t.notMatch(inUrl.storeName, /secret/);
});
