// The brake: who is stopped for review, who is told, and that nobody is stopped twice for the same.
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { openReputation } from '../../src/suppression/reputation.ts';
import { TenantReviews } from '../../src/suppression/tenant-review.ts';
import { openStore } from '../inbound/store-kit.ts';

const LIMITS = { hardBounceRate: 0.1, complaintRate: 0.005, window: 1000, mailboxesAt: () => null };

t.test('a tenant is stopped once, and judged anew when an operator lets it go on', async (t) => {
  const bench = await openStore(t);
  const { store } = bench;
  const { tenant, domain } = await bench.sender('acme.test');
  const told: string[] = [];
  const warned: string[] = [];
  let now = Date.UTC(2026, 0, 2);
  const reviews = new TenantReviews({
    store,
    clock: { now: () => now },
    log: silentLogger,
    limits: { ...LIMITS, window: 100 },
    ownTenant: async () => null,
    onOwnTrouble: () => void t.fail('it has no mail of its own'),
    onWarned: ({ id }) => void warned.push(id),
    onStopped: ({ id }, { reason, warnedOn }) => void told.push(`${id} ${reason}, warned on ${warnedOn}`),
  });
  const endSome = async (count: number, bounce: 'hard' | null, first = 0) => {
    for (let index = first; index < first + count; index++) {
      const message = await bench.sending(domain, `a${index}@x${index % 7}.test`);
      const to = bounce
        ? { to: 'bounced' as const, bounce, reason: '550', suppress: null }
        : { to: 'delivered' as const };
      await store.queue.record([{ ...bench.attempted(message, to), at: now }]);
    }
  };
  await endSome(70, null);
  await endSome(24, 'hard');
  for (const later of [0, 1]) {
    now += later;
    reviews.note(tenant.id);
    t.equal(await reviews.check(), 0, 'all are looked at after the start; 24 are not enough');
  }
  t.same(warned, [tenant.id], 'people are told first, and once a day');
  await endSome(1, 'hard', 24);
  t.equal(await reviews.check(), 0, 'nobody has said that there was trouble');
  reviews.note(tenant.id);
  t.equal(await reviews.check(), 1);
  t.match(await store.tenants.getTenant(tenant.id), {
    status: 'in_review',
    statusReason: /^25 of the last 95 messages bounced hard/,
  });
  t.match(told, [new RegExp(`^${tenant.id} 25 of the last 95 messages bounced hard.*, warned on 2026-01-02$`)]);

  now += 60_000;
  await store.tenants.updateTenant(tenant.id, { status: 'active', statusReason: null });
  reviews.note(tenant.id);
  t.equal(await reviews.check(), 0, 'what it was stopped for is not held against it again');
  now += 60_000;
  await endSome(30, 'hard');
  reviews.note(tenant.id);
  t.equal(await reviews.check(), 1, 'but what came since is');
  t.equal(told.length, 1, 'and nobody is told twice within the hour');
});

t.test('a burst stops a tenant at once, and the notice of the stop is the warning too', async (t) => {
  const bench = await openStore(t);
  const { store } = bench;
  const { tenant, domain } = await bench.sender('acme.test');
  const owner = { tenantId: tenant.id, email: 'owner@acme.test', role: 'owner' as const, passwordHash: '' };
  await store.accounts.createUser({ id: bench.id(), ...owner, createdAt: 1 });
  const told: { to: readonly string[]; subject: string; text: string }[] = [];
  const reputation = await openReputation({
    ...{ store, clock: { now: () => 1_800_000_000_000 }, log: silentLogger, reviewLimits: LIMITS },
    spikeRule: { windowMs: 1, minHardBounces: 1_000, share: 1, factor: 1 },
    ...{ operatorAddress: 'operator@host.test', ownDomain: 'own.test' },
    notify: async (to, { subject, text }) => told.push({ to, subject, text }) > 0,
  });
  const [reviews] = reputation.timers;
  const stop = new AbortController().signal;
  await reviews!.run(stop);
  t.same(told, [], 'nothing has happened so far');
  for (let index = 0; index < 25; index++) {
    const message = await bench.sending(domain, `a${index}@x${index % 5}.test`);
    await store.queue.record([
      bench.attempted(message, { to: 'bounced', bounce: 'hard', reason: '550', suppress: null }),
    ]);
    reputation.hardBounceStored(tenant.id);
  }
  t.equal(await reviews!.run(stop), '1 stopped', 'without a grace');
  t.match(told, [
    { to: ['operator@host.test'], subject: 'Tenant in review: Acme' },
    { to: ['owner@acme.test'], subject: 'Sending is suspended for a review' },
  ]);
  for (const { text } of told) {
    t.match(text, /25 of the last 25 messages bounced hard \(limit 10 %\)/);
    t.match(text, /Hard bounces: 100 % of the way to a review, from 5 domains/, 'what a warning says');
    t.match(text, /Warnings are sent from half of the way .* there was no time for one/);
  }
});

