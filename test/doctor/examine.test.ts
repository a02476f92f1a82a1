// The examination over real DNS and real sockets: all is well, and then each thing goes wrong once.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import { temporaryPair } from '../../src/certificates/temporary-pair.ts';
import { linesOfFinding } from '../../src/cli/finding-lines.ts';
import { checkCertificates } from '../../src/doctor/certificates.ts';
import type { DoctorKit } from '../../src/doctor/doctor-settings.ts';
import { examine } from '../../src/doctor/examine.ts';
import { type Finding, worstOf } from '../../src/doctor/finding.ts';
import { checkClock } from '../../src/doctor/machine.ts';
import type { ServerFacts } from '../../src/store/server-facts.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { createTestAuthority } from '../support/test-authority.ts';
import { IP4, IP6, KEY, LIST, of, probe, resolverOf, startWorld } from './doctor-world.ts';

t.test('where all is well, nothing is wrong, and mail servers hear nothing but QUIT', async (t) => {
  const { kit, heard } = await startWorld(t);
  const findings = await examine(kit);
  const others = findings.filter(({ health, check }) => health !== 'ok' && !check.endsWith('certificate'));
  t.same(others, []);
  t.equal(worstOf(findings), 'warn', 'there are no certificates');
  t.same(heard, ['QUIT', 'QUIT'], 'one call for each of our addresses');
  for (const check of ['reverse name', 'outbound port']) t.equal(of(findings, check).length, 2, check);
});

t.test('the second machine of a service adds itself to the records of the first', async (t) => {
  const { kit, dns } = await startWorld(t);
  dns.set('first.service.test', 'A', ['192.0.2.31']);
  dns.set('bounces.service.test', 'MX', [{ exchange: 'first.service.test', preference: 10 }]);
  dns.set('bounces.service.test', 'TXT', ['v=spf1 ip4:192.0.2.31 -all']);
  const findings = await examine(kit);
  const [mx, spf] = [of(findings, 'MX')[0]!, of(findings, 'SPF')[0]!];
  t.match(linesOfFinding(mx)[1], '-> add: bounces.service.test MX 10 mail.service.test');
  const value = `v=spf1 ip4:192.0.2.31 ip4:${IP4} ip6:${IP6} -all`;
  t.match(linesOfFinding(spf)[1], `-> publish: bounces.service.test TXT ${value}`);

  dns.set('bounces.service.test', 'TXT', [value]);
  dns.set('bounces.service.test', 'MX', [
    { exchange: 'first.service.test', preference: 10 },
    { exchange: 'mail.service.test', preference: 10 },
  ]);
  const resolver = resolverOf(dns); // which remembers nothing
  const after = await examine({ ...kit, resolver });
  for (const check of ['MX', 'SPF']) t.match(of(after, check), [{ health: 'ok' }], check);
});

t.test('without configured addresses, those of this machine are judged, and not what DNS has', async (t) => {
  const { kit, dns } = await startWorld(t);
  const settings = { ...kit.settings, sources: [] };
  const examineOn = (machine: { public?: string[]; private?: string[] }) => {
    const machineAddresses = () => ({ public: [], private: [], ...machine });
    return examine({ ...kit, settings, machineAddresses, resolver: resolverOf(dns) });
  };
  const healthOf = (findings: readonly Finding[]) =>
    ['reverse name', 'EHLO name', 'MX', 'SPF', 'blocklist'].flatMap((check) =>
      of(findings, check).map(({ subject, health }) => `${check} ${subject} ${health}`),
    );
  const sound = [
    ...[IP4, IP6].map((ip) => `reverse name ${ip} ok`),
    ...['EHLO name mail.service.test ok', 'MX bounces.service.test ok', 'SPF bounces.service.test ok'],
    `blocklist ${LIST} ok`,
  ];
  t.strictSame(healthOf(await examineOn({ public: [IP4, IP6] })), sound);
  t.strictSame(healthOf(await examineOn({ private: ['10.0.0.2', 'fd00::2'] })), sound, 'behind a NAT');
  t.strictSame(healthOf(await examineOn({ public: [IP6], private: ['10.0.0.2'] })).sort(), [...sound].sort());
  t.strictSame(healthOf(await examineOn({})), sound, 'where the system does not say');

  const moved = '198.41.0.9';
  dns.set(`9.0.41.198.${LIST}`, 'A', ['127.0.0.3']);
  const findings = await examineOn({ public: [moved], private: ['172.17.0.1'] });
  t.strictSame(healthOf(findings), [
    `reverse name ${moved} fail`,
    'EHLO name mail.service.test warn',
    'MX bounces.service.test warn',
    'SPF bounces.service.test fail',
    `blocklist ${LIST} fail`,
  ]);
  t.match(of(findings, 'EHLO name')[0], {
    message: `resolves to ${IP4}, ${IP6}, but not to ${moved}, which uses it in EHLO`,
    remedy: { record: { name: 'mail.service.test', type: 'A', value: moved } },
  });
});

