// What the contract has beyond the specification to manage an account by API: suppressions, webhooks, templates with a subject,
// figures.
import { withDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { RECEIVER } from '../support/world.ts';
import type { Answer } from './contract-client.ts';
import { NOBODY } from './contract-world.ts';
import { refused, type Stage } from './stage.ts';
import type { Cases, MANAGING_ENDPOINTS } from './tables.ts';

/** Calls as acme. */
function caller({ world, acme }: Stage) {
  return (route: string, body?: unknown) => world.call(route, { key: acme.key, body });
}

/** A webhook of acme's, named after the row. Nothing listens there. */
async function registered({ world, acme }: Stage, name: string, events?: string[]): Promise<Answer['body']> {
  const url = `https://hooks.receiver.test/${name}-${world.engine}`;
  const { status, body } = await world.call('POST /webhooks', { key: acme.key, body: { url, events } });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

/** The id of an event that comes after the webhook. */
async function delivered(stage: Stage): Promise<string> {
  const { body } = await stage.send();
  const [id] = body.message_ids;
  await stage.fate(id);
  const { events } = (await stage.world.call(`GET /emails/${id}`, { key: stage.acme.key })).body;
  return events.at(-1).id;
}

/** A case before may have sent without waiting for what became of it. */
async function atRest({ world }: Stage): Promise<void> {
  const moving = `SELECT count(*) FROM messages WHERE state IN ('queued', 'sending')`;
  await until('nothing is on its way', () =>
    withDatabase(world.postrider.databaseFile, (db) => db.prepare(moving).pluck().get() === 0),
  );
}

export const managingCases: Cases<typeof MANAGING_ENDPOINTS> = {
  async 'GET /suppressions'(t, stage) {
    const { key, id } = await stage.world.addTenant();
    const call = (query: string) => stage.world.call(`GET /suppressions${query}`, { key });
    t.same((await call('')).body, { suppressions: [], has_more: false, next: null });
    for (const [name, reason] of [
      ['c', 'manual'],
      ['a', 'complaint'],
      ['b', 'manual'],
    ] as const) {
      await stage.world.suppress(id, `${name}@x.test`, reason);
    }
    const listed = async (query: string) => {
      const { suppressions, next } = (await call(query)).body;
      return [...suppressions.map(({ address }: { address: string }) => address[0]), next];
    };
    t.same(await listed(''), ['a', 'b', 'c', null], 'by address');
    t.same(await listed('?limit=2'), ['a', 'b', 'b@x.test']);
    t.same(await listed('?limit=2&after=b%40x.test'), ['c', null]);
    t.same(await listed('?reason=complaint'), ['a', null]);
    t.same(await listed('?address=C%40X.test'), ['c', null]);
    for (const query of ['?reason=other', '?limit=0', '?limit=1001', '?address=x', '?adress=x', '?limit=1&limit=2']) {
      refused(t, await call(query), { code: 'validation_failed', about: query });
    }
  },

  async 'POST /suppressions'(t, stage) {
    const call = caller(stage);
    const address = `Suppressed-${stage.world.engine}@${RECEIVER.toUpperCase()}`;
    const { status, body } = await call('POST /suppressions', { address });
    t.match({ status, ...body }, { status: 201, address: address.toLowerCase(), reason: 'manual', message_id: null });
    t.same(await again(), { status: 200, body }, 'it keeps its first reason');
    t.match(await stage.send({ to: [address, `jo@${RECEIVER}`] }), {
      body: { rejected: [{ to: address, reason: 'manual' }] },
    });
    for (const wrong of [{}, { address: 'x' }, { address: 5 }, { address, reason: 'other' }, { address, note: 'x' }]) {
      refused(t, await call('POST /suppressions', wrong), { code: 'validation_failed', about: JSON.stringify(wrong) });
    }

    async function again() {
      const answer = await call('POST /suppressions', { address: address.toUpperCase(), reason: 'complaint' });
      return { status: answer.status, body: answer.body };
    }
  },

  async 'POST /suppressions/import'(t, stage) {
    const { world } = stage;
    const { key } = await world.addTenant();
    const call = (body: unknown) => world.call('POST /suppressions/import', { key, body });
    const listed = async () => {
      const { suppressions } = (await world.call('GET /suppressions', { key })).body;
      return suppressions.map(({ address, reason }: Record<string, string>) => `${address} ${reason}`);
    };
    const list = { addresses: ['Jo@Example.com', 'no address', 'JO@example.COM'], reason: 'unsubscribe' };
    const { status, body } = await call(list);
    t.equal(status, 200);
    t.match(body, { added: 1, known: 1, refused: 1, refusals: [{ index: 1, message: /has no @/ }] });
    const csv = 'address,reason,created_at\njo@example.com,complaint,\nsam@example.com,,2026-01-31\nx,,\n';
    const fromCsv = (await call({ csv })).body;
    t.match(fromCsv, { added: 1, known: 1, refused: 1, refusals: [{ line: 4, message: /^"x" is not an email/ }] });
    t.same(await listed(), ['jo@example.com unsubscribe', 'sam@example.com manual'], 'the first reason stays');
    const full = await call({ addresses: Array.from({ length: 10_000 }, () => 'x') });
    t.match(full.body, { added: 0, refused: 10_000, refusals: { length: 100 } });
    for (const wrong of [
      ...[{}, { addresses: [] }, { addresses: 'a@x.test' }, { addresses: [5] }, { csv: 'nothing' }, { csv: '' }],
      ...[{ ...list, csv }, { ...list, reason: 'other' }, { ...list, note: 'x' }, { csv: 'address\n"a@x.test' }],
      ...[{ addresses: Array.from({ length: 10_001 }, () => 'x') }, { csv: `address\n${'x\n'.repeat(10_001)}` }],
    ]) {
      refused(t, await call(wrong), { code: 'validation_failed', about: JSON.stringify(wrong).slice(0, 60) });
    }
    t.equal((await listed()).length, 2, 'what was refused changed nothing');
  },

  async 'DELETE /suppressions/{address}'(t, stage) {
    const call = caller(stage);
    const address = `back-again-${stage.world.engine}@${RECEIVER}`;
    await call('POST /suppressions', { address });
    t.equal((await stage.send({ to: address })).status, 422);
    const route = `DELETE /suppressions/${encodeURIComponent(address.toUpperCase())}`;
    t.match(await call(route), { status: 204, body: null });
    t.equal((await stage.send({ to: address })).status, 202, 'mail is accepted again');
    refused(t, await call(route), { code: 'suppression_not_found', about: 'once more' });
    refused(t, await call('DELETE /suppressions/x'), { code: 'validation_failed', message: /^address: / });
  },

  async 'POST /webhooks with events'(t, stage) {
    const { secret: _, ...record } = await registered(stage, 'some', ['email.opened', 'bounce', 'bounce']);
    t.same(record.events, ['bounce', 'email.opened'], 'each once');
    const call = caller(stage);
    t.same((await call(`GET /webhooks/${record.id}`)).body, record);
    for (const events of [undefined, null, []]) {
      const url = `https://hooks.receiver.test/all-${stage.world.engine}-${JSON.stringify(events)}`;
      const { status, body } = await call('POST /webhooks', { url, events });
      t.equal(status, 201);
      t.same(Object.keys(body), ['id', 'url', 'description', 'created_at', 'secret'], 'every event: as ever');
      t.equal((await call(`DELETE /webhooks/${body.id}`)).status, 204);
    }
    for (const events of ['bounce', ['bounced'], ['email.bounced', 5], ['test'], {}, Array(51).fill('open')]) {
      const answer = await call('POST /webhooks', { url: 'https://hooks.receiver.test/refused', events });
      refused(t, answer, { code: 'validation_failed', message: /^events/, about: JSON.stringify(events) });
    }
    const unwanted = await delivered(stage);
    const { deliveries } = (await call(`GET /webhooks/${record.id}/deliveries`)).body;
    t.notOk(deliveries.some((one: { event_id: string }) => one.event_id === unwanted));
  },

  async 'PATCH /webhooks/{id}'(t, stage) {
    const call = caller(stage);
    const { secret: _, ...record } = await registered(stage, 'patch', ['bounce']);
    const other = await registered(stage, 'patch-other');
    const change = (body: unknown, id = record.id) => call(`PATCH /webhooks/${id}`, body);
    t.match(await change({ description: 'Changed' }), { status: 200, body: { ...record, description: 'Changed' } });
    t.match(await change({ url: `${record.url}/new`, events: ['open', 'delivery'] }), {
      status: 200,
      body: { url: `${record.url}/new`, events: ['delivery', 'open'], description: 'Changed' },
    });
    const { events: _events, ...all } = record;
    const answer = await change({ url: record.url, description: '', events: [] });
    t.same(answer.body, { ...all, description: '' }, 'every event again');
    t.same((await call(`GET /webhooks/${record.id}`)).body, answer.body);
    refused(t, await change({ url: other.url }), { code: 'webhook_exists' });
    refused(t, await change({ events: ['open'] }, NOBODY), { code: 'webhook_not_found' });
    for (const body of [
      {},
      { url: null },
      { url: '' },
      { url: 'https://127.0.0.1/' },
      { events: ['x'] },
      { secret: 'x' },
    ]) {
      refused(t, await change(body), { code: 'validation_failed', about: JSON.stringify(body) });
    }
    for (const { id } of [record, other]) await call(`DELETE /webhooks/${id}`);
  },

  async 'POST /webhooks/{id}/rotate'(t, stage) {
    const call = caller(stage);
    const { secret, ...record } = await registered(stage, 'rotate', ['complaint']);
    const { status, body } = await call(`POST /webhooks/${record.id}/rotate`);
    const { secret: next, previous_until: until, ...rest } = body;
    t.same({ status, rest }, { status: 200, rest: record });
    t.equal(Buffer.from(next, 'base64').length, 32);
    t.not(next, secret);
    t.ok(Math.abs(Date.parse(until) - Date.now() - 24 * 3_600_000) < 60_000, 'the old one signs along for 24 hours');
    t.same((await call(`GET /webhooks/${record.id}`)).body, record, 'shown this once');
    refused(t, await call(`POST /webhooks/${NOBODY}/rotate`), { code: 'webhook_not_found' });
  },

  async 'POST /webhooks/{id}/test'(t, stage) {
    const call = caller(stage);
    const { id } = await registered(stage, 'test', ['complaint']);
    const { status, body } = await call(`POST /webhooks/${id}/test`);
    t.match(
      { status, body },
      { status: 200, body: { accepted: false, status: null, reason: /./, elapsed_ms: Number } },
    );
    t.same(Object.keys(body), ['accepted', 'status', 'reason', 'answer', 'elapsed_ms']);
    refused(t, await call(`POST /webhooks/${NOBODY}/test`), { code: 'webhook_not_found' });
  },

  async 'GET /webhooks/{id}/deliveries'(t, stage) {
    const call = caller(stage);
    await atRest(stage);
    const { id } = await registered(stage, 'deliveries', ['delivery']);
    t.same((await call(`GET /webhooks/${id}/deliveries`)).body, { deliveries: [], has_more: false, next: null });
    const events = [await delivered(stage), await delivered(stage)];
    const { deliveries } = (await call(`GET /webhooks/${id}/deliveries`)).body;
    t.match(deliveries, [
      { event_id: events[1], type: 'email.delivered', state: 'due' },
      { event_id: events[0], type: 'email.delivered', state: 'due' },
    ]);
    const first = (await call(`GET /webhooks/${id}/deliveries?limit=1`)).body;
    t.match(first, { deliveries: [{ event_id: events[1] }], has_more: true });
    const second = (await call(`GET /webhooks/${id}/deliveries?limit=1&state=&after=${first.next}`)).body;
    t.match(second, { deliveries: [{ event_id: events[0] }], has_more: false, next: null });
    t.equal((await call(`GET /webhooks/${id}/deliveries?state=due`)).body.deliveries.length, 2);
    t.same((await call(`GET /webhooks/${id}/deliveries?state=failed`)).body.deliveries, []);
    for (const query of ['state=sent', 'limit=101', 'after=x', `after=1.${NOBODY}`, 'event=x']) {
      const answer = await call(`GET /webhooks/${id}/deliveries?${query}`);
      refused(t, answer, { code: 'validation_failed', about: query });
    }
    refused(t, await call(`GET /webhooks/${NOBODY}/deliveries`), { code: 'webhook_not_found' });
    await call(`DELETE /webhooks/${id}`);
  },

  async 'POST /webhooks/{id}/deliveries/{event_id}/replay'(t, stage) {
    const call = caller(stage);
    const event = await delivered(stage);
    const { id } = await registered(stage, 'replay', ['complaint']);
    const replay = (webhook: string, ofEvent: string) => call(`POST /webhooks/${webhook}/deliveries/${ofEvent}/replay`);
    const { status, body } = await replay(id, event.toUpperCase());
    t.same({ status, body }, { status: 202, body: { webhook_id: id, event_id: event, state: 'due' } });
    t.match((await call(`GET /webhooks/${id}/deliveries`)).body.deliveries, [{ event_id: event }]);
    refused(t, await replay(NOBODY, event), { code: 'webhook_not_found' });
    refused(t, await replay(id, NOBODY), { code: 'event_not_found' });
    refused(t, await replay(id, 'x'), { code: 'invalid_id' });
    await call(`DELETE /webhooks/${id}`);
  },

  async 'POST /templates with a subject'(t, stage) {
    const call = caller(stage);
    const body = { name: 'Subject', text: '{{ x }}', subject: 'On {{ x }}' };
    const created = await call('POST /templates', body);
    t.match(created, { status: 201, body });
    const path = `/templates/${created.body.id}`;
    t.match((await call(`GET ${path}`)).body, body);
    const { subject: _, ...plain } = body;
    t.notOk('subject' in (await call(`PUT ${path}`, plain)).body, 'replaced with the rest');
    for (const subject of [5, '{{ x', 'half \ud800', 'x'.repeat(10_241)]) {
      refused(t, await call('POST /templates', { ...body, subject }), {
        code: 'validation_failed',
        message: /^subject: /,
      });
    }
  },

  async 'POST /emails with the subject of its template'(t, stage) {
    const call = caller(stage);
    const template = { name: 'Subject', text: '{{ x }}', subject: 'On {{ x }}' };
    const { id } = (await call('POST /templates', template)).body;
    const data = { x: '<1 & 2>' };
    const mail = await stage.arrival({ subject: undefined, template_id: id, data });
    t.equal(mail.subject, 'On <1 & 2>', 'as text');
    const own = await stage.arrival({ subject: 'Own {{ x }}', template_id: id, data });
    t.equal(own.subject, 'Own {{ x }}', "the call's wins");
    for (const x of ['a\nb', 'x'.repeat(996)]) {
      const answer = await stage.send({ subject: undefined, template_id: id, data: { x } });
      refused(t, answer, { code: 'validation_failed', message: /^template_id: the template's subject / });
    }
    const { id: plain } = (await call('POST /templates', { name: 'Plain', text: 'Hi' })).body;
    const without = await stage.send({ subject: undefined, template_id: plain });
    refused(t, without, { code: 'validation_failed', message: /^subject: / });
    refused(t, await stage.send({ subject: undefined }), { code: 'validation_failed', message: /^subject: / });
  },

  async 'GET /stats'(t, stage) {
    const call = caller(stage);
    const now = Date.now();
    const { status, body } = await call('GET /stats?by=hour');
    t.equal(status, 200);
    t.same(Object.keys(body), ['from', 'to', 'by', 'total', 'steps']);
    t.equal(body.steps.length, 24);
    t.ok(body.total.accepted > 0, 'what was accepted so far');
    t.ok(
      Date.parse(body.to) > now && Date.parse(body.steps.at(-1).start) <= Date.now(),
      'the current hour is the last',
    );
    t.match((await call('GET /stats')).body, { by: 'day', steps: { length: 30 } });
    t.match((await call('GET /stats?from=2026-01-01&to=2026-01-03T00:00:01%2B01:00')).body, {
      ...{ from: '2026-01-01T00:00:00.000Z', to: '2026-01-03T00:00:00.000Z', by: 'day', total: { accepted: 0 } },
      steps: [{ start: '2026-01-01T00:00:00.000Z' }, { start: '2026-01-02T00:00:00.000Z' }],
    });
    const tag = { stats: `tag-${stage.world.engine}` };
    await stage.send({ tags: tag });
    const ofTag = `tag=stats:${tag.stats}`;
    await until('the figures of the tag', async () => {
      return (await call(`GET /stats?${ofTag}&by=hour`)).body.total.delivered === 1;
    });
    const { body: tagged } = await call(`GET /stats?${ofTag}`);
    t.match(tagged, { by: 'day', tag: `stats:${tag.stats}`, complete: true, total: { accepted: 1, delivered: 1 } });
    const { key } = await stage.world.addTenant();
    t.equal((await stage.world.call('GET /stats', { key })).body.total.accepted, 0, "one's own alone");
    t.equal((await stage.world.call(`GET /stats?${ofTag}`, { key })).body.total.accepted, 0);
    for (const query of [
      'by=week',
      'from=x',
      'from=2026-02-30',
      'to=2026-01-01&from=2026-01-01',
      'tag=a',
      'from=2020-01-01',
    ]) {
      refused(t, await call(`GET /stats?${query}`), { code: 'validation_failed', about: query });
    }
  },
};
