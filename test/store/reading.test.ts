// The process that answers the portal's reads: started when somebody asks, ended when a query hangs,
// started again when it dies, and fair to those who wait.
import path from 'node:path';
import t, { type Test } from 'tap';
import { describeError } from '../../src/base/errors.ts';
import type { ReadOutcome } from '../../src/store/reads.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openReading, type ReadingLimits } from '../../src/store/sqlite/reading/reading.ts';
import { patience } from '../support/patience.ts';
import { testFolder } from '../support/test-folder.ts';
import { QUERIES } from './strange-queries.ts';

interface StrangeReads {
  count(tenant: string, table: string): Promise<ReadOutcome<number>>;
  hang(tenant: string): Promise<ReadOutcome<unknown>>;
  die(tenant: string): Promise<ReadOutcome<unknown>>;
  write(tenant: string): Promise<ReadOutcome<number>>;
  environment(tenant: string): Promise<ReadOutcome<string[]>>;
  nodeArguments(tenant: string): Promise<ReadOutcome<string[]>>;
  pid(tenant: string): Promise<ReadOutcome<number>>;
}

/** Long enough for a busy machine; a query that is to hang gets less. */
const PATIENT: Partial<ReadingLimits> = {
  ...{ queryMs: patience(20_000), waitMs: patience(20_000), startMs: patience(20_000) },
  restartPauseMs: 20,
};

async function open(t: Test, limits: Partial<ReadingLimits> = {}) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const troubles: string[] = [];
  const module = new URL('./strange-queries.ts', import.meta.url);
  const onTrouble = (reason: string) => troubles.push(reason);
  const all = { ...PATIENT, ...limits };
  const reading = openReading<StrangeReads>({ file, onTrouble, module, queries: QUERIES, limits: all });
  t.teardown(reading.close);
  return { store, ...reading, troubles };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function pidOf(reads: StrangeReads): Promise<number> {
  const found = await reads.pid('a');
  return found.kind === 'found' ? found.value : 0;
}

/** A migration notes the version of the program. */
const NOTED = 1;

t.test('it sees what was committed, and cannot write', async (t) => {
  const { store, reads, troubles } = await open(t);
  t.strictSame(await reads.count('a', 'meta'), { kind: 'found', value: NOTED });
  await store.proveWritable(1);
  t.strictSame(await reads.count('a', 'meta'), { kind: 'found', value: NOTED + 1 });
  const failure = (asked: Promise<unknown>) => asked.then(() => 'none', describeError);
  t.match(await failure(reads.write('a')), /a list could not be read \(write: .*readonly/);
  t.match(await failure(reads.count('a', 'no_such_table')), /no such table/);
  t.strictSame(
    await reads.count('a', 'meta'),
    { kind: 'found', value: NOTED + 1 },
    'a query that fails takes nobody with it',
  );
  t.strictSame(troubles, []);
});

t.test("it is started with what the program loads first, and none of Node's other arguments", async (t) => {
  const usual = process.execArgv;
  t.teardown(() => {
    process.execArgv = usual;
  });
  const cache = path.join(import.meta.dirname, '../../scripts/source-cache.cjs');
  const heap = '--max-old-space-size=128';
  for (const [own, expected] of [
    [
      ['--import', 'data:text/javascript,', '--require', cache, '--no-warnings'],
      ['--require', cache, heap],
    ],
    [
      ['--cpu-prof', `--require=${cache}`],
      [`--require=${cache}`, heap],
    ],
    [['--no-warnings'], [heap]],
  ] as const) {
    process.execArgv = [...own];
    const { reads, close } = await open(t);
    t.strictSame(await reads.nodeArguments('a'), { kind: 'found', value: expected });
    await close();
  }
});

/** The test runner's, and what Node itself sets for a child that it speaks to. */
const RUNNERS_OWN = /^_?TAP|^NODE_(CHANNEL|OPTIONS)/;

t.test('it knows nothing of the environment, but what a test runner puts into every process', async (t) => {
  const { reads } = await open(t);
  const found = await reads.environment('a');
  const names = found.kind === 'found' ? found.value : ['nothing'];
  t.strictSame(
    names.filter((name) => !RUNNERS_OWN.test(name)),
    [],
  );
});

t.test('a query that never ends is stopped, and the next one is answered', async (t) => {
  const { reads, troubles } = await open(t, { queryMs: patience(1500) });
  const before = await pidOf(reads);
  const [hanging, next] = await Promise.all([reads.hang('a'), reads.count('a', 'meta')]);
  t.match(hanging, { kind: 'refused', reason: /took too long/ });
  t.strictSame(next, { kind: 'found', value: NOTED });
  t.notOk(isAlive(before), 'its process is gone');
  t.match(troubles, [/^the reading process is ended: hang took longer than \d+ ms$/]);
});

t.test(
  'when the process dies, whoever was being answered hears it, and others are answered after a pause',
  async (t) => {
    const { reads, troubles } = await open(t);
    const [dying, next] = await Promise.all([reads.die('a'), reads.count('a', 'meta')]);
    t.match(dying, { kind: 'refused', reason: /has ended in the middle/ });
    t.strictSame(next, { kind: 'found', value: NOTED });
    t.match(troubles, [/has died and is started again: it ended with SIGSEGV/]);
  },
);

t.test('one that cannot start refuses those who wait, and says why', async (t) => {
  const troubles: string[] = [];
  const { reads, close } = openReading<StrangeReads>({
    file: path.join(testFolder(t), 'not-there.db'),
    onTrouble: (reason) => troubles.push(reason),
    module: new URL('./strange-queries.ts', import.meta.url),
    queries: QUERIES,
    limits: PATIENT,
  });
  t.teardown(close);
  t.match(await reads.count('a', 'meta'), { kind: 'refused', reason: /cannot be started/ });
  t.match(troubles, [/unable to open database file/]);
});

t.test('tenants take turns, and what waits is bounded for each and in all', async (t) => {
  const { reads } = await open(t, { inAll: 5, perTenant: 3 });
  const order: string[] = [];
  const ask = async (tenant: string, name: string) => {
    const { kind } = await reads.count(tenant, 'meta');
    order.push(`${name} ${kind}`);
  };
  const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'd1'].map((name) => ask(name[0]!, name));
  await Promise.all(asked);
  // a4 is one too many of a, d1 one too many in all: both hear it at once.
  t.strictSame(order.slice(0, 2).sort(), ['a4 refused', 'd1 refused']);
  t.strictSame(order.slice(2), ['a1 found', 'b1 found', 'c1 found', 'a2 found', 'a3 found']);
});

