// Registering a domain: what is refused is refused before a key pair is made for it.
import t from 'tap';
import { createDomains, type DomainsOptions } from '../../src/domains/domains.ts';
import type { Domain } from '../../src/store/domains.ts';

const OWNER = { tenantId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10', boundDomain: null };
const KNOWN = { id: '019a9b70-6f32-7000-ad30-7c419e1f5032', state: 'pending' } as Domain;

t.test('a name that another account holds is said to become free only where automatic checks free it', async (t) => {
  const advice = async (rechecks: boolean) => {
    const domains = createDomains({
      store: { domains: { refusesDomain: async () => 'exists', findLiveDomain: async () => null } },
      service: { spfDomain: 'spf.s.test', dmarcReportAddress: 'd@s.test', ownDomains: [], maxPerTenant: 3, rechecks },
      clock: { now: () => Date.UTC(2026, 0, 31) },
    } as unknown as DomainsOptions);
    return domains.register(OWNER, { domain: 'acme.test' });
  };
  t.match(await advice(true), { message: /If the name is yours, remove .* three days later, or ask the operator/ });
  t.match(await advice(false), { message: /If the name is yours, ask the operator of this service\.$/ });
});

for (const [why, error] of [
  ['exists', 'domain_exists'],
  ['too_many', 'validation_failed'],
] as const) {
  t.test(`no key pair for a name that is refused: ${why}`, async (t) => {
    const domains = createDomains({
      store: { domains: { refusesDomain: async () => why, findLiveDomain: async () => KNOWN } },
      service: { spfDomain: 'spf.s.test', dmarcReportAddress: 'd@s.test', ownDomains: [], maxPerTenant: 3 },
      clock: { now: () => Date.UTC(2026, 0, 31) },
      createKeyPair: () => t.fail('a key pair was made'),
    } as unknown as DomainsOptions);
    t.match(await domains.register(OWNER, { domain: 'acme.test' }), { refused: error });
  });
}
