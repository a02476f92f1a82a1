// Sums for charts against a plain count of the same rows, over a real store: while mail goes on, across
// restarts and failed commits in the middle, and with damaged rows.
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts';
import type { Domain } from '../../src/store/domains.ts';
import type { EventType } from '../../src/store/events.ts';
import { type Figures, noFigures } from '../../src/store/figures.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import type { Store } from '../../src/store/store.ts';
import { countFigures, FIGURES_KEPT_MS, TAG_HOURS_KEPT_MS } from '../../src/upkeep/count-figures.ts';
import { Bench, T0 } from '../store/conformance/harness.ts';
import { testFolder } from '../support/test-folder.ts';

const NEVER = new AbortController().signal;
const HOUR0 = T0 / HOUR_MS;
const ALWAYS = { fromHour: 0, untilHour: HOUR0 * 2 };

type Faults = Parameters<typeof openSqliteStore>[0]['faults'];

async function openWorld(t: Test, faults?: Faults) {
  const file = path.join(testFolder(t), 'postrider.db');
  const open = () => openSqliteStore({ file, ...(faults && { faults }) });
  let store = await open();
  t.teardown(() => store.close());
  const clock = { time: T0, now: () => clock.time };
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const count = (stopped = NEVER) => countFigures({ store, clock, pause: () => new Promise(setImmediate) }, stopped);
  return {
    ...{ file, clock, bench, count },
    store: () => store,
    async restart() {
      await store.close();
      store = await open();
    },
  };
}

const KINDS: readonly (readonly [EventType, Record<string, unknown>])[] = [
  ['email.delivered', {}],
  ['email.deferred', {}],
  ['email.bounced', { bounce: { type: 'hard' } }],
  ['email.bounced', { bounce: { type: 'block' } }],
  ['email.bounced', { bounce: { type: 'hard', source: 'dsn' } }],
  ['email.failed', {}],
  ['email.complained', {}],
  ['email.opened', { open: { first: true, machine: true } }],
  ['email.clicked', { click: { first: true } }],
];

/** Messages to several domains, one with an event, over several hours. */
async function sendMail(bench: Bench, domain: Domain, submissions: number): Promise<void> {
  const send = async (_: unknown, n: number) => {
    const { receipt } = await bench.accept(domain, [`a@x${n % 5}.test`, 'b@y.test'], { acceptedAt: T0 + n * 60_000 });
    const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
    const [type, data] = KINDS[n % KINDS.length]!;
    const event = { ...bench.event(type, data), at: T0 + n * 60_000 };
    await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event }));
  };
  await Promise.all(Array.from({ length: submissions }, send));
}

/** By statements that have nothing in common with those of the count. */
function plainCount(file: string, tenantId: string): Figures {
  const db = new Database(file, { readonly: true });
  const tenant = Buffer.from(tenantId.replaceAll('-', ''), 'hex');
  const events = (where: string) =>
    db.prepare(`SELECT count(*) FROM events WHERE tenant_id = ? AND ${where}`).pluck().get(tenant) as number;
  const bounced = (type: string) => events(`type = 'email.bounced' AND data ->> '$.bounce.type' = '${type}'`);
  const figures: Figures = {
    accepted: db.prepare('SELECT count(*) FROM messages WHERE tenant_id = ?').pluck().get(tenant) as number,
    delivered: events(`type = 'email.delivered'`),
    deferred: events(`type = 'email.deferred'`),
    bouncedHard: bounced('hard'),
    bouncedSoft: bounced('soft'),
    bouncedBlock: bounced('block'),
    bouncedLater: 0, // none of them was delivered before
    failed: events(`type = 'email.failed'`),
    canceled: events(`type = 'email.canceled'`),
    complained: events(`type = 'email.complained'`),
    opened: events(`type = 'email.opened' AND data ->> '$.open.first'`),
    openedByMachine: events(`type = 'email.opened' AND data ->> '$.open.first' AND data ->> '$.open.machine'`),
    clicked: events(`type = 'email.clicked' AND data ->> '$.click.first'`),
  };
  db.close();
  return figures;
}

async function counted(store: Store, tenantId: string): Promise<Figures> {
  const sum = noFigures();
  for (const { figures } of await store.figures.chartOf(tenantId, { ...ALWAYS, stepHours: 1 })) {
    for (const name of Object.keys(sum) as (keyof Figures)[]) sum[name] += figures[name];
  }
  return sum;
}

