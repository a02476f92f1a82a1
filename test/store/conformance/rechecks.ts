// Conformance: when domains are re-checked, and by whom. A claim is over as soon as another time is stored, and then its
// result changes nothing.
import type { Test } from 'tap';
import type { ClaimedRecheck } from '../../../src/store/domains.ts';
import { type Bench, T0 } from './harness.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const LEASE_MS = 2 * MINUTE;

function claimAt(bench: Bench, now: number, limit = 10): Promise<ClaimedRecheck[]> {
  return bench.store.domains.claimRechecks(now, { limit, leaseUntil: now + LEASE_MS });
}

/** The names of what is due; it is due afterwards as well. */
async function dueAt(bench: Bench, now: number): Promise<string[]> {
  const claims = await claimAt(bench, now);
  await bench.store.domains.releaseRechecks(claims);
  return claims.map(({ domain }) => domain.name);
}

const MISS = { at: T0 + DAY, nextAt: T0 + 2 * DAY, misses: 1, firstMissAt: T0 + DAY, failsWith: null };

/** A verified domain, and the claim of it one day later. */
async function claimed(bench: Bench) {
  const { tenant, domain } = await bench.sender('acme.test');
  const [claim] = await claimAt(bench, T0 + DAY);
  if (!claim) throw new Error('it is not due');
  const stored = () => bench.store.domains.getDomain(tenant.id, domain.id);
  return { tenant, domain, claim, stored };
}

