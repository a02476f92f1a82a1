// A tenant's last finished messages: the same ones in slices of any size, however many messages wait between them.
import path from 'node:path';
import t, { type Test } from 'tap';
import { BEFORE_ALL_IDS, toId } from '../../src/store/sql/values.ts';
import { lastFinished } from '../../src/store/sql/verbs/queue/last-finished.ts';
import { openForWriting } from '../../src/store/sqlite/engine/database-file.ts';
import { WritingConnection } from '../../src/store/sqlite/engine/writing-connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench, T0 } from './conformance/harness.ts';

const EVER = { olderThanAll: BEFORE_ALL_IDS, finishedBy: -1 };

async function stage(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { domain, tenant } = await bench.sender('acme.test');
  const bounce = async (to: string, at: number, of = domain) => {
    const message = await bench.sending(of, to);
    const hard = { to: 'bounced', bounce: 'hard', reason: '550', suppress: null } as const;
    await store.queue.record([{ ...bench.attempted(message, hard), at }]);
    return message.id;
  };
  return { file, store, bench, domain, tenant, bounce };
}

t.test('slices of any size find the same messages', async (t) => {
  const { file, bench, domain, tenant, bounce } = await stage(t);
  const other = await bench.sender('beta.test');
  const bounced: { id: string; to: string; at: number }[] = [];
  for (let number = 0; number < 30; number++) {
    const [to, at] = [`a${number}@x.test`, T0 + number];
    // Most of the newest ones wait.
    if (number % 5 === 0 || (number < 20 && number % 4 !== 3)) bounced.push({ id: await bounce(to, at), to, at });
    else await bench.queued(domain, to);
    if (number % 3 === 0) await bounce(`other${number}@x.test`, at, other.domain);
  }
  const db = new WritingConnection(openForWriting(file));
  t.teardown(() => db.close());
  const newestFirst = bounced.toReversed();
  const middle = newestFirst[8]!;
  const cases = [
    { bounds: EVER, expected: newestFirst },
    { bounds: { olderThanAll: toId(middle.id), finishedBy: -1 }, expected: newestFirst.slice(0, 8) },
    { bounds: { olderThanAll: BEFORE_ALL_IDS, finishedBy: middle.at }, expected: newestFirst.slice(0, 8) },
  ];
  for (const { bounds, expected } of cases) {
    for (const window of [1, 2, 5, 8, 100]) {
      for (const slice of [1, 2, 3, 7, 1000]) {
        const { messages, problems } = await lastFinished(db, { tenantId: tenant.id, window, bounds }, slice);
        const what = `${window} in slices of ${slice}`;
        const due = expected.slice(0, window).map(({ to }) => to);
        t.equal(messages, due.length, what);
        t.same(problems.map(({ recipient }) => recipient).sort(), due.sort(), what);
      }
    }
  }
});

t.test('what waits is stepped over in several reads, between which others have their turn', async (t) => {
  const { store, bench, domain, tenant, bounce } = await stage(t);
  await bounce('a@x.test', T0);
  for (let call = 0; call < 42; call++) {
    await bench.accept(
      domain,
      Array.from({ length: 50 }, (_, at) => `${at}@y.test`),
    );
  }
  const reads = t.capture(WritingConnection.prototype, 'read', WritingConnection.prototype.read);
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  t.match(await store.reputation.resultsSinceReview(tenant.id, 10), { messages: 1, problems: [{}] });
  t.equal(reads().length, 3, 'the last review, and two slices');
  t.match(await store.tenants.recentResultsOf(tenant.id, 10), { messages: 1, hardBounces: 1 });
  t.equal(reads().length, 2);
  clearImmediate(next);
  t.ok(turns >= 2);
});
