// Records as lines for a zone file (RFC 1035 section 5.1), which many DNS providers can import. Records that exist
// already, or would be a second one where only one is allowed, are comments: an import is always safe.

import { isMeantAsDmarc } from '../protocol/dns/published/dmarc-record.ts';
import type { NeededRecord, PlainRecord, RecordType } from './needed-records.ts';
import type { RecordState } from './record-state.ts';
import { quotedTxt } from './txt-strings.ts';

/** Short enough that mistakes can be corrected soon. */
const TTL_SECS = 3600;

const DIFFERENT = 'a different one exists and must be changed by hand. With two of them, both would be invalid.';

/** A record that is needed, and how it stands in DNS if that was looked up. */
type ZoneEntry = NeededRecord & { state?: RecordState };

/** Those of one sending domain. */
export function zoneFile(domain: string, entries: readonly ZoneEntry[]): string {
  const head = `; Records for sending mail as ${domain}. Add them to its zone; names are complete.`;
  return [head, '', ...entries.flatMap(entryLines)].join('\n');
}

/** Records of any number of zones, each zone's together. What is not to be added is a comment. */
export function zoneFileOf(entries: readonly ZoneEntry[]): string {
  const zones = [...new Set(entries.map(({ zone }) => zone))].sort((a, b) => Number(a === null) - Number(b === null));
  return zones
    .flatMap((zone) => [
      zone === null ? '; At your hoster, which has the reverse zones:' : `; Zone ${zone}. Names are complete.`,
      '',
      ...entries.filter((entry) => entry.zone === zone).flatMap(entryLines),
    ])
    .join('\n');
}

function entryLines(entry: ZoneEntry): string[] {
  const { what, purpose } = entry;
  const about = purpose.startsWith(what) ? `; ${purpose}` : `; ${what}: ${purpose}`;
  const { name, type, value } = entry;
  if (value === null) return [about, `; ${name}. ${TTL_SECS} IN ${type} unknown: ${entry.unknown}`, ''];
  const line = zoneLine({ name, type, value });
  const why = reasonToLeaveOut(entry);
  if (why) return [about, `; Left out: ${why}`, `; ${line}`, ''];
  return entry.zone === null ? [about, `; ${line}`, ''] : [about, line, ''];
}

const OUTSIDE: Record<RecordState, string | null> = {
  right: 'DNS already has it.',
  missing: null,
  wrong: DIFFERENT,
  unknown: 'DNS did not say whether one already exists.',
};

function zoneLine({ name, type, value }: PlainRecord): string {
  return `${name}. ${TTL_SECS} IN ${type} ${rdata(type, value)}`;
}

/** Names in it are complete, too. */
function rdata(type: RecordType, value: string): string {
  if (type === 'TXT') return quotedTxt(value);
  return type === 'MX' || type === 'PTR' ? `${value}.` : value;
}

function reasonToLeaveOut({ what, state }: ZoneEntry): string | null {
  // The name of a key has its selector: nothing else is there.
  const isAlone = what === 'DKIM' && state === 'unknown';
  return state === undefined || isAlone ? null : OUTSIDE[state];
}

// An existing DMARC record with our address for reports added (RFC 7489). Everything else in it stays as it is.

/** Null when there is no single DMARC record, or it has the address already. */
export function mergedDmarc(found: readonly string[], reportAddress: string): string | null {
  const records = found.filter(isMeantAsDmarc);
  const [record = ''] = records;
  const uri = `mailto:${reportAddress}`;
  if (records.length !== 1) return null;
  const tags = record
    .split(';')
    .map((tag) => tag.trim())
    .filter(Boolean);
  const rua = tags.findIndex((tag) => /^rua\s*=/i.test(tag));
  if (rua < 0) return [...tags, `rua=${uri}`].join('; ');
  const value = tags[rua]!.slice(tags[rua]!.indexOf('=') + 1);
  const uris = value
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  // RFC 7489 section 6.2: a size limit may follow an address.
  const isThere = uris.some((one) => one.toLowerCase().replace(/!\d+[kmgt]?$/, '') === uri.toLowerCase());
  return isThere ? null : tags.with(rua, `rua=${[...uris, uri].join(',')}`).join('; ');
}
