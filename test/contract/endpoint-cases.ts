// Section 4 of the specification: the endpoints, each with what it answers when all is well, and
// the rules below them.
import { RECEIVER } from '../support/world.ts';
import { NOBODY } from './contract-world.ts';
import { goodMail, inHours, refused, type Stage } from './stage.ts';
import type { Cases, CONTRACT_ENDPOINTS, ENDPOINT_RULES, ENDPOINTS } from './tables.ts';

/** Calls as acme. */
function caller({ world, acme }: Stage) {
  return (route: string, body?: unknown) => world.call(route, { key: acme.key, body });
}

const TEMPLATE = { name: 'Order', html: '<p>{{ x }}</p>', text: '{{ x }}' };

export const endpointCases: Cases<typeof ENDPOINTS> = {
  async 'POST /emails'(t, { send, inbox }) {
    const { status, body } = await send();
    t.equal(status, 202);
    t.equal((await inbox.mail(body.message_ids[0])).to, `jo@${RECEIVER}`);
  },

  async 'POST /domains'(t, stage) {
    const call = caller(stage);
    t.match(await call('POST /domains', { domain: `new-${stage.world.engine}.test` }), {
      status: 201,
      body: { state: 'pending' },
    });
    const wrong = [{}, { domain: null }, { domain: 5 }, { domain: 'Upper.test' }, { domain: 'dot.test.' }];
    for (const body of wrong)
      refused(t, await call('POST /domains', body), { code: 'validation_failed', message: /^domain: / });
  },

  async 'GET /domains'(t, stage) {
    const { status, body } = await caller(stage)('GET /domains');
    t.equal(status, 200);
    t.same(Object.keys(body), ['domains']);
    const ids = body.domains.map(({ id }: { id: string }) => id);
    t.same(ids, [...ids].sort(), 'oldest first');
    t.ok(ids.includes(stage.acme.domainId));
  },

  async 'GET /domains/{id}'(t, stage) {
    const answer = await caller(stage)(`GET /domains/${stage.acme.domainId}`);
    t.match(answer, { status: 200, body: { id: stage.acme.domainId, domain: 'acme.test' } });
  },

  async 'POST /domains/{id}/verify'(t, stage) {
    const { status, body } = await caller(stage)(`POST /domains/${stage.acme.domainId}/verify`);
    t.match({ status, ...body }, { status: 200, id: stage.acme.domainId, state: 'verified' });
    for (const [index, record] of ['dkim', 'spf', 'dmarc'].entries()) {
      const check = body.checks[index];
      t.match(check, { record, type: 'TXT', required: index === 0, ok: true, reason: null, expected: /^v=/ });
      t.equal(check.found.length, 1);
      t.equal(check.found[0], check.expected);
    }
  },

  async 'DELETE /domains/{id}'(t, stage) {
    const call = caller(stage);
    const { id } = (await call('POST /domains', { domain: `short-lived-${stage.world.engine}.test` })).body;
    t.match(await call(`DELETE /domains/${id}`), { status: 200, body: { id, state: 'revoked' } });
  },

  async 'POST /webhooks'(t, stage) {
    const body = { url: 'https://post.acme.test/', description: 'Post' };
    t.match(await caller(stage)('POST /webhooks', body), {
      status: 201,
      body: { ...body, secret: /^[A-Za-z0-9+/]{43}=$/ },
    });
  },

  async 'GET /webhooks'(t, stage) {
    const call = caller(stage);
    const { secret: _, ...record } = (await call('POST /webhooks', { url: 'https://list.acme.test/' })).body;
    const { status, body } = await call('GET /webhooks');
    t.equal(status, 200);
    t.same(Object.keys(body), ['webhooks']);
    t.same(body.webhooks.at(-1), record, 'oldest first, without a secret');
  },

  async 'GET /webhooks/{id}'(t, stage) {
    const call = caller(stage);
    const { secret: _, ...record } = (await call('POST /webhooks', { url: 'https://get.acme.test/' })).body;
    const { status, body } = await call(`GET /webhooks/${record.id}`);
    t.same({ status, body }, { status: 200, body: record });
  },

  async 'DELETE /webhooks/{id}'(t, stage) {
    const call = caller(stage);
    const { id } = (await call('POST /webhooks', { url: 'https://delete.acme.test/' })).body;
    t.match(await call(`DELETE /webhooks/${id}`), { status: 204, body: null });
    refused(t, await call(`DELETE /webhooks/${id}`), { code: 'webhook_not_found', about: 'once more' });
  },

  async 'POST /templates'(t, stage) {
    t.match(await caller(stage)('POST /templates', TEMPLATE), { status: 201, body: TEMPLATE });
  },

  async 'PUT /templates/{id}'(t, stage) {
    const call = caller(stage);
    const { id } = (await call('POST /templates', TEMPLATE)).body;
    const { status, body } = await call(`PUT /templates/${id}`, { name: 'Other', html: '<p></p>' });
    t.match({ status, ...body }, { status: 200, id, name: 'Other', html: '<p></p>', text: null });
    t.same((await call(`GET /templates/${id}`)).body, body);
    refused(t, await call(`PUT /templates/${id}`, { name: 'Other' }), { code: 'validation_failed' });
    refused(t, await call(`PUT /templates/${NOBODY}`, TEMPLATE), { code: 'template_not_found' });
  },

  async 'DELETE /templates/{id}'(t, stage) {
    const call = caller(stage);
    const { id } = (await call('POST /templates', TEMPLATE)).body;
    t.match(await call(`DELETE /templates/${id}`), { status: 204, body: null });
    refused(t, await call(`GET /templates/${id}`), { code: 'template_not_found' });
    refused(t, await call(`DELETE /templates/${id}`), { code: 'template_not_found', about: 'once more' });
    const answer = await stage.send({ template_id: id });
    refused(t, answer, { code: 'validation_failed', message: /^template_id: / });
  },

  async 'GET /healthz'(t, { world }) {
    const { status, body } = await world.call('GET /healthz');
    t.same({ status, body }, { status: 200, body: { status: 'ok' } });
  },
};

