// When MTA-STS policies are fetched, renewed and kept: the decision, and what becomes of it.
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { createTransportPolicies, decidePolicyStep } from '../../src/delivery/route/transport-policy.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { PolicyFetch } from '../../src/protocol/dns/published/mta-sts-fetch.ts';
import type { TlsPolicy } from '../../src/store/transport-security.ts';

const T0 = Date.UTC(2026, 0, 1);
const known: TlsPolicy = {
  domain: 'rcpt.test',
  policyId: '1',
  mode: 'enforce',
  mx: ['mx.rcpt.test'],
  fetchedAt: T0,
  expiresAt: T0 + 7 * DAY_MS,
};

t.test('what is done about an announced policy', async (t) => {
  const failure = { policyId: '1', at: T0 };
  const step = decidePolicyStep;
  t.match(step('1', null, null, T0), { decision: 'fetch', reason: /none is known/ });
  t.match(step('2', known, null, T0 + 1), { decision: 'fetch', reason: /another policy/ });
  t.match(step('1', known, null, T0 + DAY_MS - 1), { decision: 'keep', until: T0 + DAY_MS });
  t.match(step('1', known, null, T0 + DAY_MS), { decision: 'renew' }, 'long before it ends');
  const short = { ...known, expiresAt: T0 + HOUR_MS };
  t.match(step('1', short, null, T0 + HOUR_MS / 2 - 1), { decision: 'keep' });
  t.match(step('1', short, null, T0 + HOUR_MS / 2), { decision: 'renew' }, 'half of a short life');
  t.match(step('1', null, failure, T0 + 5 * MINUTE_MS - 1), { decision: 'keep', until: T0 + 5 * MINUTE_MS });
  t.match(step('1', null, failure, T0 + 5 * MINUTE_MS), { decision: 'renew' }, 'mail does not wait a second time');
  t.match(step('2', null, failure, T0 + 1), { decision: 'fetch' }, 'another id is another chance');
});

/** A fetch that a test answers, and a store of one row. */
function setUp() {
  const stage = {
    now: T0,
    stored: null as TlsPolicy | null,
    txt: ['v=STSv1; id=1;'] as string[] | null,
    questions: 0,
    fetches: [] as ((result: PolicyFetch) => void)[],
    fetched: Promise.withResolvers<void>(),
  };
  const policies = createTransportPolicies({
    store: {
      transportSecurity: {
        findTlsPolicy: async (_domain, now) => (stage.stored && stage.stored.expiresAt > now ? stage.stored : null),
        putTlsPolicy: async (policy) => {
          stage.stored = policy;
        },
      },
    },
    resolver: {
      txt: async () => {
        stage.questions++;
        if (stage.txt === null) return { kind: 'unavailable', reason: 'no answer' };
        return { kind: 'found', records: stage.txt, ttlMs: 1000 };
      },
    },
    fetch: () => {
      const { promise, resolve } = Promise.withResolvers<PolicyFetch>();
      stage.fetches.push(resolve);
      stage.fetched.resolve();
      return promise;
    },
    clock: { now: () => stage.now },
    log: silentLogger,
  });
  return { stage, policies };
}

const enforce: PolicyFetch = {
  kind: 'policy',
  policy: { mode: 'enforce', mx: ['mx.rcpt.test'], maxAgeMs: 7 * DAY_MS },
};

t.test('mail that comes at the same time waits for one fetch', async (t) => {
  const { stage, policies } = setUp();
  let waiting = true;
  const all = Promise.all([policies.refresh('rcpt.test'), policies.refresh('rcpt.test')]).then(() => {
    waiting = false;
  });
  await stage.fetched.promise;
  await new Promise(setImmediate);
  t.equal(waiting, true);
  stage.fetches[0]!(enforce);
  await all;
  t.equal(stage.fetches.length, 1);
  t.match(stage.stored, { policyId: '1', mode: 'enforce', fetchedAt: T0, expiresAt: T0 + 7 * DAY_MS });
});

t.test('a renewal holds nobody up, and starts the age anew', async (t) => {
  const { stage, policies } = setUp();
  stage.stored = known;
  stage.now = T0 + 2 * DAY_MS;
  await policies.refresh('rcpt.test');
  await stage.fetched.promise;
  stage.fetches[0]!(enforce);
  await new Promise(setImmediate);
  t.match(stage.stored, { fetchedAt: T0 + 2 * DAY_MS, expiresAt: T0 + 9 * DAY_MS });
});

t.test('a host that fails: five minutes of peace, the known policy stays', async (t) => {
  const { stage, policies } = setUp();
  const first = policies.refresh('rcpt.test');
  await stage.fetched.promise;
  stage.fetches[0]!({ kind: 'failed', reason: 'status 500' });
  await first;
  await policies.refresh('rcpt.test');
  t.equal(stage.fetches.length, 1);
  t.equal(stage.stored, null);
  stage.now += 5 * MINUTE_MS;
  await policies.refresh('rcpt.test');
  t.equal(stage.fetches.length, 2, 'in the background');
  stage.fetches[1]!(enforce);
  await new Promise(setImmediate);
  t.match(stage.stored, { mode: 'enforce' });
});

t.test('without an announcement nothing is fetched, and nothing forgotten', async (t) => {
  const { stage, policies } = setUp();
  stage.stored = known;
  stage.txt = ['v=spf1 -all'];
  stage.now = T0 + 2 * DAY_MS;
  await policies.refresh('rcpt.test');
  t.equal(stage.fetches.length, 0);
  t.equal(stage.stored, known);
});

t.test('name servers that swallow the question hold up one message in five minutes', async (t) => {
  const { stage, policies } = setUp();
  stage.txt = null;
  for (let n = 0; n < 3; n++) await policies.refresh('rcpt.test');
  t.equal(stage.questions, 1);
  stage.now += 5 * MINUTE_MS;
  await policies.refresh('rcpt.test');
  t.equal(stage.questions, 2);
});

t.test('a store that fails is no reason to stop', async (t) => {
  const policies = createTransportPolicies({
    store: {
      transportSecurity: { findTlsPolicy: () => Promise.reject(new Error('disk')), putTlsPolicy: async () => {} },
    },
    resolver: { txt: async () => ({ kind: 'found', records: ['v=STSv1; id=1;'], ttlMs: 1000 }) },
    fetch: async () => enforce,
    clock: { now: () => T0 },
    log: silentLogger,
  });
  await t.resolves(policies.refresh('rcpt.test'));
});
