// The domain endpoints from outside, against a real DNS server: register, publish, verify,
// revoke; two tenants that want one name.
import t from 'tap';
import { SERVICE, startApiHarness, type TestTenant } from '../support/api-harness.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const tenant = await api.addTenant();
const rival = await api.addTenant();
const NOBODY = '018f0000-0000-7000-8000-000000000000';

function register(owner: TestTenant, domain: string, selector?: string) {
  return api.call('POST', '/domains', { key: owner.key, body: { domain, selector } });
}

function verify(owner: TestTenant, id: string) {
  return api.call('POST', `/domains/${id}/verify`, { key: owner.key });
}

function show(owner: TestTenant, id: string) {
  return api.call('GET', `/domains/${id}`, { key: owner.key });
}

/** Publishes records as the service says, in a zone of their own. */
function publish(zone: string, records: { name: string; value: string }[]): void {
  api.dns.addZone(zone);
  for (const { name, value } of records) api.dns.set(name, 'TXT', [value], 0);
}

t.test('register answers with the record and what to publish', async (t) => {
  const { status, body } = await register(tenant, 'first.test');
  t.equal(status, 201);
  t.match(body, {
    domain: 'first.test',
    state: 'pending',
    dkim_selector: `pr${new Date().toISOString().slice(0, 7).replace('-', '')}`,
    failure_reason: null,
    verified_at: null,
    last_checked_at: null,
    created_at: /Z$/,
  });
  t.ok(Buffer.from(body.dkim_public_key_b64, 'base64').length > 256, '2048 bits');
  const [dkim, spf, dmarc] = body.records;
  t.match(dkim, {
    name: `${body.dkim_selector}._domainkey.first.test`,
    type: 'TXT',
    value: `v=DKIM1; k=rsa; p=${body.dkim_public_key_b64}`,
    required: true,
  });
  t.match(spf, { name: 'first.test', type: 'TXT', value: `v=spf1 include:${SERVICE.spfDomain} ~all`, required: false });
  t.match(dmarc, { name: '_dmarc.first.test', type: 'TXT', value: /^v=DMARC1; p=none; rua=mailto:/, required: false });
  t.same((await show(tenant, body.id)).body, body);
  const own =
    /^domain: first\.test is already registered \(ID [0-9a-f-]{36}\) and pending\. Publish its records and verify it\.$/;
  t.match((await register(tenant, 'first.test')).body, { error: 'domain_exists', message: own });
  t.equal((await register(rival, 'first.test')).status, 201, 'no squatting: another tenant may try');
});

t.test('there is a limit, which deleting makes room in', async (t) => {
  const many = await api.addTenant();
  const ids: string[] = [];
  for (let n = 0; n < SERVICE.maxPerTenant; n++) ids.push((await register(many, `d${n}.many.test`)).body.id);
  const refused = await register(many, 'more.many.test');
  t.equal(refused.status, 400);
  t.match(refused.body, {
    error: 'validation_failed',
    message: /^domain: your account has 20 domains, which is the limit\. Delete those .*, or ask the operator/,
  });
  t.equal((await api.call('DELETE', `/domains/${ids[0]}`, { key: many.key })).status, 200);
  t.equal((await register(many, 'more.many.test')).status, 201);
});

t.test('names and selectors that are refused', async (t) => {
  const long = `${'a'.repeat(63)}.`.repeat(3);
  const names: [name: unknown, message: RegExp][] = [
    ['Upper.test', /^domain: .*lower-case.*upper\.test/],
    ['dot.test.', /^domain: .*trailing dot/],
    ['bücher.test', /^domain: .*xn--bcher-kva\.test/],
    ['localhost', /^domain: .*two labels/],
    ['192.0.2.1', /^domain: .*IP address/],
    ['[192.0.2.1]', /^domain: /],
    ['a..test', /^domain: /],
    ['-a.test', /^domain: /],
    ['a_b.test', /^domain: /],
    ['a b.test', /^domain: /],
    ['xn--zz--zz.test', /^domain: /],
    [`${long}${'b'.repeat(63)}.test`, /^domain: /],
    ['bounces.postrider.test', /^domain: .*this service/],
    ['', /^domain: must not be empty/],
    [5, /^domain: must be a string/],
    [null, /^domain: this field is required/],
  ];
  for (const [domain, message] of names) {
    const { status, body } = await api.call('POST', '/domains', { key: tenant.key, body: { domain } });
    t.match({ status, ...body }, { status: 400, error: 'validation_failed', message }, String(domain));
  }
  for (const selector of ['', 'a b', 'a..b', '-a', 'a-', 'a_b', 'a'.repeat(64), `${long}${long}x`, 'ä', '.a']) {
    const { status, body } = await register(tenant, 'selector.test', selector);
    t.match({ status, ...body }, { status: 400, error: 'validation_failed', message: /^selector: / }, selector);
  }
  t.equal((await register(tenant, 'selector.test', 'Mail.s1-x')).body.dkim_selector, 'Mail.s1-x');
});

