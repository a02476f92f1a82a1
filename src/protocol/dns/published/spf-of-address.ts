// Whether a domain's SPF (RFC 7208) allows an address to send, evaluated as a receiver does, through our own resolver:
// for our own addresses, and for those that reports come from. The library is loaded when it is first needed: with what it
// needs itself it would be a tenth of a start.
import { describeError } from '../../../base/errors.ts';
import type { DnsResult } from '../lookup/dns-result.ts';
import type { Resolver } from '../lookup/resolver.ts';

export type SpfResult = { kind: 'pass' } | { kind: 'not_pass'; result: string } | { kind: 'unknown'; reason: string };

export interface SpfQuestion {
  ip: string;
  domain: string;
  ehloName: string;
}

export type SpfLookups = Pick<Resolver, 'txt' | 'a' | 'aaaa' | 'mx'>;

export async function spfOfAddress({ ip, domain, ehloName }: SpfQuestion, resolver: SpfLookups): Promise<SpfResult> {
  try {
    const { spf } = await import('mailauth/lib/spf/index.js');
    const sender = `return-path@${domain}`;
    const { status } = await spf({ ip, sender, helo: ehloName, mta: ehloName, resolver: nodeStyle(resolver) });
    if (status.result === 'pass') return { kind: 'pass' };
    if (status.result === 'temperror') return { kind: 'unknown', reason: 'DNS does not answer' };
    return { kind: 'not_pass', result: status.result };
  } catch (error) {
    return { kind: 'unknown', reason: describeError(error) };
  }
}

/** With the results of `dns.promises.resolve`: lists, and errors with a code for missing records. */
function nodeStyle(resolver: SpfLookups) {
  return async (name: string, type: string): Promise<string[] | string[][]> => {
    switch (type) {
      case 'TXT':
        return records(await resolver.txt(name)).map((text) => [text]);
      case 'A':
        return records(await resolver.a(name));
      case 'AAAA':
        return records(await resolver.aaaa(name));
      case 'MX': {
        const hosts = records(await resolver.mx(name));
        // The library's types only have strings; it reads `exchange` and `priority`, as Node's resolver returns them.
        return hosts.map(({ exchange, preference }) => ({ exchange, priority: preference })) as unknown as string[];
      }
      default:
        // `ptr` in an SPF record (RFC 7208 section 5.5: do not use) is never in ours.
        throw Object.assign(new Error(`${type} is not looked up`), { code: 'ENODATA' });
    }
  };
}

function records<T>(result: DnsResult<T>): T[] {
  if (result.kind === 'found') return result.records;
  const codes = { no_domain: 'ENOTFOUND', no_records: 'ENODATA', unavailable: 'ETIMEOUT' } as const;
  throw Object.assign(new Error(result.kind), { code: codes[result.kind] });
}