t.test('bounces that come to this machine, but not to the listener', async (t) => {
  const { kit, dns } = await startWorld(t);
  const mx = async (inbound: DoctorKit['settings']['inbound']) => {
    const settings = { ...kit.settings, inbound };
    const [finding] = of(await examine({ ...kit, settings, resolver: resolverOf(dns) }), 'MX');
    return finding;
  };
  const open = kit.settings.inbound;
  t.match(await mx({ ...open, host: '127.0.0.1', isLoopback: true }), {
    health: 'warn',
    message: /^points to mail\.service\.test, but smtp\.host is 127\.0\.0\.1: unless something here forwards port 25/,
    remedy: { setting: 'smtp.host = "0.0.0.0", or "::" with IPv6' },
  });
  t.match(await mx({ ...open, port: 2525 }), { health: 'warn', message: /smtp\.port is 2525: unless/ });
  const ipv4Only = { ...open, host: '0.0.0.0' };
  t.match(await mx(ipv4Only), {
    health: 'warn',
    message: `points to mail.service.test, but smtp.host is 0.0.0.0, so nothing listens at ${IP6}: servers try it first, and some only it`,
  });
  dns.remove('mail.service.test', 'AAAA');
  t.match(await mx(ipv4Only), { health: 'ok' });
  dns.set('first.service.test', 'A', ['192.0.2.31']);
  dns.set('bounces.service.test', 'MX', [{ exchange: 'first.service.test', preference: 10 }]);
  t.match(await mx({ ...open, port: 2525 }), { health: 'warn', message: /not a known address of this machine$/ });
});

t.test('a listener that port 25 is forwarded to', async (t) => {
  const mx = async (greeting: string, dial?: DoctorKit['dial']) => {
    const { kit } = await startWorld(t, async (peer) => {
      peer.say(greeting);
      await peer.answer('QUIT', '221 bye');
    });
    const inbound = { host: '127.0.0.1', port: 2525, isLoopback: true };
    const settings = { ...kit.settings, inbound };
    return of(await examine({ ...kit, settings, dial: dial ?? kit.dial }), 'MX');
  };
  const forwarded = await mx('220 mail.service.test ESMTP Postrider');
  t.match(forwarded, [{ health: 'ok', message: 'points to mail.service.test' }]);
  t.match(await mx('220 mail.service.test ESMTP Postfix'), [{ health: 'warn' }], 'another server has the port');
  t.match(await mx('220 other.test ESMTP Postrider'), [{ health: 'warn' }], 'another machine has the address');
  const refused = () => Promise.reject(new Error('connection refused'));
  t.match(await mx('220 mail.service.test ESMTP Postrider', refused), [{ health: 'warn' }], 'nobody answers');
});

t.test("the service's own key: not made yet, or in a database that can't be read", async (t) => {
  const { kit } = await startWorld(t);
  const dkim = async (stored: DoctorKit['stored']) => of(await examine({ ...kit, stored }), 'DKIM');
  t.match(await dkim(async () => null), [
    { health: 'warn', message: /does not exist yet/, remedy: { command: 'systemctl start postrider' } },
  ]);
  const refused = await dkim(() => Promise.reject(new Error('connection refused')));
  t.match(refused, [
    {
      health: 'warn',
      message: "couldn't be checked: the database, which has the service's own key, could not be read",
    },
  ]);
  t.equal(refused[0]!.remedy, null);
});

