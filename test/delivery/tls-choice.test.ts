// How a host is called, and whether a connection comes up to a policy.
import t from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import { chooseTls, policyGap } from '../../src/delivery/courier/connect.ts';
import type { TlsPolicy } from '../../src/store/transport-security.ts';

const T0 = Date.UTC(2026, 0, 1);
const policy = (mode: TlsPolicy['mode']): TlsPolicy => ({
  domain: 'rcpt.test',
  policyId: '1',
  mode,
  mx: ['mx.rcpt.test'],
  fetchedAt: T0,
  expiresAt: T0 + DAY_MS,
});
const broken = { host: 'mx.rcpt.test', reason: 'no TLS handshake within 60 s', since: T0, expiresAt: T0 + 3 * DAY_MS };

t.test('what decides', async (t) => {
  for (const usual of ['none', 'opportunistic', 'required'] as const) {
    const enforced = chooseTls(usual, policy('enforce'), broken);
    t.match(enforced, { decision: 'required', reason: /policy of rcpt\.test enforces TLS/ }, `enforce over ${usual}`);
    for (const mode of ['none', 'testing'] as const) {
      t.match(chooseTls(usual, policy(mode), null), { decision: usual, reason: `delivery.starttls is ${usual}` });
    }
    t.match(chooseTls(usual, null, null), { decision: usual });
  }
  t.match(chooseTls('opportunistic', null, broken), {
    decision: 'none',
    reason:
      'clear text until 2026-01-04T00:00:00.000Z, because the TLS of mx.rcpt.test broke at 2026-01-01T00:00:00.000Z: no TLS handshake within 60 s',
    until: T0 + 3 * DAY_MS,
  });
  t.equal(chooseTls('opportunistic', policy('testing'), broken).decision, 'none');
  t.equal(chooseTls('required', null, broken).decision, 'required', 'required is never given up');
});

t.test('what comes short of a policy', async (t) => {
  const tls = { version: 'TLSv1.3', cipher: 'x', verified: true };
  const good = { mx: 'mx.rcpt.test', tls, tlsUnverified: null };
  for (const mode of ['testing', 'enforce'] as const) {
    t.equal(policyGap(policy(mode), good), null);
    t.match(policyGap(policy(mode), { ...good, mx: 'mx2.rcpt.test' }), /does not name mx2\.rcpt\.test/);
    t.match(policyGap(policy(mode), { ...good, tls: null }), /in clear text/);
    t.match(policyGap(policy(mode), { ...good, tlsUnverified: 'CERT_HAS_EXPIRED' }), /CERT_HAS_EXPIRED/);
  }
  t.equal(policyGap(policy('none'), { mx: 'anybody', tls: null, tlsUnverified: null }), null);
});
