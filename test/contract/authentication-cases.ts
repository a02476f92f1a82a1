// Section 5 of the specification: authentication and scopes. The whole matrix of endpoints and
// scopes is in scopes.test.ts.
import type { Test } from 'tap';
import type { Scope } from '../../src/store/tenants.ts';
import { NOBODY } from './contract-world.ts';
import { goodMail, refused, type Stage } from './stage.ts';
import type { AUTHENTICATION, Cases, SCOPES_OF_ENDPOINTS } from './tables.ts';

const MALFORMED = 'missing_or_malformed_authorization';

export const authenticationCases: Cases<typeof AUTHENTICATION> = {
  async '1 bearer token'(t, { world, acme }) {
    t.match(acme.key, /^pr_[A-Za-z0-9]+_[A-Za-z0-9]{43,}$/);
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { Authorization: `${scheme} ${acme.key}` };
      t.equal((await world.call('GET /domains', { headers })).status, 200, scheme);
    }
  },

  async '2 scoped keys'(t, { world, acme }) {
    const key = await world.addKey(acme.id, ['webhooks:write']);
    refused(t, await world.call('POST /emails', { key, body: goodMail(acme.domain) }), { code: 'scope_required' });
    const body = { url: 'https://scoped.acme.test/' };
    t.equal((await world.call('POST /webhooks', { key, body })).status, 201);
  },

  async '3 scopes of endpoints'(t, { world, acme }) {
    const none = await world.addKey(acme.id, ['templates:write']);
    const all = { key: acme.key, body: goodMail(acme.domain) };
    t.equal((await world.call('POST /emails', all)).status, 202, 'a key with every scope may do everything');
    const answer = await world.call('POST /emails', { ...all, key: none });
    refused(t, answer, { code: 'scope_required', message: /emails:send/, about: 'the message names the scope' });
  },

  async '4 reading needs a valid key only'(t, { world, acme }) {
    const key = await world.addKey(acme.id, ['templates:write']);
    for (const path of ['/domains', '/webhooks', '/templates', '/events', `/domains/${acme.domainId}`]) {
      t.equal((await world.call(`GET ${path}`, { key })).status, 200, path);
    }
  },

  async '5 a key may be bound to a domain'(t, { world, acme }) {
    const key = await world.addKey(acme.id, ['emails:send'], 'acme.test');
    t.equal((await world.call('POST /emails', { key, body: goodMail('acme.test') })).status, 202);
    const elsewhere = await world.call('POST /emails', { key, body: goodMail('other.test') });
    refused(t, elsewhere, { code: 'domain_not_allowed', message: /acme\.test/ });
  },

  async '6 missing, malformed or revoked token'(t, { world, acme }) {
    refused(t, await world.call('GET /domains'), { code: MALFORMED, about: 'no header' });
    for (const Authorization of ['', 'Bearer', 'Bearer ', `Basic ${acme.key}`, acme.key, `Bearer${acme.key}`]) {
      const answer = await world.call('GET /domains', { headers: { Authorization } });
      refused(t, answer, { code: MALFORMED, about: Authorization });
      t.match(answer, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
    }
    const publicPart = acme.key.slice(0, acme.key.lastIndexOf('_'));
    for (const key of [
      'x',
      'x y',
      '{}',
      `${acme.key}x`,
      acme.key.slice(0, -1),
      publicPart,
      `${publicPart}_${'a'.repeat(43)}`,
    ]) {
      refused(t, await world.call('GET /domains', { key }), { code: 'invalid_api_key', about: key });
    }
    const key = await world.addKey(acme.id);
    t.equal((await world.call('GET /domains', { key })).status, 200);
    await world.postrider.json('key', 'revoke', key.slice(0, key.lastIndexOf('_')));
    refused(t, await world.call('GET /domains', { key }), { code: 'invalid_api_key', about: 'from the next call on' });
  },

  async '7 lacking scope'(t, { world, acme }) {
    const key = await world.addKey(acme.id, ['emails:send']);
    const body = { domain: 'lacking.test' };
    t.match(await world.call('POST /domains', { key, body }), { status: 403, body: { error: 'scope_required' } });
  },

  async '8 tenant that is not active'(t, { world }) {
    for (const status of ['suspended', 'in_review', 'pending_verification'] as const) {
      const { key, id } = await world.addTenant({ status });
      for (const route of ['GET /domains', 'GET /events', `DELETE /webhooks/${NOBODY}`, 'POST /emails']) {
        t.match(
          await world.call(route, { key }),
          { status: 403, body: { error: 'tenant_not_active' } },
          `${status}: ${route}`,
        );
      }
      await world.postrider.json('tenant', 'set', id, '--status', 'active');
      t.equal((await world.call('GET /domains', { key })).status, 200, 'active from the next call on');
    }
  },

  async '9 health without a key'(t, { world }) {
    t.equal((await world.call('GET /healthz')).status, 200);
    t.equal((await world.call('GET /healthz', { key: 'nonsense' })).status, 200, 'nor does a wrong one matter');
  },
};

/** A key with this scope alone gets through, one with all the others does not. */
async function opens(t: Test, stage: Stage, { scope, routes }: { scope: Scope; routes: string[] }): Promise<void> {
  const others = Object.keys(scopeCases).filter((other) => other !== scope) as Scope[];
  const [holder, stranger] = [
    await stage.world.addKey(stage.acme.id, [scope]),
    await stage.world.addKey(stage.acme.id, others),
  ];
  for (const route of routes) {
    const body = /^(?:POST|PUT|PATCH) /.test(route) && !/\/(?:verify|rotate|test|replay)$/.test(route) ? {} : undefined;
    const { status, body: answer } = await stage.world.call(route, { key: holder, body });
    t.not(answer?.error, 'scope_required', `${scope} opens ${route}`);
    t.not(status, 401);
    refused(t, await stage.world.call(route, { key: stranger, body }), { code: 'scope_required', about: route });
  }
}

export const scopeCases: Cases<typeof SCOPES_OF_ENDPOINTS> = {
  'emails:send': (t, stage) => opens(t, stage, { scope: 'emails:send', routes: ['POST /emails'] }),
  'domains:write': (t, stage) =>
    opens(t, stage, {
      scope: 'domains:write',
      routes: ['POST /domains', `POST /domains/${NOBODY}/verify`, `DELETE /domains/${NOBODY}`],
    }),
  'webhooks:write': (t, stage) =>
    opens(t, stage, {
      scope: 'webhooks:write',
      routes: [
        ...['POST /webhooks', `PATCH /webhooks/${NOBODY}`, `DELETE /webhooks/${NOBODY}`],
        ...[`POST /webhooks/${NOBODY}/rotate`, `POST /webhooks/${NOBODY}/test`],
        `POST /webhooks/${NOBODY}/deliveries/${NOBODY}/replay`,
      ],
    }),
  'templates:write': (t, stage) =>
    opens(t, stage, {
      scope: 'templates:write',
      routes: ['POST /templates', `PUT /templates/${NOBODY}`, `DELETE /templates/${NOBODY}`],
    }),
  'suppressions:write': (t, stage) =>
    opens(t, stage, {
      scope: 'suppressions:write',
      routes: ['POST /suppressions', 'POST /suppressions/import', 'DELETE /suppressions/nobody%40example.com'],
    }),
};
