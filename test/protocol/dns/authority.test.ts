// TXT records from the zone's own servers: several real servers on loopback addresses, one port for all.
import t from 'tap';
import { type AuthorityOptions, createAuthority } from '../../../src/protocol/dns/lookup/authority.ts';
import { createResolver } from '../../../src/protocol/dns/lookup/resolver.ts';
import { startDnsServer, type TestDnsServer } from '../../support/dns-server.ts';
import { patience, within } from '../../support/patience.ts';

// The resolver knows who serves which zone; it has none of the TXT records that are asked for.
const resolverServer = await startDnsServer();
const { port } = resolverServer;
const one = await startDnsServer({ address: '127.0.0.2', port });
const two = await startDnsServer({ address: '127.0.0.3', port });
t.teardown(() => Promise.all([resolverServer, one, two].map((server) => server.close())));

function newAuthority(changes: Partial<AuthorityOptions> = {}) {
  const servers = [resolverServer.endpoint];
  const resolver = createResolver({ servers, clock: { now: () => 0 }, attemptTimeoutMs: patience(2000) });
  return createAuthority({ resolver, authorityPort: port, allowPrivate: true, staggerMs: 20, ...changes });
}

/** Makes the zone's delegation visible to the resolver. */
function serveZone(zone: string, ...servers: TestDnsServer[]): void {
  resolverServer.set(
    zone,
    'NS',
    servers.map((_, i) => `ns${i + 1}.${zone}`),
  );
  for (const [i, server] of servers.entries()) resolverServer.set(`ns${i + 1}.${zone}`, 'A', [server.address]);
}

const asked = (server: TestDnsServer, name: string) => server.queries.filter((query) => query.name === name);

t.test('the records come from the name servers, not from the resolver', async (t) => {
  serveZone('direct.test', one);
  one.set('s._domainkey.direct.test', 'TXT', ['fresh', ['split ', 'in two']], 60);
  resolverServer.set('s._domainkey.direct.test', 'TXT', ['stale']);
  const result = await newAuthority().txt('S._domainkey.Direct.test.');
  t.same(result, { kind: 'found', records: ['fresh', 'split in two'], ttlMs: 60_000 });
});

t.test('what has changed counts at once', async (t) => {
  const authority = newAuthority();
  serveZone('changing.test', one);
  t.same(await authority.txt('changing.test'), { kind: 'no_domain' });
  one.set('changing.test', 'TXT', ['now']);
  t.match(await authority.txt('changing.test'), { kind: 'found', records: ['now'] });
  one.remove('changing.test');
  one.set('changing.test', 'A', ['192.0.2.1']);
  t.same(await authority.txt('changing.test'), { kind: 'no_records' });
});

t.test('a name that no zone holds', async (t) => {
  t.same(await newAuthority().txt('s._domainkey.unregistered.invalid'), { kind: 'no_domain' });
  t.same(await newAuthority().txt('not..a.name'), { kind: 'no_domain' });
});

t.test('the deepest zone is asked', async (t) => {
  serveZone('outer.test', one);
  serveZone('inner.outer.test', two);
  one.set('x.inner.outer.test', 'TXT', ['outer']);
  two.set('x.inner.outer.test', 'TXT', ['inner']);
  t.match(await newAuthority().txt('x.inner.outer.test'), { records: ['inner'] });
});

t.test('a truncated answer is fetched over TCP', async (t) => {
  serveZone('truncated.test', one);
  one.set('truncated.test', 'TXT', ['whole']);
  one.behave('truncated.test', 'truncate');
  t.match(await newAuthority().txt('truncated.test'), { records: ['whole'] });
  t.same(
    asked(one, 'truncated.test').map((query) => query.transport),
    ['udp', 'tcp'],
  );
});

t.test('aliases', async (t) => {
  serveZone('customer.test', one);
  serveZone('provider.test', two);

  t.test('within the zone', async (t) => {
    one.set('in._domainkey.customer.test', 'CNAME', ['key.customer.test']);
    one.set('key.customer.test', 'TXT', ['own key']);
    t.match(await newAuthority().txt('in._domainkey.customer.test'), { records: ['own key'] });
  });
  t.test('into another zone, whose own servers decide', async (t) => {
    one.set('out._domainkey.customer.test', 'CNAME', ['key.provider.test']);
    one.set('key.provider.test', 'TXT', ['what the first server happens to know']);
    two.set('key.provider.test', 'TXT', ['true key']);
    t.match(await newAuthority().txt('out._domainkey.customer.test'), { records: ['true key'] });
  });
  t.test('into nothing', async (t) => {
    one.set('gone._domainkey.customer.test', 'CNAME', ['gone.provider.test']);
    t.same(await newAuthority().txt('gone._domainkey.customer.test'), { kind: 'no_domain' });
  });
  t.test('in a circle', async (t) => {
    one.set('ring.customer.test', 'CNAME', ['ring.provider.test']);
    two.set('ring.provider.test', 'CNAME', ['ring.customer.test']);
    t.match(await newAuthority().txt('ring.customer.test'), { kind: 'unavailable', reason: /more than 8 aliases/ });
  });
  t.test('to the top of a zone do not make it the zone of the alias', async (t) => {
    resolverServer.set('top.customer.test', 'CNAME', ['provider.test']);
    one.set('top.customer.test', 'CNAME', ['provider.test']);
    two.set('provider.test', 'TXT', ['top']);
    two.behave('top.customer.test', 'refused');
    t.match(await newAuthority().txt('top.customer.test'), { records: ['top'] });
  });
});

