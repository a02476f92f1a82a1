// The shared SQL as PostgreSQL gets it.
import t from 'tap';
import { Statements, valuesOf } from '../../../src/store/postgres/engine/statements.ts';

t.test('parameters in order', async (t) => {
  const { text, names } = new Statements().of('SELECT a + +? FROM t WHERE b = +? LIMIT +?');
  t.equal(text, 'SELECT a + $1 FROM t WHERE b = $2 LIMIT $3');
  t.strictSame(valuesOf({ name: '', text, names }, [1, 'b', 9]), [1, 'b', 9]);
});

t.test('one number for each name', async (t) => {
  const statement = new Statements().of('SELECT +@to, +@from WHERE x >= +@from AND y = +@to');
  t.equal(statement.text, 'SELECT $1, $2 WHERE x >= $2 AND y = $1');
  t.strictSame(valuesOf(statement, [{ from: 1, to: 2, other: 3 }]), [2, 1]);
  t.throws(() => valuesOf(statement, [{ from: 1 }]), /the parameter to is missing/);
  t.throws(() => new Statements().of('SELECT +?, +@x'), /with and without names/);
});

t.test('nothing is a parameter in strings, quoted names and comments', async (t) => {
  const text = `SELECT '+?', 'it''s +?', "+?" -- +@name +?\nFROM t WHERE a = +?`;
  t.equal(new Statements().of(text).text, text.replace(/\+\?$/, '$1'));
});

t.test('hints for the planner of SQLite are left out', async (t) => {
  const text = 'SELECT 1 FROM a x INDEXED BY a_of_b CROSS JOIN b y ON y.id = x.b CROSS JOIN c z WHERE x.c = z.id';
  const without = 'SELECT 1 FROM a x JOIN b y ON y.id = x.b CROSS JOIN c z WHERE x.c = z.id';
  t.equal(new Statements().of(text).text, without);
});

t.test('each text is translated once', async (t) => {
  const statements = new Statements();
  t.equal(statements.of('SELECT +?'), statements.of('SELECT +?'));
  t.not(statements.of('SELECT +?').name, statements.of('SELECT 1').name);
});
