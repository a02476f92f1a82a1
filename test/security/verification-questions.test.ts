// Whoever owns a domain chooses which name servers its zone refers to: a verification must not become a way to make
// us ask somebody else's servers, or about somebody else's names, hundreds of questions.
import t, { type Test } from 'tap';
import { registerSender, startWorld } from '../flows/world.ts';
import { type ApiHarness, SERVICE, startApiHarness } from '../support/api-harness.ts';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';

const LABELS = ['a', 'b', 'c', 'd', 'e', 'f'];
const NAMES_PER_REFERRAL = 13;
const VICTIM = 'victim.test';

/** Servers on the port of the harness's own: all of them are the attacker's, or the victim's. */
async function startServers(t: Test, api: ApiHarness, addresses: string[]): Promise<TestDnsServer[]> {
  const servers = await Promise.all(addresses.map((address) => startDnsServer({ address, port: api.dns.port })));
  t.teardown(() => Promise.all(servers.map((server) => server.close())));
  return servers;
}

async function open(t: Test) {
  const api = await startApiHarness();
  t.teardown(() => api.close());
  const owner = await api.addTenant();
  const body = { domain: 'evil.test', selector: LABELS.join('.') };
  const { body: domain } = await api.call('POST', '/domains', { key: owner.key, body });
  const verify = () => api.call('POST', `/domains/${domain.id}/verify`, { key: owner.key });
  return { api, owner, domainId: String(domain.id), verify };
}

const within = (name: string, zone: string) => name === zone || name.endsWith(`.${zone}`);

t.test('referrals to names of somebody else, at every level of every record', async (t) => {
  const { api, owner, domainId, verify } = await open(t);
  const hosts = LABELS.map((_, n) => `127.0.0.${n + 2}`);
  const servers = await startServers(t, api, hosts);
  const includes = Array.from({ length: 10 }, (_, n) => `s${n}.evil.test`);
  api.dns.set('evil.test', 'NS', ['ns1.evil.test']);
  api.dns.set('ns1.evil.test', 'A', [hosts[0]!]);
  const spf = `v=spf1 ${includes.map((zone) => `include:${LABELS.join('.')}.${zone}`).join(' ')} ~all`;
  servers[0]!.set('evil.test', 'TXT', [spf]);
  for (const [depth, server] of servers.entries()) {
    const next = hosts[depth + 1] ?? hosts[depth]!;
    for (const top of ['_domainkey.evil.test', '_dmarc.evil.test', ...includes]) {
      const zone = [...LABELS.slice(LABELS.length - depth), top].join('.');
      const names = Array.from(
        { length: NAMES_PER_REFERRAL },
        (_, n) => `n${n}.${zone.replaceAll('.', '-')}.${VICTIM}`,
      );
      server.delegate(zone, Object.fromEntries(names.map((name) => [name, []])));
      for (const name of names) api.dns.set(name, 'A', [next]);
    }
  }
  const answer = await verify();
  t.match(answer, { status: 422, body: { error: 'verification_failed', check: { reason: 'dns_unavailable' } } });
  const checks = (await api.store.lastChecks(owner.id, domainId))?.checks;
  t.match(checks?.[1], { record: 'spf', message: /refer to too many others/ }, 'and it says why');
  const about = api.dns.queries.filter(({ name, type }) => within(name, VICTIM) && (type === 'A' || type === 'AAAA'));
  t.comment(`${about.length} questions about the victim's names, ${api.dns.queries.length} to the resolver in all`);
  t.ok(about.length > 0, 'it was an attack');
  t.ok(about.length <= 2 * 48, `${about.length} questions about the victim's names`);
  t.ok(api.dns.queries.length <= 2 * 48 + 64 + 1, `${api.dns.queries.length} questions to the resolver`);
  const perReferral = new Map<string, Set<string>>();
  for (const { name } of about) {
    const [first, ...zone] = name.split('.');
    perReferral.set(zone.join('.'), (perReferral.get(zone.join('.')) ?? new Set()).add(first!));
  }
  for (const [zone, names] of perReferral) t.ok(names.size <= 3, `${names.size} names of ${zone}`);
});