t.test('nobody waits for longer than the limit', async (t) => {
  const { reads } = await open(t, { waitMs: patience(300) });
  await t.resolves(pidOf(reads), 'it runs');
  const hanging = reads.hang('a');
  t.match(await reads.count('b', 'meta'), { kind: 'refused', reason: /Too many lists/ });
  // Ends with the daemon: the other test has shown what the limit of the query does.
  void hanging;
});

t.test('it starts with the first question, and ends when nobody asks any more', async (t) => {
  const { reads } = await open(t, { idleMs: 50 });
  const first = await pidOf(reads);
  while (isAlive(first)) await new Promise((resolve) => setTimeout(resolve, 10));
  const second = await pidOf(reads);
  t.ok(second > 0 && second !== first, 'another one for the next question');
});

t.test('it starts before anybody asks when somebody is expected to', async (t) => {
  const heard = Promise.withResolvers<string>();
  const module = new URL('./strange-queries.ts', import.meta.url);
  const file = path.join(testFolder(t), 'not-there.db');
  const broken = openReading({ file, onTrouble: heard.resolve, module, queries: QUERIES, limits: PATIENT });
  t.teardown(broken.close);
  // Nobody asks, so nothing else holds this test.
  const held = setInterval(() => {}, 60_000);
  broken.warm();
  t.match(await heard.promise, /unable to open database file/, 'it has looked for the database without a question');
  clearInterval(held);

  const { reads, warm, close, troubles } = await open(t);
  warm();
  warm();
  const pid = await pidOf(reads);
  warm();
  t.equal(await pidOf(reads), pid, 'there is one, however often it is expected');
  await close();
  warm();
  t.match(await reads.count('a', 'meta'), { kind: 'refused', reason: /restarted/ }, 'closed is closed');
  t.strictSame(troubles, []);
});

t.test('closing ends it in the middle of a query', async (t) => {
  const { reads, close } = await open(t);
  const pid = await pidOf(reads);
  const hanging = reads.hang('a');
  const waiting = reads.count('a', 'meta');
  await close();
  t.match(await hanging, { kind: 'refused', reason: /restarted/ });
  t.match(await waiting, { kind: 'refused', reason: /restarted/ });
  t.match(await reads.count('a', 'meta'), { kind: 'refused', reason: /restarted/ });
  t.notOk(isAlive(pid));
});
