// Section 8 of the specification: limits, reached and passed, and the rules below them.
import { RECEIVER, startWorld } from '../support/world.ts';
import { ContractClient } from './contract-client.ts';
import { FIRST_TIER } from './contract-world.ts';
import { goodMail, refused } from './stage.ts';
import type { Cases, LIMIT_RULES, LIMITS } from './tables.ts';

const FIVE_MIB = 5 * 1024 * 1024;

export const limitCases: Cases<typeof LIMITS> = {
  async 'Request body size'(t, { world, acme }) {
    const { key } = acme;
    const mail = goodMail(acme.domain);
    const empty = JSON.stringify({ ...mail, text: '' }).length;
    const body = JSON.stringify({ ...mail, text: 'x'.repeat(FIVE_MIB - empty) });
    t.equal(body.length, FIVE_MIB);
    t.equal((await world.call('POST /emails', { key, body })).status, 202, 'exactly 5 MiB');
    const tooLarge = Buffer.alloc(FIVE_MIB + 1, ' ');
    // A proxy that was answered before it had passed on the body does not keep the connection.
    const headers = { Connection: 'close' };
    refused(t, await world.call('POST /emails', { key, body: `${body} `, headers }), { code: 'request_too_large' });
    const routes = ['POST /domains', 'POST /webhooks', 'POST /templates', `POST /domains/${acme.domainId}/verify`];
    for (const route of [...routes, 'GET /domains', `DELETE /domains/${acme.domainId}`, 'GET /healthz']) {
      refused(t, await world.call(route, { key, body: tooLarge, headers }), {
        code: 'request_too_large',
        about: route,
      });
    }
  },

  async 'Recipients in to'(t, { send }) {
    const to = (count: number) => Array.from({ length: count }, (_, index) => `limit-${index}@${RECEIVER}`);
    t.equal((await send({ to: to(50) })).body.message_ids.length, 50);
    refused(t, await send({ to: to(51) }), { code: 'validation_failed', message: /^to: .*50/ });
    refused(t, await send({ to: Array(51).fill(`jo@${RECEIVER}`) }), {
      code: 'validation_failed',
      message: /^to: .*50/,
    });
  },

  async 'Idempotency-Key length'(t, { send, world }) {
    const key = world.engine.padEnd(200, 'k');
    t.equal((await send({}, { 'Idempotency-Key': key })).body.replayed, false);
    t.equal((await send({}, { 'Idempotency-Key': key })).body.replayed, true, '200 characters, all of which count');
    t.equal((await send({}, { 'Idempotency-Key': `${key.slice(0, -1)}x` })).body.replayed, false);
    for (const wrong of [`${key}k`, '', ' ']) {
      const answer = await send({}, { 'Idempotency-Key': wrong });
      refused(t, answer, {
        code: 'validation_failed',
        message: /^Idempotency-Key: /,
        about: `${wrong.length} characters`,
      });
    }
  },

  async 'Rate limit'(t, { world }) {
    const { id, key } = await world.addTenant({ tier: '1k' });
    const first = await world.call('GET /domains', { key });
    t.match(first.headers, { 'ratelimit-limit': String(FIRST_TIER), 'ratelimit-remaining': String(FIRST_TIER - 1) });
    t.match(first.headers['ratelimit-reset'], /^\d+$/);
    const failing = Array.from({ length: 20 }, () => world.call('POST /emails', { key, body: '{' }));
    const left = (await Promise.all(failing)).map(({ headers }) => Number(headers['ratelimit-remaining']));
    // One comes back every second, and a busy machine may need some.
    t.ok(Math.min(...left) < FIRST_TIER - 10, `every authenticated call counts: ${Math.min(...left)} are left`);
    const other = await world.addKey(id);
    const theirs = await world.call('GET /domains', { key: other });
    t.equal(theirs.headers['ratelimit-remaining'], String(FIRST_TIER - 1), 'each key has its own');
    t.notOk('ratelimit-limit' in (await world.call('GET /healthz')).headers);
  },
};

export const limitRuleCases: Cases<typeof LIMIT_RULES> = {
  async '1 idempotency'(t, { send, world, acme, rival }) {
    const headers = { 'Idempotency-Key': `rule-${world.engine}` };
    const first = await send({}, headers);
    t.equal(first.body.replayed, false);
    t.same((await send({ subject: 'Another' }, headers)).body, { ...first.body, replayed: true });
    const theirs = await world.call('POST /emails', { key: rival.key, body: goodMail(rival.domain), headers });
    t.equal(theirs.body.replayed, false, "another tenant's equal key is another submission");
    const otherKey = await world.addKey(acme.id, ['emails:send']);
    const again = await world.call('POST /emails', { key: otherKey, body: goodMail(acme.domain), headers });
    t.equal(again.body.id, first.body.id, 'the pair is of the tenant, not of the API key');
  },

  async '2 Retry-After'(t, { world }) {
    const { key } = await world.addTenant({ tier: '1k' });
    const answers = await Promise.all(
      Array.from({ length: FIRST_TIER + 20 }, () => world.call('GET /domains', { key })),
    );
    const refusal = answers.find(({ status }) => status === 429)!;
    t.match(refusal.headers, { 'retry-after': '1', 'ratelimit-remaining': '0', 'ratelimit-limit': String(FIRST_TIER) });
    t.equal(refusal.body.retry_after_secs, 1);
  },

  async '3 unit of the tiers'(t) {
    const { postrider } = await startWorld(t);
    const daemon = await postrider.serve();
    const client = new ContractClient({ port: daemon.httpPort });
    t.teardown(() => client.close());
    const { id } = await postrider.json('tenant', 'create', '--name', 'Young', '--status', 'active');
    const made = await postrider.json(
      'key',
      'create',
      '--tenant',
      String(id),
      '--name',
      'k',
      '--scopes',
      'emails:send',
    );
    const limit = async () => (await client.call('GET /domains', { key: String(made.key) })).headers['ratelimit-limit'];
    t.equal(await limit(), '1000', 'requests per minute in the first tier, where a tenant starts');
    await postrider.json('tenant', 'set', String(id), '--tier', '10k');
    t.equal(await limit(), '10000', 'an operator can pin a tier');
    await postrider.json('tenant', 'set', String(id), '--tier', 'uncapped');
    t.ok(Number(await limit()) > 1_000_000, 'no cap');
  },
};
