// Nobody makes the daemon call the machine that it runs on, or itself: its public addresses and its own names are
// as private as loopback to webhooks, MX and MTA-STS, in every notation, until the operator allows them.
import t from 'tap';
import { createRoutes } from '../../src/delivery/route/routes.ts';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { createAddressPolicy } from '../../src/protocol/dns/addresses/address-policy.ts';
import { createOwnAddresses } from '../../src/protocol/dns/addresses/own-addresses.ts';
import type { Resolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { fetchPolicy } from '../../src/protocol/dns/published/mta-sts-fetch.ts';
import { endpointAddresses } from '../../src/webhooks/call.ts';
import { refuseTarget, targetPolicy } from '../../src/webhooks/target.ts';
import type { Daemon, Json } from '../support/daemon-process.ts';
import { addReceiver, registerSender, send, startWorld } from '../support/world.ts';

const OWN_4 = '203.0.114.7';
const OWN_6 = '2606:4700::7';
const FOREIGN = '203.0.114.8';

/** A machine whose interfaces the test changes. */
function machine(...addresses: string[]) {
  const clock = { at: 0, now: () => clock.at };
  const has = { addresses, reads: 0, broken: false };
  const own = createOwnAddresses({
    sources: [],
    clock,
    readInterfaces() {
      has.reads++;
      if (has.broken) throw new Error('uv_interface_addresses returned Unknown system error 97');
      const info = { netmask: '', mac: '', internal: false, cidr: null };
      return { eth0: has.addresses.map((address) => ({ ...info, address, family: 'IPv4' as const })) };
    },
  });
  return { clock, has, own };
}

function resolverOf(records: Record<string, string[]>, mx: Record<string, string> = {}) {
  const none = { kind: 'no_records' } as const;
  const found = <T>(list: T[]) => ({ kind: 'found', records: list, ttlMs: 60_000 }) as const;
  const resolver = {
    mx: async (name: string) => (mx[name] ? found([{ exchange: mx[name], preference: 10 }]) : none),
    a: async (name: string) => found((records[name] ?? []).filter((ip) => !ip.includes(':'))),
    aaaa: async (name: string) => found((records[name] ?? []).filter((ip) => ip.includes(':'))),
  };
  return resolver as unknown as Resolver;
}

t.test('a webhook at an address of the machine, in every notation', async (t) => {
  const { own } = machine(OWN_4, OWN_6);
  const policy = targetPolicy(false, { own });
  const refused = (host: string, held = policy) => refuseTarget(new URL(`http://${host}/hook`), held);
  const notations = [
    ...[OWN_4, '3405804039', '0xCB007207', '203.0.29191', '0313.0.0162.07', `${OWN_4}.`],
    ...[`[::ffff:${OWN_4}]`, `[64:ff9b::${OWN_4}]`, '[2002:cb00:7207::1]', `[${OWN_6}]`, '[2606:4700:0:0:0:0:0:7]'],
  ];
  for (const host of notations)
    t.match(refused(host), /is an address of this machine\. .*webhooks\.allow_private/, host);
  for (const host of [FOREIGN, '[2606:4700::8]', `[::ffff:${FOREIGN}]`]) t.equal(refused(host), null, host);
  t.equal(refused(OWN_4, targetPolicy(true, { own })), null, 'true allows everything');
  t.equal(refused(OWN_4, targetPolicy([OWN_4], { own })), null, 'a network lifts it');
  t.match(refused(OWN_4, targetPolicy(['127.0.0.0/8'], { own })), /this machine/, 'another network does not');
});

t.test('a name that leads to an address of the machine, when it is called', async (t) => {
  const { own } = machine(OWN_4);
  const url = new URL('http://outside.test/hook');
  for (const records of [[OWN_4], [FOREIGN, OWN_4], [`64:ff9b::cb00:7207`]]) {
    const resolver = resolverOf({ 'outside.test': records });
    const found = await endpointAddresses(url, { resolver, policy: targetPolicy(false, { own }) });
    t.match(found, { kind: 'refused', reason: /^Not called: outside\.test resolves to .* an address of this machine/ });
  }
});

t.test('our own names as the host of a webhook', async (t) => {
  const ownHosts = ['mail.example.com', 'links.example.com', '[::1]', '198.51.100.1'];
  const closed = targetPolicy(false, { ownHosts });
  const spellings = [
    'mail.example.com',
    'MAIL.example.com',
    'mail.example.com.',
    'm%61il.example.com',
    'links.example.com',
  ];
  for (const host of spellings) {
    const refused = refuseTarget(new URL(`https://${host}:8443/x`), closed);
    t.match(refused, /the name of this service itself\. .*webhooks\.allow_private/, host);
  }
  for (const host of ['example.com', 'a.mail.example.com', 'mail.example.com.test', FOREIGN]) {
    t.equal(refuseTarget(new URL(`https://${host}/`), closed), null, host);
  }
  // Behind NAT no interface has the address: the name is enough.
  const resolver = resolverOf({ 'mail.example.com': [FOREIGN], 'other.test': [FOREIGN] });
  const find = (host: string, allow: string[]) =>
    endpointAddresses(new URL(`https://${host}/x`), { resolver, policy: targetPolicy(allow, { ownHosts }) });
  t.match(await find('mail.example.com', ['10.0.0.0/8']), { kind: 'refused', reason: /where this service is reached/ });
  t.match(await find('mail.example.com', [FOREIGN]), { kind: 'found', ips: [FOREIGN] });
  t.match(await find('other.test', ['10.0.0.0/8']), { kind: 'found', ips: [FOREIGN] }, 'only the name makes it ours');
});

t.test('webhooks.refused_networks', async (t) => {
  for (const allow of [false, true, ['0.0.0.0/0', '::/0']]) {
    const policy = targetPolicy(allow, { refusedNetworks: ['203.0.114.0/29', '2606:4700::/64'] });
    for (const host of [OWN_4, `[64:ff9b::${OWN_4}]`, `[::ffff:${OWN_4}]`, `[${OWN_6}]`]) {
      const refused = refuseTarget(new URL(`http://${host}/`), policy);
      t.match(refused, /in a network that the operator has blocked \(webhooks\.refused_networks\)/, host);
    }
    t.equal(refuseTarget(new URL(`http://${FOREIGN}/`), policy), null);
  }
});

t.test('interfaces are read again, but not for each question', async (t) => {
  const { own, has, clock } = machine(OWN_4);
  for (let n = 0; n < 1000; n++) own.describe(FOREIGN);
  t.equal(has.reads, 1);
  t.equal(own.describe(FOREIGN), null);
  const before = own.version();
  has.addresses = [FOREIGN];
  clock.at += 5000;
  t.match(own.describe(FOREIGN), /this machine/);
  t.equal(own.describe(OWN_4), null);
  t.not(own.version(), before);
  has.broken = true;
  clock.at += 5000;
  t.match(own.describe(FOREIGN), /this machine/, 'unreadable: what was known still holds');
});

t.test('an MX at an address of the machine', async (t) => {
  const { own, has, clock } = machine(OWN_4);
  const resolver = resolverOf(
    { 'mx.test': [OWN_4], 'mx.mixed.test': [OWN_4, FOREIGN] },
    { 'a.test': 'mx.test', 'b.test': 'mx.mixed.test' },
  );
  const routesWith = (allowPrivate: boolean | string[]) => {
    const addresses = createAddressPolicy({ key: 'delivery.allow_private', allowPrivate, own });
    return createRoutes({ resolver, clock, random: Math.random, addresses, providers: new Providers([]) });
  };
  const routes = routesWith(false);
  t.match(await routes.find('a.test'), {
    kind: 'undeliverable',
    reason: /^no mail server of a\.test .*203\.0\.114\.7 is an address of this machine; .*delivery\.allow_private/,
  });
  t.match(await routes.find('b.test'), { kind: 'group', hosts: [{ addresses: [{ ip: FOREIGN }] }] });
  t.match(await routesWith([OWN_4]).find('a.test'), { kind: 'group' }, 'a mailbox server on the same machine');
  // A route is remembered for minutes, but not once the machine has another address.
  has.addresses = [FOREIGN, OWN_4];
  clock.at += 5000;
  t.match(await routes.find('b.test'), { kind: 'undeliverable' });
});

t.test('the host of an MTA-STS policy at an address of the machine', async (t) => {
  const { own } = machine(OWN_4);
  const addresses = createAddressPolicy({ key: 'delivery.allow_private', allowPrivate: false, own });
  const fetched = await fetchPolicy('a.test', {
    ...{ port: 443, addresses, resolver: resolverOf({ 'mta-sts.a.test': [OWN_4] }) },
  });
  t.match(fetched, {
    kind: 'failed',
    reason: /not allowed: 203\.0\.114\.7 is an address of this machine \(delivery/,
  });
});

t.test('the daemon as it is configured', async (t) => {
  // Nothing is sent from that address, since the machine does not have it; so nothing gets out if it were called.
  const world = await startWorld(t, {
    settings: {
      service: { links_url: 'https://links.postrider.test' },
      delivery: { source_addresses: [`${OWN_4} out.postrider.test`], allow_private: false },
      webhooks: { refused_networks: [`${FOREIGN}/32`] },
    },
  });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const { key } = await world.postrider.json(
    ...(['key', 'create', '--tenant', sender.tenantId, '--name', 'hooks', '--scopes', 'webhooks:write'] as const),
  );
  const refusals: [string, RegExp][] = [
    [`http://${OWN_4}/`, /203\.0\.114\.7 is an address of this machine\. .*webhooks\.allow_private/],
    ['https://mail.postrider.test/emails', /name of this service itself/],
    ['https://links.postrider.test/', /name of this service itself/],
    [`http://${FOREIGN}/`, /webhooks\.refused_networks/],
  ];
  for (const [url, why] of refusals) {
    const answer = await daemon.call(String(key), 'POST /webhooks', { body: { url } });
    t.match(answer, { status: 400, body: { error: 'validation_failed', message: why } }, url);
  }
  addReceiver(world.dns, 'victim.test');
  world.dns.set('mx.victim.test', 'A', [OWN_4]);
  const [id] = await send(daemon, sender, 'ann@victim.test');
  t.match(await waitingReason(daemon, id!), /203\.0\.114\.7 is an address of this machine/);
});

async function waitingReason(daemon: Daemon, messageId: string): Promise<string> {
  const line: Json = await daemon.logged({ fact: 'deferred', message_id: messageId });
  return String(line.reason);
}
