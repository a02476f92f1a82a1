// POST and GET /domains, GET and DELETE /domains/{id}, POST /domains/{id}/verify.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import type { Domains } from '../../domains/domains.ts';
import type { Domain } from '../../store/domains.ts';
import { type Answer, ok } from '../answer.ts';
import { loadBodyShape } from '../body-shape.ts';
import type { Endpoint } from '../endpoint.ts';
import { refuseUnknown } from '../query.ts';

export function domainEndpoints(domains: Domains): Endpoint[] {
  const shape = loadBodyShape<{ domain: string; selector?: string }>('register-domain');
  const record = (domain: Domain) => domainRecord(domain, domains);
  const answerWith = (status: number, result: Domain | Refusal): Answer | Refusal =>
    isRefusal(result) ? result : { status, body: record(result) };

  return [
    {
      method: 'POST',
      pattern: '/domains',
      scope: 'domains:write',
      body: 'json',
      async answer({ key, read, audit }) {
        const request = await read(shape);
        if (isRefusal(request)) return request;
        const domain = await domains.register(key, request);
        if (!isRefusal(domain)) await audit('domain.created', factsOf(domain));
        return answerWith(201, domain);
      },
    },
    {
      method: 'GET',
      pattern: '/domains',
      scope: null,
      body: 'none',
      answer: async ({ key, query }) =>
        refuseUnknown(query(), []) ?? ok({ domains: (await domains.list(key)).map(record) }),
    },
    {
      method: 'GET',
      pattern: '/domains/:id',
      scope: null,
      body: 'none',
      answer: async ({ key, id }) => answerWith(200, await domains.get(key, id)),
    },
    {
      method: 'POST',
      pattern: '/domains/:id/verify',
      scope: 'domains:write',
      body: 'none',
      async answer({ key, id, audit }) {
        const result = await domains.verify(key, id);
        if (isRefusal(result)) {
          // The other refusals come before anything is looked at.
          if (result.refused === 'verification_failed') {
            await audit('domain.checked', { domain_id: id, domain: nameIn(result), outcome: result.refused });
          }
          return result;
        }
        await audit('domain.checked', { ...factsOf(result.domain), outcome: result.domain.state });
        return ok({ ...record(result.domain), checks: result.checks });
      },
    },
    {
      method: 'DELETE',
      pattern: '/domains/:id',
      scope: 'domains:write',
      body: 'none',
      async answer({ key, id, audit }) {
        const domain = await domains.revoke(key, id);
        if (!isRefusal(domain)) await audit('domain.removed', factsOf(domain));
        return answerWith(200, domain);
      },
    },
  ];
}

function nameIn({ extra }: Refusal): string | null {
  return typeof extra?.domain === 'string' ? extra.domain : null;
}

function factsOf({ id, name }: Domain) {
  return { domain_id: id, domain: name };
}

function domainRecord(domain: Domain, domains: Domains) {
  return {
    id: domain.id,
    domain: domain.name,
    state: domain.state,
    dkim_selector: domain.selector,
    dkim_public_key_b64: domain.publicKeyB64,
    created_at: toTimestamp(domain.createdAt),
    failure_reason: domain.failureReason,
    verified_at: timestampOrNull(domain.verifiedAt),
    last_checked_at: timestampOrNull(domain.lastCheckedAt),
    records: domains.recordsOf(domain),
  };
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}