t.test('each missing record is a finding with the record that mends it', async (t) => {
  const { kit, dns } = await startWorld(t);
  dns.remove('4.0.41.198.in-addr.arpa');
  dns.set('mail.service.test', 'AAAA', ['2001:503:c27::2:30']);
  dns.remove('bounces.service.test', 'MX');
  dns.set('bounces.service.test', 'TXT', [`v=spf1 ip4:${IP4} -all`]);
  dns.set('postrider._domainkey.bounces.service.test', 'TXT', [`v=DKIM1; k=rsa; p=${KEY.replace('x', 'y')}`]);
  dns.remove('postrider-doctor.invalid._report._dmarc.bounces.service.test');
  const findings = await examine(kit);
  const record = (name: string, type: string, value: string) => ({ record: { name, type, value } });

  t.match(of(findings, 'reverse name')[0], {
    health: 'fail',
    subject: IP4,
    remedy: record('4.0.41.198.in-addr.arpa', 'PTR', 'mail.service.test'),
  });
  t.match(of(findings, 'reverse name')[1], { health: 'fail', subject: IP6, message: /does not resolve back/ });
  t.match(of(findings, 'EHLO name'), [{ health: 'warn', remedy: record('mail.service.test', 'AAAA', IP6) }]);
  t.match(of(findings, 'MX'), [
    { health: 'fail', remedy: record('bounces.service.test', 'MX', '10 mail.service.test') },
  ]);
  t.match(of(findings, 'SPF'), [
    {
      health: 'fail',
      message: new RegExp(`does not authorize ${IP6}`),
      remedy: record('bounces.service.test', 'TXT', `v=spf1 ip4:${IP4} ip6:${IP6} -all`),
    },
  ]);
  t.match(of(findings, 'DKIM'), [
    { health: 'fail', message: /another key/, remedy: { record: { value: `v=DKIM1; k=rsa; p=${KEY}` } } },
  ]);
  t.match(of(findings, 'DMARC reports'), [
    {
      health: 'warn',
      message: /tenant\.test/,
      remedy: record('*._report._dmarc.bounces.service.test', 'TXT', 'v=DMARC1'),
    },
  ]);
});

t.test('a DNS server that denies a well-known domain is named', async (t) => {
  const { kit, dns } = await startWorld(t);
  const liar = await startDnsServer();
  t.teardown(() => liar.close());
  liar.set('null.test', 'MX', [{ exchange: '', preference: 0 }]);
  dns.set('null.test', 'MX', [{ exchange: 'mx.big.test', preference: 10 }]);
  const settings = { ...kit.settings, knownDomains: ['big.test', 'null.test'] };
  const checked = async () => {
    const dnsServers = [probe(dns), probe(liar)]; // which remember nothing
    return of(await examine({ ...kit, settings, dnsServers }), 'known domains');
  };
  t.match(await checked(), [
    { health: 'ok', subject: dns.endpoint, message: 'resolves big.test, null.test' },
    {
      health: 'fail',
      subject: liar.endpoint,
      message: 'says big.test does not exist: mail to such domains is deferred',
      remedy: { setting: /dns\.servers/ },
    },
  ]);
  liar.set('big.test', 'A', ['192.0.2.1']);
  dns.behave('big.test', 'silent');
  t.match(await checked(), [
    { health: 'warn', message: 'does not answer for big.test' },
    { health: 'fail', message: 'says big.test, null.test has no mail server' },
  ]);
  settings.knownDomains = [];
  t.same(await checked(), [], 'an empty list leaves the check out');
});

t.test('port 25 is closed', async (t) => {
  const { kit } = await startWorld(t);
  kit.settings.delivery.port = 1;
  const [first] = of(await examine(kit), 'outbound port');
  t.match(first, { health: 'fail', message: /is closed.*ECONNREFUSED/, remedy: { advice: /hosting provider/ } });
});

t.test('a mail server that does not want us', async (t) => {
  const { kit } = await startWorld(t, async (peer) => {
    peer.say('554 5.7.1 your address is listed');
    await peer.answer('QUIT', '221 bye');
  });
  const [first] = of(await examine(kit), 'outbound port');
  t.match(first, { health: 'warn', message: /554 5.7.1 your address is listed/ });
});

t.test('blocklists: listed, given up, silent to our resolver', async (t) => {
  const { kit, dns } = await startWorld(t);
  kit.settings.blocklists = [LIST, 'all.test', 'mute.test', 'closed.test'];
  const entry = (list: string) => `4.0.41.198.${list}`;
  dns.set(entry(LIST), 'A', ['127.0.0.3']);
  dns.set(entry(LIST), 'TXT', ['see https://list.test/why']);
  for (const name of ['2.0.0.127.all.test', '1.0.0.127.all.test', entry('all.test')]) dns.set(name, 'A', ['127.0.0.2']);
  dns.set('2.0.0.127.closed.test', 'A', ['127.255.255.254']);
  dns.set(entry('closed.test'), 'A', ['127.255.255.254']);
  t.match(of(await examine(kit), 'blocklist'), [
    { subject: LIST, health: 'fail', message: /198\.41\.0\.4 \(see https:\/\/list\.test\/why\)/ },
    { subject: 'all.test', health: 'warn', message: /lists every address/ },
    { subject: 'mute.test', health: 'warn', message: /test entry/ },
    { subject: 'closed.test', health: 'warn', message: /does not answer queries from this resolver/ },
  ]);
});