t.test('while mail goes on, the sums run after it and are the plain count in the end', async (t) => {
  const { file, bench, count, store } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  const sending = sendMail(bench, domain, 400);
  await Promise.all([sending, count(), count()]);
  t.match(await count(), /^\d+ events counted$/);
  const plain = plainCount(file, tenant.id);
  t.equal(plain.accepted, 800);
  t.same(await counted(store(), tenant.id), plain);
  t.equal(await count(), '0 events counted');
});

t.test('a restart in the middle loses nothing and counts nothing twice', async (t) => {
  const { file, bench, count, store, restart } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  await sendMail(bench, domain, 400);
  for (const added of [true, false]) {
    const begun = await store().figures.tallyNext(100);
    t.ok(begun.more);
    if (added) await store().figures.addTally(begun);
    // What was counted and not added is gone with the process.
    await restart();
  }
  const half = await counted(store(), tenant.id);
  t.ok(half.delivered > 0 && half.delivered < plainCount(file, tenant.id).delivered);
  await count();
  t.same(await counted(store(), tenant.id), plainCount(file, tenant.id));
});

t.test('after a commit that failed it is counted again, once', async (t) => {
  let failing = false;
  const faults: Faults = {
    beforeCommit() {
      if (failing) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
    },
  };
  const { file, bench, count, store } = await openWorld(t, faults);
  const { domain, tenant } = await bench.sender('acme.test');
  await sendMail(bench, domain, 100);
  failing = true;
  await t.rejects(count());
  failing = false;
  t.same(await counted(store(), tenant.id), { ...noFigures(), accepted: 200 });
  await count();
  t.same(await counted(store(), tenant.id), plainCount(file, tenant.id));
});

t.test('a message is counted in the commit that accepts it, or not at all', async (t) => {
  let failures = 0;
  const fail = () => {
    if (failures-- > 0) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
  };
  const { file, bench, store, restart } = await openWorld(t, { beforeCommit: fail });
  const { domain, tenant } = await bench.sender('acme.test');
  const group = (n: number) =>
    Array.from({ length: n }, (_, at) =>
      store().submissions.accept(bench.submission(domain, [`a@x.test`, `b@x${at}.test`])),
    );
  const same = bench.submission(domain, ['c@x.test']);
  // The second of the same id fails: the whole group is taken back, and run again verb by verb.
  const first = await Promise.allSettled([
    ...group(5),
    store().submissions.accept(same),
    store().submissions.accept(same),
    ...group(5),
  ]);
  t.equal(first.filter(({ status }) => status === 'rejected').length, 1);
  t.match(await counted(store(), tenant.id), { accepted: 21 });
  // The group, and then two of its five on their own; where a slow machine makes two groups of it, one.
  failures = 3;
  const second = await Promise.allSettled(group(5));
  const taken = second.filter(({ status }) => status === 'fulfilled').length;
  t.ok(taken < 5, 'some were not taken in');
  t.match(await counted(store(), tenant.id), { accepted: 21 + 2 * taken });
  await restart();
  t.same(await counted(store(), tenant.id), plainCount(file, tenant.id));
});

t.test('one that is stopped ends after its slice; the next one goes on there', async (t) => {
  const { file, bench, count, store } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  await sendMail(bench, domain, 400);
  t.equal(await count(AbortSignal.abort()), '0 events counted');
  await count();
  t.same(await counted(store(), tenant.id), plainCount(file, tenant.id));
});

/** Of submissions with tags: two messages each, one of which is delivered. */
async function sendTagged(bench: Bench, domain: Domain, submissions: number): Promise<void> {
  const send = async (_: unknown, n: number) => {
    const tags = { run: `r${n % 3}`, kind: 'news' };
    const accepted = { labels: { tags, metadata: null }, acceptedAt: T0 + n * 60_000 };
    const { receipt } = await bench.accept(domain, ['a@x.test', 'b@x.test'], accepted);
    const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
    const event = { ...bench.event('email.delivered', { tags }), at: T0 + n * 60_000 };
    await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event }));
  };
  await Promise.all(Array.from({ length: submissions }, send));
}

async function byTag(store: Store, tenantId: string, value: string): Promise<Pick<Figures, 'accepted' | 'delivered'>> {
  const tag = { name: 'run', value };
  const span = { fromHour: HOUR0, untilHour: HOUR0 + 24 };
  const { points } = await store.figures.tagChartOf(tenantId, { tag, ...span, stepHours: 1 });
  const { points: days } = await store.figures.tagChartOf(tenantId, { tag, ...span, stepHours: 24 });
  const sum = (name: keyof Figures) => points.reduce((total, { figures }) => total + figures[name], 0);
  t.equal(days[0]?.figures.delivered ?? 0, sum('delivered'), 'hours and days agree');
  return { accepted: sum('accepted'), delivered: sum('delivered') };
}

