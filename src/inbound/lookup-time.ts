// A limit on the time of all DNS look-ups for one mail: whoever writes the mail chooses the names that are looked up, and
// a chain of zones that don't answer would take minutes.
import { SECOND_MS } from '../base/clock.ts';
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';

/** As long as one question may take. */
export const LOOKUPS_MS = 10 * SECOND_MS;

/** When the time is over, look-ups fail at once, and nothing more is asked. */
export async function withinLookupTime<T>(
  resolver: Resolver,
  limitMs: number,
  work: (limited: Resolver) => Promise<T>,
): Promise<T> {
  const over: DnsResult<never> = { kind: 'unavailable', reason: 'the look-ups for this mail took too long' };
  const end = Promise.withResolvers<DnsResult<never>>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    end.resolve(over);
  }, limitMs);
  const limited =
    <R>(ask: (name: string) => Promise<DnsResult<R>>) =>
    async (name: string): Promise<DnsResult<R>> =>
      isOver ? over : Promise.race([ask(name), end.promise]);
  try {
    return await work({
      mx: limited((name) => resolver.mx(name)),
      a: limited((name) => resolver.a(name)),
      aaaa: limited((name) => resolver.aaaa(name)),
      txt: limited((name) => resolver.txt(name)),
      ns: limited((name) => resolver.ns(name)),
      ptr: limited((ip) => resolver.ptr(ip)),
    });
  } finally {
    clearTimeout(timer);
  }
}
