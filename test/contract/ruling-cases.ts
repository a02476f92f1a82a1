// Rulings of the contract on HTTP and on domains, as far as the tables do not show them.
import { NOBODY } from './contract-world.ts';
import { goodMail, refused, type Stage } from './stage.ts';
import type { Cases, DOMAIN_RULINGS, HTTP_RULINGS } from './tables.ts';

export const httpRulingCases: Cases<typeof HTTP_RULINGS> = {
  async 'HEAD answers as GET without a body'(t, { world, acme }) {
    for (const path of ['/domains', `/domains/${acme.domainId}`, `/domains/${NOBODY}`, '/healthz', '/nowhere']) {
      const get = await world.call(`GET ${path}`, { key: acme.key });
      const head = await world.call(`HEAD ${path}`, { key: acme.key });
      t.equal(head.status, get.status, path);
      t.equal(head.body, null);
      t.equal(head.headers['content-length'], get.headers['content-length']);
    }
    t.equal(
      (await world.call(`HEAD /domains/${acme.domainId}/verify`, { key: acme.key })).status,
      405,
      'where GET is not allowed',
    );
  },

  async 'each answer has a request id of its own'(t, { world }) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.call('GET /nowhere')));
    t.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, 50);
    const chosen = await world.call('GET /nowhere', { headers: { 'X-Request-Id': NOBODY } });
    t.not(chosen.headers['x-request-id'], NOBODY, 'a client does not choose it');
  },

  async 'no answer repeats a secret'(t, { world, acme }) {
    const secret = acme.key.slice(acme.key.lastIndexOf('_') + 1);
    const body = JSON.stringify({ [secret]: secret, from: secret });
    const answers = [
      await world.call(`GET /${secret}`, { key: acme.key }),
      await world.call('GET /domains', { key: `${acme.key}x` }),
      await world.call('GET /domains', { headers: { Authorization: `Basic ${secret}` } }),
      await world.call('POST /emails', { key: acme.key, body: `{"from": "${secret}", oops}` }),
      await world.call('POST /emails', { key: acme.key, body, headers: { 'Idempotency-Key': secret.repeat(5) } }),
      await world.call(`GET /domains/${secret}`, { key: acme.key }),
    ];
    for (const answer of answers) {
      t.ok(answer.status >= 400);
      t.notOk(JSON.stringify([answer.body, answer.headers]).includes(secret), answer.body.error);
    }
  },

  async 'at most 50 live keys per tenant'(t, { world }) {
    const { id, key } = await world.addTenant();
    const keys = [key];
    while (keys.length < 50) keys.push(await world.addKey(id));
    await t.rejects(world.addKey(id), /50 keys/);
    t.equal((await world.call('GET /domains', { key: keys[49]! })).status, 200, 'the fiftieth works');
    await world.postrider.json('key', 'revoke', key.slice(0, key.lastIndexOf('_')));
    await t.resolves(world.addKey(id), 'a revoked one does not count');
  },

  async 'ids of any version and case'(t, stage) {
    const ids = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', NOBODY.toUpperCase()];
    for (const id of [...ids, '6ba7b810-9dad-11d1-80b4-00c04fd430c8']) {
      const answer = await stage.world.call(`GET /domains/${id}`, { key: stage.acme.key });
      refused(t, answer, { code: 'domain_not_found', about: id });
    }
  },

  async 'request headers up to 16 KiB'(t, { world, acme }) {
    const answer = await world.call('GET /domains', { key: acme.key, headers: { 'X-Filler': 'x'.repeat(16_000) } });
    t.equal(answer.status, 200);
    const connection = await world.connect();
    t.teardown(() => connection.destroy());
    await connection.send(`GET /domains HTTP/1.1\r\nHost: x\r\nX-Filler: ${'x'.repeat(20_000)}\r\n\r\n`);
    t.equal((await connection.answer()).status, 431, 'and no more, in the words of the engine');
  },

  async 'null counts as absent'(t, { send, world, acme }) {
    t.equal((await send({ html: null, template_id: null, data: null, headers: null, subjekt: null })).status, 202);
    refused(t, await send({ text: null }), { code: 'validation_failed' });
    const body = { url: 'https://null.acme.test/', description: null };
    t.equal((await world.call('POST /webhooks', { key: acme.key, body })).body.description, null);
  },

  async 'unknown fields are named'(t, { send, world, acme }) {
    refused(t, await send({ copy: 'x' }), { code: 'validation_failed', message: /^copy: unknown field/ });
    refused(t, await send({ Subject: 'x' }), { code: 'validation_failed', message: /^Subject: .*subject/ });
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const text = JSON.stringify(goodMail(acme.domain)).replace('{', `{"${name}":1,`);
      const answer = await world.call('POST /emails', { key: acme.key, body: text });
      refused(t, answer, { code: 'validation_failed', message: new RegExp(`^${name}: unknown field`) });
    }
    for (const [path, good] of [
      ['/domains', { domain: 'unknown-field.test' }],
      ['/webhooks', { url: 'https://unknown.acme.test/' }],
      ['/templates', { name: 'X', text: 'x' }],
    ] as const) {
      const answer = await world.call(`POST ${path}`, { key: acme.key, body: { ...good, extra: 1 } });
      refused(t, answer, { code: 'validation_failed', message: /^extra: unknown field/, about: path });
    }
  },
};

