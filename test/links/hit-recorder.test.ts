// Opens and clicks on their way from requests to events: over a real store, with a clock that is moved.
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { type Hit, HitRecorder, type HitRecorderKit } from '../../src/links/hit-recorder.ts';
import { loadMachineRules, SHIPPED_MACHINE_RULES } from '../../src/links/machine-rules.ts';
import { type Facts, silentLogger } from '../../src/observe/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import type { Store } from '../../src/store/store.ts';
import type { TrackingStore } from '../../src/store/tracking.ts';
import { Bench, T0 } from '../store/conformance/harness.ts';
import { patience } from '../support/patience.ts';
import { testFolder } from '../support/test-folder.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const CURL = 'curl/8.5.0';
const MINUTE = 60_000;
const rules = loadMachineRules(SHIPPED_MACHINE_RULES);

class World {
  now = T0 + 10 * MINUTE;
  readonly store: Store;
  readonly bench: Bench;

  constructor(store: Store, file: string) {
    this.store = store;
    this.bench = new Bench({ store, openContents: () => openContentReader(file) });
  }

  static async open(t: Test): Promise<World> {
    const file = path.join(testFolder(t), 'postrider.db');
    const store = await openSqliteStore({ file });
    t.teardown(() => store.close());
    return new World(store, file);
  }

  recorder(recordHits = this.store.tracking.recordHits, log: HitRecorderKit['log'] = silentLogger): HitRecorder {
    const clock = { now: () => this.now };
    return new HitRecorder({ store: { tracking: { recordHits } }, rules, clock, ids: new IdSource(), log });
  }

  /** Of a message that is not stored. */
  strangeHit(): Hit {
    return this.hit({ id: this.bench.id(), tenantId: this.bench.id() });
  }

  hit(message: { id: string; tenantId: string }, change: Partial<Hit> = {}): Hit {
    const { id: messageId, tenantId } = message;
    return {
      subject: { messageId, tenantId },
      link: 0,
      url: 'https://x.test/0',
      linkCount: 9,
      ip: '192.0.2.1',
      userAgent: FIREFOX,
      ...change,
    };
  }

  async delivered(count = 1) {
    const { domain } = await this.bench.sender('acme.test');
    const addresses = Array.from({ length: count }, (_, index) => `a${index}@x.test`);
    const { lanes } = await this.bench.accept(domain, addresses);
    const messages = await this.bench.claim(lanes[0]!.lane, T0, count);
    await this.store.queue.record(messages.map((message) => this.bench.attempted(message, { to: 'delivered' })));
    return messages;
  }

  async events(message: { id: string; tenantId: string }) {
    const events = await this.store.events.eventsOfMessage(message.tenantId, message.id);
    return events.map(({ type, at, data }) => ({ type, at, ...(data.open as object), ...(data.click as object) }));
  }
}

t.test('they are written by themselves, within a second', async (t) => {
  const world = await World.open(t);
  const [message] = await world.delivered();
  const startedAt = performance.now();
  const written = Promise.withResolvers<void>();
  const recorder = world.recorder((...args) => world.store.tracking.recordHits(...args).then(written.resolve));
  recorder.note(world.hit(message!));
  recorder.note(world.hit(message!, { link: null, url: '' }));
  t.strictSame(await world.events(message!), [], 'no request waits for the disk');
  await written.promise;
  t.ok(performance.now() - startedAt < patience(1000));
  t.match(await world.events(message!), [
    { type: 'email.clicked', url: 'https://x.test/0', link_index: 0, first: true, machine: false },
    { type: 'email.opened', first: true, machine_reason: null },
  ]);
  await recorder.close();
});

t.test('those of many messages are written in small portions, with room between them', async (t) => {
  const world = await World.open(t);
  const messages = await world.delivered(100);
  const portions: { size: number; at: number }[] = [];
  const all = Promise.withResolvers<void>();
  const recorder = world.recorder(async (hits, timing) => {
    await world.store.tracking.recordHits(hits, timing);
    portions.push({ size: hits.length, at: performance.now() });
    if (portions.reduce((sum, { size }) => sum + size, 0) === messages.length) all.resolve();
  });
  for (const message of messages) recorder.note(world.hit(message));
  await all.promise;
  t.ok(Math.max(...portions.map(({ size }) => size)) <= 20, 'a send waits for few of them');
  t.ok(portions.at(-1)!.at - portions[0]!.at > 30, 'not in one go');
  portions.length = 0;
  for (const message of messages) recorder.note(world.hit(message, { link: 1 }));
  const closedAt = performance.now();
  await recorder.close();
  t.equal(portions.length, 5, 'all are written before the end');
  t.ok(portions.at(-1)!.at - closedAt < patience(200), 'which waits for nothing');
});

