// How many mails that prove no message are kept: beyond the limit the oldest that were processed are erased, and when all
// of them wait, no more are kept.
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { newDatabase } from '../support/new-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench } from './conformance/harness.ts';
import { newInboundMail } from './conformance/returned-mail.ts';

const MAX_MAILS = 100_000;

t.test('a hundred thousand mails wait', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  await newDatabase(file);
  const db = new Database(file);
  t.teardown(() => db.close());
  db.exec(`
    WITH RECURSIVE made (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < ${MAX_MAILS})
    INSERT INTO inbound_mails (id, received_at, remote_ip, ehlo_name, mail_from, recipients, size_octets)
      SELECT randomblob(16), 0, '192.0.2.1', 'x.test', '', '[]', 1 FROM made;
    INSERT INTO unasked_mails (mail_seq, bytes) SELECT seq, 1 FROM inbound_mails;`);
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const keep = () => store.inbound.keepInbound(newInboundMail(bench), { of: 'unasked', maxBytes: 1e9 });
  t.equal(await keep(), 'full');
  db.exec('UPDATE inbound_mails SET processed_at = 1 WHERE seq = 7');
  t.equal(await keep(), 'kept');
  t.equal(db.prepare('SELECT seq FROM inbound_mails WHERE seq = 7').get(), undefined, 'the oldest made room');
  t.same(db.prepare('SELECT mails FROM unasked_room').get(), { mails: MAX_MAILS });
  t.equal(await keep(), 'full');
});
