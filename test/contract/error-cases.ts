// Section 7 of the specification: every error code there is, provoked for real. The types hold
// these cases to the registry of codes, so that a new code needs a case.
import type { Test } from 'tap';
import type { RefusalCode } from '../../src/base/refusals.ts';
import { withDatabase } from '../support/database.ts';
import { RECEIVER } from '../support/world.ts';
import type { Answer } from './contract-client.ts';
import { FIRST_TIER, NOBODY } from './contract-world.ts';
import { goodMail, inHours, type Stage } from './stage.ts';
import type { Case } from './tables.ts';

const FIVE_MIB = 5 * 1024 * 1024;

/** Status and code, and what else the body of an error has. */
function isError(
  t: Test,
  { status, body }: Pick<Answer, 'status' | 'body'>,
  expected: [status: number, code: string],
): void {
  t.same([status, body.error], expected, body.message);
}

/** An endpoint, called by acme. */
function ask({ world, acme }: Stage, route: string, body?: unknown): Promise<Answer> {
  return world.call(route, { key: acme.key, body });
}

export const errorCases: Readonly<Record<RefusalCode, Case>> = {
  async invalid_json(t, stage) {
    const bodies = [
      '',
      '{',
      '{"a":1}x',
      "{'a':1}",
      '\ufeff{}',
      Buffer.from([0x7b, 0xff, 0x7d]),
      '{"a":01}',
      '{"a":NaN}',
    ];
    for (const body of bodies) isError(t, await ask(stage, 'POST /emails', body), [400, 'invalid_json']);
  },

  async validation_failed(t, stage) {
    for (const body of ['null', '[]', '5', '"text"', {}, { ...goodMail('acme.test'), subjekt: 'x' }]) {
      isError(t, await ask(stage, 'POST /emails', body), [400, 'validation_failed']);
    }
    const { body } = await ask(stage, 'POST /emails', { ...goodMail('acme.test'), subjekt: 'x' });
    t.match(body.message, /^subjekt: .*subject/, 'names the field, and what was meant');
  },

  async invalid_id(t, stage) {
    for (const id of ['x', NOBODY.slice(1), `${NOBODY}0`, NOBODY.replaceAll('-', ''), `%7B${NOBODY}%7D`]) {
      isError(t, await ask(stage, `GET /domains/${id}`), [400, 'invalid_id']);
    }
  },

  async read_body_failed(t, stage) {
    const { world, acme } = stage;
    const head = rawHead(acme.key);
    const stalled = await world.connect();
    t.teardown(() => stalled.destroy());
    const startedAt = Date.now();
    await stalled.send(`${head}Content-Length: 100\r\n\r\n{"from": `);

    const { daemon } = world;
    const answered = () => daemon.find({ msg: 'API call answered', path: '/emails', status: 400 }).length;
    const before = answered();
    const gone = await world.connect();
    await gone.send(`${head}Content-Length: 100\r\n\r\n{"from": `);
    gone.destroy();
    await daemon.until(() => answered() > before, 'answer a call that broke off');
    t.equal((await stage.send()).status, 202, 'whoever comes next is served');

    isError(t, fromRaw(await stalled.answer()), [400, 'read_body_failed']);
    const elapsedMs = Date.now() - startedAt;
    t.ok(elapsedMs > 7000, `no byte for 8 s: answered after ${elapsedMs} ms`);
  },

  async missing_or_malformed_authorization(t, { world }) {
    isError(t, await world.call('GET /domains'), [401, 'missing_or_malformed_authorization']);
  },

  async invalid_api_key(t, { world }) {
    isError(t, await world.call('GET /domains', { key: 'pr_unknown_key' }), [401, 'invalid_api_key']);
  },

  async scope_required(t, { world, acme }) {
    const key = await world.addKey(acme.id, ['webhooks:write']);
    isError(t, await world.call('POST /emails', { key, body: {} }), [403, 'scope_required']);
  },

  async domain_not_allowed(t, { world, acme }) {
    const key = await world.addKey(acme.id, undefined, 'bound.test');
    isError(t, await world.call('POST /emails', { key, body: goodMail('acme.test') }), [403, 'domain_not_allowed']);
    isError(t, await world.call('POST /domains', { key, body: { domain: 'bound.test' } }), [403, 'domain_not_allowed']);
    isError(t, await world.call(`DELETE /domains/${acme.domainId}`, { key }), [403, 'domain_not_allowed']);
  },

  async tenant_not_active(t, { world }) {
    const { key } = await world.addTenant({ status: 'suspended' });
    isError(t, await world.call('GET /domains', { key }), [403, 'tenant_not_active']);
  },

  async not_found(t, stage) {
    for (const path of ['/', '/v1/emails', '/domains/', '//domains', '/domains/x/y', '/Emails', '/emails%2f']) {
      isError(t, await stage.world.call(`GET ${path}`), [404, 'not_found']);
    }
  },

  async domain_not_found(t, stage) {
    isError(t, await ask(stage, `GET /domains/${NOBODY}`), [404, 'domain_not_found']);
    isError(t, await ask(stage, `POST /domains/${stage.rival.domainId}/verify`), [404, 'domain_not_found']);
    isError(t, await ask(stage, `DELETE /domains/${stage.rival.domainId}`), [404, 'domain_not_found']);
  },

  async webhook_not_found(t, stage) {
    isError(t, await ask(stage, `GET /webhooks/${NOBODY}`), [404, 'webhook_not_found']);
    isError(t, await ask(stage, `DELETE /webhooks/${NOBODY}`), [404, 'webhook_not_found']);
  },

  async event_not_found(t, stage) {
    const { id } = (await ask(stage, 'POST /webhooks', { url: 'https://unknown-event.acme.test/' })).body;
    isError(t, await ask(stage, `POST /webhooks/${id}/deliveries/${NOBODY}/replay`), [404, 'event_not_found']);
  },

  async webhook_busy(t, stage) {
    // Of calls at the same time the first is let through. A new host each round: an answer of DNS that is known is quick.
    for (let round = 0; ; round++) {
      const { id } = (await ask(stage, 'POST /webhooks', { url: `https://busy-${round}.acme.test/` })).body;
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(stage, `POST /webhooks/${id}/test`)));
      await ask(stage, `DELETE /webhooks/${id}`);
      const busy = answers.find(({ status }) => status !== 200);
      if (busy) return isError(t, busy, [409, 'webhook_busy']);
    }
  },

  async template_not_found(t, stage) {
    isError(t, await ask(stage, `GET /templates/${NOBODY}`), [404, 'template_not_found']);
    isError(t, await ask(stage, `PUT /templates/${NOBODY}`, { name: 'X', text: 'x' }), [404, 'template_not_found']);
    isError(t, await ask(stage, `DELETE /templates/${NOBODY}`), [404, 'template_not_found']);
  },

  async submission_not_found(t, stage) {
    isError(t, await ask(stage, `GET /submissions/${NOBODY}`), [404, 'submission_not_found']);
  },

  async email_not_found(t, stage) {
    isError(t, await ask(stage, `GET /emails/${NOBODY}`), [404, 'email_not_found']);
  },

  async suppression_not_found(t, stage) {
    isError(t, await ask(stage, 'DELETE /suppressions/nobody%40example.com'), [404, 'suppression_not_found']);
  },

  async method_not_allowed(t, { world }) {
    const allowed = {
      '/emails': 'GET, HEAD, POST',
      '/domains': 'GET, HEAD, POST',
      [`/domains/${NOBODY}/verify`]: 'POST',
    };
    for (const [path, allow] of Object.entries(allowed)) {
      const answer = await world.call(`PATCH ${path}`);
      isError(t, answer, [405, 'method_not_allowed']);
      t.equal(answer.headers.allow, allow, path);
    }
  },

  async not_scheduled(t, stage) {
    const { body } = await ask(stage, 'POST /emails', goodMail('acme.test'));
    const answer = await ask(stage, `PATCH /submissions/${body.id}`, { send_at: inHours(1) });
    isError(t, answer, [409, 'not_scheduled']);
    t.match(answer.body.message, /queued|sending|delivered/, 'says what they are');
    await stage.world.daemon.logged({ fact: 'delivered', message_id: body.message_ids[0] });
  },

  async domain_exists(t, stage) {
    isError(t, await ask(stage, 'POST /domains', { domain: 'acme.test' }), [409, 'domain_exists']);
    isError(t, await ask(stage, 'POST /domains', { domain: 'rival.test' }), [409, 'domain_exists']);
  },

  async webhook_exists(t, stage) {
    const body = { url: 'https://exists.acme.test/' };
    t.equal((await ask(stage, 'POST /webhooks', body)).status, 201);
    isError(t, await ask(stage, 'POST /webhooks', body), [409, 'webhook_exists']);
  },

  async request_too_large(t, stage) {
    const { world, acme } = stage;
    const tooLarge = Buffer.alloc(FIVE_MIB + 1, ' ');
    // A proxy that was answered before it had passed on the body does not keep the connection.
    const close = { Connection: 'close' };
    const chunked = { ...close, 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' };
    const { key } = acme;
    isError(t, await world.call('POST /emails', { key, body: tooLarge, headers: close }), [413, 'request_too_large']);
    isError(t, await world.call('POST /emails', { key, body: tooLarge, headers: chunked }), [413, 'request_too_large']);
    const declared = await world.connect();
    t.teardown(() => declared.destroy());
    const head = rawHead(key);
    await declared.send(`${head}Content-Length: 99999999999\r\n\r\n`);
    isError(t, fromRaw(await declared.answer()), [413, 'request_too_large']);
  },

  async unsupported_media_type(t, stage) {
    isError(t, await stage.send({}, { 'Content-Type': 'text/json' }), [415, 'unsupported_media_type']);
  },

  async domain_not_verified(t, stage) {
    isError(t, await stage.send({ from: 'a@unknown.test' }), [422, 'domain_not_verified']);
  },

  async all_recipients_suppressed(t, stage) {
    await stage.world.suppress(stage.acme.id, `all@${RECEIVER}`, 'complaint');
    isError(t, await stage.send({ to: `all@${RECEIVER}` }), [422, 'all_recipients_suppressed']);
  },

  async verification_failed(t, stage) {
    const domain = `unpublished-${stage.world.engine}.test`;
    const { id } = (await ask(stage, 'POST /domains', { domain })).body;
    const answer = await ask(stage, `POST /domains/${id}/verify`);
    isError(t, answer, [422, 'verification_failed']);
    t.equal(answer.body.domain, domain);
    const fields = ['record', 'name', 'type', 'required', 'ok', 'expected', 'found', 'reason'];
    for (const field of fields) t.ok(Object.hasOwn(answer.body.check, field), `check.${field}`);
  },

  async rate_limited(t, { world }) {
    const { key } = await world.addTenant({ tier: '1k' });
    const calls = Array.from({ length: FIRST_TIER + 20 }, () => world.call('GET /domains', { key }));
    const answers = await Promise.all(calls);
    const refusals = answers.filter(({ status }) => status === 429);
    t.ok(refusals.length > 0 && refusals.length <= 20, `${refusals.length} of ${calls.length} were refused`);
    for (const answer of refusals) {
      isError(t, answer, [429, 'rate_limited']);
      t.equal(answer.body.message, 'key has exceeded its allowed request rate');
      t.equal(answer.headers['retry-after'], String(answer.body.retry_after_secs));
    }
    const last = await world.call('GET /domains', { key });
    const pauseSecs = last.status === 429 ? last.body.retry_after_secs : 1;
    t.equal(pauseSecs, 1, 'one call a second at this rate');
    await new Promise((resolve) => setTimeout(resolve, pauseSecs * 1000));
    t.equal((await world.call('GET /domains', { key })).status, 200, 'after the pause one call is let through');
  },

  async internal_error(t, stage) {
    const { world } = stage;
    const rename = (from: string, to: string) =>
      withDatabase(world.postrider.databaseFile, (db) => db.exec(`ALTER TABLE ${from} RENAME TO ${to}`));
    rename('submissions', 'submissions_aside');
    try {
      const answer = await stage.send();
      isError(t, answer, [500, 'internal_error']);
      t.notMatch(
        JSON.stringify(answer.body),
        /submissions|table|sql|\.ts|\/|\\n {4}at /i,
        'tells nothing of the inside',
      );
      const requestId = answer.headers['x-request-id'];
      await world.daemon.logged({ msg: 'API call failed', request_id: requestId });
      t.match(world.daemon.find({ request_id: requestId })[0]?.reason, /submissions/, 'the log tells why');
    } finally {
      rename('submissions_aside', 'submissions');
    }
    t.equal((await stage.send()).status, 202, 'and it goes on');
  },
};

/** A POST /emails up to the header that says how long its body is. */
function rawHead(key: string): string {
  const lines = ['POST /emails HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, 'Content-Type: application/json'];
  return `${lines.join('\r\n')}\r\n`;
}

function fromRaw({ status, text }: { status: number; text: string }): { status: number; body: Answer['body'] } {
  return { status, body: JSON.parse(text) };
}
