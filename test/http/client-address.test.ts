import t from 'tap';
import { normaliseAddress, TrustedProxies } from '../../src/http/client-address.ts';

t.test('one spelling for each address', async (t) => {
  const cases: [written: string, normal: string | null][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['192.0.2.256', null],
    ['0x7f000001', null],
    ['unknown', null],
    ['', null],
  ];
  for (const [written, normal] of cases) t.equal(normaliseAddress(written), normal, written);
});

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
