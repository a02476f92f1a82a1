// Contract: what receivers' aggregate reports (DMARC) say of a domain over some days, summed up. Sums are by domain
// name: the caller decides from the tenant's domains which of them a tenant may see.

/** UTC days, such as `2026-01-31`, both inclusive. */
export interface DmarcPeriod {
  firstDay: string;
  lastDay: string;
}

/** Stands in for an address: all sources beyond the limit. */
export const OTHER_SOURCES = 'other';

export interface DmarcSums {
  messages: number;
  /** With an aligned DKIM signature or an aligned SPF result, as DMARC requires. */
  passed: number;
  dkimPassed: number;
  spfPassed: number;
  quarantined: number;
  rejected: number;
}

export interface DmarcDomainSums extends DmarcSums {
  domain: string;
  /** The days with reports, within the period. */
  firstDay: string;
  lastDay: string;
  /** Messages in reports without a proven sender; no other sum includes them. */
  unprovenMessages: number;
}

export interface DmarcReporterSum {
  orgName: string;
  /** The domain that proved to be the sender of the report; null: none. */
  sender: string | null;
  messages: number;
}

export interface DmarcSourceSums extends DmarcSums {
  sourceIp: string;
  firstDay: string;
  lastDay: string;
}

export interface DmarcDomainReport {
  total: DmarcSums;
  days: (DmarcSums & { day: string })[];
  /** Sorted by failures, then by messages. */
  sources: DmarcSourceSums[];
  /** The number of all sources, including those beyond `sources`. */
  sourceCount: number;
  /** Reporters, with how many messages each reported. */
  reporters: DmarcReporterSum[];
  /** From reports without a proven sender: anyone could have written them. No other sum includes them. */
  unproven: { total: DmarcSums; reporters: DmarcReporterSum[] };
}

export interface DmarcStore {
  /** Domains with reports in the period, by name, after `after`. */
  listDmarcDomains(
    period: DmarcPeriod,
    page: { after: string | null; limit: number },
  ): Promise<{ domains: DmarcDomainSums[]; next: string | null }>;
  /** Those of the given domains that have reports in the period. */
  dmarcSumsOf(domains: readonly string[], period: DmarcPeriod): Promise<DmarcDomainSums[]>;
  sumDmarc(domain: string, period: DmarcPeriod, maxSources: number): Promise<DmarcDomainReport>;
}
