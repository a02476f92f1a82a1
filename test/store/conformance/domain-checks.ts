// Conformance: what the last look into DNS has found for a domain.
import type { Test } from 'tap';
import type { DomainCheck } from '../../../src/store/domains.ts';
import { type Bench, T0 } from './harness.ts';

function check(change: Partial<DomainCheck> = {}): DomainCheck {
  return {
    ...{ record: 'dkim', name: 'pr._domainkey.acme.test', type: 'TXT', required: true, ok: false },
    ...{ expected: 'v=DKIM1; p=abc', found: ['some "text" <b>', ''], reason: 'mismatch', message: 'Replace it.' },
    ...change,
  };
}

export const domainCheckCases = {
  'the last look is kept as it was found': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const { id } = await bench.pendingDomain(tenantId, 'acme.test');
    t.equal(await bench.store.domains.lastChecks(tenantId, id), null);
    const first = { at: T0 + 1, checks: [check(), check({ record: 'spf', required: false, reason: null, ok: true })] };
    await bench.store.domains.recordChecks(tenantId, id, first);
    t.strictSame(await bench.store.domains.lastChecks(tenantId, id), first);
    const second = { at: T0 + 2, checks: [check({ ok: true, reason: null, found: [] })] };
    await bench.store.domains.recordChecks(tenantId, id.toUpperCase(), second);
    await bench.store.domains.recordChecks(tenantId, id, { ...first, at: T0 });
    t.strictSame(
      await bench.store.domains.lastChecks(tenantId, id),
      second,
      'a look that began earlier and ended later',
    );
    t.match(await bench.store.domains.getDomain(tenantId, id), { state: 'pending', lastCheckedAt: T0 + 2 });
  },

  'only of a domain of the tenant': async (t: Test, bench: Bench) => {
    const [owner, stranger] = [await bench.tenant(), await bench.tenant()];
    const { id } = await bench.pendingDomain(owner.id, 'acme.test');
    await bench.store.domains.recordChecks(stranger.id, id, { at: T0, checks: [check()] });
    await bench.store.domains.recordChecks(owner.id, bench.id(), { at: T0, checks: [check()] });
    t.equal(await bench.store.domains.lastChecks(owner.id, id), null);
    t.match(await bench.store.domains.getDomain(owner.id, id), { lastCheckedAt: null });
    const found = { at: T0, checks: [check()] };
    await bench.store.domains.recordChecks(owner.id, id, found);
    t.equal(await bench.store.domains.lastChecks(stranger.id, id), null);
    t.strictSame(await bench.store.domains.lastChecks(owner.id, id), found);
  },
};
