// One NXDOMAIN is no proof: what other resolvers and the name servers of the parent zone say. Several real
// DNS servers on loopback addresses, one port for all.
import t, { type Test } from 'tap';
import { createAuthority } from '../../../src/protocol/dns/lookup/authority.ts';
import { createResolver } from '../../../src/protocol/dns/lookup/resolver.ts';
import { createSecondLooks, type LookSubject } from '../../../src/protocol/dns/second-look.ts';
import { startDnsServer, type TestDnsServer } from '../../support/dns-server.ts';
import { patience } from '../../support/patience.ts';

const ALIVE = [{ exchange: 'mx.there.example', preference: 10 }];

interface Asked {
  signal?: AbortSignal;
  subject?: LookSubject;
  allowPrivate?: boolean;
  /** The addresses of name servers may be private. */
  servesPrivately?: boolean;
  roots?: TestDnsServer[];
}

/** The first resolver knows the name servers of `example`, and nothing below it. */
async function world(t: Test) {
  const first = await startDnsServer();
  const { port } = first;
  const second = await startDnsServer({ address: '127.0.0.2', port });
  const third = await startDnsServer({ address: '127.0.0.3', port });
  const parent = await startDnsServer({ address: '127.0.0.4', port, zones: ['example'] });
  t.teardown(() => Promise.all([first, second, third, parent].map((server) => server.close())));
  const refer = () => {
    first.set('example', 'NS', ['ns1.example']);
    first.set('ns1.example', 'A', [parent.address]);
  };
  const NEVER = new AbortController().signal;
  const look = async (
    domain: string,
    servers: TestDnsServer[],
    { signal = NEVER, subject = 'domain', allowPrivate = true, servesPrivately = true, roots }: Asked = {},
  ) => {
    const rootHints = roots?.map(({ address }, index) => ({ name: `${index}.root.test`, ips: [address] }));
    const endpoints = servers.map(({ endpoint }) => endpoint);
    const resolver = createResolver({ servers: [first.endpoint], clock: { now: () => 0 }, attemptTimeoutMs: 100 });
    const authority = createAuthority({
      ...{ resolver, authorityPort: port, allowPrivate: servesPrivately, serverTimeoutMs: patience(200) },
      ...(rootHints && { rootHints }),
    });
    const looks = createSecondLooks({
      servers: endpoints,
      authority,
      addresses: { allows: () => allowPrivate },
      timeoutMs: patience(400),
      attemptTimeoutMs: patience(100),
    });
    return looks.look(domain, subject, signal);
  };
  return { first, second, third, parent, refer, look };
}

t.test('the name servers of the parent zone know the domain, though the resolver denies it', async (t) => {
  const { first, parent, refer, look } = await world(t);
  refer();
  parent.set('there.example', 'MX', ALIVE);
  t.match(await look('There.Example.', [first]), { kind: 'present', by: /name servers/ });
  t.match(await look('typo.example', [first]), { kind: 'absent', by: /name servers/ });
  parent.set('empty.example', 'TXT', ['no mail']);
  t.match(await look('empty.example', [first]), { kind: 'present' }, 'no MX record, but it exists');
});

t.test('a resolver alone is no second opinion about itself', async (t) => {
  const { first, parent, refer, look } = await world(t);
  t.match(await look('there.example', [first]), { kind: 'unknown', reason: /no name servers above it are known/ });
  t.match(await look('there.example', [first, first]), { kind: 'unknown' }, 'nor when it is configured twice');
  refer();
  parent.behave('there.example', 'servfail');
  t.match(await look('there.example', [first]), { kind: 'unknown', reason: /ns1\.example .*SERVFAIL/ });
  parent.behave('there.example', 'silent');
  t.match(await look('there.example', [first]), { kind: 'unknown', reason: /did not answer in time/ });
});

t.test('other resolvers', async (t) => {
  const { first, second, third, look } = await world(t);
  t.match(await look('typo.example', [first, second]), { kind: 'absent', by: /127\.0\.0\.1:.* and .*127\.0\.0\.2:/ });
  second.behave('there.example', 'servfail');
  t.match(await look('there.example', [first, second]), { kind: 'unknown' }, 'only the first one has answered');
  third.set('there.example', 'MX', ALIVE);
  t.match(await look('there.example', [first, second, third]), { kind: 'present', by: /127\.0\.0\.3:/ });
});

t.test('whoever knows the domain wins: then they disagree', async (t) => {
  const { first, second, refer, look } = await world(t);
  refer();
  second.set('there.example', 'MX', ALIVE);
  t.match(await look('there.example', [first, second]), { kind: 'present', by: /127\.0\.0\.2:/ });
});

