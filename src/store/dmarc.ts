// Contract: what receivers' aggregate reports (DMARC) say of a domain over some days, summed up. By the
// domain's name: which of them a tenant may see is decided by whoever asks, from the tenant's domains.

/** Both UTC days, such as `2026-01-31`, and both are part of it. */
export interface DmarcPeriod {
  firstDay: string;
  lastDay: string;
}

/** In the place of an address: all those that a report had too many of. */
export const OTHER_SOURCES = 'other';

export interface DmarcSums {
  messages: number;
  /** An aligned DKIM signature or an aligned SPF result: that is what DMARC asks for. */
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
  /** In reports without a proven sender; they are in no other sum. */
  unprovenMessages: number;
}

export interface DmarcReporterSum {
  orgName: string;
  /** The domain that proved to be the sender of the mails; null: none. */
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
  /** Those with the most failures first, then those with the most messages. */
  sources: DmarcSourceSums[];
  /** How many there are, if more than `sources` has. */
  sourceCount: number;
  /** Who reported, with how many messages. */
  reporters: DmarcReporterSum[];
  /** Of reports whose sender nothing proves: anybody may have written them. They are in no other sum. */
  unproven: { total: DmarcSums; reporters: DmarcReporterSum[] };
}

export interface DmarcStore {
  /** Domains with reports in the period, by name, behind `after`. */
  listDmarcDomains(
    period: DmarcPeriod,
    page: { after: string | null; limit: number },
  ): Promise<{ domains: DmarcDomainSums[]; next: string | null }>;
  /** Of these domains, those with reports in the period. */
  dmarcSumsOf(domains: readonly string[], period: DmarcPeriod): Promise<DmarcDomainSums[]>;
  sumDmarc(domain: string, period: DmarcPeriod, mostSources: number): Promise<DmarcDomainReport>;
}
