import { createHash } from 'node:crypto';
import path from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { createApiKey, parseApiKey, parseBoundDomain, readPublicId, verifyApiKey } from '../../src/tenants/api-keys.ts';
import { createTenant } from '../../src/tenants/tenant-service.ts';
import { testFolder } from '../support/test-folder.ts';

const PUBLIC_ID = 'abcdefABCDEF';
const SECRET = 'x'.repeat(43);

t.test('a token is read into its parts, and nothing else is taken for one', async (t) => {
  t.same(parseApiKey(`pr_${PUBLIC_ID}_${SECRET}`), { publicId: PUBLIC_ID, secret: SECRET });
  const wrong = {
    empty: '',
    'no prefix': `${PUBLIC_ID}_${SECRET}`,
    'other prefix': `pk_${PUBLIC_ID}_${SECRET}`,
    'prefix in capitals': `PR_${PUBLIC_ID}_${SECRET}`,
    'public id too short': `pr_${PUBLIC_ID.slice(1)}_${SECRET}`,
    'secret too short': `pr_${PUBLIC_ID}_${SECRET.slice(1)}`,
    'secret too long': `pr_${PUBLIC_ID}_${SECRET}x`,
    'a fourth part': `pr_${PUBLIC_ID}_${SECRET}_x`,
    'a line end': `pr_${PUBLIC_ID}_${SECRET}\n`,
    'a blank': ` pr_${PUBLIC_ID}_${SECRET}`,
    'a letter outside the alphabet': `pr_${PUBLIC_ID}_${SECRET.slice(1)}é`,
  };
  for (const [name, token] of Object.entries(wrong)) t.equal(parseApiKey(token), null, name);
});

t.test('the public id is read from a whole key and from its public part', async (t) => {
  t.equal(readPublicId(`pr_${PUBLIC_ID}_${SECRET}`), PUBLIC_ID);
  t.equal(readPublicId(`pr_${PUBLIC_ID}`), PUBLIC_ID);
  for (const wrong of ['', 'pr', 'pr_', `xx_${PUBLIC_ID}`, `pr_${PUBLIC_ID}_`, `pr_${PUBLIC_ID}_short`]) {
    t.equal(readPublicId(wrong), null, wrong);
  }
});

t.test('a bound domain is kept as domains are: lower case, A-labels, no trailing dot', async (t) => {
  t.same(parseBoundDomain('Bücher.Example.'), { ok: true, domain: 'xn--bcher-kva.example' });
  for (const wrong of ['', '.', 'localhost', 'a..b', '-a.example', '[192.0.2.1]', 'a b.example', 'example.com..']) {
    t.equal(parseBoundDomain(wrong).ok, false, wrong);
  }
});

t.test('with a store', async (t) => {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const services = { store, clock: systemClock, ids: new IdSource() };
  const made = await createTenant(services, { name: 'Acme', status: 'active' });
  if (made.kind === 'refused') throw new Error(made.message);
  const tenantId = made.tenant.id;

  async function newKey(request: { scopes?: string[]; boundDomain?: string; maxLive?: number; tenantId?: string }) {
    return createApiKey(services, { tenantId, name: 'k', scopes: ['emails:send'], maxLive: 50, ...request });
  }

  t.test('a new key verifies; only the hash of its secret is stored', async (t) => {
    const result = await newKey({
      scopes: ['domains:write', 'emails:send', 'emails:send'],
      boundDomain: 'Example.COM.',
    });
    if (result.kind === 'refused') throw new Error(result.message);
    t.match(result.token, /^pr_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/);
    const verified = await verifyApiKey(result.token, store);
    t.equal(verified?.tenant.id, tenantId);
    t.match(verified?.key, { id: result.key.id, scopes: ['emails:send', 'domains:write'], boundDomain: 'example.com' });
    const { secret } = parseApiKey(result.token)!;
    t.same(verified?.key.secretHash, createHash('sha256').update(secret).digest());
    t.notOk(JSON.stringify(verified).includes(secret));
  });

  t.test('no other token verifies', async (t) => {
    const result = await newKey({});
    if (result.kind === 'refused') throw new Error(result.message);
    const { publicId, secret } = parseApiKey(result.token)!;
    const last = secret.at(-1) === 'a' ? 'b' : 'a';
    t.equal(await verifyApiKey(`pr_${publicId}_${secret.slice(0, -1)}${last}`, store), null, 'wrong secret');
    t.equal(await verifyApiKey(`pr_${PUBLIC_ID}_${secret}`, store), null, 'unknown public id');
    t.equal(await verifyApiKey('rubbish', store), null, 'not a key');
    t.ok(await verifyApiKey(result.token, store), 'the key itself, before it is revoked');
    await store.keys.revokeApiKey(tenantId, result.key.id, 1);
    t.equal(await verifyApiKey(result.token, store), null, 'revoked');
  });

  t.test('what cannot be granted is refused with the field named', async (t) => {
    t.match(await newKey({ scopes: ['emails:read'] }), { kind: 'refused', field: 'scopes', message: /"emails:read"/ });
    t.match(await newKey({ boundDomain: 'localhost' }), { kind: 'refused', field: 'domain' });
    const stranger = '01a1fa75-69d8-7000-b301-908cb7826839';
    t.match(await newKey({ tenantId: stranger }), { kind: 'refused', field: null, message: new RegExp(stranger) });
  });

  t.test('live keys are limited per tenant, and revoked ones do not count', async (t) => {
    const other = await createTenant(services, { name: 'Other' });
    if (other.kind === 'refused') throw new Error(other.message);
    const limited = { tenantId: other.tenant.id, maxLive: 2 };
    const first = await newKey(limited);
    t.equal(first.kind, 'created');
    t.equal((await newKey(limited)).kind, 'created');
    t.match(await newKey(limited), { kind: 'refused', message: /already has 2 keys/ });
    if (first.kind === 'created') await store.keys.revokeApiKey(other.tenant.id, first.key.id, 1);
    t.equal((await newKey(limited)).kind, 'created');
  });
});
