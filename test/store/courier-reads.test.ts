// What couriers read of SQLite while the disk or the memory fails: later it can be had, and damage cannot.
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Unavailable } from '../../src/base/errors.ts';
import { uuidToBytes } from '../../src/base/ids.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench } from './conformance/harness.ts';

const ATTACHMENT = { filename: 'a.txt', contentType: 'text/plain', contentId: null, content: Buffer.from('a') };

async function setUp(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const open = (readForMs = 60_000) => {
    const reader = openContentReader(file, { readForMs });
    t.teardown(() => reader.close());
    return reader;
  };
  const bench = new Bench({ store, openContents: open });
  const { domain, tenant } = await bench.sender('acme.test');
  const accepted = [];
  for (const to of ['a@x.test', 'b@x.test', 'c@x.test'])
    accepted.push(await bench.accept(domain, [to], { attachments: [ATTACHMENT] }));
  const ids = accepted.map(({ receipt }) => receipt.messageIds[0]!);
  return { open, ids, tenantId: tenant.id, submissionId: accepted[0]!.receipt.id };
}

/** From now on the statements that ask for this, or all, end with that code. */
function failReads(t: Test, code: string, about?: string) {
  const asked = about && uuidToBytes(about);
  const disk = { isBad: true, failures: 0 };
  const statements = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1'));
  for (const name of ['get', 'all']) {
    const works = statements[name];
    const value = function (this: unknown, ...parameters: unknown[]) {
      const isMeant = !asked || parameters.some((one) => Buffer.isBuffer(one) && one.equals(asked));
      if (!disk.isBad || !isMeant) return works.apply(this, parameters);
      disk.failures++;
      throw new Database.SqliteError('disk I/O error', code);
    };
    t.intercept(statements, name, { value });
  }
  return disk;
}

t.test('a read that fails is tried again, and then there is all of it', async (t) => {
  const { open, ids, tenantId, submissionId } = await setUp(t);
  const reader = open();
  const disk = failReads(t, 'SQLITE_IOERR_READ');
  const asked = Promise.all([reader.read(ids[0]!), reader.readSome(ids), reader.attachments(tenantId, submissionId)]);
  while (disk.failures < 4) await new Promise((resolve) => setImmediate(resolve));
  disk.isBad = false;
  const [one, some, attachments] = await asked;
  t.match([one, ...some], [{ kind: 'content' }, { kind: 'content' }]);
  t.match(attachments, [{ filename: 'a.txt' }]);
});

t.test('what fails for longer is unavailable, and what is damaged unreadable', async (t) => {
  const { open, ids, tenantId, submissionId } = await setUp(t);
  const reader = open(0);
  for (const code of ['SQLITE_IOERR_READ', 'SQLITE_CANTOPEN', 'SQLITE_NOMEM', 'SQLITE_BUSY'])
    await t.test(code, async (t) => {
      failReads(t, code);
      t.match(await reader.read(ids[0]!), { kind: 'unavailable', reason: /disk I\/O error/ });
      for (const asked of [
        reader.attachments(tenantId, submissionId),
        reader.piece({ tenantId, submissionId, position: 0 }),
      ])
        t.ok((await asked.catch((error: unknown) => error)) instanceof Unavailable);
    });
  await t.test('damage', async (t) => {
    failReads(t, 'SQLITE_CORRUPT_VTAB', ids[1]);
    t.match(await reader.readSome(ids), [{ kind: 'content' }, { kind: 'unreadable' }, { kind: 'content' }]);
  });
});

t.test('one that cannot be read now keeps back none before it', async (t) => {
  const { open, ids } = await setUp(t);
  const reader = open(0);
  failReads(t, 'SQLITE_IOERR_READ', ids[1]);
  t.match(await reader.readSome(ids), [{ kind: 'content', content: { messageId: ids[0] } }]);
  const rest = await reader.readSome(ids.slice(1));
  t.match([rest.length, rest], [1, [{ kind: 'unavailable' }]]);
  t.match(await reader.readSome(ids.slice(2)), [{ kind: 'content' }]);
});
