// Whatever a program changes with an API key is in the audit log, with the key and the client's address. The test walks
// through all routes of the API, so that one that is added and not written down is noticed.
import t from 'tap';
import { type ApiAnswer, type ApiHarness, startApiHarness, type TestTenant } from '../support/api-harness.ts';
import { recordSomeEvent } from '../support/some-event.ts';

interface Play {
  /** What the log must say. */
  action: string;
  run(harness: ApiHarness, tenant: TestTenant): Promise<number>;
  /** 2xx when not given. */
  status?: number;
}

const template = { name: 'welcome', html: '<p>Hi</p>', text: 'Hi' };
let made = 0;

async function newTemplate({ call }: ApiHarness, { key }: TestTenant): Promise<string> {
  const { body } = await call('POST', '/templates', { key, body: { ...template, name: `t${++made}` } });
  return body.id;
}

async function newWebhook({ call }: ApiHarness, { key }: TestTenant) {
  return call('POST', '/webhooks', { key, body: { url: `https://hooks.example.com/${++made}` } });
}

const PLAYS: Readonly<Record<string, Play>> = {
  'POST /domains': {
    action: 'domain.created',
    run: async ({ call }, { key }) =>
      (await call('POST', '/domains', { key, body: { domain: `d${++made}.test` } })).status,
  },
  'POST /domains/:id/verify': {
    action: 'domain.checked',
    // DNS has no record; what was found is kept.
    status: 422,
    async run(harness, { id, key }) {
      const domain = await harness.addVerifiedDomain(id, `d${++made}.test`);
      return (await harness.call('POST', `/domains/${domain}/verify`, { key })).status;
    },
  },
  'DELETE /domains/:id': {
    action: 'domain.removed',
    async run(harness, { id, key }) {
      const domain = await harness.addVerifiedDomain(id, `d${++made}.test`);
      return (await harness.call('DELETE', `/domains/${domain}`, { key })).status;
    },
  },
  'POST /templates': {
    action: 'template.created',
    run: async ({ call }, { key }) => (await call('POST', '/templates', { key, body: template })).status,
  },
  'PUT /templates/:id': {
    action: 'template.changed',
    async run(harness, tenant) {
      const id = await newTemplate(harness, tenant);
      const change = { key: tenant.key, body: { ...template, name: `t${++made}` } };
      return (await harness.call('PUT', `/templates/${id}`, change)).status;
    },
  },
  'DELETE /templates/:id': {
    action: 'template.deleted',
    async run(harness, tenant) {
      const id = await newTemplate(harness, tenant);
      return (await harness.call('DELETE', `/templates/${id}`, { key: tenant.key })).status;
    },
  },
  'POST /webhooks': {
    action: 'webhook.created',
    run: async (harness, tenant) => (await newWebhook(harness, tenant)).status,
  },
  'DELETE /webhooks/:id': {
    action: 'webhook.deleted',
    async run(harness, tenant) {
      const { body } = await newWebhook(harness, tenant);
      return (await harness.call('DELETE', `/webhooks/${body.id}`, { key: tenant.key })).status;
    },
  },
  'PATCH /webhooks/:id': {
    action: 'webhook.changed',
    async run(harness, tenant) {
      const { body } = await newWebhook(harness, tenant);
      const change = { key: tenant.key, body: { events: ['bounce'] } };
      return (await harness.call('PATCH', `/webhooks/${body.id}`, change)).status;
    },
  },
  'POST /webhooks/:id/rotate': {
    action: 'webhook.secret_rotated',
    async run(harness, tenant) {
      const { body } = await newWebhook(harness, tenant);
      return (await harness.call('POST', `/webhooks/${body.id}/rotate`, { key: tenant.key })).status;
    },
  },
  'POST /webhooks/:id/test': {
    action: 'webhook.tested',
    async run(harness, tenant) {
      const { body } = await newWebhook(harness, tenant);
      return (await harness.call('POST', `/webhooks/${body.id}/test`, { key: tenant.key })).status;
    },
  },
  'POST /webhooks/:id/deliveries/:event_id/replay': {
    action: 'webhook.event_replayed',
    async run(harness, { id: tenantId, key }) {
      const { body } = await newWebhook(harness, { id: tenantId, key });
      await harness.addVerifiedDomain(tenantId, `d${++made}.test`);
      const mail = { from: `a@d${made}.test`, to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
      const [messageId] = (await harness.call('POST', '/emails', { key, body: mail })).body.message_ids;
      const event = await recordSomeEvent(harness, { tenantId, messageId, ...mail });
      return (await harness.call('POST', `/webhooks/${body.id}/deliveries/${event}/replay`, { key })).status;
    },
  },
  'PATCH /submissions/:id': {
    action: 'submission.moved',
    async run(harness, tenant) {
      const path = `/submissions/${await scheduledSubmission(harness, tenant)}`;
      const body = { send_at: new Date(Date.now() + 7_200_000).toISOString() };
      return (await harness.call('PATCH', path, { key: tenant.key, body })).status;
    },
  },
  'PATCH /resend/emails/:id': {
    action: 'submission.moved',
    async run(harness, tenant) {
      const path = `/resend/emails/${await scheduledSubmission(harness, tenant)}`;
      return (await harness.call('PATCH', path, { key: tenant.key, body: { scheduled_at: 'in 2 hours' } })).status;
    },
  },
  'POST /resend/emails/:id/cancel': {
    action: 'submission.canceled',
    async run(harness, tenant) {
      const path = `/resend/emails/${await scheduledSubmission(harness, tenant)}/cancel`;
      return (await harness.call('POST', path, { key: tenant.key })).status;
    },
  },
  'POST /submissions/:id/cancel': {
    action: 'submission.canceled',
    async run(harness, tenant) {
      const path = `/submissions/${await scheduledSubmission(harness, tenant)}/cancel`;
      return (await harness.call('POST', path, { key: tenant.key })).status;
    },
  },
  'POST /suppressions': {
    action: 'suppression.added',
    run: async (harness, tenant) => (await newSuppression(harness, tenant)).status,
  },
  'POST /suppressions/import': {
    action: 'suppression.imported',
    async run(harness, tenant) {
      const body = { addresses: [`jo${++made}@example.org`] };
      return (await harness.call('POST', '/suppressions/import', { key: tenant.key, body })).status;
    },
  },
  'DELETE /suppressions/:address': {
    action: 'suppression.removed',
    async run(harness, tenant) {
      const { body } = await newSuppression(harness, tenant);
      const path = `/suppressions/${encodeURIComponent(body.address)}`;
      return (await harness.call('DELETE', path, { key: tenant.key })).status;
    },
  },
};

async function scheduledSubmission(harness: ApiHarness, { id, key }: TestTenant): Promise<string> {
  const domain = `d${++made}.test`;
  await harness.addVerifiedDomain(id, domain);
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  const body = { from: `a@${domain}`, to: 'jo@example.com', subject: 'Later', text: 'Hi', send_at };
  return (await harness.call('POST', '/emails', { key, body })).body.id;
}

function newSuppression(harness: ApiHarness, tenant: TestTenant): Promise<ApiAnswer> {
  const body = { address: `jo${++made}@example.org` };
  return harness.call('POST', '/suppressions', { key: tenant.key, body });
}

/** Sending is told by events. */
const NOT_WRITTEN_DOWN = ['POST /emails', 'POST /emails/batch', 'POST /resend/emails', 'POST /resend/emails/batch'];

t.test('every endpoint that writes', async (t) => {
  const harness = await startApiHarness();
  t.teardown(() => harness.close());
  const writing = harness.routes
    .filter(({ method }) => method !== 'GET')
    .map(({ method, pattern }) => `${method} ${pattern}`)
    .filter((name) => !NOT_WRITTEN_DOWN.includes(name));
  t.same(writing.sort(), Object.keys(PLAYS).sort(), 'is tried here');
  for (const [name, { action, run, status: expected }] of Object.entries(PLAYS)) {
    const tenant = await harness.addTenant();
    const [key] = await harness.store.keys.listApiKeys(tenant.id);
    const status = await run(harness, tenant);
    t.ok(expected === undefined ? status >= 200 && status < 300 : status === expected, `${name} answers ${status}`);
    const [newest] = await harness.store.audit.listAudit(tenant.id, { before: null, limit: 5 });
    const who = `test (pr_${key!.publicId})`;
    t.match(newest, { actor: 'key', keyId: key!.id, who, address: '127.0.0.1', userId: null, action }, name);
    t.notMatch(JSON.stringify(newest), tenant.key.slice(-43), 'without the secret');
  }
});

t.test('what was refused is not in the log', async (t) => {
  const harness = await startApiHarness();
  t.teardown(() => harness.close());
  const { id, key } = await harness.addTenant();
  const nobody = '/01a1fa75-69d8-7000-b301-908cb7826839';
  for (const path of ['/domains', '/templates', '/webhooks']) {
    t.match(await harness.call('POST', path, { key, body: {} }), { status: 400 }, path);
    t.match(await harness.call('DELETE', path + nobody, { key }), { status: 404 }, path);
  }
  t.same(await harness.store.audit.listAudit(id, { before: null, limit: 5 }), []);
});
