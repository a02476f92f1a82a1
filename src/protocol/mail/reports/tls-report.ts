// Reads the summary of SMTP TLS reports: RFC 8460 section 4. They are sent as JSON to the same addresses as DMARC
// reports; here they are only recognized.

export interface TlsReport {
  orgName: string;
  /** Of the policies, each once. */
  domains: string[];
  succeeded: number;
  failed: number;
}

/** Far more than such reports have: larger JSON is not parsed. */
export const MAX_TLS_REPORT_CHARACTERS = 2 * 1024 * 1024;
const MAX_POLICIES = 1000;
const MAX_DOMAINS = 20;
const MAX_NAME_CHARACTERS = 200;

type Json = Record<string, unknown>;

/** RFC 8460 sections 6.4 and 6.5. */
export function isTlsReportType(type: string): boolean {
  return /^application\/tlsrpt\+(?:gzip|json)$/.test(type);
}

/** Null when it is not such a report. */
export function readTlsReport(text: string): TlsReport | null {
  if (text.length > MAX_TLS_REPORT_CHARACTERS || !/^[\s\ufeff]*\{/.test(text)) return null;
  const json = parsed(text.replace(/^\ufeff/, ''));
  const policies = json?.policies;
  if (json === null || !Array.isArray(policies) || typeof json['report-id'] !== 'string') return null;
  const report: TlsReport = { orgName: name(json['organization-name']), domains: [], succeeded: 0, failed: 0 };
  for (const entry of policies.slice(0, MAX_POLICIES)) {
    const { policy, summary } = object(entry);
    const domain = name(object(policy)['policy-domain']).toLowerCase();
    if (domain !== '' && report.domains.length < MAX_DOMAINS && !report.domains.includes(domain)) {
      report.domains.push(domain);
    }
    report.succeeded += count(object(summary)['total-successful-session-count']);
    report.failed += count(object(summary)['total-failure-session-count']);
  }
  return report;
}

function parsed(text: string): Json | null {
  try {
    return object(JSON.parse(text));
  } catch {
    return null;
  }
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function name(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_NAME_CHARACTERS) : '';
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
