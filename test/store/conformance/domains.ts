// Conformance: sending domains: who may have a name, in which state, since when.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import { type Bench, T0 } from './harness.ts';

const verified = (checkedAt = T0) => ({ state: 'verified' as const, failureReason: null, checkedAt });
const failed = (checkedAt = T0) => ({ state: 'failed' as const, failureReason: 'not_found', checkedAt });

export const domainCases = {
  'a new domain is pending': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const domain = bench.newDomain(tenant.id, 'acme.test');
    const created = (await bench.store.domains.createDomain(domain)) as Domain;
    const { privateKey: _, ...shown } = domain;
    t.strictSame(created, {
      ...shown,
      state: 'pending',
      signingKeyId: created.signingKeyId,
      failureReason: null,
      verifiedAt: null,
      lastCheckedAt: null,
    });
    t.type(created.signingKeyId, 'number');
    t.strictSame(await bench.store.domains.getDomain(tenant.id, domain.id), created);
    t.equal(await bench.store.domains.getDomain(tenant.id, bench.id()), null);
  },

  'a tenant has a name once, in every live state': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const again = () => bench.store.domains.createDomain(bench.newDomain(tenant.id, 'acme.test'));
    const { id } = await bench.pendingDomain(tenant.id, 'acme.test');
    t.equal(await again(), 'exists', 'pending');
    await bench.store.domains.recordVerdict(tenant.id, id, failed());
    t.equal(await again(), 'exists', 'failed');
    await bench.store.domains.recordVerdict(tenant.id, id, verified());
    t.equal(await again(), 'exists', 'verified');
    t.equal((await bench.store.domains.listDomains(tenant.id)).length, 1);
    t.not(
      await bench.store.domains.createDomain(bench.newDomain(tenant.id, 'mail.acme.test')),
      'exists',
      'another name',
    );
  },

  'a tenant has at most so many live names': async (t: Test, bench: Bench) => {
    const [tenant, other] = [await bench.tenant(), await bench.tenant()];
    const { createDomain, revokeDomain } = bench.store.domains;
    const { id } = await bench.pendingDomain(tenant.id, 'a.test');
    await bench.pendingDomain(tenant.id, 'b.test');
    await bench.pendingDomain(other.id, 'other.test');
    const third = () => createDomain(bench.newDomain(tenant.id, 'c.test'), 2);
    t.equal(await third(), 'too_many');
    const refused = (name: string, most = 2) => bench.store.domains.refusesDomain(tenant.id, name, most);
    t.same(
      [await refused('c.test'), await refused('a.test'), await refused('c.test', 3)],
      ['too_many', 'exists', null],
    );
    t.equal((await bench.store.domains.listDomains(tenant.id)).length, 2, 'nothing of it is left');
    t.equal(await createDomain(bench.newDomain(tenant.id, 'a.test'), 2), 'exists', 'which helps more');
    t.match(await createDomain(bench.newDomain(other.id, 'c.test'), 2), { name: 'c.test' }, 'each has its own');
    await revokeDomain(tenant.id, id);
    t.match(await third(), { name: 'c.test' }, 'what was deleted does not count');
  },

  "another tenant's name blocks only while verified": async (t: Test, bench: Bench) => {
    const [a, b, c] = [await bench.tenant(), await bench.tenant(), await bench.tenant()];
    const first = await bench.pendingDomain(a.id, 'acme.test');
    t.not(
      await bench.store.domains.createDomain(bench.newDomain(b.id, 'acme.test')),
      'exists',
      'pending does not block',
    );
    await bench.store.domains.recordVerdict(a.id, first.id, failed());
    t.not(
      await bench.store.domains.createDomain(bench.newDomain(c.id, 'acme.test')),
      'exists',
      'failed does not block',
    );
    await bench.store.domains.recordVerdict(a.id, first.id, verified());
    const late = await bench.tenant();
    t.equal(await bench.store.domains.createDomain(bench.newDomain(late.id, 'acme.test')), 'exists', 'verified blocks');
    await bench.store.domains.revokeDomain(a.id, first.id);
    t.not(
      await bench.store.domains.createDomain(bench.newDomain(late.id, 'acme.test')),
      'exists',
      'revoked does not block',
    );
  },

  'after a revocation the name can be registered anew': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const old = await bench.verifiedDomain(tenant.id, 'acme.test');
    await bench.store.domains.revokeDomain(tenant.id, old.id);
    const fresh = await bench.pendingDomain(tenant.id, 'acme.test');
    t.not(fresh.id, old.id);
    t.not(fresh.signingKeyId, old.signingKeyId, 'a key pair of its own');
    const states = (await bench.store.domains.listDomains(tenant.id)).map((domain) => [domain.id, domain.state]);
    t.strictSame(states, [
      [old.id, 'revoked'],
      [fresh.id, 'pending'],
    ]);
  },

  'at once, a name goes to a tenant once': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const domains = Array.from({ length: 10 }, () => bench.newDomain(tenant.id, 'acme.test'));
    const results = await Promise.all(domains.map((domain) => bench.store.domains.createDomain(domain)));
    t.equal(results.filter((result) => result !== 'exists').length, 1);
  },

  'at most one tenant has a name verified': async (t: Test, bench: Bench) => {
    const [a, b] = [await bench.tenant(), await bench.tenant()];
    const ours = await bench.pendingDomain(a.id, 'acme.test');
    const theirs = await bench.pendingDomain(b.id, 'acme.test');
    const results = await Promise.all([
      bench.store.domains.recordVerdict(a.id, ours.id, verified()),
      bench.store.domains.recordVerdict(b.id, theirs.id, verified()),
    ]);
    t.equal((results[0] as Domain).state, 'verified');
    t.equal(results[1], 'taken');
    t.strictSame(await bench.store.domains.getDomain(b.id, theirs.id), theirs, 'the other one is left as it was');
    t.equal((await bench.store.domains.findVerifiedHolder('acme.test'))?.tenantId, a.id);
  },

  'a holder that fails makes room': async (t: Test, bench: Bench) => {
    const [a, b] = [await bench.tenant(), await bench.tenant()];
    const ours = await bench.pendingDomain(a.id, 'acme.test');
    const theirs = await bench.pendingDomain(b.id, 'acme.test');
    await bench.store.domains.recordVerdict(a.id, ours.id, verified());
    await bench.store.domains.recordVerdict(a.id, ours.id, failed());
    const result = await bench.store.domains.recordVerdict(b.id, theirs.id, verified());
    t.equal((result as Domain).state, 'verified');
  },

  'verified_at tells since when': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const { id } = await bench.pendingDomain(tenant.id, 'acme.test');
    const verdict = async (v: ReturnType<typeof verified> | ReturnType<typeof failed>) => {
      const domain = (await bench.store.domains.recordVerdict(tenant.id, id, v)) as Domain;
      t.strictSame(await bench.store.domains.getDomain(tenant.id, id), domain);
      return [domain.state, domain.failureReason, domain.verifiedAt, domain.lastCheckedAt];
    };
    t.strictSame(await verdict(failed(T0 + 1)), ['failed', 'not_found', null, T0 + 1]);
    t.strictSame(await verdict(verified(T0 + 2)), ['verified', null, T0 + 2, T0 + 2]);
    t.strictSame(await verdict(verified(T0 + 3)), ['verified', null, T0 + 2, T0 + 3], 'a repeated success');
    t.strictSame(await verdict(failed(T0 + 4)), ['failed', 'not_found', null, T0 + 4]);
    t.strictSame(await verdict(verified(T0 + 5)), ['verified', null, T0 + 5, T0 + 5]);
  },

  'a domain is the same one in any case of its id': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const upper = domain.id.toUpperCase();
    t.equal((await bench.store.domains.getDomain(tenant.id, upper))?.id, domain.id);
    const again = await bench.store.domains.recordVerdict(tenant.id, upper, verified(T0 + 1));
    t.equal((again as Domain).id, domain.id, 'its own verified state does not stand in its way');
  },

  'only the tenant with the verified name may send': async (t: Test, bench: Bench) => {
    const [a, b] = [await bench.tenant(), await bench.tenant()];
    const ours = await bench.pendingDomain(a.id, 'acme.test');
    await bench.pendingDomain(b.id, 'acme.test');
    t.equal(await bench.store.domains.findVerifiedDomain(a.id, 'acme.test'), null, 'pending');
    t.equal(await bench.store.domains.findVerifiedHolder('acme.test'), null);
    await bench.store.domains.recordVerdict(a.id, ours.id, verified());
    t.equal((await bench.store.domains.findVerifiedDomain(a.id, 'acme.test'))?.id, ours.id);
    t.equal(await bench.store.domains.findVerifiedDomain(b.id, 'acme.test'), null, 'another tenant');
    t.equal(await bench.store.domains.findVerifiedDomain(a.id, 'mail.acme.test'), null, 'a subdomain');
    t.equal((await bench.store.domains.findLiveDomain(a.id, 'acme.test'))?.state, 'verified');
    t.equal((await bench.store.domains.findLiveDomain(b.id, 'acme.test'))?.state, 'pending');
    await bench.store.domains.revokeDomain(a.id, ours.id);
    t.equal(await bench.store.domains.findVerifiedDomain(a.id, 'acme.test'), null, 'revoked');
    t.equal(await bench.store.domains.findLiveDomain(a.id, 'acme.test'), null, 'revoked');
    const again = await bench.pendingDomain(a.id, 'acme.test');
    t.equal((await bench.store.domains.findLiveDomain(a.id, 'acme.test'))?.id, again.id, 'registered anew');
    t.equal(await bench.store.domains.findVerifiedHolder('acme.test'), null);
  },

  'a name is taken over in one step': async (t: Test, bench: Bench) => {
    const [a, b] = [await bench.tenant(), await bench.tenant()];
    const theirs = await bench.pendingDomain(b.id, 'acme.test');
    const ours = await bench.verifiedDomain(a.id, 'acme.test');
    const taken = await takeOver(bench, [b.id, theirs.id, ours.id], T0 + 7);
    t.match(taken, { id: theirs.id, state: 'verified', verifiedAt: T0 + 7, lastCheckedAt: T0 + 7 });
    const loser = await bench.store.domains.getDomain(a.id, ours.id);
    t.match(loser, { state: 'failed', failureReason: 'mismatch', verifiedAt: null, lastCheckedAt: T0 + 7 });
    t.equal((await bench.store.domains.findVerifiedHolder('acme.test'))?.id, theirs.id);
    t.equal(await takeOver(bench, [b.id, theirs.id, ours.id], T0 + 8), null, 'not a second time');
  },

  'nothing is taken over when either side has changed': async (t: Test, bench: Bench) => {
    const [a, b] = [await bench.tenant(), await bench.tenant()];
    const theirs = await bench.pendingDomain(b.id, 'acme.test');
    const other = await bench.pendingDomain(b.id, 'other.test');
    const ours = await bench.verifiedDomain(a.id, 'acme.test');
    t.equal(await takeOver(bench, [b.id, theirs.id, bench.id()], T0), null, 'not the holder');
    t.equal(await takeOver(bench, [b.id, other.id, ours.id], T0), null, 'not the same name');
    t.equal(await takeOver(bench, [a.id, theirs.id, ours.id], T0), null, "not this tenant's");
    t.equal(await takeOver(bench, [a.id, ours.id, ours.id], T0), null, 'not from oneself');
    await bench.store.domains.revokeDomain(b.id, theirs.id);
    t.equal(await takeOver(bench, [b.id, theirs.id, ours.id], T0), null, 'a revoked claimant');
    t.equal((await bench.store.domains.getDomain(a.id, ours.id))?.state, 'verified', 'the holder is untouched');
  },

  'a revoked domain is shown and cannot be changed': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const revoked = await bench.store.domains.revokeDomain(tenant.id, domain.id);
    t.strictSame(revoked, { ...domain, state: 'revoked' });
    t.strictSame(await bench.store.domains.getDomain(tenant.id, domain.id), revoked);
    t.equal(await bench.store.domains.revokeDomain(tenant.id, domain.id), null);
    t.equal(await bench.store.domains.recordVerdict(tenant.id, domain.id, verified()), null);
    t.equal(await bench.store.domains.revokeDomain(tenant.id, bench.id()), null);
    t.equal(await bench.store.domains.recordVerdict(tenant.id, bench.id(), verified()), null);
  },
};

function takeOver({ store }: Bench, [tenantId, id, holderId]: [string, string, string], at: number) {
  return store.domains.takeOverDomain({ tenantId, id }, { id: holderId, failureReason: 'mismatch' }, at);
}
