// MX, SPF and DKIM records of the service's own domains, and the record that permits DMARC reports
// about tenants' domains to be sent to us (RFC 7489 section 7.1).
import { getDomain } from 'tldts';
import { checkDkimRecord } from '../protocol/dns/dkim-record.ts';
import type { DnsResult } from '../protocol/dns/dns-result.ts';
import { findMailRoute, type MailRoute } from '../protocol/dns/mail-route.ts';
import { type SpfResult, spfOfAddress } from '../protocol/dns/spf-of-address.ts';
import { isSpfRecord, parseSpfRecord } from '../protocol/dns/spf-record.ts';
import type { DoctorKit, OwnAddress, StoredFacts } from './doctor-settings.ts';
import { type Finding, fine, publish, warning, wrong } from './finding.ts';

export async function checkBounceRoute(kit: DoctorKit, addresses: readonly OwnAddress[]): Promise<Finding[]> {
  const { bouncesDomain, ehloName } = kit.settings;
  const route = await findMailRoute(bouncesDomain, kit);
  const results = await Promise.all([kit.resolver.a(ehloName), kit.resolver.aaaa(ehloName)]);
  const named = results.flatMap((result) => (result.kind === 'found' ? result.records : []));
  const ours = new Set([...addresses.map(({ ip }) => ip), ...named]);
  const mx = await kit.resolver.mx(bouncesDomain);
  return [judgeBounceRoute(kit.settings, { route, hasMx: mx.kind === 'found', ours })];
}

export interface BounceRouteFacts {
  route: MailRoute;
  hasMx: boolean;
  /** Addresses of this machine, as far as is known. */
  ours: ReadonlySet<string>;
}

function judgeBounceRoute(
  { bouncesDomain, ehloName }: { bouncesDomain: string; ehloName: string },
  { route, hasMx, ours }: BounceRouteFacts,
): Finding {
  const about = { check: 'MX', subject: bouncesDomain };
  const remedy = publish(bouncesDomain, 'MX', `10 ${ehloName}`);
  switch (route.kind) {
    case 'unavailable':
      return warning(about, `couldn't be checked: ${route.reason}`);
    case 'undeliverable':
      return wrong(about, `has no working MX, so bounces are lost: ${route.reason}`, remedy);
    case 'hosts': {
      const names = route.hosts.map(({ name }) => name).join(', ');
      if (!hasMx) return warning(about, `has no MX record; bounces go to its address record instead`, remedy);
      const leadsHere = route.hosts.some(({ addresses }) => addresses.some(({ ip }) => ours.has(ip)));
      if (leadsHere) return fine(about, `points to ${names}`);
      return warning(about, `points to ${names}, which is not a known address of this machine`, remedy);
    }
  }
}

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