/** A domain of acme's with its zone, and a way to verify it again and again. */
async function newDomain({ world, acme }: Stage, name: string) {
  const domain = `${name}-${world.engine}.test`;
  world.dns.addZone(domain);
  const { body } = await world.call('POST /domains', { key: acme.key, body: { domain } });
  const [dkim] = body.records as { name: string; value: string }[];
  return {
    ...{ id: body.id as string, domain, dkim: dkim! },
    publish: (...values: string[]) => world.dns.set(dkim!.name, 'TXT', values, 0),
    verify: () => world.call(`POST /domains/${body.id}/verify`, { key: acme.key }),
    show: async () => (await world.call(`GET /domains/${body.id}`, { key: acme.key })).body,
  };
}

export const domainRulingCases: Cases<typeof DOMAIN_RULINGS> = {
  async 'the reasons of a failed check'(t, stage) {
    const other = (await newDomain(stage, 'other-reasons')).dkim.value;
    const cases: [reason: string, records: (own: string) => string[]][] = [
      ['not_found', () => []],
      ['not_found', () => ['some text']],
      ['mismatch', () => [other]],
      ['invalid_record', () => ['v=DKIM1; k=rsa']],
      ['multiple_records', (own) => [own, other]],
    ];
    // A domain for each, since checks of one domain are 10 s apart.
    for (const [number, [reason, recordsOf]] of cases.entries()) {
      const subject = await newDomain(stage, `reason-${number}`);
      const records = recordsOf(subject.dkim.value);
      subject.publish(...records);
      const { status, body } = await subject.verify();
      const check = { record: 'dkim', type: 'TXT', name: subject.dkim.name, expected: subject.dkim.value, ok: false };
      t.match({ status, ...body }, { status: 422, error: 'verification_failed', check: { ...check, reason } });
      t.same(body.check.found, records);
      t.match(await subject.show(), { state: 'failed', failure_reason: reason });
    }
    const unavailable = await newDomain(stage, 'reason-unavailable');
    stage.world.dns.behave(unavailable.dkim.name, 'servfail');
    t.match((await unavailable.verify()).body, { check: { reason: 'dns_unavailable', found: [] } });
    stage.world.dns.behave(unavailable.dkim.name, null);
    t.match(await unavailable.show(), { state: 'failed', failure_reason: 'dns_unavailable' });
  },

  async 'a verified domain survives a silent DNS'(t, stage) {
    const subject = await newDomain(stage, 'silent');
    subject.publish(subject.dkim.value);
    t.equal((await subject.verify()).status, 200);
    stage.world.dns.behave(subject.dkim.name, 'servfail');
    t.match(await subject.verify(), { status: 422, body: { check: { reason: 'dns_unavailable' } } });
    stage.world.dns.behave(subject.dkim.name, null);
    t.match(await subject.show(), { state: 'verified', failure_reason: null });
  },

  async 'white space in p= does not matter'(t, stage) {
    const subject = await newDomain(stage, 'spaced');
    subject.publish(subject.dkim.value.replace('p=', 'p= ').replace(/(.{60})/g, '$1 '));
    t.match(await subject.verify(), { status: 200, body: { state: 'verified' } });
  },

  async 'a bound key may not touch other domains'(t, stage) {
    const subject = await newDomain(stage, 'bound-elsewhere');
    const key = await stage.world.addKey(stage.acme.id, ['domains:write'], 'acme.test');
    for (const route of [`POST /domains/${subject.id}/verify`, `DELETE /domains/${subject.id}`]) {
      refused(t, await stage.world.call(route, { key }), {
        code: 'domain_not_allowed',
        message: /acme\.test/,
        about: route,
      });
      refused(t, await stage.world.call(route.replace(subject.id, NOBODY), { key }), { code: 'domain_not_found' });
    }
    t.equal((await stage.world.call(`GET /domains/${subject.id}`, { key })).status, 200, 'reading is free');
    t.equal((await stage.world.call(`POST /domains/${stage.acme.domainId}/verify`, { key })).status, 200, 'its own');
  },
};
