// Results on their way into a database that refuses them, or does not answer: with a store that the test answers for,
// a clock that it moves, and a real journal.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { noPeer } from '../../src/base/outcome.ts';
import { ResultJournal } from '../../src/delivery/outcome/result-journal.ts';
import { ResultWriter } from '../../src/delivery/outcome/result-writer.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { ClaimedUpdate, ClaimsEnded } from '../../src/store/queue.ts';
import { testFolder } from '../support/test-folder.ts';

const T0 = 1_000_000;
const SECOND = 1000;

interface Call {
  updates: ClaimedUpdate[];
  take(): void;
  refuse(error: Error): void;
}

/** A store in which every call waits for the test. */
function open(t: Test) {
  const clock = { at: T0, now: () => clock.at };
  const calls: Call[] = [];
  const logged: { level: string; messages: number; msg: string }[] = [];
  const noting = (level: string) => (facts: { messages: number }, msg: string) => {
    logged.push({ level, messages: facts.messages, msg });
  };
  const log = { ...silentLogger, error: noting('error'), warn: noting('warn') } as typeof silentLogger;
  const file = path.join(testFolder(t), 'results.journal');
  const journal = new ResultJournal(file, silentLogger);
  t.teardown(() => journal.close());
  const record = (updates: readonly ClaimedUpdate[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<ClaimsEnded>();
    calls.push({ updates: [...updates], take: () => resolve({ lanes: [], over: [] }), refuse: reject });
    return promise;
  };
  const writer = new ResultWriter({
    store: { queue: { record, recordLate: async () => 0 } },
    clock,
    log,
    journal,
    onLanes() {},
  });
  t.teardown(() => writer.stop());
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise(setImmediate);
  };
  /** As the next process would find it. */
  const inJournal = () => fs.readFileSync(file).toString().split('\n').slice(0, -1);
  return { clock, calls, logged, journal, writer, until, inJournal };
}

function resultOf(messageId: string): ClaimedUpdate {
  const of = { messageId, tenantId: 'tenant' };
  const attempt = { ...of, attempt: 1, startedAt: 1, outcome: 'delivered' as const, peer: noPeer('dot', 'ok') };
  return {
    ...of,
    at: 2,
    claim: { slot: 1, epoch: 1, attempt: 1 },
    attempt,
    transition: { to: 'delivered' },
    event: null,
  };
}

const unreadable = (messageId: string): ClaimedUpdate => {
  return { ...resultOf(messageId), attempt: null, transition: { to: 'parked', reason: 'unreadable' } };
};

t.test('a database that hangs: told of after 5 s, an alarm after a minute, none when it answers', async (t) => {
  const { clock, calls, logged, journal, writer, until, inJournal } = open(t);
  const one = writer.write(resultOf('one'));
  await until(() => calls.length === 1);
  clock.at += 4 * SECOND;
  const two = writer.write(resultOf('two'));
  await until(() => calls.length === 2);
  clock.at += SECOND;
  await until(() => writer.unstored !== null);
  t.strictSame(writer.unstored, { messages: 1, since: T0, reason: 'the database does not answer', isAlarm: false });
  t.match(inJournal(), [/one/]);
  clock.at += 4 * SECOND;
  await until(() => writer.unstored?.messages === 2);
  t.match(inJournal(), [/one/, /two/]);
  clock.at = T0 + 60 * SECOND - 1;
  t.match(writer.unstored, { since: T0, isAlarm: false });
  clock.at = T0 + 60 * SECOND;
  t.match(writer.unstored, { since: T0, isAlarm: true });
  t.match(logged, [{ level: 'error', messages: 1, msg: /the database does not answer.*kept in the journal/ }]);
  clock.at += 6 * SECOND;
  await until(() => logged.length === 2);
  t.match(logged[1], { level: 'error', messages: 2 }, 'again after a minute');
  calls[0]!.take();
  await one;
  t.match(writer.unstored, { messages: 1 });
  calls[1]!.take();
  await two;
  await writer.flush();
  t.equal(writer.unstored, null);
  t.equal(journal.size, 0, 'what is stored is in the journal no more');
  t.equal(calls.length, 2, 'it was asked once for each: nobody knows what it did meanwhile');
});

t.test('a database that hangs and refuses then: tried again, in the journal once', async (t) => {
  const { clock, calls, logged, writer, until, inJournal } = open(t);
  const both = Promise.all([writer.write(resultOf('one')), writer.write(resultOf('two'))]);
  await until(() => calls.length === 1);
  clock.at += 5 * SECOND;
  await until(() => writer.unstored?.messages === 2);
  calls[0]!.refuse(new Error('disk I/O error'));
  await until(() => calls.length === 3);
  t.match(
    calls.slice(1).map(({ updates }) => updates.length),
    [1, 1],
  );
  calls[1]!.refuse(new Error('disk I/O error'));
  calls[2]!.take();
  await until(() => calls.length === 4);
  t.match(writer.unstored, { messages: 1, since: T0, reason: /disk I\/O error/ });
  t.match(logged, [{ msg: /does not answer/ }, { msg: /could not be stored.*disk I\/O error/ }], 'each is told');
  t.match(inJournal(), { length: 2 });
  calls[3]!.take();
  await both;
  t.equal(writer.unstored, null);
});

t.test('with a thousand that are not answered, nothing more is to be sent', async (t) => {
  const { clock, calls, writer, until } = open(t);
  const written: Promise<void>[] = [];
  for (let n = 0; n < 1000; n++) written.push(writer.write(resultOf(`message ${n}`)));
  await until(() => calls.length === 1);
  t.equal(writer.isFull, false);
  clock.at += 5 * SECOND;
  await until(() => writer.unstored?.messages === 1000);
  t.equal(writer.isFull, true);
  calls[0]!.take();
  await Promise.all(written);
  t.equal(writer.isFull, false);
});

t.test('the end while the database hangs: what is in the journal is told apart from what was never sent', async (t) => {
  const { calls, logged, writer, until, inJournal } = open(t);
  for (const id of ['one', 'two']) void writer.write(resultOf(id));
  void writer.write(unreadable('three'));
  await until(() => calls.length === 1);
  writer.stop();
  t.match(inJournal(), { length: 2 });
  t.strictSame(
    logged.map(({ level, messages }) => ({ level, messages })),
    [
      { level: 'error', messages: 2 },
      { level: 'warn', messages: 1 },
    ],
  );
  t.match(logged[0]!.msg, /the next start reads them from the journal/);
  t.match(logged[1]!.msg, /cannot be read were not parked in time/);
  t.notMatch(JSON.stringify(logged), /lost/);
});
