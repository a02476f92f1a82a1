// What an existing record becomes when ours is merged into it: an SPF record with our include (RFC 7208), a DMARC
// record with our address among those for reports (RFC 7489). What else stands in it stays as it is.
import { isMeantAsDmarc } from '../protocol/dns/dmarc-record.ts';
import { isSpfRecord } from '../protocol/dns/spf-record.ts';

const ALL_OR_REDIRECT = /^(?:[+?~-]?all|redirect=.*)$/i;

/** Null when there is no single SPF record to merge into. */
export function mergedSpf(found: readonly string[], include: string): string | null {
  const records = found.filter(isSpfRecord);
  if (records.length !== 1) return null;
  const terms = records[0]!.split(' ').filter(Boolean);
  if (terms.some((term) => term.toLowerCase() === include.toLowerCase())) return null;
  const end = terms.findIndex((term) => ALL_OR_REDIRECT.test(term));
  return [...terms.slice(0, end < 0 ? terms.length : end), include, ...(end < 0 ? [] : terms.slice(end))].join(' ');
}

/** Null when there is no single DMARC record, or it has the address already. */
export function mergedDmarc(found: readonly string[], reportAddress: string): string | null {
  const records = found.filter(isMeantAsDmarc);
  const [record = ''] = records;
  const uri = `mailto:${reportAddress}`;
  if (records.length !== 1 || record.toLowerCase().includes(uri.toLowerCase())) return null;
  const tags = record
    .split(';')
    .map((tag) => tag.trim())
    .filter(Boolean);
  const rua = tags.findIndex((tag) => /^rua\s*=/i.test(tag));
  if (rua < 0) return [...tags, `rua=${uri}`].join('; ');
  return tags.with(rua, `${tags[rua]},${uri}`).join('; ');
}
