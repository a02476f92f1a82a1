// Public or not, in every notation that an address can have.
import t from 'tap';
import { isPublicAddress, networkList } from '../../../src/protocol/dns/addresses/private-address.ts';

const PUBLIC = [
  '8.8.8.8',
  '1.0.0.1',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '198.17.255.255',
  '223.255.255.255',
  '2a00:1450:4001:81b::200e',
  '2001:4860:4860::8888',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
];

const NOT_PUBLIC = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::FFFF:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::1',
  '2002:c0a8:101::1',
  '2001::1',
  '2001:0:7f00:1::1',
  '2001:db8::1',
  '3fff::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1111%eth0',
  'fec0::1',
  'ff02::1',
  '100::1',
  '4000::1',
  '',
  'localhost',
  '127.1',
  '0x7f000001',
  '2130706433',
  '8.8.8.8:80',
  '[::1]',
];

t.test('public addresses', async (t) => {
  for (const ip of PUBLIC) t.equal(isPublicAddress(ip), true, ip);
});

t.test('special addresses, and what is no address', async (t) => {
  for (const ip of NOT_PUBLIC) t.equal(isPublicAddress(ip), false, ip || 'empty');
});

t.test('a list of networks', async (t) => {
  const list = networkList(['127.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1']);
  for (const ip of ['127.0.0.1', '127.9.9.9', '192.0.2.7', 'fd01::1', '::1', '::ffff:127.0.0.1']) {
    t.equal(list.contains(ip), true, ip);
  }
  for (const ip of ['128.0.0.1', '192.0.2.8', 'fe80::1', '::2', 'localhost']) t.equal(list.contains(ip), false, ip);
  t.equal(networkList([]).contains('127.0.0.1'), false);
  t.equal(networkList(['0.0.0.0/0']).contains('8.8.8.8'), true);
});

t.test('an entry that is no network is named', async (t) => {
  for (const wrong of [
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    'fd00::/129',
    '10.0.0.0/8/8',
    '10/8',
    '',
  ]) {
    t.throws(() => networkList([wrong]), { message: new RegExp(`^"${wrong}" is not a network`) }, wrong);
  }
});
