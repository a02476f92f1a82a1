// Domains are looked at again by themselves: the decision from facts, and weeks of it over a real
// store and a real DNS server with a clock that is moved.
import path from 'node:path';
import t, { type Test } from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { Timers } from '../../src/base/timers.ts';
import { Vault } from '../../src/base/vault.ts';
import { CheckTurns } from '../../src/domains/check-turns.ts';
import { createDomainNotices } from '../../src/domains/domain-notices.ts';
import { createDomains, hasPassed } from '../../src/domains/domains.ts';
import { type CheckResult, decideRecheck, recheckTimer } from '../../src/domains/recheck.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import type { DomainCheck } from '../../src/store/domains.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { Bench, T0 } from '../store/conformance/harness.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { patience } from '../support/patience.ts';
import { testFolder } from '../support/test-folder.ts';

const MISSED: CheckResult = { kind: 'missed', reason: 'there is no TXT record yet' };
const AWAY: CheckResult = { kind: 'unavailable', reason: 'no answer' };
const NOW = T0;
const at = { now: NOW, jitter: 0 };
const fresh = { since: NOW, checks: 0, misses: 0, firstMissAt: null };

t.test(
  'the pauses of a domain without its record grow from 10 minutes to 6 hours, and end after 14 days',
  async (t) => {
    const pauses: (number | null)[] = [];
    let now = NOW;
    for (let checks = 0; ; checks++) {
      const { decision, until } = decideRecheck({ ...fresh, state: 'pending', checks }, MISSED, {
        now,
        jitter: 0,
      });
      t.equal(decision, 'keep');
      pauses.push(until === null ? null : (until - now) / MINUTE_MS);
      if (until === null) break;
      now = until;
    }
    t.same(pauses.slice(0, 8), [10, 20, 40, 80, 160, 320, 360, 360]);
    t.equal(pauses.at(-1), null);
    t.ok(now - NOW > 14 * DAY_MS - 6.5 * HOUR_MS && now - NOW <= 14 * DAY_MS);
  },
);

t.test('what each look means', async (t) => {
  const decide = (facts: Partial<Parameters<typeof decideRecheck>[0]>, look: CheckResult) =>
    decideRecheck({ ...fresh, state: 'verified', ...facts }, look, at);
  t.match(decide({ state: 'pending' }, { kind: 'found' }), { decision: 'verify' });
  t.match(decide({ state: 'failed' }, { kind: 'found' }), { decision: 'verify' });
  t.match(decide({ misses: 2, firstMissAt: 1 }, { kind: 'found' }), {
    decision: 'keep',
    misses: 0,
    firstMissAt: null,
    until: NOW + DAY_MS,
  });
  t.match(decide({}, MISSED), { decision: 'keep', misses: 1, firstMissAt: NOW });
  const day = { firstMissAt: NOW - DAY_MS };
  t.match(decide({ misses: 1, ...day }, MISSED), { decision: 'keep', misses: 2 }, 'two are not enough');
  t.match(decide({ misses: 2, firstMissAt: NOW - DAY_MS + 1 }, MISSED), { decision: 'keep' }, 'nor is less than a day');
  t.match(decide({ misses: 2, ...day }, MISSED), { decision: 'fail', reason: /3 checks in 24 hours/ });
  t.match(
    decide({ misses: 2, ...day }, AWAY),
    { decision: 'keep', misses: 2 },
    'DNS that does not answer counts for nothing',
  );
  const stretched = decideRecheck({ ...fresh, state: 'verified' }, { kind: 'found' }, { now: NOW, jitter: 1 });
  t.equal(stretched.until, NOW + 1.1 * DAY_MS, 'what began together does not stay together');
});

