// Recursive look-ups: what the results mean, what is cached and for how long, what dead servers cost.
import t from 'tap';
import { createResolver, type ResolverOptions, reverseName } from '../../../src/protocol/dns/lookup/resolver.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { patience } from '../../support/patience.ts';

const server = await startDnsServer();
t.teardown(() => server.close());

function newResolver(changes: Partial<ResolverOptions> = {}) {
  const clock = { now: () => 0 };
  const resolver = createResolver({ servers: [server.endpoint], clock, attemptTimeoutMs: patience(1000), ...changes });
  return resolver;
}

const asked = (name: string, type?: string) =>
  server.queries.filter((query) => query.name === name && (type === undefined || query.type === type)).length;

t.test('records of every kind', async (t) => {
  const resolver = newResolver();
  server.set('all.test', 'A', ['192.0.2.1', '192.0.2.2']);
  server.set('all.test', 'AAAA', ['2001:db8::1']);
  server.set('all.test', 'MX', [{ exchange: 'mx.all.test', preference: 5 }]);
  server.set('all.test', 'TXT', ['one', ['two ', 'parts']]);
  server.set('all.test', 'NS', ['ns1.all.test'], 600);
  server.set('1.2.0.192.in-addr.arpa', 'PTR', ['host.all.test']);
  const ttlMs = 300_000;
  t.same(await resolver.a('All.Test.'), { kind: 'found', records: ['192.0.2.1', '192.0.2.2'], ttlMs });
  t.same(await resolver.aaaa('all.test'), { kind: 'found', records: ['2001:db8::1'], ttlMs });
  const mx = [{ exchange: 'mx.all.test', preference: 5 }];
  t.same(await resolver.mx('all.test'), { kind: 'found', records: mx, ttlMs });
  t.same(await resolver.txt('all.test'), { kind: 'found', records: ['one', 'two parts'], ttlMs });
  t.same(await resolver.ns('all.test'), { kind: 'found', records: ['ns1.all.test'], ttlMs: 600_000 });
  t.same(await resolver.ptr('192.0.2.1'), { kind: 'found', records: ['host.all.test'], ttlMs });
});

t.test('a reverse name with control characters is none', async (t) => {
  server.set('2.2.0.192.in-addr.arpa', 'PTR', ['evil\r\nX.test']);
  t.same(await newResolver().ptr('192.0.2.2'), { kind: 'no_records' });
});

t.test('names of addresses for reverse look-ups', async (t) => {
  const zeros = (count: number) => '0.'.repeat(count);
  t.equal(reverseName('2001:db8::567:89ab'), `b.a.9.8.7.6.5.0.${zeros(16)}8.b.d.0.1.0.0.2.ip6.arpa`);
  t.equal(reverseName('::1'), `1.${zeros(31)}ip6.arpa`);
  t.equal(reverseName('::ffff:192.0.2.1'), `1.0.2.0.0.0.0.c.f.f.f.f.${zeros(20)}ip6.arpa`);
  t.equal(reverseName('no address'), null);
  t.same(await newResolver().ptr('no address'), { kind: 'no_domain' });
});

t.test('no such name, no such record, no answer are three things', async (t) => {
  const resolver = newResolver();
  server.set('here.test', 'A', ['192.0.2.1']);
  server.behave('servfail.test', 'servfail');
  server.behave('refused.test', 'refused');
  server.behave('lame.test', 'upward_referral');
  t.same(await resolver.a('nowhere.test'), { kind: 'no_domain' });
  t.same(await resolver.mx('here.test'), { kind: 'no_records' });
  t.same(await resolver.a('not..a.name'), { kind: 'no_domain' }, 'what cannot exist does not exist');
  for (const [name, word] of [
    ['servfail.test', 'SERVFAIL'],
    ['refused.test', 'REFUSED'],
    ['lame.test', 'referred'],
  ]) {
    const result = await resolver.a(name!);
    t.match(result, { kind: 'unavailable', reason: new RegExp(`${name} A: ${server.endpoint}.*${word}`) });
  }
});

