// Whether the DNS servers resolve domains that are known to exist: a server that denies them delays mail to
// them. Each server is queried separately, because fail-over to the next would hide a wrong answer.
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import type { MxRecord } from '../protocol/dns/lookup/wire.ts';
import type { DoctorKit } from './doctor-settings.ts';
import { type Finding, fine, warning, wrong } from './finding.ts';

export type KnownDomainAnswer = { domain: string; kind: DnsResult<unknown>['kind'] };

/** A limit for odd configurations: each server is queried for every domain. */
const MAX_SERVERS = 8;
const MAX_DOMAINS = 16;

export async function checkKnownDomains({ settings, dnsServers }: DoctorKit): Promise<Finding[]> {
  const domains = settings.knownDomains.slice(0, MAX_DOMAINS);
  if (domains.length === 0) return [];
  return Promise.all(
    dnsServers.slice(0, MAX_SERVERS).map(async ({ server, resolver }) => {
      const answers = domains.map(async (domain) => ({ domain, kind: kindOf(await resolver.mx(domain)) }));
      return judgeKnownDomains(server, await Promise.all(answers));
    }),
  );
}

/** A null MX (RFC 7505) of a domain that is known to accept mail is wrong as well. */
function kindOf(result: DnsResult<MxRecord>): KnownDomainAnswer['kind'] {
  const takesMail = result.kind !== 'found' || result.records.some(({ exchange }) => exchange !== '');
  return takesMail ? result.kind : 'no_records';
}

function judgeKnownDomains(server: string, answers: readonly KnownDomainAnswer[]): Finding {
  const about = { check: 'known domains', subject: server };
  const of = (kind: KnownDomainAnswer['kind']) =>
    answers.filter((answer) => answer.kind === kind).map(({ domain }) => domain);
  const [absent, bare, silent] = [of('no_domain'), of('no_records'), of('unavailable')];
  const remedy = { setting: 'dns.servers, or /etc/resolv.conf: use another DNS server' };
  if (absent.length > 0) {
    return wrong(about, `says ${absent.join(', ')} does not exist: mail to such domains is deferred`, remedy);
  }
  if (bare.length > 0) return wrong(about, `says ${bare.join(', ')} has no mail server`, remedy);
  if (silent.length > 0) return warning(about, `does not answer for ${silent.join(', ')}`, remedy);
  return fine(about, `resolves ${of('found').join(', ')}`);
}