t.test('without its record, a verified domain fails within the three days that others are told to wait', async (t) => {
  const jitter = { jitter: 1 };
  let facts = { ...fresh, state: 'verified' as const, misses: 0, firstMissAt: null as number | null };
  let plan = decideRecheck(facts, { kind: 'found' }, { now: NOW, ...jitter });
  while (plan.decision === 'keep') {
    const now = plan.until!;
    plan = decideRecheck(facts, MISSED, { now, ...jitter });
    facts = { ...facts, misses: plan.misses, firstMissAt: plan.firstMissAt };
    t.ok(now - NOW < 3 * DAY_MS - HOUR_MS, `${(now - NOW) / HOUR_MS} hours`);
  }
  t.equal(plan.decision, 'fail');
});

async function openWorld(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  const dns = await startDnsServer();
  const clock = { time: T0, now: () => clock.time };
  const timers = new Timers({
    clock,
    tickMs: 1_000_000,
    lead: async () => true,
    onError: (_, error) => t.fail(String(error)),
  });
  t.teardown(async () => {
    await timers.stop();
    await dns.close();
    await store.close();
  });
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  let underWay = 0;
  let most = 0;
  const lookups = {
    async txt(name: string) {
      most = Math.max(most, ++underWay);
      // A new one each time: what it remembers would be as old as our clock.
      const resolver = createResolver({ servers: [dns.endpoint], clock, timeoutMs: patience(500) });
      return resolver.txt(name).finally(() => underWay--);
    },
  };
  const mails: { subject: string; text: string; key: string }[] = [];
  const notices = createDomainNotices({
    ...{ store, log: silentLogger, baseUrl: 'https://mail.test/' },
    notify: (_, notice) => void mails.push(notice),
  });
  const parts = {
    notices,
    ...{ store, clock, vault: new Vault([Buffer.alloc(32, 1)]), ids: new IdSource() },
    lookups: { limited: () => lookups },
    turns: new CheckTurns<DomainCheck[]>({ clock, isGood: hasPassed, gapMs: 0 }),
    service: {
      spfDomain: 'spf.test',
      dmarcReportAddress: 'd@spf.test',
      ownDomains: [],
      maxPerTenant: 10,
      rechecks: true,
    },
    createKeyPair: async () => ({ publicKeyB64: 'cHVibGlj', privateKeyDer: Buffer.from('x') }),
  };
  const domains = createDomains(parts);
  /** With turns of its own, as another daemon on this database has. */
  const addTimer = (to: Timers, takeNow?: CheckTurns<DomainCheck[]>['takeNow']) => {
    const turns = new CheckTurns<DomainCheck[]>({ clock, isGood: hasPassed, gapMs: 0 });
    if (takeNow) turns.takeNow = takeNow;
    to.add(recheckTimer({ ...parts, turns, log: silentLogger, random: () => 0 }));
  };
  timers.add(recheckTimer({ ...parts, log: silentLogger, random: () => 0 }));
  const publish = (name: string) => dns.set(`pr._domainkey.${name}`, 'TXT', ['v=DKIM1; k=rsa; p=cHVibGlj']);
  const looks = (name: string) => dns.queries.filter((query) => query.name === `pr._domainkey.${name}`).length;
  const pass = async (ms: number, stepMs = MINUTE_MS) => {
    const end = clock.time + ms;
    while (clock.time < end) {
      clock.time = Math.min(end, clock.time + stepMs);
      await timers.tick();
    }
  };
  const register = async (name: string, selector = 'pr') => {
    const tenant = await bench.tenant();
    const owner = { tenantId: tenant.id, boundDomain: null };
    const domain = await domains.register(owner, { domain: name, selector });
    if (!('id' in domain)) throw new Error(domain.message);
    const stateNow = async () => (await store.domains.getDomain(tenant.id, domain.id))!;
    return { owner, id: domain.id, stateNow };
  };
  const shared = { store, dns, clock, timers, addTimer, domains, mails, parts };
  return { ...shared, publish, looks, pass, register, mostAtOnce: () => most };
}

