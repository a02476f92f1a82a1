// Which names can't be proven yet, because DNS has no address for them. Looked at before each attempt: directories count
// those that fail, and the pauses between them would outlast the moment in which the record is published.
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';

type Addresses = Pick<Resolver, 'a' | 'aaaa'>;

export interface NameLookups {
  /** As this machine sees DNS: a private directory may use names that the world does not know. */
  resolver: Addresses;
  /** The zones' own name servers, past every cache. */
  authority: Addresses;
}

export async function namesWithoutAddress(
  names: readonly string[],
  { resolver, authority }: NameLookups,
): Promise<string[]> {
  const found = await Promise.all(
    names.map(async (name) => (await mayHaveAddress(resolver, name)) || (await mayHaveAddress(authority, name))),
  );
  return names.filter((_, index) => !found[index]);
}

/** A question without an answer says nothing about the name: then the directory decides. */
async function mayHaveAddress(dns: Addresses, name: string): Promise<boolean> {
  const results: DnsResult<unknown>[] = await Promise.all([dns.a(name), dns.aaaa(name)]);
  return results.some(({ kind }) => kind === 'found' || kind === 'unavailable');
}