t.test('a top-level domain that does not exist is denied by the root', async (t) => {
  const { first, parent: root, look } = await world(t);
  t.match(await look('gmail.con', [first]), { kind: 'unknown' });
  first.set('', 'NS', ['a.root.example']);
  first.set('a.root.example', 'A', [root.address]);
  t.match(await look('gmail.con', [first]), { kind: 'unknown', reason: /root zone/ }, 'the root does not answer that');
  const everything = await startDnsServer({ address: '127.0.0.5', port: first.port });
  t.teardown(() => everything.close());
  first.set('a.root.example', 'A', [everything.address]);
  t.match(await look('gmail.con', [first]), { kind: 'absent' });
});

t.test('a resolver that denies or withholds everything is passed over, from the root downwards', async (t) => {
  const { first, third: root, parent, second: other, look } = await world(t);
  const roots = [root];
  root.delegate('example', { 'ns1.example': [parent.address] });
  parent.set('there.example', 'MX', ALIVE);
  parent.set('mx.there.example', 'A', ['192.0.2.1']);
  // No glue for these: who they are has to be found in the same way.
  root.delegate('org', { 'ns.registry.example': [] });
  parent.set('ns.registry.example', 'A', [other.address]);
  other.set('there.org', 'MX', ALIVE);
  for (const behaviour of [null, 'servfail', 'refused'] as const) {
    first.behave('*', behaviour);
    const how = String(behaviour ?? 'NXDOMAIN');
    t.match(await look('there.example', [first], { roots }), { kind: 'present', by: /name servers/ }, how);
    t.match(await look('typo.example', [first], { roots }), { kind: 'absent', by: /name servers/ }, how);
    t.match(await look('there.org', [first], { roots }), { kind: 'present' }, `${how}, no glue`);
    t.match(await look('typo.org', [first], { roots }), { kind: 'absent' }, `${how}, no glue`);
    t.match(await look('gmail.con', [first], { roots }), { kind: 'absent' }, 'only the root can say that');
    t.match(await look('there.example', [first], { roots, subject: 'route' }), { kind: 'present' }, how);
    t.match(await look('there.example', [first]), { kind: 'unknown' }, 'without the root nobody knows');
  }
});

t.test('the root is asked under the rules for every name server', async (t) => {
  const { first, third: root, parent, refer, look } = await world(t);
  root.delegate('example', { 'ns1.example': [parent.address] });
  parent.set('there.example', 'MX', ALIVE);
  const alone = await look('there.example', [first], { roots: [root], servesPrivately: false });
  t.match(alone, { kind: 'unknown', reason: /no name servers above it are known/ });
  t.same(root.queries, [], 'it is on a private address');
  refer();
  t.match(await look('there.example', [first], { roots: [root] }), { kind: 'present' });
  t.same(root.queries, [], 'the resolver knows the name servers of the zone above');
});

t.test('a name server that leads in a circle ends', async (t) => {
  const { first, third: root, parent, look } = await world(t);
  root.delegate('example', { 'ns1.example': [parent.address] });
  root.delegate('one', { 'ns.two': [] });
  root.delegate('two', { 'ns.one': [] });
  t.match(await look('there.one', [first], { roots: [root] }), { kind: 'unknown', reason: /no address was found/ });
});

t.test('an abort ends it without a verdict', async (t) => {
  const { first, parent, refer, look } = await world(t);
  refer();
  parent.behave('there.example', 'silent');
  const ending = new AbortController();
  const looked = look('there.example', [first], { signal: ending.signal });
  ending.abort();
  t.equal(await looked, null);
  t.equal(await look('other.example', [first], { signal: ending.signal }), null, 'nor does another begin');
  t.match(await look('a name', [first]), { kind: 'absent' }, 'what cannot be a name needs no look');
});

t.test('a route that the resolver does not show', async (t) => {
  const { first, second, parent, refer, look } = await world(t);
  const subject = 'route';
  parent.set('there.example', 'MX', ALIVE);
  t.match(await look('there.example', [first], { subject }), { kind: 'unknown', reason: /no name servers above/ });
  refer();
  t.match(await look('there.example', [first], { subject }), { kind: 'absent' }, 'the mail server has no address');
  parent.set('mx.there.example', 'A', ['192.168.1.1']);
  t.match(await look('there.example', [first], { subject }), { kind: 'present', by: /name servers/ });
  t.match(await look('there.example', [first], { subject, allowPrivate: false }), { kind: 'absent' });
  parent.set('bare.example', 'TXT', ['no mail']);
  t.match(await look('bare.example', [first], { subject }), { kind: 'absent' });
  second.set('bare.example', 'A', ['192.0.2.1']);
  t.match(await look('bare.example', [first, second], { subject }), { kind: 'present', by: /127\.0\.0\.2:/ });
  t.match(await look('gone.example', [first, second], { subject }), { kind: 'absent' });
  parent.behave('bare.example', 'servfail');
  t.match(await look('bare.example', [first], { subject }), { kind: 'unknown', reason: /SERVFAIL/ });
});
