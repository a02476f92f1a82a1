// How much one verification may query. The owner of a zone chooses its servers, and could make us send thousands of
// queries about other owners' names. All look-ups of one verification share a budget; queries beyond it are not sent,
// and count as unavailable.
import type { DnsResult } from './dns-result.ts';
import type { Resolver } from './resolver.ts';

export interface LookupLimits {
  /** Addresses of queried name servers. */
  addresses: number;
  /** Queries to these. */
  questions: number;
  /** Names of name servers without glue, whose addresses are looked up through the resolver. */
  names: number;
  /** Names whose name servers are looked up through the resolver. */
  zones: number;
}

/**
 * A domain with the three records needs 1 to 3 addresses, 3 names and 15 zones; SPF with ten includes at ten
 * providers 12 addresses, 33 names and 40 zones.
 */
const VERIFICATION_LIMITS: LookupLimits = { addresses: 20, questions: 64, names: 48, zones: 64 };

export type ZoneResolver = Pick<Resolver, 'ns' | 'a' | 'aaaa'>;

/** One look-up's share of the budget. */
export interface BudgetPart {
  /** Sends each query once; beyond the budget it is unavailable. */
  resolver: ZoneResolver;
  /** Counts a query to the server. */
  mayAsk(ip: string): boolean;
}

export interface LookupBudget {
  /** `share` from 0 to 1: the look-up stops there, and leaves the rest to others. */
  part(share: number): BudgetPart;
}

export const OVER_BUDGET = 'its name servers refer to too many others';

export function createLookupBudget(resolver: ZoneResolver, limits: LookupLimits = VERIFICATION_LIMITS): LookupBudget {
  const addresses = new Set<string>();
  let questions = 0;
  const zones = onceEach((name) => resolver.ns(name));
  const names = onceEach(async (name) => {
    const [a, aaaa] = await Promise.all([resolver.a(name), resolver.aaaa(name)]);
    return { a, aaaa };
  });
  const over: DnsResult<never> = { kind: 'unavailable', reason: OVER_BUDGET };

  return {
    part(share) {
      const scaled = (limit: number) => Math.floor(limit * share);
      const find = async (name: string, type: 'a' | 'aaaa') =>
        (await names(name, scaled(limits.names)))?.[type] ?? over;
      return {
        resolver: {
          ns: async (name) => (await zones(name, scaled(limits.zones))) ?? over,
          a: (name) => find(name, 'a'),
          aaaa: (name) => find(name, 'aaaa'),
        },
        mayAsk(ip) {
          if (questions >= scaled(limits.questions)) return false;
          if (!addresses.has(ip) && addresses.size >= scaled(limits.addresses)) return false;
          addresses.add(ip);
          questions++;
          return true;
        },
      };
    },
  };
}

/** Null: the name is new, and the limit is reached. */
function onceEach<T>(find: (name: string) => Promise<T>): (name: string, max: number) => Promise<T> | null {
  const known = new Map<string, Promise<T>>();
  return (name, max) => {
    const before = known.get(name);
    if (before) return before;
    if (known.size >= max) return null;
    const found = find(name);
    known.set(name, found);
    return found;
  };
}
