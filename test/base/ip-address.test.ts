// IP addresses in one spelling, and their networks in whatever spelling they come.
import t from 'tap';
import { hostInUrl, networkOf, normaliseAddress, reachableHere, siteOf } from '../../src/base/ip-address.ts';

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

t.test('the network of an address', async (t) => {
  const cases: [address: string, network: string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::9', '2001:db8:0:0::/64'],
    ['1:2::3:4:5:6:7', '1:2:0:3::/64'],
    ['::1:2:3:4:192.0.2.7', '0:0:1:2::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::192.0.2.7', '0:0:0:0::/64'],
    ['', ''],
    ['unknown', 'unknown'],
  ];
  for (const [address, network] of cases) t.equal(networkOf(address), network, address);
});

t.test('the site of an address', async (t) => {
  t.equal(siteOf('2001:DB8:0001:2::9'), '2001:db8:1::/48');
  t.equal(siteOf('::1'), '0:0:0::/48');
  t.equal(siteOf('::ffff:192.0.2.7'), null);
  t.equal(siteOf('192.0.2.7'), null);
  t.equal(siteOf(''), null);
});

t.test('what listens everywhere is reached on loopback', async (t) => {
  const urls = ['0.0.0.0', '::', '192.0.2.1', '2001:db8::1'].map((host) => hostInUrl(reachableHere(host)));
  t.same(urls, ['127.0.0.1', '[::1]', '192.0.2.1', '[2001:db8::1]']);
});