t.test('a pending domain is verified by itself, and never looked at within ten minutes', async (t) => {
  const { publish, looks, pass, register, timers } = await openWorld(t);
  const { stateNow } = await register('acme.test');
  await pass(9 * MINUTE_MS);
  t.equal(looks('acme.test'), 0);
  await pass(2 * MINUTE_MS);
  t.equal(looks('acme.test'), 1);
  t.match(await stateNow(), { state: 'pending', failureReason: null }, 'a look by itself makes nothing fail');
  publish('acme.test');
  await pass(15 * MINUTE_MS);
  t.match(await stateNow(), { state: 'verified' });
  t.match(timers.list(), [{ name: 'domain records', lastResult: '0 checked, 0 verified, 0 failed' }]);
});

t.test('a call puts the next look off by ten minutes', async (t) => {
  const { looks, pass, register, domains } = await openWorld(t);
  const { owner, id, stateNow } = await register('acme.test');
  await pass(9 * MINUTE_MS);
  t.match(await domains.verify(owner, id), { refused: 'verification_failed' });
  const before = looks('acme.test');
  await pass(9 * MINUTE_MS);
  t.equal(looks('acme.test'), before);
  await pass(2 * MINUTE_MS);
  t.equal(looks('acme.test'), before + 1);
  t.match(await stateNow(), { state: 'failed', failureReason: 'not_found' });
});

t.test('a verified domain fails after three definite misses over a day, and comes back by itself', async (t) => {
  const { dns, publish, pass, register, domains, mails } = await openWorld(t);
  const { owner, id, stateNow } = await register('acme.test');
  publish('acme.test');
  t.match(await domains.verify(owner, id), { domain: { state: 'verified' } });
  dns.behave('*', 'servfail');
  await pass(3 * DAY_MS);
  t.match(await stateNow(), { state: 'verified' }, 'DNS was away for three days');
  t.same(mails, []);
  dns.behave('*', null);
  dns.remove('pr._domainkey.acme.test');
  await pass(DAY_MS);
  t.match(await stateNow(), { state: 'verified' }, 'two misses at most');
  t.same(mails, [], 'the first miss may be a slip');
  await pass(DAY_MS / 2);
  t.match(mails, [
    {
      subject: 'The DKIM record of acme.test is missing',
      text: /^Since 2026-\S+Z, checks .*\n\n.*no TXT record[\s\S]*missing at 2026-\S+Z, mail [\s\S]*\n\nhttps:\/\/mail\.test\/portal\/domains\n$/,
    },
  ]);
  await pass(DAY_MS);
  t.match(await stateNow(), { state: 'failed', failureReason: 'not_found', verifiedAt: null });
  t.match(
    mails.slice(1),
    [{ subject: 'acme.test is no longer verified', text: /no longer accepted[\s\S]* within two weeks/ }],
    'once',
  );
  publish('acme.test');
  await pass(DAY_MS);
  t.match(await stateNow(), { state: 'verified', failureReason: null });
});

t.test('whoever loses a domain to another tenant is told', async (t) => {
  const { dns, publish, register, domains, mails } = await openWorld(t);
  const { owner, id, stateNow } = await register('acme.test');
  const rival = await register('acme.test', 'rival');
  publish('acme.test');
  t.match(await domains.verify(owner, id), { domain: { state: 'verified' } });
  dns.set('rival._domainkey.acme.test', 'TXT', ['v=DKIM1; k=rsa; p=cHVibGlj']);
  t.match(await domains.verify(rival.owner, rival.id), { refused: 'domain_exists' }, 'its record is still there');
  t.same(mails, []);
  dns.set('pr._domainkey.acme.test', 'TXT', ['v=DKIM1; k=rsa; p=b3RoZXI']);
  t.match(await domains.verify(rival.owner, rival.id), { domain: { state: 'verified' } });
  t.match(await stateNow(), { state: 'failed', failureReason: 'mismatch' }, 'for what is wrong with its record');
  t.match(mails, [{ subject: 'acme.test is no longer verified', text: /Another account has proven .* gone or wrong/ }]);
});