t.test('sums by tag are a plain count, with a restart and a failed commit in the middle', async (t) => {
  let failing = false;
  const faults: Faults = {
    beforeCommit() {
      if (failing) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
    },
  };
  const { bench, count, store, restart } = await openWorld(t, faults);
  const { domain, tenant } = await bench.sender('acme.test');
  await sendTagged(bench, domain, 300);
  const begun = await store().figures.tallyNext(70);
  t.match(begun, { more: true, counted: 70 });
  await store().figures.addTally(begun);
  await restart();
  failing = true;
  await t.rejects(count());
  failing = false;
  await count();
  for (const value of ['r0', 'r1', 'r2']) {
    t.same(await byTag(store(), tenant.id, value), { accepted: 200, delivered: 100 }, value);
  }
});

t.test('damaged tags are passed over, and stop nobody', async (t) => {
  const { file, bench, count, store } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  await sendTagged(bench, domain, 9);
  const db = new Database(file);
  const damage = ['{"tags": ', '{"tags":null}', '{"tags":"run"}', '{"tags":["run"]}', '{"tags":{"run":{}}}', '"tags":'];
  for (const [n, data] of damage.entries()) {
    db.prepare('UPDATE events SET data = ? WHERE seq = (SELECT seq FROM events ORDER BY seq LIMIT 1 OFFSET ?)').run(
      data,
      n,
    );
    const at = '(SELECT content_id FROM submissions ORDER BY content_id LIMIT 1 OFFSET ?)';
    db.prepare(`UPDATE submissions SET labels = ? WHERE content_id = ${at}`).run(data, n);
  }
  db.close();
  t.equal(await count(), '9 events counted');
  const values = await Promise.all(['r0', 'r1', 'r2'].map((value) => byTag(store(), tenant.id, value)));
  t.same(
    values.map(({ accepted }) => accepted),
    [2, 2, 2],
    'of the three that are whole',
  );
  t.equal(
    values.reduce((sum, { delivered }) => sum + delivered, 0),
    3,
  );
});

t.test('sums by tag are kept by hour for 33 days, and by day for 400', async (t) => {
  const { bench, clock, count, store } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  await sendTagged(bench, domain, 1);
  const asked = { tag: { name: 'run', value: 'r0' }, fromHour: HOUR0, untilHour: HOUR0 + 24 };
  const kept = async () => {
    await count();
    const hours = await store().figures.tagChartOf(tenant.id, { ...asked, stepHours: 1 });
    const days = await store().figures.tagChartOf(tenant.id, { ...asked, stepHours: 24 });
    return [hours.points.length, days.points.length];
  };
  clock.time = T0 + TAG_HOURS_KEPT_MS;
  t.same(await kept(), [1, 1]);
  clock.time += HOUR_MS;
  t.same(await kept(), [0, 1]);
  clock.time = T0 + FIGURES_KEPT_MS;
  t.same(await kept(), [0, 1]);
  clock.time += HOUR_MS;
  t.same(await kept(), [0, 0]);
  t.equal(TAG_HOURS_KEPT_MS, 33 * DAY_MS);
});

t.test('damaged rows are passed over, and stop nobody', async (t) => {
  const { file, bench, count, store } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  await sendMail(bench, domain, KINDS.length);
  const db = new Database(file);
  db.exec(`UPDATE events SET data = '{"open": ' WHERE type = 'email.opened'`);
  db.exec(`UPDATE events SET data = 'null' WHERE type = 'email.clicked'`);
  db.exec(`UPDATE events SET data = '[]', message_id = x'00' WHERE type = 'email.bounced'`);
  db.close();
  await count();
  const found = await counted(store(), tenant.id);
  t.match(found, { accepted: 18, delivered: 1, opened: 0, clicked: 0, bouncedSoft: 3, complained: 1 });
});

t.test('sums are kept for 400 days', async (t) => {
  const { bench, clock, count, store } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  await bench.accept(domain, ['a@x.test']);
  clock.time = T0 + FIGURES_KEPT_MS;
  await count();
  t.match(await counted(store(), tenant.id), { accepted: 1 });
  clock.time += HOUR_MS;
  await count();
  t.match(await counted(store(), tenant.id), { accepted: 0 });
  t.equal(FIGURES_KEPT_MS, 400 * DAY_MS);
});
