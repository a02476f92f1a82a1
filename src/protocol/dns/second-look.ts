// The second look at a domain that reportedly does not exist, or has no usable mail server: it asks other resolvers,
// and the name servers of its own zone and of the zones above. One answer of one server proves nothing: resolvers
// return wrong answers for an hour now and then. Without an answer the result is unknown, never absent.
import type { AddressPolicy } from './addresses/address-policy.ts';
import type { Authority } from './lookup/authority.ts';
import { formatServer, parseServer } from './lookup/exchange.ts';
import { createResolver, type Resolver } from './lookup/resolver.ts';
import { createSemaphore, createServerPool } from './lookup/server-pool.ts';
import { isDnsName, normalName, RCODE } from './lookup/wire.ts';
import { findMailRoute } from './mail-route.ts';

export type SecondLook =
  /** Another server confirms it. `by`: its name, for people. */
  | { kind: 'absent'; by: string }
  /** A server says that the domain, or the route, exists. */
  | { kind: 'present'; by: string }
  | { kind: 'unknown'; reason: string };

/** Whether the domain exists; whether it has a mail server with an address. */
export type LookSubject = 'domain' | 'route';

export interface SecondLooks {
  /** Null: the signal was aborted. */
  look(domain: string, subject: LookSubject, signal: AbortSignal): Promise<SecondLook | null>;
}

export interface SecondLooksOptions {
  /** The configured resolvers, as for `createResolver`. */
  servers: readonly string[];
  authority: Pick<Authority, 'exists' | 'forRoutes'>;
  /** Which mail servers count. */
  addresses: Pick<AddressPolicy, 'allows'>;
  /** For one resolver. */
  timeoutMs?: number;
  attemptTimeoutMs?: number;
}

type RouteResolver = Pick<Resolver, 'mx' | 'a' | 'aaaa'>;

interface Opinion {
  by: string;
  says: 'present' | 'absent' | 'unknown';
  reason: string;
}

/** Two other resolvers are enough if no name server can be reached; the first one may be among them. */
const RESOLVERS_THAT_PROVE = 2;
const MAX_LOOKS = 16;

export function createSecondLooks(options: SecondLooksOptions): SecondLooks {
  const { timeoutMs = 5000, attemptTimeoutMs = 1500 } = options;
  const slots = createSemaphore(MAX_LOOKS);
  // Two spellings of a server are still one server.
  const resolvers = new Map(
    options.servers.flatMap((text) => parseServer(text) ?? []).map((server) => [formatServer(server), server]),
  );
  const pools = [...resolvers.values()].map((server) => {
    const pool = createServerPool({ servers: [server], timeoutMs, attemptTimeoutMs, maxConcurrent: MAX_LOOKS });
    return { server, pool };
  });
  const underWay = new Map<string, Promise<SecondLook | null>>();

  const byRoute = async (name: string, by: string, resolver: RouteResolver): Promise<Opinion> => {
    const route = await findMailRoute(name, { resolver, random: Math.random });
    if (route.kind === 'unavailable') return { by, says: 'unknown', reason: route.reason };
    const addresses = route.kind === 'hosts' ? route.hosts.flatMap((host) => host.addresses) : [];
    const isThere = addresses.some(({ ip }) => options.addresses.allows(ip));
    return { by, says: isThere ? 'present' : 'absent', reason: '' };
  };
  const askResolver = async (
    { server, pool }: (typeof pools)[number],
    name: string,
    subject: LookSubject,
  ): Promise<Opinion> => {
    if (subject === 'route') {
      // A new resolver each time, with an empty cache.
      const servers = [formatServer(server)];
      const fresh = createResolver({ servers, clock: { now: () => 0 }, timeoutMs, attemptTimeoutMs });
      return byRoute(name, `the DNS server ${formatServer(server)}`, fresh);
    }
    const reply = await pool.ask(name, 'MX');
    const by = `the DNS server ${formatServer(server)}`;
    if (reply.kind === 'unavailable') return { by, says: 'unknown', reason: reply.reason };
    return { by, says: reply.answer.rcode === RCODE.NXDOMAIN ? 'absent' : 'present', reason: '' };
  };
  const askAuthority = async (name: string, subject: LookSubject, signal: AbortSignal): Promise<Opinion> => {
    const by = 'its own and its parent zone’s name servers';
    if (subject === 'route') return byRoute(name, by, options.authority.forRoutes(signal));
    const existence = await options.authority.exists(name, signal);
    const reason = existence.kind === 'unknown' ? existence.reason : '';
    return { by, says: existence.kind, reason };
  };
  const lookUp = async (name: string, subject: LookSubject, signal: AbortSignal): Promise<SecondLook | null> => {
    await slots.take();
    try {
      if (signal.aborted) return null;
      // With a single resolver, it is the one that said so first, so it does not confirm anything.
      const others = pools.length >= RESOLVERS_THAT_PROVE ? pools : [];
      const pending = [askAuthority(name, subject, signal), ...others.map((pool) => askResolver(pool, name, subject))];
      const answers = await untilAborted(Promise.all(pending), signal);
      if (answers === null) return null;
      const [authority, ...opinions] = answers;
      return judgeOpinions(authority!, opinions);
    } finally {
      slots.release();
    }
  };

  return {
    look(rawName, subject, signal) {
      const name = normalName(rawName);
      if (!isDnsName(name)) return Promise.resolve({ kind: 'absent', by: 'the rules of DNS names' });
      const key = `${subject} ${name}`;
      const known = underWay.get(key);
      if (known) return known;
      const look = lookUp(name, subject, signal).finally(() => underWay.delete(key));
      underWay.set(key, look);
      return look;
    },
  };
}

/** Null when the signal is aborted first; pending queries then end by their own timeouts. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const onAbort = () => resolve(null);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** A server that knows the domain wins: then the resolvers disagree. */
function judgeOpinions(authority: Opinion, resolvers: readonly Opinion[]): SecondLook {
  const present = [authority, ...resolvers].find(({ says }) => says === 'present');
  if (present) return { kind: 'present', by: present.by };
  if (authority.says === 'absent') return { kind: 'absent', by: authority.by };
  const absent = resolvers.filter(({ says }) => says === 'absent');
  if (absent.length >= RESOLVERS_THAT_PROVE) return { kind: 'absent', by: absent.map(({ by }) => by).join(' and ') };
  return { kind: 'unknown', reason: authority.reason };
}
