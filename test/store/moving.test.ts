// What needs no PostgreSQL of a move to PostgreSQL: who may begin, the bytes of a row, and the note in SQLite's file.
import { hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { agree, agreeToGoBack } from '../../src/store/moving/agree.ts';
import { RowBytes, RowSum } from '../../src/store/moving/row-bytes.ts';
import type { CopyMark } from '../../src/store/postgres/engine/copied-from.ts';
import { withoutPassword } from '../../src/store/postgres/engine/server-address.ts';
import { backupDatabase } from '../../src/store/sqlite/engine/backup.ts';
import { type MovedMark, noteMoved } from '../../src/store/sqlite/engine/moved-mark.ts';
import { MoveSource } from '../../src/store/sqlite/moving/source.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { testFolder } from '../support/test-folder.ts';

const NOON = Date.UTC(2026, 10, 26, 12);
const OURS = 'here:/data/postrider.db';

const moved = (complete: boolean, id = 'a'): MovedMark => ({ id, server: 'mail at db1:5432', at: NOON, complete });
const copied = (state: CopyMark['state'], { id = 'a', source = OURS } = {}): CopyMark => {
  return { id, source, state, at: NOON, rows: {} };
};
const of = (marks: { moved?: MovedMark; copied?: CopyMark; isEmpty?: boolean }) => {
  const { moved = null, copied = null, isEmpty = false } = marks;
  return agree({ moved, copied, isEmpty, source: OURS, server: 'mail at db2:5432' });
};

t.test('begin, continue, or nothing to do', async (t) => {
  t.equal(of({ isEmpty: true }), 'begin');
  t.equal(of({ moved: moved(false), isEmpty: true }), 'begin', 'PostgreSQL was emptied');
  t.equal(of({ moved: moved(false), copied: copied('copying') }), 'continue');
  t.equal(of({ moved: moved(true), copied: copied('copying') }), 'continue', 'ended before PostgreSQL was told');
  t.equal(of({ moved: moved(true), copied: copied('complete') }), 'finished');
  t.equal(of({ moved: moved(false), copied: copied('void') }), 'begin', 'it differed');
  t.equal(of({ copied: copied('copying') }), 'begin', 'SQLite was used meanwhile');
  t.equal(of({ moved: moved(false, 'b'), copied: copied('copying') }), 'begin');
  t.equal(of({ copied: copied('void') }), 'begin', 'after a way back');
});

t.test('what is refused', async (t) => {
  const another = { id: 'b', source: 'there:/data/postrider.db' };
  t.throws(() => of({}), /already has data of Postrider: name an empty one/);
  t.throws(() => of({ copied: copied('copying', another) }), /an unfinished copy of there:.*not of this database/);
  t.throws(() => of({ copied: copied('void', another) }), /an unfinished copy of there:/);
  t.throws(() => of({ copied: copied('complete') }), /has a copy of here:/, 'SQLite does not know of it');
  t.throws(() => of({ copied: copied('in_use') }), /has a copy of here:/);
  t.throws(
    () => of({ moved: moved(true), copied: copied('in_use') }),
    /moved to mail at db1:5432 on 2026-11-26\. .*in use/,
  );
  t.throws(() => of({ moved: moved(true), isEmpty: true }), /To move it to mail at db2:5432 instead, go back first/);
  t.throws(() => of({ moved: moved(true), copied: copied('void', another) }), /go back first/);
  const back = (copied: CopyMark | null) => agreeToGoBack({ moved: moved(true), copied, server: 'mail at db2:5432' });
  for (const state of ['copying', 'complete', 'void'] as const) t.equal(back(copied(state)), undefined, state);
  t.throws(() => back(copied('in_use')), /no way back: .* in use since 2026-11-26T12:00:00/);
  t.throws(() => back(null), /is not the one that this database was moved to, which is mail at db1:5432/);
  t.throws(() => back(copied('complete', another)), /is not the one/);
});

t.test('a row in the binary format of COPY', async (t) => {
  const bytes = new RowBytes();
  const row = bytes.of([-2n, 'ä\0', Buffer.of(1, 2), null, 0.5, '']);
  const expected =
    '0006 00000008 fffffffffffffffe 00000006 c3a4efbfbf30 00000002 0102 ffffffff 00000008 3fe0000000000000 00000000';
  t.equal(row.toString('hex'), expected.replaceAll(' ', ''));
  const large = 'x'.repeat(200_000);
  t.equal(bytes.of(['a', large]).subarray(11).toString(), large, 'it has room for more');
  const sum = new RowSum();
  for (const value of [1n, 2n]) sum.add(bytes.of([value]));
  const hashOf = (hex: string) => hash('sha256', Buffer.from(hex, 'hex'), 'buffer').readBigInt64BE(0);
  t.equal(sum.sum, String(hashOf('000000080000000000000001') + hashOf('000000080000000000000002')));
  t.equal(sum.rows, 2);
});

async function databaseWith(t: Test, mark: MovedMark): Promise<string> {
  const file = path.join(testFolder(t), 'postrider.db');
  await (await openSqliteStore({ file })).close();
  noteMoved(file, mark);
  return file;
}

function markIn(file: string): MovedMark | null {
  const source = new MoveSource(file);
  try {
    return source.mark;
  } finally {
    source.close();
  }
}

t.test('a moved database is refused until its note is removed', async (t) => {
  const file = await databaseWith(t, moved(true));
  const says = /postrider\.db was moved to PostgreSQL on 2026-11-26: mail at db1:5432\. .*postrider migrate --back/;
  for (let time = 0; time < 2; time++) await t.rejects(openSqliteStore({ file }), says);
  await t.rejects(backupDatabase(file, `${file}.copy`), says, 'a copy of it would be no backup');
  t.equal(fs.existsSync(`${file}.copy`), false);
  t.same(markIn(file), moved(true));
  noteMoved(file, null);
  await (await openSqliteStore({ file })).close();
});

t.test('the note of an unfinished copy is removed by the next start, not by reading', async (t) => {
  const file = await databaseWith(t, moved(false));
  t.same(markIn(file), moved(false));
  await (await openSqliteStore({ file })).close();
  t.equal(markIn(file), null);
});

t.test('tables come behind those that they refer to', async (t) => {
  const file = await databaseWith(t, moved(false));
  const source = new MoveSource(file);
  const db = new Database(file, { readonly: true });
  t.teardown(() => {
    source.close();
    db.close();
  });
  const names = source.tables.map(({ name }) => name);
  let pairs = 0;
  for (const [place, name] of names.entries()) {
    for (const { table } of db.pragma(`foreign_key_list(${name})`) as { table: string }[]) {
      pairs++;
      t.ok(names.indexOf(table) < place, `${table} comes before ${name}`);
    }
    t.not(source.tables[place]!.key.length, 0, `${name} has a primary key`);
  }
  t.ok(pairs > 10);
});

t.test('the URL for people has no password', async (t) => {
  t.equal(withoutPassword('postgres://u:p%40@h:1/d?sslmode=require'), 'postgres://u:PASSWORD@h:1/d?sslmode=require');
  t.equal(withoutPassword('postgresql://u@h/d'), 'postgresql://u@h/d');
});