t.test('silence ends with the deadline', async (t) => {
  server.behave('silent.test', 'silent');
  const result = await newResolver({ attemptTimeoutMs: patience(40), timeoutMs: patience(200) }).a('silent.test');
  t.match(result, { kind: 'unavailable', reason: /did not answer in time/ });
  t.ok(asked('silent.test') > 1, 'and it was asked more than once');
});

t.test('a look-up that had to wait for others has its full time', async (t) => {
  const names = ['silent-1.test', 'silent-2.test', 'silent-3.test', 'silent-4.test', 'silent-5.test'];
  for (const name of names) server.behave(name, 'silent');
  server.set('behind.test', 'A', ['192.0.2.1']);
  const limits = { attemptTimeoutMs: patience(100), timeoutMs: patience(200), maxConcurrent: 1 };
  const resolver = newResolver(limits);
  const [, behindOne] = await Promise.all([resolver.a(names[0]!), resolver.a('behind.test')]);
  t.match(behindOne, { kind: 'found', records: ['192.0.2.1'] });
  const full = newResolver(limits);
  const behindAll = (await Promise.all([...names, 'behind.test'].map((name) => full.a(name)))).at(-1);
  t.match(behindAll, { kind: 'unavailable', reason: /too many DNS look-ups were waiting/ }, 'but not for ever');
});

t.test('without servers nothing can be looked up', async (t) => {
  t.match(await newResolver({ servers: [] }).a('x.test'), { kind: 'unavailable', reason: /no DNS server/ });
  t.throws(() => newResolver({ servers: ['ns1.test'] }), /"ns1.test" is not a DNS server/);
});

t.test('aliases', async (t) => {
  server.set('alias.test', 'CNAME', ['middle.test'], 40);
  server.set('middle.test', 'CNAME', ['end.test'], 900);
  server.set('end.test', 'TXT', ['at the end'], 600);
  server.set('dangling.test', 'CNAME', ['gone.test']);
  server.set('empty.test', 'CNAME', ['end.test']);

  t.test('are followed, and the least TTL of all counts', async (t) => {
    t.same(await newResolver().txt('alias.test'), { kind: 'found', records: ['at the end'], ttlMs: 40_000 });
  });
  t.test('are followed when the server gives one step at a time', async (t) => {
    for (const name of ['alias.test', 'middle.test']) server.behave(name, 'bare_alias');
    t.same(await newResolver().txt('alias.test'), { kind: 'found', records: ['at the end'], ttlMs: 40_000 });
    for (const name of ['alias.test', 'middle.test']) server.behave(name, null);
  });
  t.test('may lead to nothing', async (t) => {
    const resolver = newResolver();
    t.same(await resolver.txt('dangling.test'), { kind: 'no_domain' });
    t.same(await resolver.mx('empty.test'), { kind: 'no_records' });
  });
  t.test('are no zones', async (t) => {
    server.set('end.test', 'NS', ['ns1.end.test']);
    t.same(await newResolver().ns('alias.test'), { kind: 'no_records' });
  });
  t.test('in a circle end', async (t) => {
    server.set('ring-a.test', 'CNAME', ['ring-b.test']);
    server.set('ring-b.test', 'CNAME', ['ring-a.test']);
    t.match(await newResolver().txt('ring-a.test'), { kind: 'unavailable', reason: /more than 8 aliases/ });
    for (const name of ['ring-a.test', 'ring-b.test']) server.behave(name, 'bare_alias');
    t.match(await newResolver().txt('ring-a.test'), { kind: 'unavailable', reason: /more than 8 aliases/ });
  });
});

