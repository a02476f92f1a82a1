// Group commit while the disk works: many verbs, one fsync, and who is answered when.

import Database from 'better-sqlite3';
import t from 'tap';
import { Fault } from '../../src/base/errors.ts';
import type { Steps } from '../../src/store/sql/steps.ts';
import { LocalConnection } from '../../src/store/sqlite/engine/local-connection.ts';
import { stepless } from './at-once.ts';
import { names, openFacts, UNUSABLE } from './facts-on-a-disk.ts';

t.test('verbs of one turn share one commit', async (t) => {
  const { add, groups, disk, onDisk } = openFacts(t);
  const answers = await Promise.all(names(50).map(add));
  t.strictSame(answers, names(50), 'each gets its own answer');
  t.strictSame(groups, [50]);
  t.strictSame(disk.commits, [50]);
  t.strictSame(onDisk(), names(50));
});

t.test('a long queue is cut into groups', async (t) => {
  const { add, groups, onDisk } = openFacts(t);
  await Promise.all(names(2500).map(add));
  t.ok(groups.length >= 3);
  t.ok(Math.max(...groups) <= 1000);
  t.equal(
    groups.reduce((sum, verbs) => sum + verbs, 0),
    2500,
  );
  t.equal(onDisk().length, 2500);
});

t.test('verbs run in the order in which they came', async (t) => {
  const { connection, groups } = openFacts(t);
  const order: number[] = [];
  await Promise.all(names(20).map((_, n) => connection.write('write', () => stepless(() => void order.push(n)))));
  t.strictSame(order, [...order.keys()]);
  t.strictSame(groups, [20]);
});

t.test('what is answered is on disk', async (t) => {
  const { add, onDisk } = openFacts(t);
  const seen = await Promise.all(names(10).map((name) => add(name).then((answer) => onDisk().includes(answer))));
  t.strictSame(
    seen,
    seen.map(() => true),
  );
});

t.test('a verb that throws fails alone, and leaves nothing', async (t) => {
  const { connection, add, groups, onDisk } = openFacts(t);
  const broken = connection.write('write', function* () {
    yield* connection.sql('INSERT INTO facts (name) VALUES (?)').run('half');
    throw new Fault('my own words', { permanence: 'permanent' });
  });
  const results = await Promise.allSettled([add('a'), broken, add('b'), add('a'), add('c')]);
  t.strictSame(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  );
  t.match(results[1], { reason: { message: 'my own words', permanence: 'permanent' } }, 'a fault stays what it is');
  t.match(results[3], { reason: { ...UNUSABLE, permanence: 'temporary', detail: /UNIQUE/ } });
  t.strictSame(onDisk(), ['a', 'b', 'c']);
  t.strictSame(groups, [5], 'still one commit');
});

t.test('a read sees only what is committed', async (t) => {
  const { add, count, disk } = openFacts(t);
  const pending = add('a');
  t.equal(await count(), 0, 'the group still waits');
  await pending;
  t.equal(await count(), 1);
  disk.failures = Number.POSITIVE_INFINITY;
  const lost = add('b');
  const during = count();
  await t.rejects(lost);
  t.equal(await during, 1);
  t.equal(await count(), 1, 'what was rolled back is never shown');
  disk.failures = 0;
});

t.test('a read is of one moment, whatever another process commits meanwhile', async (t) => {
  const { file, connection, add } = openFacts(t);
  const [local, other] = [new LocalConnection(file), new Database(file)];
  t.teardown(() => local.close());
  t.teardown(() => void other.close());
  await add('a');
  for (const reader of [connection, local]) {
    const look = () => reader.sql('SELECT name FROM facts ORDER BY name', 'column').all() as Steps<string[]>;
    const looks = await reader.read(function* () {
      const before = yield* look();
      other.prepare('INSERT INTO facts (name) VALUES (?)').run(`z${before.length}`);
      return [before, yield* look()];
    });
    t.strictSame(looks[1], looks[0]);
    t.equal((await reader.read(look)).length, looks[0]!.length + 1, 'the next one sees it');
    const failing = reader.read(function* () {
      yield* look();
      throw new Fault('no', { permanence: 'permanent' });
    });
    await t.rejects(failing, { message: 'no' });
    await add(`after a read that failed: ${looks[0]!.length}`);
  }
});

t.test('verbs that follow from an answer are taken in the next groups', async (t) => {
  const { add, count, groups, onDisk } = openFacts(t);
  const chain = async (name: string) => {
    await add(`${name}1`);
    const seen = await count();
    await add(`${name}2`);
    return seen;
  };
  const seen = await Promise.all([chain('a'), chain('b'), chain('c')]);
  t.strictSame(onDisk(), ['a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
  t.strictSame(groups, [3, 3]);
  t.strictSame(seen, [3, 3, 3], 'one who has an answer sees the whole group');
});

t.test('a read that fails is a fault, and stops nobody', async (t) => {
  const { connection, add, count } = openFacts(t);
  await t.rejects(
    connection.read(() => connection.sql('SELECT * FROM nothing').all()),
    UNUSABLE,
  );
  await add('a');
  t.equal(await count(), 1);
});

t.test('closing commits what waits and takes nothing new', async (t) => {
  const { connection, add, count, onDisk } = openFacts(t);
  const waiting = Promise.all(names(3).map(add));
  const closing = connection.close();
  const again = connection.close();
  await t.rejects(add('late'), { message: 'the store is closed' });
  await t.rejects(count(), { message: 'the store is closed' });
  t.strictSame(await waiting, names(3));
  await Promise.all([closing, again]);
  t.strictSame(onDisk(), names(3));
  await t.rejects(add('later'), { message: 'the store is closed' });
  await connection.close();
});

t.test('closing an idle connection ends at once', async (t) => {
  const { connection, db } = openFacts(t);
  await connection.close();
  t.equal(db.open, false);
});