export const recheckCases = {
  'a domain is due ten minutes after creation or a failed call, a day after a good one, and never once revoked': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domains } = bench.store;
    const tenant = await bench.tenant();
    const { id } = await bench.pendingDomain(tenant.id, 'acme.test');
    t.same(await dueAt(bench, T0 + 10 * MINUTE - 1), []);
    t.same(await dueAt(bench, T0 + 10 * MINUTE), ['acme.test']);
    await domains.postponeRecheck(bench.id(), id, T0 + DAY);
    t.same(await dueAt(bench, T0 + 10 * MINUTE), ['acme.test'], 'another tenant changes nothing');
    await domains.postponeRecheck(tenant.id, id, T0 + 20 * MINUTE);
    t.same(await dueAt(bench, T0 + 20 * MINUTE - 1), []);
    await domains.recordVerdict(tenant.id, id, {
      state: 'failed',
      failureReason: 'not_found',
      checkedAt: T0 + DAY,
    });
    t.same(await dueAt(bench, T0 + DAY + 10 * MINUTE - 1), []);
    t.same(await dueAt(bench, T0 + DAY + 10 * MINUTE), ['acme.test']);
    await domains.recordVerdict(tenant.id, id, { state: 'verified', failureReason: null, checkedAt: T0 + DAY });
    t.same(await dueAt(bench, T0 + 2 * DAY - 1), []);
    t.match(await claimAt(bench, T0 + 2 * DAY), [{ since: T0 + DAY, checks: 0, misses: 0, dueAt: T0 + 2 * DAY }]);
    await domains.revokeDomain(tenant.id, id);
    t.same(await dueAt(bench, T0 + 100 * DAY), []);
  },

  'a result is recorded once, by the claim that led to it': async (t: Test, bench: Bench) => {
    const { domains } = bench.store;
    const { tenant, claim, stored } = await claimed(bench);
    const foreign = { ...claim, domain: { ...claim.domain, tenantId: bench.id() } };
    t.equal(await domains.recordRecheck(foreign, MISS), false, 'of another tenant');
    t.equal(await domains.recordRecheck(claim, MISS), true);
    t.match(await stored(), { state: 'verified', lastCheckedAt: T0 + DAY });
    t.equal(await domains.recordRecheck(claim, { ...MISS, misses: 2 }), false, 'the claim is over');
    const [next] = await claimAt(bench, T0 + 2 * DAY);
    t.match(next, { checks: 1, misses: 1, firstMissAt: T0 + DAY });
    const end = { ...MISS, at: T0 + 3 * DAY, nextAt: null, failsWith: 'not_found' };
    t.equal(await domains.recordRecheck(next!, end), true);
    const failed = { state: 'failed', failureReason: 'not_found', verifiedAt: null, lastCheckedAt: T0 + 3 * DAY };
    t.match(await stored(), failed);
    t.equal(await domains.findVerifiedDomain(tenant.id, 'acme.test'), null, 'nothing is sent from it any more');
    t.same(await dueAt(bench, T0 + 100 * DAY), [], 'without a next time it is not due');
  },

  'a check by hand begins a period that is over again, and says so': async (t: Test, bench: Bench) => {
    const { domains } = bench.store;
    const { tenant, domain, claim } = await claimed(bench);
    const since = (tenantId = tenant.id) => domains.recheckedSince(tenantId, domain.id);
    t.equal(await since(), T0);
    t.equal(await since(bench.id()), null, 'of another tenant');
    await domains.postponeRecheck(tenant.id, domain.id, T0 + 2 * DAY);
    t.equal(await since(), T0, 'one that goes on is only put off');
    const [last] = await claimAt(bench, T0 + 3 * DAY);
    t.equal(await domains.recordRecheck(last!, { ...MISS, nextAt: null }), true);
    t.equal(await since(), null);
    await domains.postponeRecheck(bench.id(), domain.id, T0 + 30 * DAY);
    t.equal(await since(), null, 'another tenant changes nothing');
    await domains.postponeRecheck(tenant.id, domain.id, T0 + 30 * DAY);
    t.equal(await since(), T0 + 30 * DAY);
    t.same(await dueAt(bench, T0 + 30 * DAY - 1), []);
    const anew = { since: T0 + 30 * DAY, checks: 0, misses: 0, firstMissAt: null };
    t.match(await claimAt(bench, T0 + 30 * DAY), [anew]);
    t.equal(await domains.recordRecheck(claim, MISS), false, 'and no older claim counts');
    await domains.revokeDomain(tenant.id, domain.id);
    t.equal(await since(), null);
  },

  'two who look for what is due at once share it': async (t: Test, bench: Bench) => {
    for (const name of ['a.test', 'b.test', 'c.test']) await bench.sender(name);
    const found = await Promise.all([claimAt(bench, T0 + DAY, 2), claimAt(bench, T0 + DAY, 2)]);
    t.same(
      found.map((claims) => claims.length),
      [2, 1],
    );
    t.equal(new Set(found.flat().map(({ domain }) => domain.id)).size, 3);
    t.same(await claimAt(bench, T0 + DAY), []);
  },

  'when the lease is over it is due again, and a late result counts while nobody has claimed it': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domains } = bench.store;
    const { claim, stored } = await claimed(bench);
    t.same(await claimAt(bench, T0 + DAY + LEASE_MS - 1), []);
    const [second] = await claimAt(bench, T0 + DAY + LEASE_MS);
    t.match(second, { misses: 0, dueAt: claim.leaseUntil });
    t.equal(await domains.recordRecheck(claim, MISS), false);
    await domains.releaseRechecks([claim]);
    t.same(await dueAt(bench, T0 + DAY + LEASE_MS), [], 'the second claim holds');
    t.match(await stored(), { lastCheckedAt: T0 });
    t.equal(await domains.recordRecheck(second!, MISS), true, 'long after its lease');
    t.match(await claimAt(bench, T0 + 2 * DAY), [{ misses: 1 }], 'one miss, not two');
  },

  'what was not checked is due as before': async (t: Test, bench: Bench) => {
    const { claim } = await claimed(bench);
    await bench.store.domains.releaseRechecks([claim]);
    t.equal(await bench.store.domains.recordRecheck(claim, MISS), false);
    t.same(await claimAt(bench, T0 + DAY), [claim]);
  },

  'whatever changes a domain ends the claim of it': async (t: Test, bench: Bench) => {
    const { domains } = bench.store;
    const { tenant, domain, claim, stored } = await claimed(bench);
    const fails = { ...MISS, failsWith: 'not_found' };
    const again = async (hours: number) => {
      const [next] = await claimAt(bench, T0 + DAY + hours * 60 * MINUTE);
      return next!;
    };
    await domains.postponeRecheck(tenant.id, domain.id, T0 + DAY + 10 * MINUTE);
    t.equal(await domains.recordRecheck(claim, fails), false, 'a check by hand has begun');
    const second = await again(1);
    const verdict = { state: 'verified', failureReason: null, checkedAt: T0 + DAY } as const;
    await domains.recordVerdict(tenant.id, domain.id, verdict);
    t.equal(await domains.recordRecheck(second, fails), false, 'and has found the record');
    const third = await again(24);
    await domains.revokeDomain(tenant.id, domain.id);
    t.equal(await domains.recordRecheck(third, fails), false, 'it was revoked');
    t.match(await stored(), { state: 'revoked', failureReason: null });
  },
};