export const contractEndpointCases: Cases<typeof CONTRACT_ENDPOINTS> = {
  async 'GET /templates'(t, stage) {
    const call = caller(stage);
    const { body: record } = await call('POST /templates', TEMPLATE);
    const { status, body } = await call('GET /templates');
    t.equal(status, 200);
    t.same(Object.keys(body), ['templates']);
    t.same(body.templates.at(-1), record, 'oldest first');
  },

  async 'GET /templates/{id}'(t, stage) {
    const call = caller(stage);
    const { body: record } = await call('POST /templates', TEMPLATE);
    const { status, body } = await call(`GET /templates/${record.id}`);
    t.same({ status, body }, { status: 200, body: record });
  },

  async 'GET /events'(t, stage) {
    const [messageId] = (await stage.send()).body.message_ids;
    await stage.world.daemon.logged({ fact: 'delivered', message_id: messageId });
    const call = caller(stage);
    const { status, body } = await call('GET /events?limit=1000');
    t.equal(status, 200);
    const event = body.events.find(({ data }: { data: { message_id: string } }) => data.message_id === messageId);
    t.match(event, { type: 'email.delivered', family: 'delivery', data: { from: 'app@acme.test', subject: 'Hello' } });
    const first = (await call('GET /events?limit=1')).body;
    t.match(first, { events: [{}], has_more: true });
    t.same(
      (await call(`GET /events?after=${first.events[0].id}&limit=1`)).body.events,
      [body.events[1]],
      'page by page',
    );
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after=x', `after=${NOBODY}`, 'page=1']) {
      refused(t, await call(`GET /events?${query}`), { code: 'validation_failed', about: query });
    }
  },

  async 'GET /emails/{id}'(t, stage) {
    const [messageId] = (await stage.send({ subject: 'Seen' })).body.message_ids;
    await stage.world.daemon.logged({ fact: 'delivered', message_id: messageId });
    const { status, body } = await caller(stage)(`GET /emails/${messageId}`);
    t.equal(status, 200);
    t.match(body, { id: messageId, state: 'delivered', from: 'app@acme.test', to: `jo@${RECEIVER}`, subject: 'Seen' });
    t.match(body.events, [{ type: 'email.delivered' }]);
    refused(t, await caller(stage)(`GET /emails/${NOBODY}`), { code: 'email_not_found' });
  },

  async 'GET /emails'(t, stage) {
    const call = caller(stage);
    const tag = { run: `list-${stage.world.engine}` };
    const to = [`one@${RECEIVER}`, `two@${RECEIVER}`];
    const { id, message_ids } = (await stage.send({ subject: 'Listed', to, tags: tag })).body;
    for (const messageId of message_ids) await stage.world.daemon.logged({ fact: 'delivered', message_id: messageId });
    const ofRun = `tag=run:${tag.run}`;
    const { status, body } = await call(`GET /emails?${ofRun}`);
    t.equal(status, 200);
    t.same(Object.keys(body), ['emails', 'has_more', 'complete', 'next']);
    t.match(body, { has_more: false, complete: true, next: null });
    t.match(body.emails, [
      { id: message_ids[1], submission_id: id, state: 'delivered', to: to[1], tags: tag },
      { id: message_ids[0], from: 'app@acme.test', subject: 'Listed' },
    ]);
    const listed = async (query: string) => {
      const { emails } = (await call(`GET /emails?${ofRun}&${query}`)).body;
      return emails.map((email: { id: string }) => email.id).toReversed();
    };
    const { body: first } = await call(`GET /emails?${ofRun}&limit=1`);
    t.match(first, { has_more: true, next: message_ids[1] });
    t.same(await listed(`limit=1&after=${first.next}`), [message_ids[0]]);
    const created = body.emails[0].created_at;
    t.same(await listed(`created_after=${created}`), message_ids, 'that moment is in');
    t.same(await listed(`created_before=${created}`), [], 'and here it is not');
    t.same(await listed(`to=${to[0]!.toUpperCase()}&from=APP@acme.test&state=delivered`), [message_ids[0]]);
    t.same(await listed(`to=${RECEIVER}&from=acme.test&state=&after=&limit=`), message_ids);
    for (const none of ['state=failed', 'to=x.test', 'from=other@acme.test', 'from=x.test']) {
      t.same(await listed(none), [], none);
    }
    for (const query of [
      ...['limit=0', 'limit=101', 'after=x', 'state=gone', 'to=x%20y', 'from=a@b@c', 'tag=x', 'tag=a:b:c', 'subject=x'],
      ...[
        'created_after=2026-02-30',
        'created_after=2026-01-02&created_before=2026-01-01',
        'state=failed&state=sending',
      ],
    ]) {
      refused(t, await call(`GET /emails?${query}`), { code: 'validation_failed', about: query });
    }
    const { key } = await stage.world.addTenant();
    t.same((await stage.world.call('GET /emails', { key })).body.emails, [], "one's own alone");
  },

  async 'POST /emails/batch'(t, stage) {
    const { world, acme } = stage;
    const mail = (subject: string) => ({ ...goodMail(acme.domain), subject });
    const post = (body: unknown) => world.call('POST /emails/batch', { key: acme.key, body });
    const { status, body } = await post({ emails: [mail('One'), mail('Two')] });
    t.equal(status, 202);
    t.match(body.results, [{ message_ids: [String], replayed: false }, { message_ids: [String] }]);
    await world.daemon.logged({ fact: 'delivered', message_id: body.results[1].message_ids[0] });
    const refusedBatch = await post({ emails: [mail('Three'), { ...mail('Four'), to: 'x' }] });
    refused(t, refusedBatch, { code: 'validation_failed', message: /^to: / });
    t.equal(refusedBatch.body.index, 1);
  },

  async 'GET /submissions/{id}'(t, stage) {
    const { id, message_ids } = (await stage.send({ subject: 'One letter', bcc: `b@${RECEIVER}` })).body;
    await stage.world.daemon.logged({ fact: 'delivered', message_id: message_ids[1] });
    const { status, body } = await caller(stage)(`GET /submissions/${id}`);
    t.equal(status, 200);
    t.match(body, { id, subject: 'One letter', send_at: null, tags: null, rejected: [] });
    t.match(body.messages, [
      { id: message_ids[0], to: `jo@${RECEIVER}`, kind: 'to' },
      { id: message_ids[1], to: `b@${RECEIVER}`, kind: 'bcc', state: 'delivered' },
    ]);
    refused(t, await caller(stage)(`GET /submissions/${NOBODY}`), { code: 'submission_not_found' });
  },

  async 'POST /emails with send_at'(t, stage) {
    const later = inHours(1);
    const waiting = (await stage.send({ subject: 'Much later', send_at: later })).body;
    const { body } = await caller(stage)(`GET /submissions/${waiting.id}`);
    t.match(body, { send_at: later, messages: [{ id: waiting.message_ids[0], state: 'scheduled' }] });
    const soon = new Date(Date.now() + 1000).toISOString();
    const { message_ids } = (await stage.send({ subject: 'Later', send_at: soon })).body;
    await stage.inbox.mail(message_ids[0]);
    t.ok(Date.now() >= Date.parse(soon), 'not before its time');
    await stage.world.daemon.logged({ fact: 'delivered', message_id: message_ids[0] });
    for (const send_at of ['tomorrow', '2026-02-30T00:00:00Z', inHours(-1), inHours(31 * 24), 5]) {
      const answer = await stage.send({ send_at });
      refused(t, answer, { code: 'validation_failed', message: /^send_at: /, about: String(send_at) });
    }
  },

  async 'PATCH /submissions/{id}'(t, stage) {
    const call = caller(stage);
    const { id, message_ids } = (await stage.send({ subject: 'Moved', send_at: inHours(2) })).body;
    const moved = await call(`PATCH /submissions/${id}`, { send_at: '2000-01-01T00:00:00Z' });
    refused(t, moved, { code: 'validation_failed', message: /^send_at: is more than 5 minutes in the past/ });
    const later = inHours(700);
    t.match(await call(`PATCH /submissions/${id}`, { send_at: later }), { status: 200, body: { id, send_at: later } });
    const now = inHours(0);
    t.equal((await call(`PATCH /submissions/${id}`, { send_at: now })).status, 200);
    await stage.world.daemon.logged({ fact: 'delivered', message_id: message_ids[0] });
    refused(t, await call(`PATCH /submissions/${id}`, { send_at: later }), { code: 'not_scheduled' });
    refused(t, await call(`PATCH /submissions/${NOBODY}`, { send_at: later }), { code: 'submission_not_found' });
    refused(t, await call(`PATCH /submissions/${id}`, {}), { code: 'validation_failed' });
  },

  async 'POST /submissions/{id}/cancel'(t, stage) {
    const call = caller(stage);
    const { id, message_ids } = (await stage.send({ subject: 'Canceled', send_at: inHours(2) })).body;
    const answer = { canceled: message_ids, too_late: [] };
    t.match(await call(`POST /submissions/${id}/cancel`), { status: 200, body: answer });
    t.match(await call(`POST /submissions/${id}/cancel`), { status: 200, body: answer }, 'again');
    const { body } = await call(`GET /emails/${message_ids[0]}`);
    t.match(body, {
      state: 'canceled',
      events: [{ type: 'email.canceled', data: { cancellation: { by: 'sender' } } }],
    });
    const sent = (await stage.send({ subject: 'Sent' })).body;
    await stage.world.daemon.logged({ fact: 'delivered', message_id: sent.message_ids[0] });
    const late = await call(`POST /submissions/${sent.id}/cancel`);
    t.match(late, { status: 200, body: { canceled: [], too_late: sent.message_ids } });
    refused(t, await call(`POST /submissions/${NOBODY}/cancel`), { code: 'submission_not_found' });
  },
};

