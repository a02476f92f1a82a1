// Prepared statements of SQLite by the shape of what they answer.
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { perform, Statements } from '../../src/store/sqlite/engine/statements.ts';

function open(t: Test): Statements {
  const db = new Database(':memory:');
  t.teardown(() => db.close());
  db.exec('CREATE TABLE things (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE)');
  return new Statements(db);
}

t.test('an insert answers with the number that the table has assigned', async (t) => {
  const db = open(t);
  const insert = db.sql('INSERT INTO things (name) VALUES (+?) RETURNING id', 'assigned');
  t.strictSame([perform(insert.get('a')), perform(insert.get('b'))], [1, 2]);
  t.strictSame(perform(db.sql('SELECT name FROM things WHERE id = +?', 'column').get(2)), 'b');
});

t.test('nothing was inserted: no number, and none of an earlier row', async (t) => {
  const db = open(t);
  const insert = db.sql('INSERT INTO things (name) VALUES (+?) ON CONFLICT DO NOTHING RETURNING id', 'assigned');
  t.equal(perform(insert.get('a')), 1);
  t.equal(perform(insert.get('a')), undefined);
});

t.test('only an insert that returns a number has this shape', async (t) => {
  const db = open(t);
  const insert = 'INSERT INTO things (name) VALUES (+?)';
  const change = 'ON CONFLICT (name) DO UPDATE SET name = excluded.name';
  for (const text of [insert, `${insert} ${change} RETURNING id`]) {
    t.throws(() => db.sql(text, 'assigned'), /returns a number/, text);
  }
});
