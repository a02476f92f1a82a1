// Limits on sending that hold over several nodes, with a clock of the test's own and a store that answers when the test
// says so.
import t from 'tap';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import type { SentWithin } from '../../src/delivery/shaping/send-window.ts';
import { SharedWindows } from '../../src/delivery/shaping/shared-windows.ts';
import type { Portion, PortionWish } from '../../src/store/limits.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';

const TENANT = '019a9b70-0000-7000-8000-000000000001';

/** What the verb does, by the test's clock. */
class PortionModel {
  readonly asked: PortionWish[][] = [];
  /** What an answer waits for. */
  answering: Promise<void> = Promise.resolve();
  readonly #taken = new Map<string, number[]>();
  readonly #clock: { at: number };

  constructor(clock: { at: number }) {
    this.#clock = clock;
  }

  async takePortions(wishes: readonly PortionWish[]): Promise<Portion[]> {
    this.asked.push([...wishes]);
    await this.answering;
    return wishes.map((wish) => this.#take(wish));
  }

  #take({ subject, limit, spanMs, wanted, returned }: PortionWish): Portion {
    const now = this.#clock.at;
    const counted = (this.#taken.get(subject) ?? []).filter((at) => at > now - spanMs);
    counted.length = Math.max(0, counted.length - returned);
    const granted = Math.min(wanted, Math.max(0, limit - counted.length));
    counted.push(...Array<number>(granted).fill(now));
    this.#taken.set(subject, counted);
    const free = counted.length < limit ? now : counted[counted.length - limit]! + spanMs;
    return { granted, taken: counted.length, freeInMs: free - now };
  }
}

function stage(nodes: number) {
  const clock = { at: 10 * HOUR_MS, now: () => clock.at };
  const limits = new PortionModel(clock);
  const lines: LogLine[] = [];
  const kit = { store: { limits }, clock, log: listLogger(lines) };
  const all = Array.from({ length: nodes }, () => new SharedWindows(kit));
  const hours = all.map((shared) => shared.ofTenant(TENANT));
  const send = (window: SentWithin, limit: number) => {
    const count = window.left(limit, clock.at) > 0 ? 1 : 0;
    window.add(count, clock.at);
    return count;
  };
  /** All that the nodes may send at present, in turn, one by one. */
  const sendAll = async (limit: number, windows: readonly SentWithin[] = hours) => {
    let sent = 0;
    // An answer comes after a round without any.
    for (let idle = 0; idle < 3; idle++) {
      for (const window of windows) {
        const count = send(window, limit);
        sent += count;
        if (count > 0) idle = 0;
      }
      await answers();
    }
    return sent;
  };
  return { clock, limits, lines, all, hours, send, sendAll, first: all[0]!, hour: hours[0]! };
}

/** The model answers after some microtasks. */
async function answers(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

t.test('all nodes together send the limit and no more, and again after the span', async (t) => {
  for (const nodes of [1, 2, 5]) {
    for (const limit of [1, 7, 100, 1000]) {
      const { clock, sendAll } = stage(nodes);
      t.equal(await sendAll(limit), limit, `${nodes} nodes, ${limit} an hour`);
      clock.at += HOUR_MS;
      t.equal(await sendAll(limit), limit, 'an hour later');
    }
  }
});

t.test('a node that has all the mail gets all of the limit, a twentieth at a time', async (t) => {
  const { limits, hours, sendAll } = stage(3);
  t.equal(await sendAll(1000, [hours[2]!]), 1000);
  const wanted = limits.asked.flat().map((wish) => wish.wanted);
  t.ok(Math.max(...wanted) <= 50, 'what it does not send is little');
  t.ok(limits.asked.length < 50, `${limits.asked.length} questions`);
});

t.test('before the first answer nothing is sent, and what waits looks again', async (t) => {
  const { clock, limits, hour, first } = stage(1);
  const rooms: unknown[] = [];
  first.listen({ onRoom: (group) => rooms.push(group), onTenantRoom: (tenants) => rooms.push(...tenants) });
  const { promise, resolve } = Promise.withResolvers<void>();
  limits.answering = promise;
  t.equal(hour.left(100, clock.at), 0);
  t.equal(hour.freeAt(100, clock.at), clock.at + SECOND_MS);
  const minute = first.ofGroup('google');
  t.equal(minute.freeAt(60, clock.at), clock.at + SECOND_MS);
  await answers();
  resolve();
  await answers();
  t.strictSame(rooms, ['google', TENANT]);
  t.strictSame([hour.freeAt(100, clock.at), hour.left(100, clock.at)], [clock.at, 5]);
  t.strictSame([minute.freeAt(60, clock.at), minute.left(60, clock.at)], [clock.at, 3]);
  t.equal(limits.asked.length, 1, 'asked once, together');
  t.strictSame(
    limits.asked.flat().map(({ subject, spanMs }) => [subject, spanMs]),
    [
      [`tenant ${TENANT}`, HOUR_MS],
      ['group google', MINUTE_MS],
    ],
  );
});

t.test('more is asked for before the portion is spent', async (t) => {
  const { clock, limits, hour, send } = stage(1);
  hour.left(1000, clock.at);
  await answers();
  for (let sent = 0; sent < 25; sent++) send(hour, 1000);
  await answers();
  t.equal(limits.asked.length, 1);
  for (let sent = 0; sent < 3; sent++) send(hour, 1000);
  await answers();
  t.equal(limits.asked[1]![0]!.wanted, 28, 'never more than a portion in hand');
  t.equal(hour.left(1000, clock.at), 50);
});

t.test('when the limit is used up, it is known when more may be sent', async (t) => {
  const { clock, hours, sendAll } = stage(2);
  const [one, other] = [hours[0]!, hours[1]!];
  await sendAll(100, [one]);
  clock.at += MINUTE_MS;
  other.left(100, clock.at);
  await answers();
  for (const window of [one, other]) {
    t.equal(window.freeAt(100, clock.at), clock.at + HOUR_MS - MINUTE_MS);
    t.equal(window.used(clock.at), 100, 'whoever sent it');
  }
  clock.at += HOUR_MS - MINUTE_MS;
  t.equal(other.freeAt(100, clock.at), clock.at + SECOND_MS, 'it asks');
  await answers();
  t.equal(other.freeAt(100, clock.at), clock.at);
  t.equal(one.used(clock.at + 2 * HOUR_MS), 0, 'an old answer says nothing');
});

t.test('what is not sent after a while is for others', async (t) => {
  const { clock, all, hours, sendAll } = stage(2);
  const [one, other] = [hours[0]!, hours[1]!];
  one.left(20, clock.at);
  await answers();
  t.equal(await sendAll(20, [other]), 19);
  await all[0]!.tidy();
  t.equal(await sendAll(20, [other]), 0, 'not yet');
  clock.at += 30 * SECOND_MS;
  await all[0]!.tidy();
  t.equal(other.freeAt(20, clock.at), clock.at + HOUR_MS - 30 * SECOND_MS, 'by what it knows');
  await all[1]!.tidy();
  t.equal(await sendAll(20, [other]), 1);
});

t.test('a message that was not sent after all can be sent again', async (t) => {
  const { clock, all, hours, sendAll } = stage(2);
  const [one, other] = [hours[0]!, hours[1]!];
  t.equal(await sendAll(10, [one]), 10);
  one.takeBack(4);
  t.equal(one.left(10, clock.at), 4);
  one.add(1, clock.at);
  await all[0]!.close();
  clock.at += HOUR_MS - MINUTE_MS;
  t.equal(await sendAll(10, [other]), 3);
});

t.test('a node that closes gives back what it has not sent, and who waits for it hears of it', async (t) => {
  const { clock, all, hours, sendAll } = stage(2);
  const other = hours[1]!;
  const told: string[] = [];
  all[1]!.listen({ onRoom: () => {}, onTenantRoom: (tenants) => told.push(...tenants) });
  hours[0]!.left(100, clock.at);
  await answers();
  t.equal(await sendAll(100, [other]), 95);
  t.equal(other.freeAt(100, clock.at), clock.at + HOUR_MS, 'by what it knows');
  told.length = 0;
  await all[0]!.close();
  await all[1]!.tidy();
  t.strictSame(told, []);
  clock.at += 30 * SECOND_MS;
  await all[1]!.tidy();
  t.strictSame(told, [TENANT]);
  t.equal(await sendAll(100, [other]), 5);
});

t.test('while the store does not answer nothing more is sent, and it is said once', async (t) => {
  const { clock, limits, lines, hour, send, sendAll } = stage(1);
  hour.left(100, clock.at);
  await answers();
  limits.answering = Promise.reject(new Error('away'));
  limits.answering.catch(() => {});
  t.equal(await sendAll(100), 5, 'the portion that it has');
  t.ok(limits.asked.length > 2, 'it asks again');
  t.equal(lines.length, 1);
  t.match(lines[0], { level: 'warn', facts: { reason: /away/ } });
  limits.answering = Promise.resolve();
  await answers();
  hour.freeAt(100, clock.at);
  await answers();
  t.equal(send(hour, 100), 1);
  t.match(lines[1], { message: /share them again/ });
});

t.test('a tenant or group that nobody asks about is forgotten', async (t) => {
  const { clock, first, hour } = stage(1);
  hour.left(100, clock.at);
  await answers();
  t.equal(first.ofTenant(TENANT), hour, 'one for all who ask');
  clock.at += 30 * SECOND_MS;
  await first.tidy();
  clock.at += 2 * HOUR_MS;
  await first.tidy();
  t.not(first.ofTenant(TENANT), hour);
});

t.test('who does not wait is not told', async (t) => {
  const { clock, limits, hour, first } = stage(1);
  let told = 0;
  first.listen({ onRoom: () => {}, onTenantRoom: () => void told++ });
  hour.left(100, clock.at);
  await answers();
  t.strictSame([limits.asked.length, told], [1, 0]);
});