t.test('a stop that nobody could be told of is told later, whichever node made it', async (t) => {
  const bench = await openStore(t);
  const { store } = bench;
  const { tenant, domain } = await bench.sender('acme.test');
  const owner = { tenantId: tenant.id, email: 'owner@acme.test', role: 'owner' as const, passwordHash: '' };
  await store.accounts.createUser({ id: bench.id(), ...owner, createdAt: 1 });
  let now = Date.UTC(2026, 0, 2);
  let fails = true;
  const told: { to: readonly string[]; text: string; key: string }[] = [];
  const openNode = async () => {
    const reputation = await openReputation({
      ...{ store, clock: { now: () => now }, log: silentLogger, reviewLimits: LIMITS },
      spikeRule: { windowMs: 1, minHardBounces: 1_000, share: 1, factor: 1 },
      ...{ operatorAddress: 'operator@host.test', ownDomain: 'own.test' },
      notify: async (to, { text, key }) => !fails && told.push({ to, text, key }) > 0,
    });
    const [reviews, notices] = reputation.timers.map((timer) => () => timer.run(new AbortController().signal));
    return { reputation, reviews: reviews!, notices: notices! };
  };
  const bounce = async () => {
    for (let index = 0; index < 25; index++) {
      const message = await bench.sending(domain, `a${index}@x${index % 5}.test`);
      const bounced = bench.attempted(message, { to: 'bounced', bounce: 'hard', reason: '550', suppress: null });
      await store.queue.record([{ ...bounced, at: now }]);
    }
  };
  const one = await openNode();
  const other = await openNode();
  await bounce();
  await t.rejects(one.reviews(), /could not be told/);
  t.match(await store.tenants.getTenant(tenant.id), { status: 'in_review' }, 'it is stopped');
  const stoppedAt = now;
  now += MINUTE_MS;
  await t.rejects(other.notices(), /could not be told/);
  fails = false;
  t.equal(await other.notices(), '1 told');
  const key = `review:${tenant.id}:${stoppedAt}`;
  t.match(told, [
    { to: ['operator@host.test'], key },
    { to: ['owner@acme.test'], key },
  ]);
  for (const { text } of told)
    t.match(text, /25 of the last 25 messages bounced hard \(limit 10 %\)\.\n\nWarnings are/);
  t.equal(await other.notices(), '0 told');
  t.equal(await (await openNode()).notices(), '1 told', 'after a restart nobody knows');
  t.same([...new Set(told.map((notice) => notice.key))], [key], 'but its key is the same, so that no mail is sent');

  await store.tenants.updateTenant(tenant.id, { status: 'active', statusReason: null });
  t.equal(await (await openNode()).notices(), '0 told', 'it was let go on');
  now += 2 * HOUR_MS;
  await bounce();
  other.reputation.hardBounceStored(tenant.id);
  t.equal(await other.reviews(), '1 stopped');
  t.equal(told.at(-1)!.key, `review:${tenant.id}:${now}`, 'a later stop is another one');
  t.equal(await one.notices(), '0 told', 'the node that stopped it has a minute');
  now += DAY_MS;
  t.equal(await one.notices(), '0 told', 'nor is anything told when keys may be gone');
});

