// What the pages of domains work with.
import type { AttendedChecks } from '../../domains/attended-checks.ts';
import type { ServiceNames } from '../../domains/checks.ts';
import type { Domains } from '../../domains/domains.ts';

export interface DomainServices {
  domains: Domains;
  /** Looks into DNS while a page is open. */
  attended: AttendedChecks;
  names: ServiceNames;
}
