// What a courier thread knows of TLS policies without reading them again.
import t from 'tap';
import { recentPolicies } from '../../../src/delivery/courier/recent-policies.ts';
import type { TlsPolicy } from '../../../src/store/transport-security.ts';

const STRICT: TlsPolicy = {
  ...{ domain: 'strict.test', policyId: '1', mode: 'enforce', mx: ['mx.strict.test'] },
  ...{ fetchedAt: 0, expiresAt: Number.MAX_SAFE_INTEGER },
};

function setUp() {
  let now = 1_800_000_000_000;
  const clock = { now: () => now, advance: (ms: number) => (now += ms) };
  const stored = new Map<string, TlsPolicy>();
  const read: string[] = [];
  const reader = {
    async tlsPolicy(domain: string) {
      read.push(domain);
      if (domain === 'unreadable.test' && read.length === 1) throw new Error('disk I/O error');
      return stored.get(domain) ?? null;
    },
  };
  return { clock, stored, read, policyOf: recentPolicies(reader, clock) };
}

t.test('that a domain has no policy is read once per second', async (t) => {
  const { clock, stored, read, policyOf } = setUp();
  for (const domain of ['plain.test', 'other.test', 'plain.test', 'other.test']) {
    t.equal(await policyOf(domain), null, domain);
  }
  t.same(read, ['plain.test', 'other.test']);

  stored.set('plain.test', { ...STRICT, domain: 'plain.test' });
  clock.advance(999);
  t.equal(await policyOf('plain.test'), null, 'not yet');
  clock.advance(1);
  t.match(await policyOf('plain.test'), { domain: 'plain.test' }, 'found a second later');
});

t.test('a policy is read for every message: it may end, or be replaced', async (t) => {
  const { stored, read, policyOf } = setUp();
  stored.set('strict.test', STRICT);
  t.same(await policyOf('strict.test'), STRICT);
  stored.set('strict.test', { ...STRICT, policyId: '2' });
  t.match(await policyOf('strict.test'), { policyId: '2' });
  t.same(read, ['strict.test', 'strict.test']);
});

t.test('the clock may be set back', async (t) => {
  const { clock, stored, policyOf } = setUp();
  t.equal(await policyOf('strict.test'), null);
  stored.set('strict.test', STRICT);
  clock.advance(-3_600_000);
  t.same(await policyOf('strict.test'), STRICT);
});

t.test('what could not be read is read for the next message', async (t) => {
  const { policyOf } = setUp();
  await t.rejects(policyOf('unreadable.test'), { message: 'disk I/O error' });
  t.equal(await policyOf('unreadable.test'), null);
});
