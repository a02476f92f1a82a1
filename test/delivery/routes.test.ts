// Routes are remembered as long as DNS allows, and grouped by their servers.
import t from 'tap';
import { name } from '../../src/cli/option.ts';
import { createRoutes, MAX_GROUP_NAME_CHARS } from '../../src/delivery/route/routes.ts';
import { loadProviderLimits, Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { readTarget } from '../../src/portal/operator/queue-targets.ts';
import { createAddressPolicy } from '../../src/protocol/dns/addresses/address-policy.ts';
import type { Resolver } from '../../src/protocol/dns/lookup/resolver.ts';

type Zone = Record<string, { mx?: [string, number][]; a?: string[]; ttlMs?: number } | 'unavailable'>;

/** Counts what is asked. */
function resolverFor(zone: Zone) {
  const asked: string[] = [];
  const find = <T>(type: string, name: string, pick: (entry: Exclude<Zone[string], string>) => T[] | undefined) => {
    asked.push(`${type} ${name}`);
    const entry = zone[name];
    if (entry === 'unavailable') return Promise.resolve({ kind: 'unavailable' as const, reason: 'SERVFAIL' });
    if (!entry) return Promise.resolve({ kind: 'no_domain' as const });
    const records = pick(entry);
    if (!records) return Promise.resolve({ kind: 'no_records' as const });
    return Promise.resolve({ kind: 'found' as const, records, ttlMs: entry.ttlMs ?? 60_000 });
  };
  const resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'> = {
    mx: (name) => find('MX', name, ({ mx }) => mx?.map(([exchange, preference]) => ({ exchange, preference }))),
    a: (name) => find('A', name, ({ a }) => a),
    aaaa: (name) => find('AAAA', name, () => undefined),
  };
  return { asked, resolver: resolver as Resolver };
}

function routesFor(zone: Zone, { allowPrivate = true, providers = new Providers([]) } = {}) {
  const clock = { at: 0, now: () => clock.at };
  const { asked, resolver } = resolverFor(zone);
  const addresses = createAddressPolicy({ key: 'delivery.allow_private', allowPrivate });
  return {
    clock,
    asked,
    routes: createRoutes({ resolver, clock, random: Math.random, addresses, providers }),
  };
}

t.test('a group of many hosts with long names has a name that a database can index', async (t) => {
  const hosts = Array.from({ length: 20 }, (_, at) => `${'x'.repeat(50)}.${'y'.repeat(50)}.mx${at}.test`);
  const zone = Object.fromEntries(hosts.map((host) => [host, { a: ['192.0.2.1'] }]));
  const mx = (names: string[]) => ({ mx: names.map((name): [string, number] => [name, 10]) });
  const { routes } = routesFor({
    ...zone,
    'long.test': mx(hosts),
    'same.test': mx([...hosts].reverse()),
    'fewer.test': mx(hosts.slice(0, 19)),
  });
  const groups = await Promise.all(['long.test', 'same.test', 'fewer.test'].map((domain) => routes.find(domain)));
  const [long, same, fewer] = groups.map((route) => (route.kind === 'group' ? route.group : ''));
  t.match(long, /^x{50}\.y{50}\.mx0\.test,.*\.\.\.[0-9a-f]{16}$/);
  t.ok(Buffer.byteLength(long!) <= MAX_GROUP_NAME_CHARS, `${long!.length} characters`);
  t.match(name('GROUP', '').read(long!), { ok: true }, 'an operator can name it');
  t.same(readTarget('group', long!), { kind: 'group', key: long }, 'in the portal, too');
  t.equal(same, long);
  t.not(fewer, long);
});

t.test('the group does not depend on the order of the answer, nor on the domain', async (t) => {
  const { routes } = routesFor({
    'one.test': {
      mx: [
        ['mx1.test', 10],
        ['mx2.test', 10],
      ],
    },
    'two.test': {
      mx: [
        ['mx2.test', 10],
        ['mx1.test', 10],
      ],
    },
    'other.test': { mx: [['mx1.test', 10]] },
    'mx1.test': { a: ['192.0.2.1'] },
    'mx2.test': { a: ['192.0.2.2'] },
  });
  t.match(await routes.find('one.test'), { kind: 'group', group: 'mx1.test,mx2.test' });
  t.match(await routes.find('two.test'), { kind: 'group', group: 'mx1.test,mx2.test' });
  t.match(await routes.find('other.test'), { kind: 'group', group: 'mx1.test' });
});