t.test('verify: failed with its reason, then verified, then failed again', async (t) => {
  const { body: domain } = await register(tenant, 'cycle.test');
  api.dns.addZone('cycle.test');
  const failed = await verify(tenant, domain.id);
  t.equal(failed.status, 422);
  t.match(failed.body, {
    error: 'verification_failed',
    domain: 'cycle.test',
    check: {
      record: 'dkim',
      name: domain.records[0].name,
      type: 'TXT',
      required: true,
      ok: false,
      expected: domain.records[0].value,
      found: [],
      reason: 'not_found',
    },
  });
  t.match((await show(tenant, domain.id)).body, { state: 'failed', failure_reason: 'not_found', verified_at: null });

  publish('cycle.test', [domain.records[0]]);
  const verified = await verify(tenant, domain.id);
  t.equal(verified.status, 200, 'SPF and DMARC are advice');
  const { checks, ...record } = verified.body;
  t.same(record, (await show(tenant, domain.id)).body);
  t.match(record, { state: 'verified', failure_reason: null, verified_at: /Z$/, last_checked_at: /Z$/ });
  t.same(
    checks.map((check: { record: string; ok: boolean }) => [check.record, check.ok]),
    [
      ['dkim', true],
      ['spf', false],
      ['dmarc', false],
    ],
  );
  const mail = { from: 'a@cycle.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
  t.equal((await api.call('POST', '/emails', { key: tenant.key, body: mail })).status, 202);

  api.dns.behave('*', 'servfail');
  t.match((await verify(tenant, domain.id)).body, {
    error: 'verification_failed',
    check: { reason: 'dns_unavailable' },
  });
  api.dns.behave('*', null);
  t.equal((await show(tenant, domain.id)).body.state, 'verified', 'a silent DNS takes nothing away');
  api.dns.set(domain.records[0].name, 'TXT', ['v=DKIM1; k=rsa; p=AAAA'], 0);
  t.match((await verify(tenant, domain.id)).body, { check: { reason: 'mismatch' } });
  t.equal((await show(tenant, domain.id)).body.state, 'failed');
});

t.test('a domain that was never verified becomes failed when DNS does not answer', async (t) => {
  const { body: domain } = await register(tenant, 'silent.test');
  api.dns.addZone('silent.test');
  api.dns.behave(domain.records[0].name, 'servfail');
  t.equal((await verify(tenant, domain.id)).status, 422);
  t.match((await show(tenant, domain.id)).body, { state: 'failed', failure_reason: 'dns_unavailable' });
});

t.test('two tenants, one name', async (t) => {
  const { body: ours } = await register(tenant, 'contested.test', 'ours');
  const { body: theirs } = await register(rival, 'contested.test', 'theirs');
  publish('contested.test', [ours.records[0], theirs.records[0]]);
  t.equal((await verify(tenant, ours.id)).status, 200);
  const held = {
    error: 'domain_exists',
    message: /is verified by another account\. .* register it again three days later, or ask/,
  };
  t.match((await register(await api.addTenant(), 'contested.test')).body, held);
  const published = {
    error: 'domain_exists',
    message: /another account, and its DKIM record is still in your DNS .* verify again/,
  };
  t.match((await verify(rival, theirs.id)).body, published, 'the holder’s record is still there');
  t.equal((await show(tenant, ours.id)).body.state, 'verified');

  api.dns.behave(ours.records[0].name, 'servfail');
  t.match((await verify(rival, theirs.id)).body, { error: 'domain_exists' }, 'not definitely gone');
  api.dns.behave(ours.records[0].name, null);
  api.dns.remove(ours.records[0].name);
  t.match(await verify(rival, theirs.id), { status: 200, body: { state: 'verified' } });
  t.equal((await show(tenant, ours.id)).body.state, 'failed');
  t.match((await verify(tenant, ours.id)).body, { error: 'verification_failed' });
});

t.test('revoke', async (t) => {
  const { body: domain } = await register(tenant, 'gone.test');
  publish('gone.test', [domain.records[0]]);
  await verify(tenant, domain.id);
  const revoked = await api.call('DELETE', `/domains/${domain.id}`, { key: tenant.key });
  t.equal(revoked.status, 200);
  t.match(revoked.body, { id: domain.id, state: 'revoked', records: domain.records });
  t.same((await show(tenant, domain.id)).body, revoked.body);
  const gone = {
    status: 404,
    body: { error: 'domain_not_found', message: /gone\.test is revoked\. Register it anew with POST / },
  };
  t.match(await verify(tenant, domain.id), gone);
  t.match(await api.call('DELETE', `/domains/${domain.id}`, { key: tenant.key }), gone);
  const mail = { from: 'a@gone.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
  t.match((await api.call('POST', '/emails', { key: tenant.key, body: mail })).body, { error: 'domain_not_verified' });
  const again = await register(tenant, 'gone.test');
  t.equal(again.status, 201);
  t.not(again.body.id, domain.id);
});

t.test('lists that have no pages refuse parameters, which would go round in circles', async (t) => {
  for (const path of ['/domains', '/templates', '/webhooks']) {
    const refused = {
      status: 400,
      body: { error: 'validation_failed', message: /^after: unknown parameter; this list / },
    };
    t.match(await api.call('GET', `${path}?after=${api.ids.next()}`, { key: tenant.key }), refused, path);
    t.equal((await api.call('GET', `${path}?`, { key: tenant.key })).status, 200, path);
  }
});

t.test('lists are oldest first, revoked ones included; other tenants do not exist', async (t) => {
  const owner = await api.addTenant();
  const ids = [];
  for (const name of ['b.test', 'a.test', 'c.test']) ids.push((await register(owner, name)).body.id);
  await api.call('DELETE', `/domains/${ids[1]}`, { key: owner.key });
  const { body } = await api.call('GET', '/domains', { key: owner.key });
  t.same(Object.keys(body), ['domains']);
  t.same(
    body.domains.map((domain: { id: string }) => domain.id),
    ids,
  );
  t.equal(body.domains[1].records.length, 3);
  for (const [method, suffix] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/verify'],
  ]) {
    for (const id of [ids[0], NOBODY]) {
      const answer = await api.call(method!, `/domains/${id}${suffix}`, { key: rival.key });
      t.match(answer, { status: 404, body: { error: 'domain_not_found' } }, `${method} ${id}`);
    }
  }
  t.equal((await show(owner, ids[0].toUpperCase())).status, 200, 'ids in any case');
});

t.test('a bound key reads all, and changes only its own domain', async (t) => {
  const owner = await api.addTenant();
  const { body: own } = await register(owner, 'own.test');
  const { body: other } = await register(owner, 'other.test');
  const key = await api.addKey(owner.id, ['domains:write'], 'own.test');
  t.equal((await api.call('GET', '/domains', { key })).body.domains.length, 2);
  t.equal((await api.call('GET', `/domains/${other.id}`, { key })).status, 200);
  t.match((await api.call('POST', '/domains', { key, body: { domain: 'own.test' } })).body, {
    error: 'domain_not_allowed',
  });
  t.match((await api.call('DELETE', `/domains/${other.id}`, { key })).body, { error: 'domain_not_allowed' });
  t.match((await api.call('POST', `/domains/${other.id}/verify`, { key })).body, { error: 'domain_not_allowed' });
  t.equal((await api.call('POST', `/domains/${own.id}/verify`, { key })).status, 422);
  t.equal((await api.call('DELETE', `/domains/${own.id}`, { key })).status, 200);
});