export const endpointRuleCases: Cases<typeof ENDPOINT_RULES> = {
  async '1 default selector'(t, stage) {
    const month = () => `pr${new Date().toISOString().slice(0, 7).replace('-', '')}`;
    const before = month();
    const { body } = await caller(stage)('POST /domains', { domain: `default-${stage.world.engine}.test` });
    t.ok([before, month()].includes(body.dkim_selector), body.dkim_selector);
  },

  async '2 suppressed recipients'(t, stage) {
    await stage.world.suppress(stage.acme.id, `rule2@${RECEIVER}`, 'manual');
    const all = await stage.send({ to: [`rule2@${RECEIVER}`, `RULE2@${RECEIVER}`] });
    t.equal(all.status, 422);
    refused(t, all, { code: 'all_recipients_suppressed' });
    const some = await stage.send({ to: [`rule2@${RECEIVER}`, `jo@${RECEIVER}`] });
    t.match(some, { status: 202, body: { rejected: [{ to: `rule2@${RECEIVER}`, reason: 'manual' }] } });
    t.equal((await stage.inbox.mail(some.body.message_ids[0])).to, `jo@${RECEIVER}`);
  },

  async '3 replay'(t, stage) {
    const headers = { 'Idempotency-Key': `rule3-${stage.world.engine}` };
    const first = await stage.send({}, headers);
    for (const body of ['{ no json', '[]', '', Buffer.from([0xff]), { from: 'nobody' }]) {
      const again = await stage.world.call('POST /emails', { key: stage.acme.key, body, headers });
      t.same(again.body, { ...first.body, replayed: true }, 'the body of the repeated call is ignored');
      t.equal(again.status, 202);
    }
  },

  async '4 verification asks authoritative DNS'(t, { world, acme }) {
    const domain = `authoritative-${world.engine}.test`;
    world.dns.addZone(domain);
    const { id } = (await world.call('POST /domains', { key: acme.key, body: { domain } })).body;
    const before = world.dns.queries.length;
    await world.call(`POST /domains/${id}/verify`, { key: acme.key });
    const asked = world.dns.queries.slice(before).map(({ name, type }) => `${name} ${type}`);
    for (const name of [domain, `_dmarc.${domain}`]) t.ok(asked.includes(`${name} TXT`), name);
    t.ok(
      asked.some((question) => /^pr\d{6}\._domainkey\./.test(question) && question.endsWith(`.${domain} TXT`)),
      'the DKIM record',
    );
  },

  async '5 a deleted webhook is gone'(t, stage) {
    const call = caller(stage);
    const { id } = (await call('POST /webhooks', { url: 'https://rule5.acme.test/' })).body;
    await call(`DELETE /webhooks/${id}`);
    refused(t, await call(`GET /webhooks/${id}`), { code: 'webhook_not_found' });
    const { webhooks } = (await call('GET /webhooks')).body;
    t.notOk(webhooks.some((webhook: { id: string }) => webhook.id === id));
  },

  async '6 health'(t, { world }) {
    t.equal((await world.call('GET /healthz')).status, 200, 'the 503 is in the table of section 2.6');
    t.match(await world.call('HEAD /healthz'), { status: 200, body: null });
  },

  async '7 keys bound to a domain'(t, { world, acme }) {
    const key = await world.addKey(acme.id, undefined, 'acme.test');
    t.equal((await world.call('POST /emails', { key, body: goodMail('acme.test') })).status, 202);
    for (const [route, body] of [
      ['POST /emails', goodMail('other.test')],
      ['POST /domains', { domain: 'other.test' }],
      ['POST /domains', { domain: 'acme.test' }],
    ] as const) {
      t.match(await world.call(route, { key, body }), { status: 403, body: { error: 'domain_not_allowed' } }, route);
    }
  },
};
