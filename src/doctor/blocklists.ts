// DNS blocklists (RFC 5782): whether one of our addresses is listed. Each list's test entries are
// queried first: many lists don't answer shared resolvers, and no answer would look like "not listed".
import type { OwnAddress } from '../domains/needed-records.ts';
import { isPublicAddress } from '../protocol/dns/addresses/private-address.ts';
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import { reverseName } from '../protocol/dns/lookup/resolver.ts';
import type { DoctorKit } from './doctor-settings.ts';
import { type Finding, fine, warning, wrong } from './finding.ts';

export interface ListAnswer {
  ip: string;
  listed: DnsResult<string>;
  /** The list's TXT record for the entry. */
  why: string | null;
}

export async function checkBlocklists(kit: DoctorKit, addresses: readonly OwnAddress[]): Promise<Finding[]> {
  const ips = [...new Set(addresses.map(({ ip }) => ip))].filter(isPublicAddress);
  if (ips.length === 0) return [];
  return Promise.all(
    kit.settings.blocklists.map(async (list) => {
      // Section 5: 127.0.0.2 must be listed, 127.0.0.1 must not.
      const [test, unlisted] = await Promise.all([
        kit.resolver.a(`2.0.0.127.${list}`),
        kit.resolver.a(`1.0.0.127.${list}`),
      ]);
      const answers = await Promise.all(ips.map((ip) => ask(kit, list, ip)));
      return judgeBlocklist(list, { test, unlisted, answers });
    }),
  );
}

async function ask({ resolver }: DoctorKit, list: string, ip: string): Promise<ListAnswer> {
  const name = `${reverseName(ip)!.replace(/\.(in-addr|ip6)\.arpa$/, '')}.${list}`;
  const listed = await resolver.a(name);
  const texts = isListing(listed) ? await resolver.txt(name) : null;
  return { ip, listed, why: texts?.kind === 'found' ? (texts.records[0]?.slice(0, 300) ?? null) : null };
}

export interface ListFacts {
  test: DnsResult<string>;
  unlisted: DnsResult<string>;
  answers: readonly ListAnswer[];
}

function judgeBlocklist(list: string, { test, unlisted, answers }: ListFacts): Finding {
  const about = { check: 'blocklist', subject: list };
  const ownResolver = { setting: 'dns.servers = ["127.0.0.1"], with a recursive resolver on this machine' };
  if (test.kind === 'unavailable') return warning(about, `did not answer: ${test.reason}`, ownResolver);
  if (isRefusal(test)) return warning(about, 'does not answer queries from this resolver', ownResolver);
  if (!isListing(test)) {
    return warning(about, 'does not list its own test entry: it was shut down, or does not answer this resolver', {
      setting: `remove ${list} from doctor.blocklists, or change dns.servers`,
    });
  }
  if (isListing(unlisted)) {
    return warning(about, 'lists every address: it was shut down', {
      setting: `remove ${list} from doctor.blocklists`,
    });
  }
  const listed = answers.filter((answer) => isListing(answer.listed));
  if (listed.length > 0) {
    const each = listed.map(({ ip, why }) => (why === null ? ip : `${ip} (${why})`));
    return wrong(about, `lists ${each.join(', ')}`, {
      advice: `find and fix the cause, then request removal: https://www.${baseOf(list)}/`,
    });
  }
  const silent = answers.find((answer) => answer.listed.kind === 'unavailable' || isRefusal(answer.listed));
  if (silent) return warning(about, `did not answer about ${silent.ip}`);
  return fine(about, `does not list ${answers.map(({ ip }) => ip).join(', ')}`);
}

/** Section 2.1: a listing is an address in 127.0.0.0/8. */
function isListing(result: DnsResult<string>): boolean {
  return result.kind === 'found' && !isRefusal(result) && result.records.some((ip) => ip.startsWith('127.'));
}

/** Spamhaus and others refuse a query with 127.255.255.0/24; an address outside 127.0.0.0/8 is a resolver's invention. */
function isRefusal(result: DnsResult<string>): boolean {
  if (result.kind !== 'found') return false;
  return result.records.some((ip) => ip.startsWith('127.255.255.') || !ip.startsWith('127.'));
}

function baseOf(list: string): string {
  return list.split('.').slice(-2).join('.');
}
