// What to publish so that SPF authorizes this machine, and goes on authorizing the others.
import { extendedSpf, MAX_SPF_BYTES } from '../domains/extended-spf.ts';
import { spfRecord, spfTerm } from '../domains/needed-records.ts';
import type { SpfAnswer } from '../domains/service-checks.ts';
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import { isSpfRecord, parseSpfRecord } from '../protocol/dns/published/spf-record.ts';
import { publish, type Remedy } from './finding.ts';

export function spfRemedy(domain: string, record: DnsResult<string>, asked: readonly SpfAnswer[]): Remedy {
  const published = record.kind === 'found' ? record.records.filter(isSpfRecord) : [];
  // While there are several or an invalid one, no address passes, so all of ours are named.
  const refused = asked.filter(({ result }) => result.kind === 'not_pass').map(({ ip }) => ip);
  const value = extendedSpf(published, refused.map(spfTerm));
  if (value === null) return publish(spfRecord(domain, asked));
  if (published.length > 1) {
    return { advice: `publish one TXT record in place of the ${published.length} at ${domain}: ${value}` };
  }
  const { invalidTerm } = parseSpfRecord(published[0]!);
  if (invalidTerm !== null) {
    const ours = asked.length > 0 ? `; this machine needs ${asked.map(({ ip }) => spfTerm(ip)).join(' ')} in it` : '';
    return { advice: `correct or remove "${invalidTerm.slice(0, 100)}" in the TXT record at ${domain}${ours}` };
  }
  if (value.length > MAX_SPF_BYTES) {
    return {
      advice: `add ${refused.map(spfTerm).join(' ')} to the TXT record at ${domain}, and put ranges such as ip4:192.0.2.0/24 in place of single addresses: with it, the record has ${value.length} bytes, and some receivers read no more than ${MAX_SPF_BYTES}`,
    };
  }
  return publish({ name: domain, type: 'TXT', value });
}
