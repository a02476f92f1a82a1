// Every endpoint, called with a key of every scope, bound to a domain and not: which of them get
// past the check of the scope, and which past that of the domain.
import t from 'tap';
import { SCOPES, type Scope } from '../../src/store/tenants.ts';
import { operations } from '../support/openapi-check.ts';
import type { Answer } from './contract-client.ts';
import { startContractWorld } from './contract-world.ts';
import { goodMail, inHours } from './stage.ts';

const world = await startContractWorld(t);
const tenant = await world.addSender('acme.test');
await world.addDomain(tenant.key, 'other.test');

interface EndpointRights {
  /** Null: any valid key. */
  scope: Scope | null;
  /** What a key with the scope gets when it is bound to acme.test, for acme.test and for another domain. */
  bound: [own: number, other: number];
  /** Calls at the same time share one check of the domain; the next check would be 10 s later. */
  atOnce?: boolean;
  /** What is called, for a domain of this name. */
  make(domain: string): Promise<{ path: string; body?: unknown }>;
}

let made = 0;
/** A thing of the tenant's, as new as can be, so that a call may end it. */
async function create(path: string, body: Record<string, unknown>): Promise<string> {
  const { status, body: answer } = await world.call(`POST ${path}`, { key: tenant.key, body });
  if (status !== 201) throw new Error(JSON.stringify(answer));
  return `${path}/${answer.id}`;
}
const newUrl = () => ({ url: `https://hooks.acme.test/${made++}` });
const template = { name: 'Rights', text: 'Hi' };

async function domainPath(name: string): Promise<string> {
  const { domains } = (await world.call('GET /domains', { key: tenant.key })).body;
  const live = domains.find((one: { domain: string; state: string }) => one.domain === name && one.state !== 'revoked');
  return live ? `/domains/${live.id}` : create('/domains', { domain: name });
}

async function messagePath(): Promise<string> {
  const { body } = await world.call('POST /emails', { key: tenant.key, body: goodMail('acme.test') });
  return `/emails/${body.message_ids[0]}`;
}

async function submissionPath(domain = 'acme.test', send_at?: string): Promise<string> {
  const mail = { ...goodMail(domain), ...(send_at && { send_at }) };
  const { body } = await world.call('POST /emails', { key: tenant.key, body: mail });
  return `/submissions/${body.id}`;
}

let hook: Promise<string> | null = null;
/** One for all calls that leave it there: a tenant may have 50. */
function hookPath(): Promise<string> {
  hook ??= create('/webhooks', newUrl());
  return hook;
}

/** A new one each time. */
async function eventId(): Promise<string> {
  const path = await messagePath();
  await world.daemon.logged({ fact: 'delivered', message_id: path.split('/').at(-1)! });
  const { events } = (await world.call(`GET ${path}`, { key: tenant.key })).body;
  return events[0].id;
}

const reading = (make: EndpointRights['make'], status = 200): EndpointRights => ({
  scope: null,
  bound: [status, status],
  make,
});

