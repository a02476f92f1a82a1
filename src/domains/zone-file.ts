// A domain's records as lines for a zone file (RFC 1035 section 5.1), which many DNS providers can import. What stands
// in DNS already, or would be a second record where only one may be, is a comment: an import never does harm.
import type { DomainCheck } from '../store/domain-checks.ts';
import type { DnsRecordToPublish } from './checks.ts';
import { quotedTxt } from './txt-strings.ts';

/** Short enough to correct a mistake soon. */
const TTL_SECS = 3600;

export interface ZoneFileFacts {
  domain: string;
  records: readonly DnsRecordToPublish[];
  /** What the last look has found; empty when nobody has looked. */
  checks: readonly DomainCheck[];
}

export function zoneFile({ domain, records, checks }: ZoneFileFacts): string {
  const lines = records.flatMap((record) => {
    const check = checks.find((one) => one.name === record.name);
    const line = `${record.name}. ${TTL_SECS} IN ${record.type} ${quotedTxt(record.value)}`;
    const why = check ? reasonToLeaveOut(check) : null;
    const about = `; ${record.purpose}`;
    return why === null ? [about, line, ''] : [about, `; Left out: ${why}`, `; ${line}`, ''];
  });
  return [`; Records for sending mail as ${domain}. Add them to its zone; names are complete.`, '', ...lines].join(
    '\n',
  );
}

function reasonToLeaveOut({ ok, record, reason }: DomainCheck): string | null {
  if (ok) return 'DNS has it already.';
  // A look that found nothing leaves room for it; where there is something else, a second record does harm.
  if (reason === 'not_found') return null;
  if (reason === 'dns_unavailable') return record === 'dkim' ? null : 'DNS did not say whether there is one already.';
  return 'there is another one, which has to be changed by hand. Two of them would both be void.';
}
