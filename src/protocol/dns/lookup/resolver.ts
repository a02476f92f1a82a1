// Recursive look-ups through the configured servers: cached, shared between concurrent callers with the same question,
// aliases followed (RFC 1034, RFC 2308). DNSSEC validation is left to those servers.
import { isIPv4, isIPv6 } from 'node:net';
import { type Clock, SECOND_MS } from '../../../base/clock.ts';
import { Fault } from '../../../base/errors.ts';
import { followAliases, MAX_ALIASES } from './alias-chain.ts';
import type { DnsResult } from './dns-result.ts';
import { type DnsServer, parseServer } from './exchange.ts';
import { createResultCache } from './result-cache.ts';
import { createServerPool, type ServerPool } from './server-pool.ts';
import { type DnsRecord, isAskable, type MxRecord, normalName, RCODE, type RecordType } from './wire.ts';

export type { DnsResult, MxRecord };

export interface Resolver {
  mx(name: string): Promise<DnsResult<MxRecord>>;
  a(name: string): Promise<DnsResult<string>>;
  aaaa(name: string): Promise<DnsResult<string>>;
  /** The strings of each record are joined. */
  txt(name: string): Promise<DnsResult<string>>;
  /** Only of the name itself, since an alias is never a zone. */
  ns(name: string): Promise<DnsResult<string>>;
  ptr(ip: string): Promise<DnsResult<string>>;
}

export interface ResolverOptions {
  /** `ip`, `ip:port` or `[ip6]:port`. */
  servers: readonly string[];
  clock: Clock;
  /** For one question, over all servers. */
  timeoutMs?: number;
  /** For one server in the first round; doubled with every round. */
  attemptTimeoutMs?: number;
  maxCacheEntries?: number;
  maxConcurrent?: number;
}

export function createResolver(options: ResolverOptions): Resolver {
  const pool = createServerPool({
    servers: options.servers.map(requireServer),
    timeoutMs: options.timeoutMs ?? 10 * SECOND_MS,
    attemptTimeoutMs: options.attemptTimeoutMs ?? 1500,
    maxConcurrent: options.maxConcurrent ?? 256,
  });
  const cache = createResultCache<DnsRecord>(options.clock, options.maxCacheEntries ?? 20_000);
  const underWay = new Map<string, Promise<DnsResult<DnsRecord>>>();

  function lookUp(rawName: string, type: RecordType): Promise<DnsResult<DnsRecord>> {
    const name = normalName(rawName);
    // A name that DNS cannot contain does not exist in it.
    if (!isAskable(name, type)) return Promise.resolve({ kind: 'no_domain' });
    const key = `${type} ${name}`;
    const known = cache.get(key);
    if (known) return Promise.resolve(known);
    let pending = underWay.get(key);
    if (!pending) {
      pending = followAnswers(pool, name, type)
        .then((result) => cache.put(key, result))
        .finally(() => underWay.delete(key));
      underWay.set(key, pending);
    }
    return pending;
  }

  return lookupsByType(lookUp);
}

/** A method for each type, over one function that looks up any. */
export function lookupsByType(lookUp: (name: string, type: RecordType) => Promise<DnsResult<DnsRecord>>): Resolver {
  const texts = async (name: string, type: RecordType) =>
    pick(await lookUp(name, type), (record) => (record.type === 'MX' ? null : record.value));
  return {
    mx: async (name) => pick(await lookUp(name, 'MX'), (record) => (record.type === 'MX' ? record.value : null)),
    a: (name) => texts(name, 'A'),
    aaaa: (name) => texts(name, 'AAAA'),
    txt: (name) => texts(name, 'TXT'),
    ns: (name) => texts(name, 'NS'),
    ptr: async (ip) => {
      const name = reverseName(ip);
      return name === null ? { kind: 'no_domain' } : texts(name, 'PTR');
    },
  };
}

/** Queries until the end of all aliases is reached. */
async function followAnswers(pool: ServerPool, name: string, type: RecordType): Promise<DnsResult<DnsRecord>> {
  let owner = name;
  let ttlS = Number.POSITIVE_INFINITY;
  let aliasesLeft = type === 'NS' ? 0 : MAX_ALIASES;
  for (;;) {
    const reply = await pool.ask(owner, type);
    if (reply.kind === 'unavailable') return reply;
    const { answers, authorities, rcode } = reply.answer;
    const chain = followAliases(answers, { name: owner, type, maxAliases: aliasesLeft });
    ttlS = Math.min(ttlS, chain.ttlS);
    if (chain.records.length > 0) return { kind: 'found', records: chain.records, ttlMs: ttlS * SECOND_MS };
    // RFC 6604: with aliases, the code is about the last name of the chain.
    if (rcode === RCODE.NXDOMAIN) return { kind: 'no_domain' };
    aliasesLeft -= chain.aliases;
    if (chain.aliases > 0 && aliasesLeft <= 0) return aliasLoop(name);
    // RFC 2308 section 2.2: an SOA says that the last name has no such data. Otherwise it was not looked up yet.
    const isComplete = chain.aliases === 0 || authorities.some((record) => record.type === 'SOA');
    if (isComplete) return { kind: 'no_records' };
    owner = chain.owner;
  }
}

function requireServer(text: string): DnsServer {
  const server = parseServer(text);
  if (server) return server;
  throw new Fault(`"${text}" is not a DNS server: write ip, ip:port or [ip6]:port`, { permanence: 'permanent' });
}

function aliasLoop(name: string): DnsResult<never> {
  return { kind: 'unavailable', reason: `${name} is an alias that leads through more than ${MAX_ALIASES} aliases` };
}

function pick<T>(result: DnsResult<DnsRecord>, value: (record: DnsRecord) => T | null): DnsResult<T> {
  if (result.kind !== 'found') return result;
  return { ...result, records: result.records.flatMap((record) => value(record) ?? []) };
}

/** RFC 1035 section 3.5 and RFC 3596 section 2.5; null if it is not an IP address. */
export function reverseName(ip: string): string | null {
  if (isIPv4(ip)) return `${ip.split('.').reverse().join('.')}.in-addr.arpa`;
  if (!isIPv6(ip) || ip.includes('%')) return null;
  const [head = '', tail] = canonicalIPv6(ip).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : new Array<string>(8 - left.length - right.length).fill('0');
  const nibbles = [...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join('');
  return `${[...nibbles].reverse().join('.')}.ip6.arpa`;
}

/** Hexadecimal groups only: the URL parser converts an embedded dotted quad to two of them. */
function canonicalIPv6(ip: string): string {
  return new URL(`http://[${ip}]`).hostname.slice(1, -1);
}