t.test('very many that are due at once are looked at a few at a time; revoked ones never', async (t) => {
  const { looks, pass, register, domains, mostAtOnce, timers } = await openWorld(t);
  const all = [];
  for (let index = 0; index < 70; index++) all.push(await register(`d${index}.test`));
  await domains.revoke(all[0]!.owner, all[0]!.id);
  await pass(11 * MINUTE_MS);
  t.equal(looks('d0.test'), 0);
  for (const index of [1, 35, 69]) t.equal(looks(`d${index}.test`), 1, `d${index}`);
  t.ok(mostAtOnce() <= 8 * 3, `${mostAtOnce()} look-ups at once: three for each of eight domains`);
  t.match(timers.list(), [{ lastResult: /^\d+ checked/ }]);
});

t.test('of two daemons each looks at what the other one does not', async (t) => {
  const { clock, timers, addTimer, looks, register } = await openWorld(t);
  const names = Array.from({ length: 20 }, (_, index) => `d${index}.test`);
  for (const name of names) await register(name);
  clock.time += 11 * MINUTE_MS;
  addTimer(timers);
  clock.time += MINUTE_MS;
  await timers.tick();
  t.same(names.map(looks), Array(20).fill(1), 'each once');
  t.match(
    timers.list().map(({ lastResult }) => lastResult),
    [/^\d+ checked/, /^\d+ checked/],
  );
});

t.test('what is not checked since it is not its turn is due at the next run', async (t) => {
  const { store, clock, addTimer, register } = await openWorld(t);
  await register('acme.test');
  const dueAt = clock.time + 10 * MINUTE_MS;
  clock.time = dueAt + MINUTE_MS;
  const waiting = new Timers({
    clock,
    tickMs: 1_000_000,
    lead: async () => true,
    onError: (_, error) => t.fail(String(error)),
  });
  t.teardown(() => waiting.stop());
  let asked = 0;
  addTimer(waiting, () => {
    asked++;
    return null;
  });
  clock.time += MINUTE_MS;
  await waiting.tick();
  t.equal(asked, 1, 'once in a run');
  t.match(waiting.list(), [{ lastResult: '0 checked, 0 verified, 0 failed' }]);
  t.match(await store.domains.claimRechecks(clock.time, { limit: 1, leaseUntil: clock.time + 1 }), [{ dueAt }]);
});

t.test('what a call has changed meanwhile stays', async (t) => {
  const { store, clock, register } = await openWorld(t);
  const { stateNow, owner, id } = await register('acme.test');
  clock.time += 10 * MINUTE_MS;
  const [claim] = await store.domains.claimRechecks(clock.time, { limit: 1, leaseUntil: clock.time + MINUTE_MS });
  await store.domains.recordVerdict(owner.tenantId, id, {
    state: 'verified',
    failureReason: null,
    checkedAt: clock.time + 1,
  });
  const note = { at: clock.time + 2, nextAt: null, misses: 0, firstMissAt: null, failsWith: 'not_found' };
  t.equal(await store.domains.recordRecheck(claim!, note), false);
  t.match(await stateNow(), { state: 'verified' });
});

t.test('when the checks have ended, opening the page begins them again, and says until when', async (t) => {
  const { clock, publish, looks, pass, register, domains } = await openWorld(t);
  const { owner, id, stateNow } = await register('acme.test');
  const until = async (isOpen: boolean) => domains.recheckedUntil(await stateNow(), isOpen);
  t.equal(await until(false), T0 + 14 * DAY_MS);
  t.equal(await until(true), T0 + 14 * DAY_MS, 'an open page prolongs nothing');
  await pass(15 * DAY_MS, HOUR_MS);
  t.equal(await until(false), null);
  const before = looks('acme.test');
  await pass(DAY_MS, HOUR_MS);
  t.equal(looks('acme.test'), before);
  t.match(await domains.verifyIfFound(owner, id), { state: 'pending' });
  t.equal(await until(true), clock.time + 10 * MINUTE_MS + 14 * DAY_MS);
  t.equal(await until(false), clock.time + 10 * MINUTE_MS + 14 * DAY_MS);
  publish('acme.test');
  await pass(DAY_MS, HOUR_MS);
  t.match(await stateNow(), { state: 'verified' }, 'long after the page was closed');
});