t.test('referrals', async (t) => {
  serveZone('parent.test', one);

  t.test('with glue', async (t) => {
    one.delegate('child.parent.test', { 'ns1.child.parent.test': [two.address] });
    two.set('x.child.parent.test', 'TXT', ['from the child']);
    t.match(await newAuthority().txt('x.child.parent.test'), { records: ['from the child'] });
  });
  t.test('without glue', async (t) => {
    one.delegate('bare.parent.test', { 'ns.elsewhere.test': [] });
    resolverServer.set('ns.elsewhere.test', 'A', [two.address]);
    two.set('bare.parent.test', 'TXT', ['no glue needed']);
    t.match(await newAuthority().txt('bare.parent.test'), { records: ['no glue needed'] });
  });
  t.test('glue for a foreign name is not believed', async (t) => {
    one.delegate('poison.parent.test', { 'ns.victim.test': ['127.0.0.1'] });
    resolverServer.set('ns.victim.test', 'A', [two.address]);
    resolverServer.set('poison.parent.test', 'TXT', ['forged']);
    two.set('poison.parent.test', 'TXT', ['true']);
    t.match(await newAuthority().txt('poison.parent.test'), { records: ['true'] });
  });
  t.test('upwards mean that the server is lame', async (t) => {
    one.behave('lame.parent.test', 'upward_referral');
    t.match(await newAuthority().txt('lame.parent.test'), { kind: 'unavailable', reason: /with authority/ });
    serveZone('low.high.test', two);
    two.delegate('high.test', { 'ns1.high.test': [one.address] });
    t.match(await newAuthority().txt('low.high.test'), { kind: 'unavailable', reason: /with authority/ });
  });
  t.test('to the zone itself are no answer either', async (t) => {
    serveZone('self.test', two);
    two.delegate('self.test', { 'ns1.self.test': [two.address] });
    t.match(await newAuthority().txt('self.test'), { kind: 'unavailable', reason: /with authority/ });
  });
});

t.test('name servers whose names only glue can resolve', async (t) => {
  // The resolver does not find an address, so the zone above is asked and refers with glue.
  serveZone('above.test', one);
  resolverServer.set('glued.above.test', 'NS', ['ns1.glued.above.test']);
  one.delegate('glued.above.test', { 'ns1.glued.above.test': [two.address] });
  two.set('glued.above.test', 'TXT', ['by glue']);
  t.match(await newAuthority().txt('glued.above.test'), { records: ['by glue'] });
});

t.test('every server may answer', async (t) => {
  for (const behaviour of ['servfail', 'refused', 'not_authoritative', 'garbage', 'silent', 'wrong_id'] as const) {
    const zone = `${behaviour.replace('_', '-')}.test`;
    serveZone(zone, one, two);
    one.set(zone, 'TXT', ['must not count']);
    one.behave(zone, behaviour);
    two.set(zone, 'TXT', ['from the second']);
    // An hour for a server: the second does not wait for the end of the first one.
    const authority = newAuthority({ serverTimeoutMs: 3_600_000, totalTimeoutMs: 3_600_000 });
    const answer = await within(10_000, behaviour, authority.txt(zone));
    t.match(answer, { records: ['from the second'] }, behaviour);
  }
});

t.test('when no server answers, the reason names them', async (t) => {
  serveZone('all-bad.test', one, two);
  one.behave('all-bad.test', 'servfail');
  two.behave('all-bad.test', 'silent');
  const result = await newAuthority({ serverTimeoutMs: patience(400) }).txt('all-bad.test');
  t.equal(result.kind, 'unavailable');
  const { reason } = result as { reason: string };
  t.match(reason, 'no name server of all-bad.test gave a usable answer');
  t.match(reason, 'ns1.all-bad.test (127.0.0.2) answered SERVFAIL');
  t.match(reason, 'ns2.all-bad.test (127.0.0.3) did not answer in time');
});

t.test('a server that cannot be reached', async (t) => {
  resolverServer.set('dead.test', 'NS', ['ns1.dead.test']);
  resolverServer.set('ns1.dead.test', 'A', ['127.0.0.99']);
  t.match(await newAuthority().txt('dead.test'), {
    kind: 'unavailable',
    reason: /ns1\.dead\.test \(127\.0\.0\.99\) could not/,
  });
});

t.test('the deadline over all', async (t) => {
  serveZone('slow.test', one);
  one.behave('slow.test', 'silent');
  const result = await newAuthority({ totalTimeoutMs: 100 }).txt('slow.test');
  t.same(result, { kind: 'unavailable', reason: 'the name servers of slow.test gave no answer within 0.1 s' });
});

t.test('a resolver that does not answer', async (t) => {
  resolverServer.behave('dark.test', 'servfail');
  t.match(await newAuthority().txt('dark.test'), { kind: 'unavailable', reason: /dark\.test NS.*SERVFAIL/ });
});

t.test('name servers on addresses that are not public', async (t) => {
  serveZone('private.test', one);
  one.set('private.test', 'TXT', ['secret']);
  const result = await newAuthority({ allowPrivate: false }).txt('private.test');
  t.match(result, { kind: 'unavailable', reason: /no public address: ns1\.private\.test \(127\.0\.0\.2\)/ });
  t.same(asked(one, 'private.test'), []);
});

t.test('a name server on IPv6', async (t) => {
  const six = await startDnsServer({ address: '::1', port });
  t.teardown(() => six.close());
  resolverServer.set('six.test', 'NS', ['ns1.six.test']);
  resolverServer.set('ns1.six.test', 'AAAA', ['::1']);
  six.set('six.test', 'TXT', ['over v6']);
  t.match(await newAuthority().txt('six.test'), { records: ['over v6'] });
});