t.test('each waits its time and no longer, whenever the one before it was written', async (t) => {
  const world = await World.open(t);
  const notedAt = new Map<string, number>();
  const waitedMs: number[] = [];
  const both = Promise.withResolvers<void>();
  const recorder = world.recorder(async (hits) => {
    for (const { messageId } of hits) waitedMs.push(performance.now() - notedAt.get(messageId)!);
    if (waitedMs.length === 2) both.resolve();
  });
  const note = () => {
    const hit = world.strangeHit();
    notedAt.set(hit.subject.messageId, performance.now());
    recorder.note(hit);
  };
  note();
  await pause(40);
  note();
  await both.promise;
  const [first = 0, second = 0] = waitedMs;
  t.ok(first >= 249 && second >= 249, `after ${Math.round(first)} and ${Math.round(second)} ms`);
  t.ok(second < first + patience(150), 'the second did not have to wait for another round');
  await recorder.close();
});

t.test('what fails is tried again after a pause', async (t) => {
  const world = await World.open(t);
  const triedAt: number[] = [];
  const thrice = Promise.withResolvers<void>();
  const recorder = world.recorder(async () => {
    triedAt.push(performance.now());
    if (triedAt.length === 3) thrice.resolve();
    if (triedAt.length <= 3) throw new Error('no room');
  });
  for (let n = 0; n < 50; n++) recorder.note(world.strangeHit());
  await thrice.promise;
  const [first = 0, second = 0, third = 0] = triedAt;
  t.ok(second - first >= 249 && third - second >= 249, triedAt.map(Math.round).join(', '));
  await recorder.close();
});

t.test('those of very many messages are written in few portions, however slow commits are', async (t) => {
  const portions: number[] = [];
  const begun = Promise.withResolvers<void>();
  const allDue = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  let written = 0;
  const slow: TrackingStore['recordHits'] = async (hits) => {
    begun.resolve();
    await allDue.promise;
    portions.push(hits.length);
    written += hits.length;
    if (written === 5001) all.resolve();
  };
  const world = await World.open(t);
  const recorder = world.recorder(slow);
  const note = () => recorder.note(world.strangeHit());
  note();
  await begun.promise;
  for (let n = 0; n < 5000; n++) note();
  // However long that took: the first commit ends when all the others are due.
  const notedAt = performance.now();
  while (performance.now() <= notedAt + 250) await pause(10);
  allDue.resolve();
  await all.promise;
  // A tenth of what is due at a time, and 20 at least. One begins every 10 ms, so this is half a second at best.
  t.ok(portions.length <= 50, `${portions.length} portions`);
  t.strictSame(portions.slice(0, 4), [1, 500, 450, 405]);
  t.ok(portions.at(-1)! <= 20);
  await recorder.close();
});

t.test('many fetches of one link are one event, and all are counted', async (t) => {
  const world = await World.open(t);
  const [message] = await world.delivered();
  const recorder = world.recorder();
  for (let n = 0; n < 500; n++) recorder.note(world.hit(message!));
  await recorder.flush();
  world.now += MINUTE - 1;
  recorder.note(world.hit(message!));
  await recorder.flush();
  world.now += 1;
  recorder.note(world.hit(message!));
  await recorder.close();
  const events = await world.events(message!);
  t.match(events, [
    { first: true, at: T0 + 10 * MINUTE },
    { first: false, at: T0 + 11 * MINUTE },
  ]);
  t.equal(events.length, 2);
  t.match((await world.store.tracking.findTracked(message!.tenantId, message!.id))?.links, [{ hits: 502, events: 2 }]);
});

t.test('never more than a hundred events of a message', async (t) => {
  const world = await World.open(t);
  const [message] = await world.delivered();
  const recorder = world.recorder();
  for (let round = 0; round < 30; round++) {
    for (const link of [null, 0, 1, 2]) recorder.note(world.hit(message!, { link }));
    await recorder.flush();
    world.now += MINUTE;
  }
  await recorder.close();
  t.equal((await world.events(message!)).length, 100);
  const tracked = await world.store.tracking.findTracked(message!.tenantId, message!.id);
  t.equal(
    tracked?.links.reduce((sum, { hits }) => sum + hits, 0),
    120,
  );
});

