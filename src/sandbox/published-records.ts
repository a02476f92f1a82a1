// What the domains of the sandbox have in DNS: exactly what their owners were asked to publish,
// looked up at every question, so that a domain that is registered now verifies now.

import type { Config } from '../config/keys.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { isWithin } from '../protocol/dns/lookup/wire.ts';
import type { StoreVerbs } from '../store/store.ts';
import { VERIFIED_ZONE } from './sandbox-zone.ts';

export interface RecordSource extends Pick<Daemon, 'domains' | 'identity'> {
  store: StoreVerbs<{ tenants: 'listTenants'; domains: 'listDomains' }>;
  service: Pick<Config['service'], 'bounces_domain' | 'spf_domain'>;
}

/** Only this machine sends for the sandbox. */
const SERVICE_SPF = 'v=spf1 ip4:127.0.0.1 ip6:::1 -all';

/** The TXT records of the name, or null. */
export async function publishedTxt(name: string, source: RecordSource): Promise<string[] | null> {
  const text = serviceRecords(source).get(name) ?? (await recordOfTenants(name, source));
  return text === undefined ? null : [text];
}

/** The service's own: what receivers look at when they check our mail. */
function serviceRecords({ identity, service }: RecordSource): Map<string, string> {
  const { selector, domain, publicKeyB64 } = identity.dkim;
  return new Map([
    [`${selector}._domainkey.${domain}`, `v=DKIM1; k=rsa; p=${publicKeyB64}`],
    [service.spf_domain, SERVICE_SPF],
    [service.bounces_domain, SERVICE_SPF],
  ]);
}

/** Of several tenants that have registered a domain, the last one is taken for its owner. */
async function recordOfTenants(name: string, { store, domains }: RecordSource): Promise<string | undefined> {
  const tenants = await store.tenants.listTenants();
  const registered = (await Promise.all(tenants.map(({ id }) => store.domains.listDomains(id)))).flat();
  const records = registered
    .filter((domain) => domain.state !== 'revoked' && isWithin(domain.name, VERIFIED_ZONE))
    .sort((a, b) => a.createdAt - b.createdAt)
    .flatMap((domain) => domains.recordsOf(domain));
  return records.findLast((record) => record.name.toLowerCase() === name.toLowerCase())?.value;
}
