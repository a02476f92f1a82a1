// Statements rewritten for many items at once.
import t from 'tap';
import { arrayFormOf, mayHaveArrayForm } from '../../../src/store/postgres/engine/array-forms.ts';
import { encodeArray } from '../../../src/store/postgres/engine/array-values.ts';
import { besideOf, inRounds } from '../../../src/store/postgres/engine/side-by-side.ts';
import { Statements } from '../../../src/store/postgres/engine/statements.ts';

const formOf = (text: string, types: ('bigint' | 'bytea' | 'text')[]) => arrayFormOf(new Statements().of(text), types);

const ITEMS = 'unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS item (p1, p2, place)';

t.test('each statement finds its rows item by item', async (t) => {
  const select = formOf(`SELECT a, '$1' FROM t WHERE id = +? AND b = +? LIMIT 1`, ['bytea', 'text'])!;
  t.equal(
    select.statement.text,
    `SELECT item.place, found.* FROM ${ITEMS} CROSS JOIN LATERAL (SELECT a, '$1' FROM t WHERE id = item.p1 AND b = item.p2 LIMIT 1 OFFSET 0) found`,
  );
  const rows = `${ITEMS} CROSS JOIN LATERAL (SELECT ctid FROM t WHERE id = item.p1 OFFSET 0) found WHERE t.ctid = found.ctid`;
  const update = formOf('UPDATE t SET b = +@b\n  WHERE id = +@id RETURNING a', ['text', 'bytea'])!;
  t.match(update.statement.text, /^UPDATE t SET b = item\.p1 FROM unnest\(\$1::text\[\], \$2::bytea\[\]\)/);
  t.match(update.statement.text, /WHERE t\.ctid = found\.ctid RETURNING item\.place, a$/);
  const remove = formOf('DELETE FROM t WHERE id = +?', ['bytea'])!;
  t.equal(
    remove.statement.text,
    `DELETE FROM t USING ${rows.replace(', $2::text[]', '').replace('p1, p2', 'p1')} RETURNING item.place`,
  );
  for (const { told } of [select, update, remove]) t.equal(told, 'by place');
});

t.test('inserts say what tells their items apart', async (t) => {
  const plain = formOf(`INSERT INTO t (id, state, b) VALUES (+?, 'due', +?)`, ['bytea', 'text'])!;
  t.equal(plain.statement.text, `INSERT INTO t (id, state, b) SELECT item.p1, 'due', item.p2 FROM ${ITEMS}`);
  t.match(plain, { told: 'all', distinct: [] });
  const ignoring = formOf('INSERT INTO t (id, b) VALUES (+?, +?) ON CONFLICT DO NOTHING', ['bytea', 'text'])!;
  t.match(ignoring, { told: 'by first column', distinct: [0], statement: { text: /DO NOTHING RETURNING id$/ } });
  const adding = formOf(
    `INSERT INTO t (id, b, n) VALUES (+?, +?, 0) ON CONFLICT (b, n) DO UPDATE SET n = t.n + excluded.n`,
    ['bytea', 'text'],
  )!;
  t.match(adding, { told: 'all', distinct: [1] });
  const numbered = formOf('INSERT INTO t (b, c) VALUES (+?, +?) RETURNING id', ['bytea', 'text'])!;
  t.match(numbered, {
    told: 'by place',
    statement: { text: /nextval.+INSERT INTO t \(id, b, c\).+item\.assigned AS id/s },
  });
});

t.test('what can not be told apart is sent for each item', async (t) => {
  for (const text of [
    'SELECT 1',
    'SELECT a FROM t WHERE id = +? LIMIT 1 OFFSET 2',
    'WITH x AS (SELECT +?) SELECT * FROM x',
    'UPDATE t SET a = (SELECT b FROM u WHERE c = +?) WHERE id = +?',
    'INSERT INTO t (a) SELECT b FROM u WHERE c = +?',
    'INSERT INTO t (a) VALUES (+?), (+?)',
    'INSERT INTO t (id, a) VALUES (+?, +?) ON CONFLICT (id) DO UPDATE SET a = excluded.a RETURNING n',
    'INSERT INTO t (id, a) VALUES (+?, +?) ON CONFLICT (id) DO UPDATE SET a = excluded.a WHERE t.a > 0',
    'INSERT INTO t (id, a) VALUES (coalesce(+?, 1), +?) ON CONFLICT DO NOTHING',
  ]) {
    t.equal(mayHaveArrayForm(new Statements().of(text)), false, text);
  }
});

t.test('only values of the type become elements', async (t) => {
  t.equal(encodeArray('bigint', [1, null]).length, 20 + 4 + 8 + 4);
  for (const [type, value] of [
    ['bigint', 1.5],
    ['bigint', Number.NaN],
    ['bigint', '1'],
    ['text', 1],
    ['bytea', 'a'],
    ['double precision', '1'],
  ] as const) {
    t.throws(() => encodeArray(type, [value]), /is not a/, `${type} ${value}`);
  }
});

t.test('verbs that have something in common come in rounds of their own, and others alone', async (t) => {
  const verb = (name: string, apart: string[] | null, order = '') => ({ name, beside: apart && { apart, order } });
  const rounds = inRounds([
    verb('a', ['x']),
    verb('b', ['x', 'y']),
    verb('c', []),
    verb('d', ['y']),
    verb('alone', null),
    verb('e', ['x'], '2'),
    verb('f', [], '1'),
  ]);
  const names = rounds.map((round) => round.map(({ name }) => name).join(''));
  t.strictSame(names, ['ac', 'b', 'd', 'alone', 'fe']);
  t.equal(besideOf('tenants.createTenant', []), null);
  t.equal(besideOf('submissions.acceptBatch', []), null);
});