t.test('a host whose address is missing for a moment leaves the group as it is', async (t) => {
  const mx = (...hosts: string[]) => ({ mx: hosts.map((host, at): [string, number] => [host, at]) });
  const zone: Zone = {
    'two.test': mx('mx1.test', 'mx2.test'),
    'mx1.test': { a: ['192.0.2.1'] },
    'many.test': mx(...Array.from({ length: 25 }, (_, at) => `mx${at}.many.test`)),
    'mx0.many.test': { a: ['192.0.2.1'] },
  };
  for (const missing of ['unavailable', undefined, { ttlMs: 1 }] as const) {
    const { routes } = routesFor({ ...zone, ...(missing && { 'mx2.test': missing }) });
    t.match(await routes.find('two.test'), { kind: 'group', group: 'mx1.test,mx2.test' });
  }
  const { routes } = routesFor(zone);
  t.match(
    await routes.find('many.test'),
    { kind: 'group', group: /,mx24\.many\.test,/ },
    'also beyond what is looked up',
  );
});

t.test('a foreign host counts towards a provider unless DNS says that it has no address', async (t) => {
  const zone: Zone = {
    'large.test': {
      mx: [
        ['aspmx.l.google.com', 10],
        ['ms1.invalid', 20],
      ],
    },
    'aspmx.l.google.com': { a: ['192.0.2.1'] },
  };
  const providers = new Providers(loadProviderLimits(null));
  const groupIn = async (change: Zone) => {
    const route = await routesFor({ ...zone, ...change }, { providers }).routes.find('large.test');
    return route.kind === 'group' ? route.group : route.kind;
  };
  t.equal(await groupIn({}), 'google');
  t.equal(await groupIn({ 'ms1.invalid': { a: ['192.0.2.2'] } }), 'aspmx.l.google.com,ms1.invalid');
  t.equal(await groupIn({ 'ms1.invalid': 'unavailable' }), 'aspmx.l.google.com,ms1.invalid');
});

t.test('remembered until the shortest time is over, five minutes at most', async (t) => {
  const { routes, clock, asked } = routesFor({
    'short.test': { mx: [['mx.test', 10]], ttlMs: 40_000 },
    'long.test': { mx: [['long.mx.test', 10]], ttlMs: 9_000_000 },
    'mx.test': { a: ['192.0.2.1'], ttlMs: 9_000_000 },
    'long.mx.test': { a: ['192.0.2.1'], ttlMs: 9_000_000 },
  });
  await routes.find('short.test');
  await routes.find('long.test');
  const first = asked.length;
  clock.at = 39_999;
  await routes.find('short.test');
  t.equal(asked.length, first);
  clock.at = 40_000;
  await routes.find('short.test');
  t.ok(asked.length > first);
  const second = asked.length;
  clock.at = 299_999;
  await routes.find('long.test');
  t.equal(asked.length, second);
  clock.at = 300_000;
  await routes.find('long.test');
  t.ok(asked.length > second);
});

t.test('stale when DNS says so, but not within five minutes: mail in line is not routed again and again', async (t) => {
  const { routes, clock } = routesFor({
    'short.test': { mx: [['mx.test', 10]], ttlMs: 1000 },
    'long.test': { mx: [['mx.test', 10]], ttlMs: 3_600_000 },
    'mx.test': { a: ['192.0.2.1'], ttlMs: 7_200_000 },
  });
  clock.at = 1000;
  t.match(await routes.find('short.test'), { staleAt: 301_000 });
  t.match(await routes.find('long.test'), { staleAt: 3_601_000 });
});

t.test('what is not there is looked up again', async (t) => {
  const zone: Zone = { 'broken.test': 'unavailable', 'mx.test': { a: ['192.0.2.1'] } };
  const { routes } = routesFor(zone);
  t.match(await routes.find('broken.test'), { kind: 'unavailable' });
  t.match(await routes.find('new.test'), { kind: 'undeliverable', enhancedCode: '5.1.2' });
  zone['broken.test'] = { mx: [['mx.test', 1]] };
  zone['new.test'] = { mx: [['mx.test', 1]] };
  t.match(await routes.find('broken.test'), { kind: 'group' });
  t.match(await routes.find('new.test'), { kind: 'group' });
});

t.test('private addresses are left out unless allowed', async (t) => {
  const zone: Zone = {
    'mixed.test': {
      mx: [
        ['inside.test', 1],
        ['outside.test', 2],
      ],
    },
    'inside.test': { a: ['10.0.0.1'] },
    'outside.test': { a: ['8.8.4.4', '127.0.0.1'] },
    'private.test': { mx: [['inside.test', 1]] },
  };
  const { routes } = routesFor(zone, { allowPrivate: false });
  t.match(await routes.find('mixed.test'), {
    kind: 'group',
    group: 'inside.test,outside.test',
    hosts: [{ name: 'outside.test', addresses: [{ ip: '8.8.4.4' }] }],
  });
  const refused = await routes.find('private.test');
  t.match(refused, { kind: 'undeliverable', enhancedCode: '5.4.4', reason: /private or loopback/ });
  t.match(await routesFor(zone).routes.find('private.test'), { kind: 'group', group: 'inside.test' });
});
