// What is erased when, over a real store with a clock that is moved; and that no slice holds anybody up.
import t from 'tap';
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts';
import { reusableBytesOf } from '../../src/store/sqlite/reading/inspection.ts';
import { MAX_PIECE_BYTES } from '../../src/store/written-mails.ts';
import { makeRoom } from '../../src/upkeep/make-room.ts';
import { T0 } from '../store/conformance/harness.ts';
import { newProgram } from '../support/program.ts';
import { finishMany, openWorld } from './retention-kit.ts';

t.test('the content goes after 30 days, the records after 90; what waits stays for ever', async (t) => {
  const { store, bench, clock, erase, hasContent, finish } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  const done = await bench.queued(domain, 'a@x.test');
  await finish(done.id, done.lane);
  const waiting = await bench.queued(domain, 'b@y.test');

  clock.time = T0 + 30 * DAY_MS - 1;
  t.equal(await erase(), '0 contents, 0 messages and 0 entries of the audit log erased');
  t.ok(await hasContent(done.id));
  clock.time++;
  t.equal(await erase(), '1 contents, 0 messages and 0 entries of the audit log erased');
  t.notOk(await hasContent(done.id));
  t.match(await store.queue.getMessage(done.id), { state: 'delivered', subject: 'Hello' }, 'its record stands');

  clock.time = T0 + 90 * DAY_MS;
  t.equal(await erase(), '0 contents, 1 messages and 0 entries of the audit log erased');
  t.equal(await store.queue.getMessage(done.id), null);
  t.same(await store.events.eventsOfMessage(tenant.id, done.id), []);
  t.ok(await hasContent(waiting.id));
  t.match(await store.queue.getMessage(waiting.id), { state: 'queued' });
});

t.test('a submission keeps its content until its last recipient is finished for so long', async (t) => {
  const { bench, clock, erase, hasContent, finish } = await openWorld(t);
  const { domain } = await bench.sender('acme.test');
  const { receipt, lanes } = await bench.accept(domain, ['a@x.test', 'b@y.test']);
  const [first, second] = receipt.messageIds as [string, string];
  await finish(first, lanes[0]!.lane);
  clock.time = T0 + 31 * DAY_MS;
  await erase();
  t.ok(await hasContent(second), 'the other one is not finished');
  await finish(second, lanes[1]!.lane, T0 + 31 * DAY_MS, T0);
  clock.time = T0 + 60 * DAY_MS;
  await erase();
  t.ok(await hasContent(first), 'finished 29 days ago');
  clock.time = T0 + 61 * DAY_MS;
  await erase();
  t.notOk(await hasContent(first));
});

t.test('the recipient that was finished last counts', async (t) => {
  const { bench, clock, erase, hasContent, finish } = await openWorld(t);
  const { domain } = await bench.sender('acme.test');
  const { receipt, lanes } = await bench.accept(domain, ['a@x.test', 'b@y.test']);
  const [first, second] = receipt.messageIds as [string, string];
  await finish(first, lanes[0]!.lane);
  await finish(second, lanes[1]!.lane, T0 + 5 * DAY_MS, T0);
  clock.time = T0 + 34 * DAY_MS;
  await erase();
  t.ok(await hasContent(first));
  clock.time = T0 + 35 * DAY_MS;
  await erase();
  t.notOk(await hasContent(first));
});

t.test('a tenant can have its content erased right after delivery, that of the past included', async (t) => {
  const { store, bench, clock, erase, hasContent, finish } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  const other = await bench.sender('other.test');
  const [mine, theirs] = [await bench.queued(domain, 'a@x.test'), await bench.queued(other.domain, 'a@x.test')];
  await finish(mine.id, mine.lane);
  await finish(theirs.id, theirs.lane);
  clock.time = T0 + HOUR_MS;
  await erase();
  t.ok(await hasContent(mine.id));
  t.equal(await store.upkeep.setContentDays(tenant.id, 0), true);
  t.equal(await store.upkeep.contentDaysOf(tenant.id), 0);
  await erase();
  t.notOk(await hasContent(mine.id));
  t.ok(await hasContent(theirs.id));
  const next = await bench.queued(domain, 'c@x.test', clock.time);
  await finish(next.id, next.lane, clock.time);
  clock.time += 10_000 - 1;
  await erase();
  t.ok(await hasContent(next.id), 'the walk keeps behind results that are on their way into the database');
  clock.time++;
  await erase();
  t.notOk(await hasContent(next.id));
  t.equal(await store.upkeep.setContentDays(bench.id(), 0), false, 'there is no such tenant');
});

t.test('back under the general setting, the content of the meantime is found as well', async (t) => {
  const { store, bench, clock, erase, hasContent, finish } = await openWorld(t);
  const { domain, tenant } = await bench.sender('acme.test');
  await store.upkeep.setContentDays(tenant.id, 80);
  const done = await bench.queued(domain, 'a@x.test');
  await finish(done.id, done.lane);
  clock.time = T0 + 40 * DAY_MS;
  await erase();
  t.ok(await hasContent(done.id));
  await store.upkeep.setContentDays(tenant.id, null);
  await erase();
  t.notOk(await hasContent(done.id));
});

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

