// SPF and DKIM records of the service's own domains, and the record that permits DMARC reports
// about tenants' domains to be sent to us (RFC 7489 section 7.1).
import { getDomain } from 'tldts';
import { dkimRecord, domainOfAddress, type OwnAddress, reportPermission } from '../domains/needed-records.ts';
import type { RecordVerdict } from '../domains/record-state.ts';
import {
  anySendersPermission,
  isPermission,
  judgeOwnDkim,
  judgeOwnSpf,
  type SpfAnswer,
} from '../domains/service-checks.ts';
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import { spfOfAddress } from '../protocol/dns/published/spf-of-address.ts';
import type { DoctorKit, DoctorSettings, StoredFacts } from './doctor-settings.ts';
import { type Finding, fine, publish, type Remedy, warning, wrong } from './finding.ts';
import { spfRemedy } from './spf-remedy.ts';

/** For the return path's domain, and for the one that tenants' SPF records include. */
export async function checkSpf(kit: DoctorKit, addresses: readonly OwnAddress[]): Promise<Finding[]> {
  const { bouncesDomain, spfDomain, ehloName } = kit.settings;
  return Promise.all(
    [...new Set([bouncesDomain, spfDomain])].map(async (domain) => {
      const record = await kit.resolver.txt(domain);
      const asked = addresses.map(async (own) => ({
        ip: own.ip,
        result: await spfOfAddress({ ip: own.ip, domain, ehloName: own.ehloName || ehloName }, kit.resolver),
      }));
      return judgeSpf(domain, record, await Promise.all(asked));
    }),
  );
}

export function judgeSpf(domain: string, record: DnsResult<string>, asked: readonly SpfAnswer[]): Finding {
  const about = { check: 'SPF', subject: domain };
  return inFinding(about, judgeOwnSpf(record, asked), spfRemedy(domain, record, asked));
}

/** `unknown`: the database could not be read. Null: there is none yet. */
type Stored = StoredFacts | 'unknown' | null;

export async function checkServiceDkim(kit: DoctorKit, stored: Stored): Promise<Finding[]> {
  const { domain, selector } = kit.settings.dkim;
  const { name } = dkimRecord({ domain, selector, publicKeyB64: '' });
  if (stored === 'unknown') {
    const reason = "the database, which has the service's own key, could not be read";
    return [warning({ check: 'DKIM', subject: name }, `couldn't be checked: ${reason}`)];
  }
  const key = { domain, selector, publicKeyB64: stored?.serviceDkimKeyB64 ?? null };
  return [judgeServiceDkim(key, await kit.resolver.txt(name))];
}

function judgeServiceDkim(
  key: DoctorSettings['dkim'] & { publicKeyB64: string | null },
  record: DnsResult<string>,
): Finding {
  const expected = dkimRecord({ ...key, publicKeyB64: key.publicKeyB64 ?? '' });
  const about = { check: 'DKIM', subject: expected.name };
  if (key.publicKeyB64 === null) {
    return warning(about, "the service's own key does not exist yet", { command: 'systemctl start postrider' });
  }
  return inFinding(about, judgeOwnDkim(record, key.publicKeyB64), publish(expected));
}

function inFinding(about: Pick<Finding, 'check' | 'subject'>, verdict: RecordVerdict, remedy: Remedy): Finding {
  const { state, message } = verdict;
  if (state === 'unknown') return warning(about, message);
  return state === 'right' ? fine(about, message) : wrong(about, message, remedy);
}

export async function checkReportRecord(kit: DoctorKit, stored: Stored): Promise<Finding[]> {
  const { dmarcReportAddress } = kit.settings;
  const domain = domainOfAddress(dmarcReportAddress);
  const lookUp = async (sender: string) => ({
    sender,
    result: await kit.resolver.txt(`${sender}._report._dmarc.${domain}`),
  });
  const wildcard = await kit.resolver.txt(anySendersPermission(domain));
  // Section 7.1: within one organizational domain no permission is needed.
  const senders = stored === 'unknown' ? [] : (stored?.sendingDomains ?? []);
  const foreign = senders.filter((sender) => getDomain(sender) !== getDomain(domain));
  const single = isPermission(wildcard) ? [] : await Promise.all(foreign.map(lookUp));
  return [judgeReportRecord(domain, wildcard, single)];
}

export function judgeReportRecord(
  domain: string,
  wildcard: DnsResult<string>,
  senders: readonly { sender: string; result: DnsResult<string> }[],
): Finding {
  const about = { check: 'DMARC reports', subject: domain };
  if (isPermission(wildcard)) return fine(about, 'accepts reports about every sending domain');
  if (wildcard.kind === 'unavailable') return warning(about, `couldn't be checked: ${wildcard.reason}`);
  const remedy = publish(reportPermission({ dmarcReportAddress: `dmarc@${domain}` }));
  const refused = senders.filter(({ result }) => !isPermission(result)).map(({ sender }) => sender);
  if (senders.length > 0 && refused.length === 0) {
    return warning(about, 'accepts reports about the current sending domains, but not about new ones', remedy);
  }
  const whose = refused.length > 0 ? ` (${refused.slice(0, 5).join(', ')})` : '';
  return warning(about, `receives no reports about tenants' domains${whose}: no record permits them`, remedy);
}