t.test('the event tells of a person where there was one', async (t) => {
  const world = await World.open(t);
  const [message] = await world.delivered();
  const recorder = world.recorder();
  recorder.note(world.hit(message!, { userAgent: CURL }));
  recorder.note(world.hit(message!, { userAgent: FIREFOX, ip: '192.0.2.9' }));
  recorder.note(world.hit(message!, { userAgent: CURL }));
  recorder.note(world.hit(message!, { link: 1, userAgent: CURL }));
  recorder.note(world.hit(message!, { link: 2, userAgent: `Safari ${'x'.repeat(5000)}` }));
  await recorder.close();
  const events = await world.events(message!);
  t.match(events, [
    { link_index: 0, machine: false, ip: '192.0.2.9' },
    { link_index: 1, machine: true },
    { link_index: 2 },
  ]);
  t.equal((events[2] as unknown as { user_agent: string }).user_agent.length, 512, 'what clients send is bounded');
});

t.test('programs are told apart, however many have come before', async (t) => {
  const world = await World.open(t);
  const [first, second] = await world.delivered(2);
  const recorder = world.recorder();
  const notes = [CURL, FIREFOX, CURL, FIREFOX].map((userAgent, link) => ({ link, userAgent }));
  for (const note of notes) recorder.note(world.hit(first!, note));
  for (let n = 0; n < 600; n++) recorder.note(world.hit(first!, { link: 5, userAgent: `${CURL} ${n}` }));
  for (const note of notes) recorder.note(world.hit(second!, note));
  await recorder.close();
  const machines = async (message: { id: string; tenantId: string }) =>
    (await world.events(message)).map((event) => (event as unknown as { machine: boolean }).machine);
  t.strictSame((await machines(first!)).slice(0, 4), [true, false, true, false]);
  t.strictSame(await machines(second!), [true, false, true, false]);
});

t.test('a message that retention has deleted stops nobody', async (t) => {
  const world = await World.open(t);
  const [message] = await world.delivered();
  const recorder = world.recorder();
  recorder.note(world.hit({ id: world.bench.id(), tenantId: message!.tenantId }));
  recorder.note(world.hit(message!));
  await recorder.close();
  t.equal((await world.events(message!)).length, 1);
});

t.test('what the database does not take is kept', async (t) => {
  const world = await World.open(t);
  const [message] = await world.delivered();
  let failures = 2;
  const recorder = world.recorder((...args) =>
    failures-- > 0 ? Promise.reject(new Error('no room')) : world.store.tracking.recordHits(...args),
  );
  recorder.note(world.hit(message!, { userAgent: CURL }));
  await recorder.flush();
  recorder.note(world.hit(message!));
  await recorder.flush();
  t.strictSame(await world.events(message!), []);
  await recorder.close();
  t.match(await world.events(message!), [{ machine: false }]);
  t.match((await world.store.tracking.findTracked(message!.tenantId, message!.id))?.links, [{ hits: 2 }]);
});

t.test('writing thousands lets others in between', async (t) => {
  const world = await World.open(t);
  const messages = await world.delivered(1000);
  const recorder = world.recorder();
  for (const message of messages) recorder.note(world.hit(message));
  const flushed = recorder.flush().then(() => 'all opens and clicks');
  const other = world.store.proveWritable(T0).then(() => 'somebody else');
  t.equal(await Promise.race([flushed, other]), 'somebody else');
  await flushed;
  t.equal((await world.events(messages.at(-1)!)).length, 1);
  await recorder.close();
});

t.test('when nothing can be written, only so many links wait; the operator is told of the rest', async (t) => {
  const world = await World.open(t);
  const warned: [Facts, string][] = [];
  const failing = Promise.withResolvers<void>();
  const written: number[] = [];
  const recordHits: TrackingStore['recordHits'] = async (hits) => {
    await failing.promise;
    written.push(hits.length);
  };
  const log = { ...silentLogger, warn: (facts: Facts, message: string) => void warned.push([facts, message]) };
  const recorder = world.recorder(recordHits, log);
  for (let n = 0; n < 50_007; n++) recorder.note(world.strangeHit());
  failing.resolve();
  await recorder.close();
  t.equal(
    written.reduce((sum, count) => sum + count, 0),
    50_000,
  );
  t.strictSame(warned, [[{ dropped: 7 }, 'too many opens and clicks; some were not counted']]);
});

t.test('what is noted after the end is not counted, and what could not be written by then is reported', async (t) => {
  const world = await World.open(t);
  const told: [Facts, string][] = [];
  const log = { ...silentLogger, error: (facts: Facts, message: string) => void told.push([facts, message]) };
  const recorder = world.recorder(() => Promise.reject(new Error('no room')), log);
  recorder.note(world.strangeHit());
  await recorder.close();
  recorder.note(world.strangeHit());
  await recorder.flush();
  t.match(told, [
    [{ messages: 1 }, 'opens and clicks could not be written, and are kept: no room'],
    [{ links: 1 }, 'opens and clicks are lost'],
    [{ messages: 1 }, /are kept/],
  ]);
});
