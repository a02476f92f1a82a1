// What is opened at a store's address: the store, and what others read of it in their own threads and processes.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { sqliteAt } from '../../src/store/address.ts';
import {
  inspect,
  openCourierReads,
  openDaemonStore,
  openPortalReads,
  openStore,
} from '../../src/store/opening/open-store.ts';
import type { ContentReader } from '../../src/store/submissions.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench, T0 } from './conformance/harness.ts';

const DAY_MS = 86_400_000;
const noContents = (): ContentReader => {
  throw new Error('not opened by this test');
};

/** As a thread or a process gets it. */
function addressIn(t: Test) {
  return structuredClone(sqliteAt(path.join(testFolder(t), 'data', 'postrider.db')));
}

t.test('a command looks at a store beside whoever has it open', async (t) => {
  const address = addressIn(t);
  t.equal(await inspect(address, (stored) => stored.tenants()), null, 'there is none yet');
  t.notOk(fs.existsSync(path.dirname(address.file)), 'and looking creates none');
  const store = await openStore(address);
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: noContents });
  const { tenant, domain } = await bench.sender('acme.test');
  await bench.queued(domain, 'a@x.test');
  const entry = { address: 'b@x.test', reason: 'manual', messageId: null, createdAt: T0 } as const;
  await store.suppressions.addSuppression(tenant.id, entry);
  const held = await bench.queued(domain, 'c@x.test');
  const search = { recipient: 'c@x.test', recipientDomain: 'x.test', limit: 10, budgetMs: 60_000 };
  const found = await inspect(address, async (stored) => ({
    tenants: await stored.tenants(),
    domains: await stored.domains(null, 10),
    other: await stored.domains('other.test', 10),
    names: await stored.names('none', 10),
    inUse: await stored.secretsInUse(),
    certificates: await stored.certificates('https://acme.test/'),
    unfinished: await stored.unfinished(),
    held: await stored.held(),
    suppressed: await stored.suppressedBy({ address: 'b@x.test', tenantId: tenant.id, now: T0 }),
    unsuppressed: await stored.suppressedBy({ address: 'b@x.test', tenantId: bench.id(), now: T0 }),
    messages: await stored.messages(tenant.id, search),
  }));
  t.match(found, {
    tenants: [{ id: tenant.id, name: tenant.name, status: 'active' }],
    domains: { domains: [{ domain: 'acme.test' }], leftOut: 0 },
    other: { domains: [], leftOut: 0 },
    names: { serviceDkimKeyB64: null, sendingDomains: ['acme.test'] },
    inUse: { ofService: [], ofNewest: [String] },
    certificates: [],
    unfinished: 2,
    held: 0,
    suppressed: { platform: null, tenant: { reason: 'manual' } },
    unsuppressed: { platform: null, tenant: null },
    messages: { messages: [{ id: held.id }] },
  });
  await store.queue.holdUnfinished({ now: T0, notBefore: T0 + DAY_MS });
  t.strictSame(await inspect(address, async (stored) => [await stored.unfinished(), await stored.held()]), [0, 2]);
});

t.test('couriers read contents, and what is known of TLS', async (t) => {
  const address = addressIn(t);
  const store = await openStore(address);
  t.teardown(() => store.close());
  const { contents, transportSecurity } = await openCourierReads(address);
  t.teardown(() => contents.close());
  t.teardown(() => transportSecurity.close());
  const bench = new Bench({ store, openContents: noContents });
  const { domain } = await bench.sender('acme.test');
  const { id } = await bench.queued(domain, 'a@x.test');
  t.match(await contents.read(id), { kind: 'content', content: { messageId: id, to: { address: 'a@x.test' } } });
  const policy = {
    domain: 'x.test',
    policyId: '1',
    mode: 'enforce' as const,
    mx: ['mx.x.test'],
    fetchedAt: T0,
    expiresAt: T0 + DAY_MS,
  };
  const broken = { host: 'mx.x.test', reason: 'handshake', since: T0, expiresAt: T0 + DAY_MS };
  await store.transportSecurity.putTlsPolicy(policy, 10);
  await store.transportSecurity.putBrokenTls(broken, 10);
  t.strictSame(await transportSecurity.tlsPolicy('x.test', T0), policy);
  t.strictSame(await transportSecurity.brokenTls('mx.x.test', T0), broken);
  t.equal(await transportSecurity.tlsPolicy('x.test', T0 + DAY_MS), null, 'it has expired');
  t.equal(await transportSecurity.brokenTls('other.test', T0), null);
});

t.test("the daemon's store, its notices, and the portal's reads", async (t) => {
  const address = addressIn(t);
  const fail = (error: unknown) => t.fail(String(error));
  let committed = 0;
  const onGroup = ({ verbs }: { verbs: number }) => {
    committed += verbs;
  };
  const store = await openDaemonStore(address, {
    onGroup,
    onFailedCommit: fail,
    onBackgroundFault: fail,
    onLost: fail,
  });
  t.teardown(() => store.close());
  const { reads, close } = await openPortalReads(address, fail);
  t.teardown(() => close());
  const bench = new Bench({ store, openContents: noContents });
  const { tenant, domain } = await bench.sender('acme.test');
  const target = 'https://hook.test/';
  const secret = { masterKeyId: 'k', sealed: Buffer.from('secret') };
  const webhook = {
    id: bench.id(),
    tenantId: tenant.id,
    url: target,
    target,
    description: null,
    createdAt: T0,
    secret,
  };
  await store.webhooks.createWebhook(webhook, 10);
  const told = new Promise((resolve) => store.notices.listen({ webhooksDue: resolve }));
  const message = await bench.sending(domain, 'a@x.test');
  await store.queue.record([bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'))]);
  t.strictSame(await told, [webhook.id]);
  t.match(await reads.latestEvents(tenant.id, 10), { kind: 'found', value: [{ type: 'email.delivered' }] });
  t.ok(committed > 0, 'groups are told');
});
