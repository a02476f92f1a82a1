// Where webhooks may lead: every notation of an address that is not public, and what
// `webhooks.allow_private` lets through all the same.
import t from 'tap';
import { refuseAddress, refuseTarget, targetPolicy } from '../../src/webhooks/target.ts';

const CLOSED = targetPolicy(false);

function refusalOf(host: string, policy = CLOSED): string | null {
  return refuseTarget(new URL(`http://${host}/hook`), policy);
}

t.test('addresses that are not public, in every notation', async (t) => {
  const loopback = [
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0X7F.0.0.0x1', '0177.0.0.1'],
    ...['017700000001', '127.0.0.1.', '127.255.255.254', '%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1', '①②⑦.1'],
    ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:7f00:1]', '[::ffff:127.0.0.1]', '[::FFFF:127.0.0.1]', '[::7f00:1]'],
    ...['[::ffff:0:7f00:1]', '[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
    ...['[2001:0:7f00:1::]', 'user@127.0.0.1', '127.0.0.1:8080'],
  ];
  const others = [
    ...['0', '0.0.0.0', '[::]', '10.0.0.1', '10.1', '0xa.1', '167772161', '172.16.0.1', '192.168.1.1', '3232235777'],
    ...['169.254.169.254', '2852039166', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]'],
    ...['100.64.0.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '4294967295'],
    ...['[fe80::1]', '[fc00::1]', '[fd12:3456::1]', '[ff02::1]', '[2001:db8::1]', '[fec0::1]', '[100::1]', '[5f00::1]'],
  ];
  for (const host of [...loopback, ...others]) {
    t.match(refusalOf(host), /is not a public address\. .*webhooks\.allow_private/, host);
  }
  t.match(refusalOf('2130706433'), /^127\.0\.0\.1 is not/, 'the address that is meant is named');
  t.match(refusalOf('[64:ff9b::127.0.0.1]'), /^64:ff9b::7f00:1 is not/);
});

t.test('names of this machine', async (t) => {
  const names = ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.', 'loc%61lhost', 'ｌocalhost'];
  for (const name of names) t.match(refusalOf(name), /this machine\. .*webhooks\.allow_private/, name);
  for (const name of ['localhost.test', 'notlocalhost', 'my-localhost', 'localhost.example.com', 'localhosts']) {
    t.equal(refusalOf(name), null, name);
  }
});

t.test('public addresses and names', async (t) => {
  const hosts = [
    'example.com',
    'intranet',
    '8.8.8.8',
    '134744072',
    '[2606:4700::1111]',
    '[::ffff:8.8.8.8]',
    'xn--bcher-kva.test',
  ];
  for (const host of [...hosts, '127.0.0.1.example.com', '0x7f.example.com']) t.equal(refusalOf(host), null, host);
});

t.test('allow_private: true allows all', async (t) => {
  const policy = targetPolicy(true);
  for (const host of ['127.1', '[::1]', '10.0.0.1', '169.254.169.254', 'localhost']) {
    t.equal(refusalOf(host, policy), null, host);
  }
});

t.test('allow_private: networks allow these and no others', async (t) => {
  const sandbox = targetPolicy(['127.0.0.0/8', '::1']);
  for (const host of ['127.1', '127.8.8.8', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'a.localhost', '8.8.8.8']) {
    t.equal(refusalOf(host, sandbox), null, host);
  }
  for (const host of ['10.0.0.1', '128.0.0.0@0', '[::2]', '169.254.169.254', '[64:ff9b::127.0.0.1]']) {
    t.match(refusalOf(host, sandbox), /not a public address/, host);
  }
  const office = targetPolicy(['10.1.0.0/16']);
  t.equal(refusalOf('10.1.2.3', office), null);
  t.match(refusalOf('10.2.0.1', office), /not a public address/);
  t.match(refusalOf('localhost', office), /this machine/);
  t.equal(refusalOf('localhost', targetPolicy(['::1'])), null, 'one of its addresses is enough');
  t.match(refusalOf('127.0.0.1', targetPolicy([])), /not a public address/);
});

t.test('the same policy judges what a name has resolved to', async (t) => {
  const closed = CLOSED.addressesOf('a.test');
  const open = targetPolicy(['127.0.0.0/8']).addressesOf('a.test');
  t.match(refuseAddress('127.0.0.1', closed), /^127\.0\.0\.1 is not a public address\. .*webhooks\.allow_private/);
  t.equal(refuseAddress('8.8.8.8', closed), null);
  t.equal(refuseAddress('127.0.0.1', open), null);
  t.match(refuseAddress('fe80::1%eth0', open), /not a public address/);
  t.match(refuseAddress('nonsense', open), /not a public address/);
});
