// Whoever owns a domain chooses which name servers its zone refers to: a verification must not become a way to make
// us ask somebody else's servers, or about somebody else's names, hundreds of questions.
import t, { type Test } from 'tap';
import { type ApiAnswer, type ApiHarness, SERVICE, startApiHarness } from '../support/api-harness.ts';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { registerSender, startWorld } from '../support/world.ts';

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
  const checks = (await api.store.domains.lastChecks(owner.id, domainId))?.checks;
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

/** Verifications wait until the test lets them go on. */
async function openWithPauses(t: Test) {
  const clock = { at: Date.now(), now: () => clock.at };
  const pauses: { ms: number; over(): void }[] = [];
  const { promise: paused, resolve: sayPaused } = Promise.withResolvers<void>();
  const pause = (ms: number) => {
    sayPaused();
    return new Promise<void>((over) => pauses.push({ ms, over }));
  };
  const api = await startApiHarness({ clock, checkTurns: { gapMs: 10_000, pause } });
  t.teardown(() => api.close());
  const { key } = await api.addTenant();
  const register = async (domain: string) =>
    String((await api.call('POST', '/domains', { key, body: { domain } })).body.id);
  const verify = (id: string) => api.call('POST', `/domains/${id}/verify`, { key });
  return { api, key, register, verify, clock, pauses, paused };
}

t.test('deleting and registering again in a loop wins no verification', async (t) => {
  const { api, key, register, verify, clock, pauses, paused } = await openWithPauses(t);
  const first = await register('victim.test');
  t.match(await verify(first), { status: 422 });
  const asked = api.dns.queries.length;
  t.ok(asked > 0);
  const answers: Promise<unknown>[] = [];
  for (let id = first; answers.length < 3; ) {
    t.match(await api.call('DELETE', `/domains/${id}`, { key }), { status: 200 });
    id = await register('victim.test');
    answers.push(verify(id));
    await Promise.race([paused, ...answers]);
  }
  const again = await register('other.test');
  t.match(await verify(again), { status: 422 }, 'another zone is asked meanwhile');
  const about = api.dns.queries.slice(asked).filter(({ name }) => within(name, 'victim.test'));
  t.same(about, [], 'nobody is asked before the gap is over');
  t.equal(pauses.length, 1);
  t.match(pauses[0]!.ms, 10_000);
  const statuses = await lettingPass(clock, pauses, Promise.all(answers));
  t.match(statuses, [{ status: 404 }, { status: 404 }, { status: 422 }], 'the first two were deleted meanwhile');
});

/** Lets one pause after the other pass until there is a result. */
async function lettingPass<R>(
  clock: { at: number },
  pauses: { ms: number; over(): void }[],
  result: Promise<R>,
): Promise<R> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  result.then(end, end);
  while (!isOver) {
    const next = pauses.shift();
    clock.at += next?.ms ?? 0;
    next?.over();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return result;
}

t.test('any number of names of somebody else’s zone are verified a few at once', async (t) => {
  const { api, register, verify, clock, pauses } = await openWithPauses(t);
  const ids: string[] = [];
  for (let index = 0; index < 12; index++) ids.push(await register(`s${index}.victim.test`));
  const answers = await Promise.all(ids.slice(0, 5).map(verify));
  for (const answer of answers) t.match(answer, { status: 422 });
  const asked = api.dns.queries.length;
  const early: ApiAnswer[] = [];
  const { promise: four, resolve } = Promise.withResolvers<void>();
  const calls = ids.slice(5).map(async (id) => {
    const answer = await verify(id);
    early.push(answer);
    if (early.length === 4) resolve();
    return answer;
  });
  await four;
  for (const { status, headers, body } of early.splice(0)) {
    t.match({ status, body }, { status: 500, body: { error: 'internal_error', message: /already waiting/ } });
    t.equal(headers.get('retry-after'), '10');
  }
  t.equal(api.dns.queries.length, asked, 'three wait, and nobody is asked');
  await lettingPass(clock, pauses, Promise.all(calls));
  for (const answer of early) t.match(answer, { status: 422 });
  t.equal(early.length, 3);
});

t.test(
  'the daemon: calls at the same time share a verification, which finds what was published meanwhile',
  async (t) => {
    const world = await startWorld(t);
    const daemon = await world.postrider.serve();
    const sender = await registerSender(world, daemon);
    const { body: domain } = await daemon.call(sender.key, 'POST /domains', { body: { domain: 'late.test' } });
    world.dns.addZone('late.test');
    const [dkim] = domain.records as { name: string; value: string }[];
    const verify = () => daemon.call(sender.key, `POST /domains/${domain.id}/verify`);
    const questions = () => world.dns.queries.filter(({ name, type }) => name === dkim!.name && type === 'TXT').length;
    const calls = Array.from({ length: 8 }, verify);
    const { status, body } = await Promise.race(calls);
    t.match({ status, body }, { status: 422, body: { check: { reason: 'not_found' } } }, 'the first one asks at once');
    world.dns.set(dkim!.name, 'TXT', [dkim!.value]);
    const statuses = (await Promise.all(calls)).map((answer) => answer.status).sort();
    t.same(statuses, [...Array.from({ length: 7 }, () => 200), 422], 'the others wait, and find what was published');
    t.equal(questions(), 2, 'one question for the first call, and one for those that came while it was answered');
  },
);
