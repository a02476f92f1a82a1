// Tells a tenant's owners by mail when a verified domain of theirs loses its record: while there is time to publish it
// again, and when mail from it is no longer accepted, since their applications would otherwise be the first to notice.
import { toTimestamp } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { oneLine } from '../base/text/one-line.ts';
import type { Logger } from '../observe/log.ts';
import type { Domain } from '../store/domains.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface DomainNotices {
  /** `decidedAt`: when the next check fails the domain, if the record is still missing. */
  missing(domain: Domain, miss: { message: string; since: number; decidedAt: number }): void;
  lost(domain: Domain, loss: { message: string; at: number }): void;
  /** Another tenant has published its own record, and ours was gone. */
  takenOver(domain: Domain, at: number): void;
}

export interface DomainNoticesKit {
  store: StoreVerbs<{ reputation: 'ownersOf' }>;
  log: Pick<Logger, 'error'>;
  /** `service.base_url`. */
  baseUrl: string;
  notify(to: readonly string[], notice: Notice): void;
}

interface Notice {
  subject: string;
  text: string;
  key: string;
}

export function createDomainNotices({ store, log, baseUrl, notify }: DomainNoticesKit): DomainNotices {
  const page = `${baseUrl.replace(/\/+$/, '')}/portal/domains`;
  const tell = (tenantId: string, notice: Notice) => {
    // Nobody waits for it: the domain's state is stored.
    store.reputation.ownersOf(tenantId).then(
      (owners) => notify(owners, notice),
      (error) =>
        log.error({ error, tenant_id: tenantId }, `owners could not be told of a domain: ${describeError(error)}`),
    );
  };
  const lost = ({ tenantId, id, name }: Domain, at: number, why: string[]) =>
    tell(tenantId, {
      subject: `${name} is no longer verified`,
      key: `domain-lost:${id}:${at}`,
      text: paragraphs([`Mail from ${name} is no longer accepted.`, ...why, page]),
    });

  return {
    missing: ({ tenantId, id, name }, { message, since, decidedAt }) =>
      tell(tenantId, {
        subject: `The DKIM record of ${name} is missing`,
        key: `domain-missing:${id}:${since}`,
        text: paragraphs([
          `Since ${toTimestamp(since)}, checks do not find the DKIM record of ${name}:`,
          oneLine(message),
          `If it is still missing at ${toTimestamp(decidedAt)}, mail from ${name} is no longer accepted. Publish the record again; it is shown here:`,
          page,
        ]),
      }),
    lost: (domain, { message, at }) =>
      lost(domain, at, [
        'Its DKIM record has been missing for a day:',
        oneLine(message),
        'If you publish the record again within two weeks, the domain is verified automatically. The record, and its last check:',
      ]),
    takenOver: (domain, at) =>
      lost(domain, at, [
        'Another account has proven that the domain is its own, and your DKIM record for it is gone or wrong.',
        'If the domain is yours, publish your record, remove the other one from DNS, and verify it again:',
      ]),
  };
}

function paragraphs(all: readonly string[]): string {
  return `${all.join('\n\n')}\n`;
}