t.test('a clock that is off by so much that no certificate is valid', async (t) => {
  const { kit, dns } = await startWorld(t);
  dns.set('time.test', 'A', ['127.0.0.1']);
  const now = Date.now();
  for (const [at, why] of [
    [now - 400 * DAY_MS, /^probably has a wrong clock: https:\/\/time\.test:\d+: certificate has expired$/],
    [now + 2 * DAY_MS, /^probably has a wrong clock: .*certificate is not yet valid$/],
  ] as const) {
    const { key, cert } = await temporaryPair(['time.test'], at);
    const server = createServer({ key, cert }, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    kit.ca = cert.toString();
    kit.settings.timeSources = [`https://time.test:${(server.address() as AddressInfo).port}`];
    t.match(await checkClock(kit), [{ health: 'fail', message: why }]);
    kit.settings.timeSources = [...kit.settings.timeSources, 'https://none.test'];
    t.match(await checkClock(kit), [
      { health: 'warn', message: /^couldn't verify the clock: .*; https:\/\/none\.test: the host has no address/ },
    ]);
  }
});

t.test('the clock and the certificate, as an HTTPS server shows them', async (t) => {
  const { kit, dns } = await startWorld(t);
  const authority = createTestAuthority();
  const { key, cert } = authority.issue('time.test', 'api.service.test');
  const server = createServer({ key, cert }, (_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    authority.close();
  });
  const { port } = server.address() as AddressInfo;
  dns.set('time.test', 'A', ['127.0.0.1']);
  kit.ca = authority.ca;
  kit.settings.timeSources = [`https://time.test:${port}`];
  t.match(of(await examine(kit), 'clock'), [{ health: 'ok' }]);

  const fast = { ...kit, now: () => Date.now() + 600_000 };
  t.match(of(await examine(fast), 'clock'), [
    { health: 'fail', message: /59\d|600 s ahead/, remedy: { command: 'timedatectl set-ntp true' } },
  ]);
  t.match(
    of(await examine({ ...kit, ca: undefined }), 'clock'),
    [{ health: 'warn', message: /couldn't verify the clock/ }],
    'nobody on the way can set our clock',
  );

  dns.set('api.service.test', 'A', ['127.0.0.1']);
  dns.set('links.service.test', 'A', ['127.0.0.1']);
  const origin = (host: string) => `https://${host}.service.test:${port}`;
  const served = async (change: Partial<DoctorKit>, links = 'api') => {
    const settings = { ...kit.settings, baseUrl: origin('api'), linksUrl: origin(links) };
    return of(await examine({ ...kit, settings, ...change }), 'HTTP certificate');
  };
  t.match(await served({}), [{ health: 'warn', message: /^expires at \S+$/ }]);
  t.match(await served({ ca: undefined }), [
    {
      health: 'warn',
      message: /^expires at \S+; clients reject it: its issuer is missing/,
      remedy: { advice: /fullchain/ },
    },
  ]);
  const links = await served({}, 'links');
  t.equal(links.length, 2);
  t.match(links[1], { subject: `links.service.test:${port}`, health: 'warn', message: /^expires at \S+$/ });
});

t.test('DNS is away: one clear fault, no verdict about records', async (t) => {
  const { kit, dns } = await startWorld(t);
  dns.behave('*', 'silent');
  const findings = await examine(kit);
  t.match(of(findings, 'resolver'), [{ health: 'fail', remedy: { setting: /dns\.servers/ } }]);
  t.same(
    findings.filter(({ health }) => health === 'fail').map(({ check }) => check),
    ['resolver'],
  );
});

t.test('a probe that throws is a finding, and stops no other', async (t) => {
  const { kit } = await startWorld(t);
  const broken = { ...kit, diskRoom: () => Promise.reject(new Error('no such thing')) };
  const findings = await examine(broken);
  t.match(of(findings, 'disk'), [{ health: 'warn', message: /no such thing/ }]);
  t.match(of(findings, 'MX'), [{ health: 'ok' }]);
});

t.test('names that several daemons share, where only one of them could prove them', async (t) => {
  const { kit } = await startWorld(t);
  const node = (name: string) => ({ node: name, version: '1.0.0', seenMsAgo: 10 });
  const facts = { nodes: [node('a'), node('b')] } as ServerFacts;
  const warned = async (challenge: DoctorKit['settings']['acme']['challenge'], change: Partial<DoctorKit> = {}) => {
    const acme = { ...kit.settings.acme, http: ['a.test'], challenge };
    const server = async () => ({ kind: 'answer', facts }) as const;
    const findings = await checkCertificates({ ...kit, server, settings: { ...kit.settings, acme }, ...change });
    return findings.filter(({ message }) => message.includes('tls-alpn-01 only')).length;
  };
  t.equal(await warned('tls-alpn-01'), 1);
  t.equal(await warned('http-01'), 0);
  t.equal(await warned('tls-alpn-01', { server: async () => null }), 0, 'with SQLite');
});
