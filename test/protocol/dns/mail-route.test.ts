// Where mail for a domain goes, asked of a real DNS server.
import t from 'tap';
import { createResolver } from '../../../src/protocol/dns/lookup/resolver.ts';
import { findMailRoute } from '../../../src/protocol/dns/mail-route.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { patience } from '../../support/patience.ts';

const server = await startDnsServer();
t.teardown(() => server.close());

/** A new resolver every time, so that no test sees the cache of another. */
function route(domain: string, random = () => 0, timeoutMs = patience(5000)) {
  const clock = { now: () => 0 };
  const resolver = createResolver({ servers: [server.endpoint], clock, attemptTimeoutMs: patience(2000), timeoutMs });
  return findMailRoute(domain, { resolver, random });
}

async function names(domain: string, random?: () => number): Promise<string[]> {
  const found = await route(domain, random);
  return found.kind === 'hosts' ? found.hosts.map((host) => host.name) : [found.kind];
}

const mx = (...entries: [string, number][]) => entries.map(([exchange, preference]) => ({ exchange, preference }));
const ipv4 = (ip: string) => ({ ip, family: 4 });
const ipv6 = (ip: string) => ({ ip, family: 6 });

server.set('a.mx.test', 'A', ['192.0.2.1']);
server.set('b.mx.test', 'A', ['192.0.2.2']);
server.set('b.mx.test', 'AAAA', ['2001:db8::2']);
server.set('c.mx.test', 'AAAA', ['2001:db8::3']);

t.test('hosts in the order of their preference, with addresses of both families', async (t) => {
  server.set('plain.test', 'MX', mx(['c.mx.test', 30], ['a.mx.test', 10], ['b.mx.test', 20]), 120);
  t.same(await route('plain.test'), {
    kind: 'hosts',
    hosts: [
      { name: 'a.mx.test', preference: 10, addresses: [ipv4('192.0.2.1')] },
      { name: 'b.mx.test', preference: 20, addresses: [ipv4('192.0.2.2'), ipv6('2001:db8::2')] },
      { name: 'c.mx.test', preference: 30, addresses: [ipv6('2001:db8::3')] },
    ],
    names: ['a.mx.test', 'b.mx.test', 'c.mx.test'],
    ttlMs: 120_000,
  });
});

t.test('equal preferences come in every order, unequal ones never change places', async (t) => {
  server.set('equal.test', 'MX', mx(['c.mx.test', 20], ['a.mx.test', 10], ['b.mx.test', 10]));
  const seen = new Map<string, number>();
  // Two draws for one shuffle of three, taken from all pairs of a grid.
  for (let i = 0; i < 36; i++) {
    const draws = [Math.floor(i / 6) / 6, (i % 6) / 6];
    const order = (await names('equal.test', () => draws.shift()!)).join(' ');
    seen.set(order, (seen.get(order) ?? 0) + 1);
  }
  t.same(Object.fromEntries(seen), { 'a.mx.test b.mx.test c.mx.test': 18, 'b.mx.test a.mx.test c.mx.test': 18 });
});

t.test('without MX the domain itself is the host', async (t) => {
  server.set('implicit.test', 'A', ['192.0.2.10']);
  server.set('implicit.test', 'AAAA', ['2001:db8::10']);
  const addresses = [ipv4('192.0.2.10'), ipv6('2001:db8::10')];
  const hosts = [{ name: 'implicit.test', preference: 0, addresses }];
  t.same(await route('implicit.test'), { kind: 'hosts', hosts, names: ['implicit.test'], ttlMs: 300_000 });
});

t.test('a null MX takes no mail, even if the domain has an address', async (t) => {
  server.set('null.test', 'MX', mx(['', 0]));
  server.set('null.test', 'A', ['192.0.2.1']);
  t.match(await route('null.test'), { kind: 'undeliverable', enhancedCode: '5.1.10', reason: /null\.test.*null MX/ });
  server.set('half-null.test', 'MX', mx(['', 0], ['a.mx.test', 10]));
  t.same(await names('half-null.test'), ['a.mx.test'], 'beside another MX it does not count');
});

t.test('a domain that is an alias', async (t) => {
  server.set('alias.test', 'CNAME', ['plain.test']);
  t.same(await names('alias.test'), ['a.mx.test', 'b.mx.test', 'c.mx.test']);
  server.set('alias-implicit.test', 'CNAME', ['implicit.test']);
  t.match(await route('alias-implicit.test'), { hosts: [{ addresses: [ipv4('192.0.2.10'), ipv6('2001:db8::10')] }] });
});

