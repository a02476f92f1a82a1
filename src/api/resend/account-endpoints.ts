// Domains and API keys, read as far as our model has them: GET /resend/domains, /resend/domains/{id}, /resend/api-keys.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal, refuse } from '../../base/refusals.ts';
import type { Domains } from '../../domains/domains.ts';
import type { Domain, DomainCheck } from '../../store/domains.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { ApiKey, Tenant } from '../../store/tenants.ts';
import { ok } from '../answer.ts';
import type { ApiCall, Endpoint } from '../endpoint.ts';
import { pageOf } from './list-page.ts';

export interface AccountParts {
  domains: Domains;
  store: StoreVerbs<{ keys: 'listApiKeys' | 'lastKeyUses' }>;
}

export function accountEndpoints({ domains, store }: AccountParts): Endpoint[] {
  async function listDomains({ key, tenant, query }: ApiCall) {
    const found = (await domains.list(key)).filter(({ state }) => state !== 'revoked');
    const page = pageOf(found.reverse(), query());
    return isRefusal(page) ? page : ok({ ...page, data: page.data.map((domain) => domainFields(domain, tenant)) });
  }

  async function showDomain({ key, tenant, id }: ApiCall) {
    const domain = await domains.get(key, id);
    if (isRefusal(domain)) return domain;
    if (domain.state === 'revoked') return refuse('domain_not_found', 'Domain not found: it was removed.');
    const checks = (await domains.lastChecks(key, id))?.checks ?? [];
    return ok({ object: 'domain', ...domainFields(domain, tenant), records: recordsOf(domain, domains, checks) });
  }

  async function listKeys({ key, query }: ApiCall) {
    const found = (await store.keys.listApiKeys(key.tenantId)).filter((other) => mayShow(key, other)).reverse();
    const page = pageOf(found, query());
    if (isRefusal(page)) return page;
    const uses = new Map((await store.keys.lastKeyUses(key.tenantId)).map(({ keyId, at }) => [keyId, at]));
    const data = page.data.map(({ id, name, createdAt }) => {
      const lastUse = uses.get(id);
      return {
        id,
        name,
        created_at: toTimestamp(createdAt),
        last_used_at: lastUse === undefined ? null : toTimestamp(lastUse),
      };
    });
    return ok({ ...page, data });
  }

  const get = { method: 'GET', scope: null, body: 'none' } as const;
  return [
    { ...get, pattern: '/resend/domains', answer: listDomains },
    { ...get, pattern: '/resend/domains/:id', answer: showDomain },
    { ...get, pattern: '/resend/api-keys', answer: listKeys },
  ];
}

/** A key that is restricted to a domain sees the keys of this domain only. */
function mayShow({ boundDomain }: ApiKey, other: ApiKey): boolean {
  return other.revokedAt === null && (boundDomain === null || other.boundDomain === boundDomain);
}

/** Tracking is a setting of the tenant; there are no regions, and nothing is received for a domain. */
function domainFields({ id, name, state, createdAt }: Domain, { openTracking, clickTracking }: Tenant) {
  return {
    id,
    name,
    status: state,
    created_at: toTimestamp(createdAt),
    region: null,
    capabilities: { sending: 'enabled', receiving: 'disabled' },
    open_tracking: openTracking,
    click_tracking: clickTracking,
  };
}

const RECORDS = ['DKIM', 'SPF', 'DMARC'] as const;

function recordsOf(domain: Domain, domains: Domains, checks: readonly DomainCheck[]) {
  return domains.recordsOf(domain).map(({ name, type, value }, index) => {
    const record = RECORDS[index]!;
    const check = checks.find((one) => one.record === record.toLowerCase());
    return { record, name, type, ttl: 'Auto', status: record === 'DKIM' ? domain.state : statusOf(check), value };
  });
}

/** Only the DKIM record decides about the domain; the others are told of as they were last seen. */
function statusOf(check: DomainCheck | undefined): string {
  if (!check) return 'not_started';
  return check.ok ? 'verified' : 'failed';
}
