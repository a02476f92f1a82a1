// Which addresses of receivers this machine can call at all, by the addresses of its own.
import type { NetworkInterfaceInfo } from 'node:os';
import t from 'tap';
import { findSkipped, findUnreachable, hostsFor } from '../../src/delivery/route/source-addresses.ts';
import type { MailHost } from '../../src/protocol/dns/mail-route.ts';

function machine(...ips: string[]) {
  const common = { netmask: '', mac: '', internal: false, cidr: null };
  const interfaces = ips.map((address): NetworkInterfaceInfo => {
    return address.includes(':')
      ? { ...common, address, family: 'IPv6', scopeid: 0 }
      : { ...common, address, family: 'IPv4' };
  });
  return { sources: null, readInterfaces: () => ({ eth0: interfaces }) };
}

function host(...ips: string[]): MailHost {
  const addresses = ips.map((ip) => ({ ip, family: ip.includes(':') ? (6 as const) : (4 as const) }));
  return { name: 'mx.test', preference: 10, addresses };
}

const ROUTES_NOWHERE = ['::1', 'fe80::1', 'febf::1', 'fd00::2', 'fc12:3456::1', 'FD00::2'];

t.test('only IPv6 there: a machine whose addresses lead nowhere cannot call it', async (t) => {
  const hosts = [host('2001:db8::25')];
  const reason = 'no mail server of mx.test has an IPv4 address, and this machine has no public IPv6 address';
  for (const own of ROUTES_NOWHERE)
    t.strictSame(findUnreachable('mx.test', hosts, machine('192.0.2.1', own)), { kind: 'unreachable', reason }, own);
  t.equal(findUnreachable('mx.test', hosts, machine('fd00::2', '2001:db8::1')), null);
});

t.test('a unique local address is called from one, and the own machine from anywhere', async (t) => {
  const local = [host('fd00::25')];
  t.equal(findUnreachable('mx.test', local, machine('fd12::1')), null);
  t.match(findUnreachable('mx.test', local, machine('192.0.2.1', 'fe80::1')), { kind: 'unreachable' });
  t.equal(findUnreachable('mx.test', [host('::1')], machine('192.0.2.1')), null);
});

t.test('both there: what this machine cannot call is skipped', async (t) => {
  const hosts = [host('192.0.2.25', '2001:db8::25', 'fd00::25', '::1')];
  const skipped = (...own: string[]) => findSkipped(hosts, machine(...own).readInterfaces);
  const reason = 'not called: this machine has no public IPv6 address';
  t.strictSame(skipped('192.0.2.1'), { ips: ['2001:db8::25', 'fd00::25'], reason });
  t.strictSame(skipped('192.0.2.1', 'fd00::2'), { ips: ['2001:db8::25'], reason });
  t.equal(skipped('192.0.2.1', '2001:db8::1'), null);
  t.equal(findSkipped([host('192.0.2.25')], machine().readInterfaces), null, 'nothing to skip');
  t.equal(findSkipped([host('2001:db8::25')], machine().readInterfaces), null, 'nothing else to call');
});

t.test('hosts are left out without an address that can be called', async (t) => {
  const hosts = [host('192.0.2.25', '2001:db8::25'), host(), host('2001:db8::26')];
  const ips = (ip: string | null) =>
    hostsFor(ip === null ? null : { ip, ehloName: 'mail.test' }, hosts).map(({ addresses }) =>
      addresses.map((address) => address.ip),
    );
  t.strictSame(ips(null), [['192.0.2.25', '2001:db8::25'], ['2001:db8::26']]);
  t.strictSame(ips('192.0.2.1'), [['192.0.2.25']]);
  t.strictSame(ips('2001:db8::1'), [['2001:db8::25'], ['2001:db8::26']]);
});