t.test('undeliverable', async (t) => {
  t.match(await route('nowhere.test'), {
    kind: 'undeliverable',
    enhancedCode: '5.1.2',
    reason: /nowhere\.test does not exist/,
  });
  server.set('textonly.test', 'TXT', ['nothing else']);
  t.match(await route('textonly.test'), { kind: 'undeliverable', enhancedCode: '5.4.4', reason: /neither an MX/ });
  server.set('hostless.test', 'MX', mx(['gone.mx.test', 10], ['textonly.test', 20]));
  t.match(await route('hostless.test'), {
    kind: 'undeliverable',
    enhancedCode: '5.4.4',
    reason: /None of the mail servers/,
  });
});

t.test('hosts that are of no use are passed over', async (t) => {
  server.set(
    'mixed.test',
    'MX',
    mx(['gone.mx.test', 1], ['192.0.2.5', 2], ['[192.0.2.6]', 3], ['a b.mx.test', 4], ['a.mx.test', 10]),
  );
  // Even if somebody makes an address a name.
  server.set('192.0.2.5', 'A', ['192.0.2.5']);
  t.same(await names('mixed.test'), ['a.mx.test']);
  server.set('literal.test', 'MX', mx(['192.0.2.5', 10]));
  server.set('literal.test', 'A', ['192.0.2.1']);
  t.match(await route('literal.test'), { enhancedCode: '5.4.4' }, 'with an MX, the domain itself is never the host');
});

t.test('a host named twice is tried once, with its better preference', async (t) => {
  server.set('twice.test', 'MX', mx(['a.mx.test', 20], ['b.mx.test', 15], ['A.mx.test', 10]));
  const found = await route('twice.test');
  t.match(found, {
    hosts: [
      { name: 'a.mx.test', preference: 10 },
      { name: 'b.mx.test', preference: 15 },
    ],
  });
  t.equal(found.kind === 'hosts' && found.hosts.length, 2);
});

t.test('an outage is never a statement about the domain', async (t) => {
  server.set('dark-1.mx.test', 'A', ['192.0.2.1']);
  for (const name of ['outage.test', 'dark-1.mx.test', 'dark-2.mx.test']) server.behave(name, 'servfail');
  server.behave('dark-2.mx.test', 'silent');
  t.match(await route('outage.test'), { kind: 'unavailable', reason: /outage\.test MX.*SERVFAIL/ });
  server.set('all-dark.test', 'MX', mx(['dark-1.mx.test', 10], ['dark-2.mx.test', 20], ['gone.mx.test', 30]));
  t.match(await route('all-dark.test', undefined, 400), { kind: 'unavailable', reason: /dark-1\.mx\.test A/ });
});

t.test('what resolves in spite of an outage is used, and looked up again soon', async (t) => {
  server.behave('dark-1.mx.test', 'servfail');
  server.set('partly-dark.test', 'MX', mx(['dark-1.mx.test', 10], ['a.mx.test', 20], ['gone.mx.test', 30]));
  t.strictSame(await route('partly-dark.test'), {
    kind: 'hosts',
    hosts: [
      { name: 'dark-1.mx.test', preference: 10, addresses: [] },
      { name: 'a.mx.test', preference: 20, addresses: [ipv4('192.0.2.1')] },
    ],
    names: ['dark-1.mx.test', 'a.mx.test', 'gone.mx.test'],
    ttlMs: 30_000,
  });
});

t.test('at most 20 hosts and 8 addresses of each', async (t) => {
  const many = Array.from({ length: 25 }, (_, i): [string, number] => [`h${i}.many.test`, i]);
  server.set('many.test', 'MX', mx(...many));
  const ips = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`);
  for (const [host] of many) server.set(host, 'A', ips(10, '192.0.2.'));
  server.set('h0.many.test', 'AAAA', ips(10, '2001:db8::'));
  const found = await route('many.test');
  if (found.kind !== 'hosts') return t.fail(found.kind);
  t.equal(found.names.length, 25);
  t.equal(found.hosts[19]?.addresses.length, 8);
  t.strictSame(found.hosts.slice(20), [{ name: 'h20.many.test', preference: 20, addresses: [] }], 'one for the rest');
  const families = found.hosts[0]!.addresses.map((address) => address.family);
  t.same(families, [4, 6, 4, 6, 4, 6, 4, 6], 'the cap leaves both families');
  t.equal(found.hosts[1]!.addresses.length, 8);
});
