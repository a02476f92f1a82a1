// Due webhooks are read page by page, once a minute, and soon again after a fault of the store.
import t from 'tap';
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { Ownership } from '../../src/store/ownership.ts';
import { DueWebhooks } from '../../src/webhooks/due-webhooks.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';
import { FakeClock } from './stage.ts';

const PAGES: Record<string, { found: { webhookId: string; dueAt: number }[]; last: string | null }> = {
  null: { found: [{ webhookId: 'a', dueAt: 1 }], last: 'a' },
  a: { found: [{ webhookId: 'b', dueAt: 2 }], last: null },
};

function dueWebhooks() {
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  const found: string[] = [];
  const asked: unknown[] = [];
  const fault: { now: Error | null } = { now: null };
  const read = async (slots: readonly number[], after: string | null) => {
    asked.push([...slots, after]);
    if (fault.now) throw fault.now;
    return PAGES[String(after)]!;
  };
  const due = new DueWebhooks({
    store: { webhooks: { dueWebhooks: read } },
    ownership: new Ownership([{ slot: 4, epoch: 1 }]),
    clock,
    log: listLogger(lines),
    found: (webhookId, dueAt) => found.push(`${webhookId} ${dueAt}`),
  });
  const passed = async (ms: number) => {
    clock.time += ms;
    due.tick(clock.time);
    await turn();
  };
  return { due, passed, lines, found, asked, fault };
}

const turn = () => new Promise(setImmediate);

t.test('every page of its slots, and again after a minute', async (t) => {
  const { due, passed, found, asked } = dueWebhooks();
  await due.look();
  t.strictSame(found, ['a 1', 'b 2']);
  t.strictSame(asked, [
    [4, null],
    [4, 'a'],
  ]);
  await passed(MINUTE_MS - 1);
  t.equal(asked.length, 2);
  await passed(1);
  t.equal(asked.length, 4);
});

t.test('after a fault a second later, not at each tick', async (t) => {
  const { due, passed, found, asked, lines, fault } = dueWebhooks();
  fault.now = new Error('the database is away');
  due.lookOrLog();
  await turn();
  t.match(lines, [{ message: 'due webhook deliveries could not be read: the database is away' }]);
  await passed(SECOND_MS - 1);
  t.equal(asked.length, 1);
  fault.now = null;
  await passed(1);
  t.strictSame(found, ['a 1', 'b 2']);
});

t.test('who stops reads no further page', async (t) => {
  const { due, asked } = dueWebhooks();
  const looking = due.look();
  due.stop();
  await looking;
  t.equal(asked.length, 1);
});