t.test('thousands of rows are erased without holding the main thread for 20 ms', async (t) => {
  const world = await openWorld(t);
  const { clock, erase, store } = world;
  await finishMany(world, 3000, T0);
  clock.time = T0 + 91 * DAY_MS;
  // Its own processor time in each turn of the event loop: what others do to a busy machine does not count.
  let [longestMs, before, watching] = [0, cpuMs(), true];
  const look = () => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    if (watching) setImmediate(look);
  };
  look();
  t.equal(await erase(), '1 contents, 3000 messages and 0 entries of the audit log erased');
  watching = false;
  t.comment(`the longest hold-up was ${longestMs.toFixed(1)} ms`);
  t.ok(longestMs < 40, 'the budget of a slice is 8 ms; a collection of garbage may come on top');
  t.same(await store.queue.listQueue({ limit: 10 }), []);
});

t.test('a slice ends when its budget is used up, and the next one goes on there', async (t) => {
  const { store, bench, finish } = await openWorld(t);
  const { domain } = await bench.sender('acme.test');
  for (let index = 0; index < 5; index++) {
    const { id, lane } = await bench.queued(domain, `a${index}@x.test`);
    await finish(id, lane);
  }
  const before = T0 + DAY_MS;
  const slice = () => store.upkeep.eraseContents({ days: null, before, budgetMs: 0 });
  for (let index = 0; index < 4; index++) t.match(await slice(), { seen: 1, erased: 1, more: true });
  t.match(await slice(), { seen: 1, erased: 1, more: false });
  t.match(await slice(), { seen: 0, erased: 0, more: false });
  for (let index = 0; index < 4; index++)
    t.match(await store.upkeep.eraseRecords(before, 0), { erased: 1, more: true });
  t.match(await store.upkeep.eraseRecords(before, 0), { erased: 1, more: false });
});

t.test('the audit log goes after 400 days', async (t) => {
  const { store, bench, clock, erase } = await openWorld(t);
  const { tenant } = await bench.sender('acme.test');
  const entry = {
    actor: 'command',
    userId: null,
    who: 'command line',
    address: null,
    action: 'tenant.changed',
  } as const;
  const write = async (at: number) => store.audit.recordAudit({ ...entry, tenantId: tenant.id, at, data: {} });
  for (let n = 0; n < 450; n++) await write(T0);
  await write(T0 + 1);
  clock.time = T0 + 400 * DAY_MS - 1;
  t.equal(await erase(), '0 contents, 0 messages and 0 entries of the audit log erased');
  clock.time++;
  t.equal(await erase(), '0 contents, 0 messages and 450 entries of the audit log erased');
  t.match(await store.audit.listAudit(tenant.id, { before: null, limit: 10 }), [{ at: T0 + 1 }]);
});

t.test('an operator sets it by the command line', async (t) => {
  const program = newProgram();
  t.teardown(() => program.remove());
  const { id } = await program.json('tenant', 'create', '--name', 'Acme');
  t.match(await program.json('tenant', 'set', String(id), '--content-days', '0'), { content_days: 0 });
  t.match(await program.runHere('tenant', 'set', String(id), '--tier', '10k'), { stdout: /^content: +kept 0 days$/m });
  t.match(await program.json('tenant', 'set', String(id), '--content-days', 'default'), { content_days: null });
  t.match(await program.runHere('tenant', 'set', String(id), '--content-days', '-1'), { code: 2 });
});

t.test(
  'the pieces of a written mail go with its content, a few at a time; what never was accepted, after an hour',
  async (t) => {
    const { file, store, bench, clock, erase, hasContent, finish, swept } = await openWorld(t);
    const { domain } = await bench.sender('acme.test');
    const pieces = Array.from({ length: 10 }, () => Buffer.alloc(MAX_PIECE_BYTES, 'x'));
    const { receipt, lanes } = await bench.accept(domain, ['a@x.test'], await bench.written(domain, pieces));
    await finish(receipt.messageIds[0]!, lanes[0]!.lane);
    await bench.written(domain, pieces.slice(0, 3), T0 + 1000);
    clock.time = T0 + HOUR_MS + 1000;
    await erase();
    t.same(swept, [0]);
    clock.time++;
    await erase();
    t.same(swept.splice(0), [0, 4, 0], 'three pieces and their mail');
    t.ok(await hasContent(receipt.messageIds[0]!));

    const before = await store.upkeep.reusableBytes();
    clock.time = T0 + 30 * DAY_MS;
    t.equal(await erase(), '1 contents, 0 messages and 0 entries of the audit log erased');
    t.notOk(await hasContent(receipt.messageIds[0]!));
    t.same(swept, [4, 4, 3, 0]);
    const after = await store.upkeep.reusableBytes();
    t.ok(after - before >= 10 * MAX_PIECE_BYTES, 'their space can be used again');
    t.equal(await reusableBytesOf(file), after, 'the doctor counts the same beside the daemon');
  },
);

t.test('a full disk gets leftovers of written mail back, a bounded number of pieces at a time', async (t) => {
  const { store, bench, clock } = await openWorld(t);
  const { domain } = await bench.sender('acme.test');
  await bench.written(
    domain,
    Array.from({ length: 100 }, () => Buffer.from('x\r\n')),
    T0,
  );
  clock.time = T0 + HOUR_MS + 1;
  const kit = { store, clock, contentDays: 30, recordsDays: 90 };
  t.equal(await makeRoom(kit), '80 things that retention was to erase');
  t.equal(await makeRoom(kit), '21 things that retention was to erase');
  t.equal(await makeRoom(kit), null);
});