t.test('a call whose domain another tenant still holds begins the checks again', async (t) => {
  const { dns, publish, pass, register, domains } = await openWorld(t);
  const holder = await register('acme.test');
  const { owner, id, stateNow } = await register('acme.test', 'rival');
  await pass(15 * DAY_MS, HOUR_MS);
  publish('acme.test');
  await domains.verify(holder.owner, holder.id);
  dns.set('rival._domainkey.acme.test', 'TXT', ['v=DKIM1; k=rsa; p=cHVibGlj']);
  t.equal(await domains.recheckedUntil(await stateNow(), false), null);
  t.match(await domains.verify(owner, id), { refused: 'domain_exists' });
  dns.remove('pr._domainkey.acme.test');
  await pass(HOUR_MS);
  t.match(await stateNow(), { state: 'verified' });
});

t.test('without automatic checks none are promised, nor begun', async (t) => {
  const { clock, register, parts, domains } = await openWorld(t);
  const { stateNow } = await register('acme.test');
  const without = createDomains({ ...parts, service: { ...parts.service, rechecks: false } });
  t.equal(await without.recheckedUntil(await stateNow(), true), null);
  clock.time += 15 * DAY_MS;
  t.equal(await domains.recheckedUntil(await stateNow(), true), null, 'nor until a time that has passed');
});

t.test('the end of the daemon does not wait for name servers', async (t) => {
  const { dns, clock, timers, register } = await openWorld(t);
  const { stateNow } = await register('acme.test');
  dns.behave('*', 'silent');
  clock.time += 11 * MINUTE_MS;
  const run = timers.tick();
  while (!dns.queries.some(({ name }) => name === 'pr._domainkey.acme.test')) await new Promise(setImmediate);
  await timers.stop();
  await run;
  t.match(timers.list(), [{ lastResult: 'stopped' }]);
  t.match(await stateNow(), { lastCheckedAt: null });
});

t.test('a call that leaves no trace puts the next look off, too: DNS was away, and verified it stays', async (t) => {
  const { dns, publish, looks, pass, register, domains } = await openWorld(t);
  const { owner, id, stateNow } = await register('acme.test');
  publish('acme.test');
  await domains.verify(owner, id);
  await pass(DAY_MS - 2 * MINUTE_MS);
  dns.behave('*', 'servfail');
  t.match(await domains.verify(owner, id), { refused: 'verification_failed' });
  t.match(await stateNow(), { state: 'verified' });
  dns.behave('*', null);
  const before = looks('acme.test');
  await pass(9 * MINUTE_MS);
  t.equal(looks('acme.test'), before);
  await pass(2 * MINUTE_MS);
  t.equal(looks('acme.test'), before + 1);
});

t.test('a call that has found the record wins over a look that began before it', async (t) => {
  const { store, clock, register, publish, domains } = await openWorld(t);
  const { stateNow, owner, id } = await register('acme.test');
  publish('acme.test');
  await domains.verify(owner, id);
  clock.time += DAY_MS;
  const [claim] = await store.domains.claimRechecks(clock.time, { limit: 1, leaseUntil: clock.time + MINUTE_MS });
  clock.time += 1000;
  await domains.verify(owner, id);
  const note = { at: clock.time + 1, nextAt: null, misses: 0, firstMissAt: null, failsWith: 'not_found' };
  t.equal(await store.domains.recordRecheck(claim!, note), false);
  t.match(await stateNow(), { state: 'verified' });
});
