// domain list
import { toTimestamp } from '../../base/clock.ts';
import { done, failed } from '../../operator/answer.ts';
import type { Domain } from '../../store/domains.ts';
import { storeCommand } from '../command.ts';
import { required, uuid } from '../option.ts';
import { renderTable } from '../table.ts';

export const domainList = storeCommand({
  name: 'domain list',
  summary: "Lists a tenant's sending domains, including revoked ones, oldest first.",
  options: { tenant: required(uuid('ID', 'the tenant')) },
  async run({ store }, { tenant }) {
    if (!(await store.tenants.getTenant(tenant))) return failed(`there is no tenant ${tenant}`);
    return done({ domains: (await store.domains.listDomains(tenant)).map(showDomain) });
  },
  render: ({ domains }) =>
    renderTable(
      domains,
      [
        { title: 'ID', value: (domain) => domain.id },
        { title: 'STATE', value: (domain) => domain.state },
        { title: 'DOMAIN', value: (domain) => domain.domain },
        { title: 'SELECTOR', value: (domain) => domain.dkim_selector },
        { title: 'CHECKED', value: (domain) => domain.last_checked_at },
        { title: 'REASON', value: (domain) => domain.failure_reason },
      ],
      'No domains.',
    ),
});

function showDomain(domain: Domain) {
  return {
    id: domain.id,
    domain: domain.name,
    state: domain.state,
    dkim_selector: domain.selector,
    dkim_public_key_b64: domain.publicKeyB64,
    failure_reason: domain.failureReason,
    verified_at: optionalTimestamp(domain.verifiedAt),
    last_checked_at: optionalTimestamp(domain.lastCheckedAt),
    created_at: toTimestamp(domain.createdAt),
  };
}

function optionalTimestamp(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}
