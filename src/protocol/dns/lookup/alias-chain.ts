// Follows CNAME records within one response (RFC 1034 section 3.6.2); callers look up names that the response does not
// contain.
import { type DnsRecord, isWithin, type RecordType } from './wire.ts';

/** Over a whole look-up; a longer chain counts as a loop. */
export const MAX_ALIASES = 8;

export interface AliasChain {
  /** The last name that was reached. */
  owner: string;
  /** The records of the requested type at that name. */
  records: DnsRecord[];
  aliases: number;
  /** The minimum over all records on the way. */
  ttlS: number;
}

export interface ChainQuestion {
  name: string;
  type: RecordType;
  maxAliases: number;
  /** Names outside this zone are followed, but their records are ignored. */
  zone?: string;
}

export function followAliases(answers: DnsRecord[], question: ChainQuestion): AliasChain {
  const { type, maxAliases, zone } = question;
  let owner = question.name;
  let ttlS = Number.POSITIVE_INFINITY;
  for (let aliases = 0; ; aliases++) {
    const here = answers.filter((record) => record.name === owner && (zone === undefined || isWithin(owner, zone)));
    const records = here.filter((record) => record.type === type);
    const alias = here.find((record) => record.type === 'CNAME');
    if (records.length > 0 || alias?.type !== 'CNAME' || aliases >= maxAliases) {
      return { owner, records, aliases, ttlS: Math.min(ttlS, ...records.map((record) => record.ttlS)) };
    }
    ttlS = Math.min(ttlS, alias.ttlS);
    owner = alias.value;
  }
}
