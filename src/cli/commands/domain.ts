// domain add | records | verify | list: a tenant's sending domains, as the operator manages them for the tenant.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal } from '../../base/refusals.ts';
import type { DnsRecordToPublish } from '../../domains/checks.ts';
import { stateOfCheck } from '../../domains/record-state.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import type { Domain, DomainCheck } from '../../store/domains.ts';
import { EXIT_SOMETHING_WRONG, storeCommand } from '../command.ts';
import { domainName, name, positional, required, tenantName } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { renderFacts, renderTable } from '../table.ts';

const named = {
  domain: required(positional(domainName('the sending domain'))),
  tenant: tenantName('its tenant, if several have this domain'),
};

export const domainAdd = storeCommand({
  name: 'domain add',
  summary: 'Registers a sending domain for a tenant, creates its key, and prints the DNS records to publish.',
  options: {
    domain: required(positional(domainName('the sending domain'))),
    tenant: required(tenantName('the tenant')),
    selector: name('SELECTOR', 'the DKIM selector; default: pr with year and month'),
  },
  async run(services, { domain: wanted, tenant, selector }) {
    const domains = services.domains();
    const domain = await domains.register(ownerOf(tenant), { domain: wanted, ...(selector && { selector }) });
    if (isRefusal(domain)) return failed(domain.message);
    await recordAct(services, tenant, 'domain.created', { domain_id: domain.id, domain: domain.name });
    return done({ ...showDomain(domain), records: domains.recordsOf(domain) });
  },
  render: (domain) =>
    [
      `Domain ${domain.domain} is registered. Publish these DNS records; DKIM is required:`,
      '',
      recordTable(domain.records),
      '',
      `Then run: postrider domain verify ${domain.domain}`,
    ].join('\n'),
});

export const domainRecords = storeCommand({
  name: 'domain records',
  summary: 'Prints the DNS records of a sending domain. postrider dns --domain prints them as a zone file.',
  options: named,
  async run(services, { domain: wanted, tenant }) {
    const domain = await findDomain(services, wanted, tenant);
    if ('kind' in domain) return domain;
    return done({ ...showDomain(domain), records: services.domains().recordsOf(domain) });
  },
  render: ({ records }) => recordTable(records),
});

export const domainVerify = storeCommand({
  name: 'domain verify',
  summary: 'Checks the DNS records of a sending domain now. With its DKIM record, the domain is verified and can send.',
  options: named,
  async run(services, { domain: wanted, tenant }) {
    const found = await findDomain(services, wanted, tenant);
    if ('kind' in found) return found;
    const domains = services.domains();
    const owner = ownerOf(found.tenantId);
    const answer = await domains.verify(owner, found.id);
    if (isRefusal(answer) && answer.refused !== 'verification_failed') return failed(answer.message);
    const [domain, last] = await Promise.all([domains.get(owner, found.id), domains.lastChecks(owner, found.id)]);
    if (isRefusal(domain)) return failed(domain.message);
    const data = { domain_id: domain.id, domain: domain.name, outcome: domain.state };
    await recordAct(services, domain.tenantId, 'domain.checked', data);
    const checks = (last?.checks ?? []).map(showCheck);
    return { ...done({ ...showDomain(domain), checks }), ...(isRefusal(answer) && { exit: EXIT_SOMETHING_WRONG }) };
  },
  render: ({ checks, ...domain }) =>
    [
      ...checks.map(({ state, record, message }) => `${state.padEnd(7)}  ${record.toUpperCase()}: ${message}`),
      '',
      domain.state === 'verified' ? `${domain.domain} is verified.` : `${domain.domain} is not verified.`,
    ].join('\n'),
});

export const domainList = storeCommand({
  name: 'domain list',
  summary: "Lists a tenant's sending domains, including revoked ones, oldest first.",
  options: { tenant: required(tenantName('the tenant')) },
  run: async ({ store }, { tenant }) => done({ domains: (await store.domains.listDomains(tenant)).map(showDomain) }),
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

/** An operator is restricted to no domain, as some API keys are. */
function ownerOf(tenantId: string) {
  return { tenantId, boundDomain: null };
}

/** Several tenants may have registered a name that none, or one of them, has verified. */
async function findDomain(
  { store }: Pick<OperatorServices, 'store'>,
  wanted: string,
  tenantId: string | undefined,
): Promise<Domain | Answer<never>> {
  const tenants = (await store.tenants.listTenants()).filter(({ id }) => tenantId === undefined || id === tenantId);
  const found: { domain: Domain; tenant: string }[] = [];
  for (const { id, name: tenant } of tenants) {
    const domains = await store.domains.listDomains(id);
    found.push(
      ...domains
        .filter((domain) => domain.name === wanted && domain.state !== 'revoked')
        .map((domain) => ({ domain, tenant: `${id} (${tenant}, ${domain.state})` })),
    );
  }
  const [first, ...others] = found;
  if (!first) {
    const whose = tenantId === undefined ? 'no tenant has' : 'the tenant does not have';
    return failed(`${whose} the domain ${wanted}; postrider domain add ${wanted} --tenant TENANT registers it`);
  }
  if (others.length === 0) return first.domain;
  return failed(
    `${wanted} belongs to ${found.length} tenants: ${found.map(({ tenant }) => tenant).join(', ')}. Give one with --tenant`,
  );
}

function recordTable(records: readonly DnsRecordToPublish[]): string {
  return records
    .map(({ name: at, type, value, required: must, purpose }) =>
      renderFacts([
        ['name', at],
        ['type', must ? type : `${type} (recommended)`],
        ['value', value],
        ['purpose', purpose],
      ]),
    )
    .join('\n\n');
}

function showCheck(check: DomainCheck) {
  const { record, name: at, required: must, expected, found, message } = check;
  return { record, name: at, required: must, state: stateOfCheck(check), expected, found, message };
}

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
