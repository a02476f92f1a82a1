import t from 'tap';
import { TrustedProxies } from '../../src/http/client-address.ts';

t.test('the client is the first hop from the right that is not trusted', async (t) => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
  const cases: [peer: string, forwarded: string | undefined, client: string][] = [
    ['203.0.113.1', '1.1.1.1', '203.0.113.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.1', '203.0.113.1'],
    ['10.0.0.1', '6.6.6.6, 203.0.113.1', '203.0.113.1'],
    ['10.0.0.1', '6.6.6.6, 203.0.113.1 ,2001:db8::7,192.0.2.1', '203.0.113.1'],
    ['10.0.0.1', '203.0.113.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '203.0.113.1:4711', '203.0.113.1'],
    ['10.0.0.1', '[2001:DB9::1]:4711', '2001:db9::1'],
    ['10.0.0.1', '2001:DB9::1', '2001:db9::1'],
    ['10.0.0.1', '::ffff:203.0.113.1', '203.0.113.1'],
    ['', '203.0.113.1', ''],
  ];
  for (const [peer, forwarded, client] of cases) {
    t.equal(proxies.clientBehind(peer, forwarded), client, `${peer} <- ${forwarded}`);
  }
});

t.test('mapped spellings of a trusted network are trusted too, others refused', async (t) => {
  t.equal(new TrustedProxies(['::ffff:10.0.0.1']).trusts('10.0.0.1'), true);
  t.equal(new TrustedProxies(['0.0.0.0/0']).trusts('203.0.113.1'), true);
  t.equal(new TrustedProxies([]).trusts('127.0.0.1'), false);
  for (const wrong of ['proxy.test', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', '::/129', '']) {
    t.throws(() => new TrustedProxies([wrong]), { message: /trusted proxy/ }, wrong);
  }
});