const RIGHTS: Record<string, EndpointRights> = {
  'POST /emails': {
    scope: 'emails:send',
    bound: [202, 403],
    make: async (domain) => ({ path: '/emails', body: goodMail(domain) }),
  },
  'POST /emails/batch': {
    scope: 'emails:send',
    bound: [202, 403],
    make: async (domain) => ({ path: '/emails/batch', body: { emails: [goodMail(domain)] } }),
  },
  'GET /emails': reading(async () => ({ path: '/emails' })),
  'GET /emails/{id}': reading(async () => ({ path: await messagePath() })),
  'GET /submissions/{id}': reading(async () => ({ path: await submissionPath() })),
  'PATCH /submissions/{id}': {
    scope: 'emails:send',
    bound: [200, 403],
    make: async (domain) => ({ path: await submissionPath(domain, inHours(1)), body: { send_at: inHours(2) } }),
  },
  'POST /submissions/{id}/cancel': {
    scope: 'emails:send',
    bound: [200, 403],
    make: async (domain) => ({ path: `${await submissionPath(domain)}/cancel` }),
  },
  'POST /domains': {
    scope: 'domains:write',
    bound: [403, 403],
    make: async () => ({ path: '/domains', body: { domain: `new-${made++}.test` } }),
  },
  'GET /domains': reading(async () => ({ path: '/domains' })),
  'GET /domains/{id}': reading(async (domain) => ({ path: await domainPath(domain) })),
  'POST /domains/{id}/verify': {
    scope: 'domains:write',
    bound: [200, 403],
    atOnce: true,
    make: async (domain) => ({ path: `${await domainPath(domain)}/verify` }),
  },
  'POST /webhooks': {
    scope: 'webhooks:write',
    bound: [201, 201],
    make: async () => ({ path: '/webhooks', body: newUrl() }),
  },
  'GET /webhooks': reading(async () => ({ path: '/webhooks' })),
  'GET /webhooks/{id}': reading(async () => ({ path: await create('/webhooks', newUrl()) })),
  'PATCH /webhooks/{id}': {
    scope: 'webhooks:write',
    bound: [200, 200],
    make: async () => ({ path: await hookPath(), body: { events: ['bounce'] } }),
  },
  'POST /webhooks/{id}/rotate': {
    scope: 'webhooks:write',
    bound: [200, 200],
    make: async () => ({ path: `${await hookPath()}/rotate` }),
  },
  'POST /webhooks/{id}/test': {
    scope: 'webhooks:write',
    bound: [200, 200],
    make: async () => ({ path: `${await hookPath()}/test` }),
  },
  'GET /webhooks/{id}/deliveries': reading(async () => ({ path: `${await hookPath()}/deliveries` })),
  'POST /webhooks/{id}/deliveries/{event_id}/replay': {
    scope: 'webhooks:write',
    bound: [202, 202],
    make: async () => ({ path: `${await hookPath()}/deliveries/${await eventId()}/replay` }),
  },
  'DELETE /webhooks/{id}': {
    scope: 'webhooks:write',
    bound: [204, 204],
    make: async () => ({ path: await create('/webhooks', newUrl()) }),
  },
  'POST /templates': {
    scope: 'templates:write',
    bound: [201, 201],
    make: async () => ({ path: '/templates', body: template }),
  },
  'GET /templates': reading(async () => ({ path: '/templates' })),
  'GET /templates/{id}': reading(async () => ({ path: await create('/templates', template) })),
  'PUT /templates/{id}': {
    scope: 'templates:write',
    bound: [200, 200],
    make: async () => ({ path: await create('/templates', template), body: template }),
  },
  'DELETE /templates/{id}': {
    scope: 'templates:write',
    bound: [204, 204],
    make: async () => ({ path: await create('/templates', template) }),
  },
  'GET /stats': reading(async () => ({ path: '/stats' })),
  'GET /suppressions': reading(async () => ({ path: '/suppressions' })),
  'POST /suppressions': {
    scope: 'suppressions:write',
    bound: [201, 201],
    make: async () => ({ path: '/suppressions', body: { address: `new-${made++}@example.com` } }),
  },
  'POST /suppressions/import': {
    scope: 'suppressions:write',
    bound: [200, 200],
    make: async () => ({ path: '/suppressions/import', body: { addresses: [`new-${made++}@example.com`] } }),
  },
  'DELETE /suppressions/{address}': {
    scope: 'suppressions:write',
    bound: [204, 204],
    make: async () => {
      const address = `old-${made++}@example.com`;
      await world.call('POST /suppressions', { key: tenant.key, body: { address } });
      return { path: `/suppressions/${encodeURIComponent(address)}` };
    },
  },
  'GET /events': reading(async () => ({ path: '/events' })),
  // The last one: it ends what the others need.
  'DELETE /domains/{id}': {
    scope: 'domains:write',
    bound: [200, 403],
    make: async (domain) => ({ path: await domainPath(domain) }),
  },
};

const keys = new Map<string, string>();
for (const scope of SCOPES) {
  keys.set(scope, await world.addKey(tenant.id, [scope]));
  keys.set(`${scope} bound`, await world.addKey(tenant.id, [scope], 'acme.test'));
}

t.test('the table has every endpoint that needs a key', async (t) => {
  const described = operations
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => route !== 'GET /healthz' && !/^GET \/(?:openapi|docs)/.test(route));
  t.same(Object.keys(RIGHTS).sort(), described.sort());
});

for (const [route, { scope, bound, atOnce = false, make }] of Object.entries(RIGHTS)) {
  t.test(route, async (t) => {
    const call = async (keyName: string, domain: string): Promise<Answer> => {
      const { path, body } = await make(domain);
      return world.call(`${route.split(' ')[0]} ${path}`, { key: keys.get(keyName)!, body });
    };
    for (const held of SCOPES) {
      const calls = [() => call(held, 'acme.test'), () => call(`${held} bound`, 'acme.test')];
      const [free, toOwn] = await (atOnce ? together(calls) : inTurn(calls));
      const toOther = await call(`${held} bound`, 'other.test');
      if (scope === null || scope === held) {
        t.ok(free.status < 300, `${held}: ${free.status}`);
        t.same([toOwn.status, toOther.status], bound, `${held}, bound: its own domain, another one`);
        const codes = [toOwn, toOther].filter(({ status }) => status === 403).map(({ body }) => body.error);
        t.ok(codes.every((code) => code === 'domain_not_allowed'));
      } else {
        for (const answer of [free, toOwn, toOther])
          t.match(answer, { status: 403, body: { error: 'scope_required' } }, held);
      }
    }
  });
}

type TwoAnswers = [Answer, Answer];

function together(calls: (() => Promise<Answer>)[]): Promise<TwoAnswers> {
  return Promise.all(calls.map((call) => call())) as Promise<TwoAnswers>;
}

async function inTurn(calls: (() => Promise<Answer>)[]): Promise<TwoAnswers> {
  const answers: Answer[] = [];
  for (const call of calls) answers.push(await call());
  return answers as TwoAnswers;
}