t.test('several servers', async (t) => {
  const second = await startDnsServer({ address: '127.0.0.2', port: server.port });
  t.teardown(() => second.close());
  const both = [server.endpoint, second.endpoint];

  t.test('the next one answers for one that fails', async (t) => {
    server.behave('shared.test', 'servfail');
    second.set('shared.test', 'A', ['192.0.2.9']);
    t.match(await newResolver({ servers: both }).a('shared.test'), { kind: 'found', records: ['192.0.2.9'] });
  });
  t.test('a dead one is asked first only once', async (t) => {
    for (const name of ['first.test', 'second.test']) {
      server.behave(name, 'silent');
      second.set(name, 'A', ['192.0.2.9']);
    }
    const resolver = newResolver({ servers: both, attemptTimeoutMs: patience(250) });
    t.match(await resolver.a('first.test'), { kind: 'found' });
    t.match(await resolver.a('second.test'), { kind: 'found' });
    t.equal(asked('first.test'), 1);
    t.equal(asked('second.test'), 0);
  });
  t.test('"no such name" of one is final', async (t) => {
    second.set('only-second.test', 'A', ['192.0.2.9']);
    t.same(await newResolver({ servers: both }).a('only-second.test'), { kind: 'no_domain' });
  });
});

t.test('the cache', async (t) => {
  let now = 1_000_000;
  const clock = { now: () => now };

  t.test('keeps an answer for its TTL and says how long it still holds', async (t) => {
    const resolver = newResolver({ clock });
    server.set('ttl.test', 'A', ['192.0.2.1'], 100);
    t.match(await resolver.a('ttl.test'), { ttlMs: 100_000 });
    server.set('ttl.test', 'A', ['192.0.2.2'], 100);
    now += 99_999;
    t.same(await resolver.a('TTL.test.'), { kind: 'found', records: ['192.0.2.1'], ttlMs: 1 });
    now += 1;
    t.match(await resolver.a('ttl.test'), { records: ['192.0.2.2'], ttlMs: 100_000 });
    t.equal(asked('ttl.test'), 2);
  });
  t.test('holds at least 30 s and at most an hour', async (t) => {
    const resolver = newResolver({ clock });
    server.set('short.test', 'A', ['192.0.2.1'], 0);
    server.set('long.test', 'A', ['192.0.2.1'], 86_400);
    t.match(await resolver.a('short.test'), { ttlMs: 30_000 });
    t.match(await resolver.a('long.test'), { ttlMs: 3_600_000 });
  });
  t.test('keeps a negative answer for a minute', async (t) => {
    const resolver = newResolver({ clock });
    t.same(await resolver.a('later.test'), { kind: 'no_domain' });
    server.set('later.test', 'A', ['192.0.2.1']);
    now += 59_999;
    t.same(await resolver.a('later.test'), { kind: 'no_domain' });
    now += 1;
    t.match(await resolver.a('later.test'), { kind: 'found' });
  });
  t.test('keeps a failure for 5 s only', async (t) => {
    const resolver = newResolver({ clock });
    server.set('outage.test', 'A', ['192.0.2.1']);
    server.behave('outage.test', 'servfail');
    t.match(await resolver.a('outage.test'), { kind: 'unavailable' });
    server.behave('outage.test', null);
    now += 4_999;
    t.match(await resolver.a('outage.test'), { kind: 'unavailable' });
    now += 1;
    t.match(await resolver.a('outage.test'), { kind: 'found' });
  });
  t.test('drops the oldest entry when it is full', async (t) => {
    const resolver = newResolver({ clock, maxCacheEntries: 2 });
    for (const name of ['one.test', 'two.test', 'three.test', 'three.test', 'two.test', 'one.test'])
      await resolver.a(name);
    t.equal(asked('two.test'), 1);
    t.equal(asked('three.test'), 1);
    t.equal(asked('one.test'), 2);
  });
});

t.test('who asks the same at the same time shares one question', async (t) => {
  const resolver = newResolver();
  server.set('busy.test', 'A', ['192.0.2.1']);
  const results = await Promise.all(Array.from({ length: 20 }, () => resolver.a('busy.test')));
  t.ok(results.every((result) => result.kind === 'found'));
  t.equal(asked('busy.test'), 1);
});

t.test('more look-ups than places wait for their turn', async (t) => {
  const resolver = newResolver({ maxConcurrent: 2 });
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => resolver.a(`name-${i}.test`)));
  t.ok(results.every((result) => result.kind === 'no_domain'));
});