t.test('glue that leads to many servers of somebody else', async (t) => {
  const { api, verify } = await open(t);
  const [first, ...victims] = await startServers(
    t,
    api,
    Array.from({ length: 40 }, (_, n) => `127.0.1.${n + 1}`),
  );
  for (const victim of victims) victim.behave('*', 'refused');
  api.dns.set('evil.test', 'NS', ['ns1.evil.test']);
  api.dns.set('ns1.evil.test', 'A', [first!.address]);
  const includes = Array.from({ length: 10 }, (_, n) => `s${n}.evil.test`);
  first!.set('evil.test', 'TXT', [`v=spf1 ${includes.map((zone) => `include:${zone}`).join(' ')} ~all`]);
  for (const [n, zone] of ['_domainkey.evil.test', '_dmarc.evil.test', ...includes].entries()) {
    const glue = Array.from({ length: 13 }, (_, k) => victims[(13 * n + k) % victims.length]!.address);
    first!.delegate(zone, Object.fromEntries(glue.map((ip, k) => [`ns${k}.${zone}`, [ip]])));
  }
  t.match(await verify(), { status: 422, body: { check: { reason: 'dns_unavailable' } } });
  const asked = [first!, ...victims].filter(({ queries }) => queries.length > 0);
  const questions = victims.reduce((sum, { queries }) => sum + queries.length, 0);
  t.comment(`${asked.length} addresses, ${questions} questions to the victims`);
  t.ok(questions > 0, 'it was an attack');
  t.ok(asked.length <= 20, `${asked.length} addresses`);
  t.ok(questions <= 64, `${questions} questions`);
});

t.test('a domain of many providers is not hit', async (t) => {
  const api = await startApiHarness();
  t.teardown(() => api.close());
  const owner = await api.addTenant();
  const { body: domain } = await api.call('POST', '/domains', { key: owner.key, body: { domain: 'sub.acme.test' } });
  const servers = await startServers(
    t,
    api,
    Array.from({ length: 11 }, (_, n) => `127.0.2.${n + 1}`),
  );
  for (const [n, server] of servers.entries()) {
    const zone = n === 0 ? 'acme.test' : `provider${n}.test`;
    const names = ['ns1', 'ns2', 'ns3', 'ns4'].map((ns) => `${ns}.${zone}`);
    api.dns.set(zone, 'NS', names);
    for (const name of names) api.dns.set(name, 'A', [server.address]);
    server.set(`_spf.${zone}`, 'TXT', ['v=spf1 ip4:192.0.2.1 ~all']);
  }
  for (const record of domain.records) servers[0]!.set(record.name, 'TXT', [record.value]);
  const includes = servers.slice(2).map((_, n) => `include:_spf.provider${n + 2}.test`);
  servers[0]!.set('sub.acme.test', 'TXT', [`v=spf1 ${includes.join(' ')} ~all`]);
  servers.at(-1)!.set('_spf.provider10.test', 'TXT', [`v=spf1 include:${SERVICE.spfDomain} ~all`]);
  const answer = await api.call('POST', `/domains/${domain.id}/verify`, { key: owner.key });
  t.match(answer, { status: 200, body: { state: 'verified' } });
  t.match(
    answer.body.checks,
    [{ ok: true }, { ok: true }, { ok: true }],
    'nine includes, each at a provider of its own',
  );
});

t.test('the daemon: all at once are one verification, and the next one finds what was published since', async (t) => {
  const world = await startWorld(t);
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const { body: domain } = await daemon.call(sender.key, 'POST /domains', { body: { domain: 'late.test' } });
  world.dns.addZone('late.test');
  const [dkim] = domain.records as { name: string; value: string }[];
  const verify = () => daemon.call(sender.key, `POST /domains/${domain.id}/verify`);
  const questions = () => world.dns.queries.filter(({ name, type }) => name === dkim!.name && type === 'TXT').length;
  const answers = await Promise.all(Array.from({ length: 8 }, verify));
  for (const { status, body } of answers)
    t.match({ status, body }, { status: 422, body: { check: { reason: 'not_found' } } });
  t.equal(questions(), 1, 'one question for eight calls');
  world.dns.set(dkim!.name, 'TXT', [dkim!.value]);
  t.match(await verify(), { status: 200, body: { state: 'verified' } });
  t.equal(questions(), 2);
});
