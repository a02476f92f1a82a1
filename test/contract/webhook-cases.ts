// Section 2.4 of the specification: the webhook record.
import type { Answer } from './contract-client.ts';
import { refused, type Stage } from './stage.ts';
import type { Cases, WEBHOOK_RECORD } from './tables.ts';

function register({ world, acme }: Stage, body: Record<string, unknown>): Promise<Answer> {
  return world.call('POST /webhooks', { key: acme.key, body });
}

/** Named after the row, so that no two cases register the same. */
function urlOf(name: string): string {
  return `https://hooks.acme.test/${name}`;
}

export const webhookRecordCases: Cases<typeof WEBHOOK_RECORD> = {
  async id(t, stage) {
    const { status, body } = await register(stage, { url: urlOf('id') });
    t.equal(status, 201);
    t.same(Object.keys(body), ['id', 'url', 'description', 'created_at', 'secret'], 'these fields and no other');
    t.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  },

  async url(t, stage) {
    for (const url of [urlOf('url'), 'http://hooks.acme.test/plain']) {
      t.match(await register(stage, { url }), { status: 201, body: { url } });
      refused(t, await register(stage, { url }), { code: 'webhook_exists' });
    }
    const wrong = [undefined, null, 5, '', 'hooks.acme.test', 'ftp://acme.test/', 'https://jo:pw@acme.test/'];
    const guarded = [
      'https://acme.test/#here',
      `https://acme.test/${'x'.repeat(2048)}`,
      'https://127.0.0.1/',
      'http://[::1]/',
    ];
    for (const url of [...wrong, ...guarded]) {
      refused(t, await register(stage, { url }), { code: 'validation_failed', message: /^url: /, about: `url ${url}` });
    }
  },

  async description(t, stage) {
    const described = await register(stage, { url: urlOf('described'), description: 'Orders – 订单' });
    t.equal(described.body.description, 'Orders – 订单');
    t.equal((await register(stage, { url: urlOf('bare') })).body.description, null, 'null when absent');
    for (const description of ['x'.repeat(501), 5, 'half \ud800']) {
      const answer = await register(stage, { url: urlOf('refused'), description });
      refused(t, answer, { code: 'validation_failed', message: /^description: / });
    }
  },

  async created_at(t, stage) {
    const { created_at } = (await register(stage, { url: urlOf('created-at') })).body;
    t.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.ok(Math.abs(Date.now() - Date.parse(created_at)) < 60_000);
  },

  async secret(t, stage) {
    const { secret, ...record } = (await register(stage, { url: urlOf('secret') })).body;
    t.equal(Buffer.from(secret, 'base64').length, 32);
    t.equal(Buffer.from(secret, 'base64').toString('base64'), secret);
    const { key } = stage.acme;
    t.same((await stage.world.call(`GET /webhooks/${record.id}`, { key })).body, record, 'never shown again');
    const { webhooks } = (await stage.world.call('GET /webhooks', { key })).body;
    t.same(webhooks.at(-1), record, 'nor by the list');
    const again = await register(stage, { url: urlOf('secret') });
    refused(t, again, { code: 'webhook_exists', message: /secret.*delete.*again/ });
    t.equal((await stage.world.call(`DELETE /webhooks/${record.id}`, { key })).status, 204);
    const anew = (await register(stage, { url: urlOf('secret') })).body;
    t.not(anew.secret, secret);
    t.not(anew.id, record.id);
  },
};
