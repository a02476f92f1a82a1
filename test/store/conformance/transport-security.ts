// Conformance: what is known of the security of receiving servers.
import type { Test } from 'tap';
import type { BrokenTls, TlsPolicy } from '../../../src/store/transport-security.ts';
import { type Bench, T0 } from './harness.ts';

const DAY = 86_400_000;

export const transportSecurityCases = {
  'a policy is found until it ends': async (t: Test, bench: Bench) => {
    const policy = tlsPolicy({ mx: ['mx.x.test', '*.y.test'] });
    await bench.store.transportSecurity.putTlsPolicy(policy, 10);
    t.strictSame(await bench.store.transportSecurity.findTlsPolicy('x.test', T0), policy);
    t.strictSame(await bench.store.transportSecurity.findTlsPolicy('x.test', policy.expiresAt - 1), policy);
    t.equal(await bench.store.transportSecurity.findTlsPolicy('x.test', policy.expiresAt), null);
    t.equal(await bench.store.transportSecurity.findTlsPolicy('y.test', T0), null);
  },

  'a domain has one policy: the last one': async (t: Test, bench: Bench) => {
    await bench.store.transportSecurity.putTlsPolicy(tlsPolicy({}), 10);
    const next = tlsPolicy({ policyId: '2', mode: 'none', mx: [], fetchedAt: T0 + 1 });
    await bench.store.transportSecurity.putTlsPolicy(next, 10);
    t.strictSame(await bench.store.transportSecurity.findTlsPolicy('x.test', T0), next);
  },

  'policies are bounded: what ends first makes room': async (t: Test, bench: Bench) => {
    for (const [domain, days] of [
      ['a.test', 3],
      ['b.test', 1],
      ['c.test', 2],
      ['d.test', 4],
    ] as const) {
      await bench.store.transportSecurity.putTlsPolicy(tlsPolicy({ domain, expiresAt: T0 + days * DAY }), 3);
    }
    const found = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => bench.store.transportSecurity.findTlsPolicy(`${name}.test`, T0)),
    );
    t.strictSame(
      found.map((policy) => policy?.domain ?? null),
      ['a.test', null, 'c.test', 'd.test'],
    );
  },

  'a host with broken TLS is found until it ends, and replaced': async (t: Test, bench: Bench) => {
    const broken = brokenTls({});
    await bench.store.transportSecurity.putBrokenTls(broken, 10);
    t.strictSame(await bench.store.transportSecurity.findBrokenTls('mx.x.test', T0), broken);
    t.equal(await bench.store.transportSecurity.findBrokenTls('mx.x.test', broken.expiresAt), null);
    const again = brokenTls({ reason: 'again', since: T0 + DAY, expiresAt: T0 + 4 * DAY });
    await bench.store.transportSecurity.putBrokenTls(again, 10);
    t.strictSame(await bench.store.transportSecurity.findBrokenTls('mx.x.test', T0 + DAY), again);
  },

  'hosts with broken TLS are bounded, and those that ended make room first': async (t: Test, bench: Bench) => {
    await bench.store.transportSecurity.putBrokenTls(brokenTls({ host: 'old.test', expiresAt: T0 + DAY }), 2);
    await bench.store.transportSecurity.putBrokenTls(brokenTls({ host: 'a.test' }), 2);
    await bench.store.transportSecurity.putBrokenTls(
      brokenTls({ host: 'b.test', since: T0 + DAY, expiresAt: T0 + 9 * DAY }),
      2,
    );
    t.ok(await bench.store.transportSecurity.findBrokenTls('a.test', T0 + DAY));
    await bench.store.transportSecurity.putBrokenTls(
      brokenTls({ host: 'c.test', since: T0 + DAY, expiresAt: T0 + 9 * DAY }),
      2,
    );
    t.equal(await bench.store.transportSecurity.findBrokenTls('a.test', T0 + DAY), null);
    t.ok(await bench.store.transportSecurity.findBrokenTls('b.test', T0 + DAY));
  },
};

function tlsPolicy(change: Partial<TlsPolicy>): TlsPolicy {
  const policy = { domain: 'x.test', policyId: '1', mode: 'enforce', mx: ['mx.x.test'] } as const;
  return { ...policy, mx: [...policy.mx], fetchedAt: T0, expiresAt: T0 + DAY, ...change };
}

function brokenTls(change: Partial<BrokenTls>): BrokenTls {
  return { host: 'mx.x.test', reason: 'no TLS handshake within 60 s', since: T0, expiresAt: T0 + 3 * DAY, ...change };
}
