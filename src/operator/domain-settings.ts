// What sending domains need of the configuration, for the daemon and for commands that run without one.
import type { Config } from '../config/keys.ts';
import type { DomainsOptions } from '../domains/domains.ts';

export function domainSettings({
  service,
  limits,
  domains,
}: Pick<Config, 'service' | 'limits' | 'domains'>): DomainsOptions['service'] {
  const ownNames = [service.bounces_domain, service.spf_domain, service.dkim_domain, service.ehlo_name];
  return {
    spfDomain: service.spf_domain,
    dmarcReportAddress: service.dmarc_report_address,
    ownDomains: [...new Set(ownNames)],
    maxPerTenant: limits.domains_per_tenant,
    rechecks: domains.recheck,
  };
}
