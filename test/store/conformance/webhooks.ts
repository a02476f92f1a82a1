// Conformance: a tenant's webhooks: one per target, so many in all, gone when deleted.
import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import { MAX_TARGET_CHARS, type NewWebhook, type Webhook } from '../../../src/store/webhooks.ts';
import { type Bench, T0 } from './harness.ts';

export function newWebhook(bench: Bench, tenantId: string, change: Partial<NewWebhook> = {}): NewWebhook {
  return {
    id: bench.id(),
    tenantId,
    url: 'https://Acme.test',
    target: 'https://acme.test/',
    description: null,
    createdAt: T0,
    secret: { masterKeyId: 'master1', sealed: Buffer.from('a sealed secret') },
    ...change,
  };
}

async function added(bench: Bench, tenantId: string, change: Partial<NewWebhook> = {}): Promise<Webhook> {
  const webhook = newWebhook(bench, tenantId, change);
  const result = await bench.store.webhooks.createWebhook(webhook, 50);
  if (result !== 'created') throw new Error(`not created: ${result}`);
  const { secret: _, ...shown } = webhook;
  return shown;
}

export const webhookCases = {
  'what was created is shown as it was, without its secret': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const plain = await added(bench, tenantId);
    t.strictSame(await bench.store.webhooks.getWebhook(tenantId, plain.id), plain);
    const described = await added(bench, tenantId, { target: 'https://b.test/', description: 'a\u0000b\n😀' });
    t.strictSame(await bench.store.webhooks.getWebhook(tenantId, described.id), described);
    t.equal(await bench.store.webhooks.getWebhook(tenantId, bench.id()), null);
  },

  'the longest target is kept, and found': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    // Of characters that no database can compress.
    const hashes = Array.from({ length: 70 }, (_, at) => createHash('sha256').update(`${at}`).digest('base64url'));
    const target = `https://acme.test/${hashes.join('')}`.slice(0, MAX_TARGET_CHARS);
    t.equal(target.length, MAX_TARGET_CHARS);
    const webhook = await added(bench, tenantId, { target });
    t.strictSame(await bench.store.webhooks.getWebhook(tenantId, webhook.id), webhook);
    t.equal(await bench.store.webhooks.createWebhook(newWebhook(bench, tenantId, { target }), 50), 'exists');
  },

  'a choice of events is kept, changed and taken back': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const { webhooks } = bench.store;
    const some = await added(bench, tenantId, { events: ['bounce', 'email.delivered'] });
    t.strictSame(await webhooks.getWebhook(tenantId, some.id), some);
    t.strictSame(await webhooks.listWebhooks(tenantId), [some]);
    t.match(await webhooks.listWebhookHealth(tenantId), [{ events: ['bounce', 'email.delivered'] }]);
    t.strictSame(await webhooks.changeWebhook(tenantId, some.id, {}), some, 'what is left out stays');
    const fewer = await webhooks.changeWebhook(tenantId, some.id, { events: ['open'] });
    t.strictSame(fewer, { ...some, events: ['open'] });
    const { events: _, ...all } = some;
    t.strictSame(await webhooks.changeWebhook(tenantId, some.id, { events: null }), all);
    t.strictSame(await webhooks.getWebhook(tenantId, some.id), all);
  },

  'another URL and description, unless the tenant has the target': async (t: Test, bench: Bench) => {
    const [owner, stranger] = [await bench.tenant(), await bench.tenant()];
    const { webhooks } = bench.store;
    const [one, other] = [
      await added(bench, owner.id, { description: 'One' }),
      await added(bench, owner.id, { target: 'https://b.test/' }),
    ];
    await added(bench, stranger.id, { target: 'https://c.test/' });
    const to = (host: string) => ({ url: { url: `https://${host}`, target: `https://${host}/` } });
    t.equal(await webhooks.changeWebhook(owner.id, one.id, to('b.test')), 'exists');
    t.strictSame(await webhooks.getWebhook(owner.id, one.id), one, 'and nothing has changed');
    t.strictSame(
      await webhooks.changeWebhook(owner.id, one.id, { url: { url: 'HTTPS://acme.test', target: one.target } }),
      {
        ...one,
        url: 'HTTPS://acme.test',
      },
    );
    const moved = await webhooks.changeWebhook(owner.id, one.id, { ...to('c.test'), description: '' });
    t.strictSame(moved, { ...one, ...to('c.test').url, description: '' });
    t.equal((await added(bench, owner.id)).target, one.target, 'the earlier target is free');
    t.equal(await webhooks.changeWebhook(stranger.id, other.id, { description: 'Mine' }), null);
    t.equal(await webhooks.changeWebhook(owner.id, bench.id(), { description: 'Mine' }), null);
    t.strictSame(await webhooks.getWebhook(owner.id, other.id), other);
    t.equal((await webhooks.listWebhookSecrets(owner.id, one.id, T0)).length, 1, 'the secret stays');
  },

  'a tenant has a target once': async (t: Test, bench: Bench) => {
    const [one, other] = [await bench.tenant(), await bench.tenant()];
    const first = await added(bench, one.id);
    const again = newWebhook(bench, one.id, { url: 'https://acme.test/', description: 'another' });
    t.equal(await bench.store.webhooks.createWebhook(again, 50), 'exists', 'however it is written');
    t.strictSame(await bench.store.webhooks.listWebhooks(one.id), [first], 'and nothing has changed');
    t.not(await added(bench, other.id), null, 'another tenant may have it too');
    await added(bench, one.id, { target: 'https://acme.test/other' });
    t.equal((await bench.store.webhooks.listWebhooks(one.id)).length, 2);
  },

  'of two at the same time one is created': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const create = () => bench.store.webhooks.createWebhook(newWebhook(bench, tenantId), 50);
    t.strictSame((await Promise.all([create(), create(), create()])).sort(), ['created', 'exists', 'exists']);
    t.equal((await bench.store.webhooks.listWebhooks(tenantId)).length, 1);
  },

  'a tenant has so many and no more': async (t: Test, bench: Bench) => {
    const [one, other] = [await bench.tenant(), await bench.tenant()];
    const create = (tenantId: string, n: number) =>
      bench.store.webhooks.createWebhook(newWebhook(bench, tenantId, { target: `https://acme.test/${n}` }), 2);
    const results = await Promise.all([1, 2, 3].map((n) => create(one.id, n)));
    t.strictSame(results, ['created', 'created', 'too_many']);
    t.equal(await create(one.id, 1), 'exists', 'which is the better advice');
    t.equal(await create(other.id, 1), 'created', 'each tenant counts for itself');
    const [first] = await bench.store.webhooks.listWebhooks(one.id);
    await bench.store.webhooks.deleteWebhook(one.id, first!.id);
    t.equal(await create(one.id, 3), 'created', 'there is room again');
  },

  'the list is oldest first': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    t.strictSame(await bench.store.webhooks.listWebhooks(tenantId), []);
    const all: Webhook[] = [];
    for (const name of ['c', 'a', 'b']) all.push(await added(bench, tenantId, { target: `https://${name}.test/` }));
    t.strictSame(await bench.store.webhooks.listWebhooks(tenantId), all);
  },

  'what is deleted is gone, once, and its target is free': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const beside = await added(bench, tenantId, { target: 'https://b.test/' });
    const { id } = await added(bench, tenantId);
    t.equal(await bench.store.webhooks.deleteWebhook(tenantId, id), true);
    t.equal(await bench.store.webhooks.getWebhook(tenantId, id), null);
    t.equal(await bench.store.webhooks.deleteWebhook(tenantId, id), false);
    t.strictSame(await bench.store.webhooks.listWebhooks(tenantId), [beside]);
    const anew = await added(bench, tenantId);
    t.strictSame(await bench.store.webhooks.listWebhooks(tenantId), [beside, anew]);
  },

  "another tenant's webhook cannot be seen or deleted": async (t: Test, bench: Bench) => {
    const [owner, stranger] = [await bench.tenant(), await bench.tenant()];
    const webhook = await added(bench, owner.id);
    t.equal(await bench.store.webhooks.getWebhook(stranger.id, webhook.id), null);
    t.strictSame(await bench.store.webhooks.listWebhooks(stranger.id), []);
    t.equal(await bench.store.webhooks.deleteWebhook(stranger.id, webhook.id), false);
    t.strictSame(await bench.store.webhooks.getWebhook(owner.id, webhook.id), webhook);
  },
};