t.test('a warning that nobody got is given again', async (t) => {
  const bench = await openStore(t);
  const { store } = bench;
  const { tenant, domain } = await bench.sender('acme.test');
  for (let index = 0; index < 15; index++) {
    const message = await bench.sending(domain, `a${index}@x${index % 5}.test`);
    await store.queue.record([
      bench.attempted(message, { to: 'bounced', bounce: 'hard', reason: '550', suppress: null }),
    ]);
  }
  let fails = true;
  const warned: string[] = [];
  const reviews = new TenantReviews({
    ...{ store, clock: { now: () => 1_800_000_000_000 }, log: silentLogger, limits: LIMITS },
    ownTenant: async () => null,
    onOwnTrouble: () => void t.fail('it has no mail of its own'),
    onWarned: async ({ id }) => {
      if (fails) throw new Error('the database is away');
      warned.push(id);
    },
    onStopped: () => void t.fail('it is stopped'),
  });
  await t.rejects(reviews.check(), /is away/);
  fails = false;
  for (let times = 0; times < 2; times++) {
    await reviews.check();
    reviews.note(tenant.id);
  }
  t.same(warned, [tenant.id]);
});

t.test("the service's own tenant is not stopped: the operator is told, once a day", async (t) => {
  const bench = await openStore(t);
  const { store } = bench;
  const { tenant, domain } = await bench.sender('service.test');
  for (let index = 0; index < 200; index++) {
    const message = await bench.sending(domain, `a${index}@x${index % 7}.test`);
    await store.queue.record([
      bench.attempted(message, { to: 'bounced', bounce: 'hard', reason: '550', suppress: null }),
    ]);
  }
  const told: string[] = [];
  let now = 1_800_000_000_000;
  const reviews = new TenantReviews({
    ...{ store, clock: { now: () => now }, log: silentLogger, limits: LIMITS },
    ownTenant: async () => tenant.id,
    onOwnTrouble: (reason) => void told.push(reason),
    onWarned: () => void t.fail('it is warned'),
    onStopped: () => void t.fail('it is stopped'),
  });
  t.equal(await reviews.check(), 0);
  for (const later of [1, DAY_MS]) {
    now += later;
    reviews.note(tenant.id);
    t.equal(await reviews.check(), 0);
  }
  t.match(told, [/^200 of the last 200 messages bounced hard/, /^200 of/]);
  t.match(await store.tenants.getTenant(tenant.id), { status: 'active' });
  t.match(await reviews.ownTrouble(), /^200 of/);
});

t.test('a fault of the store puts reviews off, of all tenants that were noted', async (t) => {
  const bench = await openStore(t);
  const { store } = bench;
  const tenants = [(await bench.sender('acme.test')).tenant.id, (await bench.sender('beta.test')).tenant.id];
  const asked: string[] = [];
  let fails = true;
  const resultsSinceReview = async (...[id, window]: Parameters<typeof store.reputation.resultsSinceReview>) => {
    if (fails) throw new Error('the database is away');
    asked.push(id);
    return store.reputation.resultsSinceReview(id, window);
  };
  const reviews = new TenantReviews({
    store: { ...store, reputation: { ...store.reputation, resultsSinceReview } },
    ...{ clock: { now: () => 1_800_000_000_000 }, log: silentLogger, limits: LIMITS },
    ownTenant: async () => null,
    onOwnTrouble: () => void t.fail('it has no mail of its own'),
    onWarned: () => void t.fail('nothing is wrong'),
    onStopped: () => void t.fail('nothing is wrong'),
  });
  for (let times = 0; times < 2; times++) await t.rejects(reviews.check(), /is away/);
  fails = false;
  await reviews.check();
  t.same(asked.toSorted(), tenants.toSorted());
  await reviews.check();
  t.equal(asked.length, 2, 'and none twice');
});