export function judgeSpf(
  domain: string,
  record: DnsResult<string>,
  asked: readonly { ip: string; result: SpfResult }[],
): Finding {
  const about = { check: 'SPF', subject: domain };
  if (record.kind === 'unavailable') return warning(about, `couldn't be checked: ${record.reason}`);
  const terms = asked.map(({ ip }) => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`);
  const whole = publish(
    domain,
    'TXT',
    ['v=spf1', ...(terms.length > 0 ? terms : ['ip4:YOUR.ADDRESS']), '-all'].join(' '),
  );
  const found = record.kind === 'found' ? record.records.filter(isSpfRecord) : [];
  if (found.length === 0) return wrong(about, 'has no SPF record', whole);
  if (found.length > 1) return wrong(about, 'has several SPF records, so receivers reject them all', whole);
  const { invalidTerm } = parseSpfRecord(found[0]!);
  if (invalidTerm !== null) return wrong(about, `has "${invalidTerm.slice(0, 100)}", which is not valid SPF`, whole);
  const refused = asked.filter(({ result }) => result.kind === 'not_pass').map(({ ip }) => ip);
  if (refused.length > 0) return wrong(about, `does not authorize ${refused.join(', ')}`, whole);
  const unknown = asked.find(({ result }) => result.kind === 'unknown');
  if (unknown?.result.kind === 'unknown')
    return warning(about, `couldn't be checked for ${unknown.ip}: ${unknown.result.reason}`);
  if (asked.length === 0)
    return warning(about, 'has a record, but the sending addresses to compare it with are unknown');
  return fine(about, `authorizes ${asked.map(({ ip }) => ip).join(', ')}`);
}

export async function checkServiceDkim(kit: DoctorKit, stored: StoredFacts | null): Promise<Finding[]> {
  const { domain, selector } = kit.settings.dkim;
  const name = `${selector}._domainkey.${domain}`;
  return [judgeServiceDkim(name, stored?.serviceDkimKeyB64 ?? null, await kit.resolver.txt(name))];
}

function judgeServiceDkim(name: string, keyB64: string | null, record: DnsResult<string>): Finding {
  const about = { check: 'DKIM', subject: name };
  if (keyB64 === null) {
    return warning(about, "the service's own key does not exist yet", { command: 'systemctl start postrider' });
  }
  if (record.kind === 'unavailable') return warning(about, `couldn't be checked: ${record.reason}`);
  const remedy = publish(name, 'TXT', `v=DKIM1; k=rsa; p=${keyB64}`);
  const verdicts = (record.kind === 'found' ? record.records : []).map((text) => checkDkimRecord(text, keyB64));
  const keys = verdicts.filter(({ kind }) => kind !== 'no_key_record');
  const [key] = keys;
  if (!key) return wrong(about, 'is not published: the second signature of every message is invalid', remedy);
  if (keys.length > 1) return wrong(about, 'is published more than once', remedy);
  return key.kind === 'ok' ? fine(about, 'has our key') : wrong(about, problemOf(key), remedy);
}

function problemOf(verdict: ReturnType<typeof checkDkimRecord>): string {
  return 'problem' in verdict ? `is not valid: ${verdict.problem}` : 'is not a DKIM key record';
}

/** This domain can't exist (RFC 2606): an answer for it comes from a wildcard. */
const NONEXISTENT_DOMAIN = 'postrider-doctor.invalid';

export async function checkReportRecord(kit: DoctorKit, stored: StoredFacts | null): Promise<Finding[]> {
  const { dmarcReportAddress } = kit.settings;
  const domain = dmarcReportAddress.slice(dmarcReportAddress.lastIndexOf('@') + 1);
  const lookUp = async (sender: string) => ({
    sender,
    result: await kit.resolver.txt(`${sender}._report._dmarc.${domain}`),
  });
  const wildcard = await lookUp(NONEXISTENT_DOMAIN);
  // Section 7.1: within one organizational domain no permission is needed.
  const foreign = (stored?.sendingDomains ?? []).filter((sender) => getDomain(sender) !== getDomain(domain));
  const single = isPermission(wildcard.result) ? [] : await Promise.all(foreign.map(lookUp));
  return [judgeReportRecord(domain, wildcard.result, single)];
}

export function judgeReportRecord(
  domain: string,
  wildcard: DnsResult<string>,
  senders: readonly { sender: string; result: DnsResult<string> }[],
): Finding {
  const about = { check: 'DMARC reports', subject: domain };
  if (isPermission(wildcard)) return fine(about, 'accepts reports about every sending domain');
  if (wildcard.kind === 'unavailable') return warning(about, `couldn't be checked: ${wildcard.reason}`);
  const remedy = publish(`*._report._dmarc.${domain}`, 'TXT', 'v=DMARC1');
  const refused = senders.filter(({ result }) => !isPermission(result)).map(({ sender }) => sender);
  if (senders.length > 0 && refused.length === 0) {
    return warning(about, 'accepts reports about the current sending domains, but not about new ones', remedy);
  }
  const whose = refused.length > 0 ? ` (${refused.slice(0, 5).join(', ')})` : '';
  return warning(about, `receives no reports about tenants' domains${whose}: no record permits them`, remedy);
}

function isPermission(result: DnsResult<string>): boolean {
  return result.kind === 'found' && result.records.some((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text.trim()));
}
