// TXT records as the zone's own name servers give them, past every cache: what a tenant has just published
// counts at once. Follows aliases into other zones and referrals into child zones (RFC 1034 section 5.3.3).
// The first server that answers with authority decides; DNSSEC is left out on purpose.
import { SECOND_MS } from '../../base/clock.ts';
import { followAliases, MAX_ALIASES } from './alias-chain.ts';
import { askInTurn, type TurnResult } from './ask-in-turn.ts';
import type { DnsResult } from './dns-result.ts';
import { type ExchangeResult, exchange } from './exchange.ts';
import type { Resolver } from './resolver.ts';
import { type DnsAnswer, type DnsRecord, isDnsName, isWithin, normalName, RCODE, rcodeName } from './wire.ts';
import { addServers, findZoneServers, type NameServer, type ZoneServers } from './zone-servers.ts';

export interface Authority {
  txt(name: string): Promise<DnsResult<string>>;
}

export interface AuthorityOptions {
  resolver: Pick<Resolver, 'ns' | 'a' | 'aaaa'>;
  /** 53, except in tests and the sandbox. */
  authorityPort: number;
  /** Whether name servers on loopback, private and other special addresses are asked. */
  allowPrivate: boolean;
  serverTimeoutMs?: number;
  totalTimeoutMs?: number;
  staggerMs?: number;
}

type Zone = ZoneServers & { kind: 'zone' };

/** What an authoritative answer says about the name. */
type Statement =
  | { kind: 'result'; result: DnsResult<string> }
  | { kind: 'alias'; target: string; aliases: number }
  | { kind: 'referral'; zone: string; nsNames: string[]; glue: DnsRecord[] };

/** Aliases and referrals together. */
const MAX_STEPS = 16;
const MAX_SHOWN_REASONS = 4;

export function createAuthority(options: AuthorityOptions): Authority {
  const { totalTimeoutMs = 15 * SECOND_MS } = options;
  return {
    txt(rawName) {
      const name = normalName(rawName);
      if (!isDnsName(name)) return Promise.resolve({ kind: 'no_domain' });
      const late = unavailable(`the name servers of ${name} gave no answer within ${totalTimeoutMs / SECOND_MS} s`);
      return inTime(totalTimeoutMs, late, (signal) => walk(name, options, signal));
    },
  };
}

/** The look-ups of name servers cannot be aborted, so their results are left behind when the time is over. */
async function inTime<T>(timeoutMs: number, late: T, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeOver = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), timeoutMs);
  });
  try {
    return await Promise.race([start(deadline.signal), timeOver]);
  } finally {
    clearTimeout(timer);
    deadline.abort();
  }
}

async function walk(name: string, options: AuthorityOptions, signal: AbortSignal): Promise<DnsResult<string>> {
  let owner = name;
  let aliasesLeft = MAX_ALIASES;
  let zone = await findZoneServers(owner, options);
  for (let step = 0; step < MAX_STEPS && !signal.aborted; step++) {
    if (zone.kind !== 'zone') return zone;
    const answer = await askZone(zone, owner, options, signal);
    if (answer.kind === 'all_bad') return allBad(zone.zone, answer.reasons);
    const statement = answer.value;
    switch (statement.kind) {
      case 'result':
        return statement.result;
      case 'referral':
        zone = await addServers(statement.zone, statement.nsNames, statement.glue, options);
        break;
      case 'alias':
        aliasesLeft -= statement.aliases;
        if (aliasesLeft < 0) return unavailable(`${name} leads through more than ${MAX_ALIASES} aliases`);
        owner = statement.target;
        zone = await findZoneServers(owner, options);
    }
  }
  return unavailable(`${name} leads through too many referrals and aliases`);
}

function askZone({ zone, servers }: Zone, name: string, options: AuthorityOptions, signal: AbortSignal) {
  const { serverTimeoutMs: timeoutMs = 5 * SECOND_MS, staggerMs = 300 } = options;
  const ask = async (server: NameServer, stop: AbortSignal): Promise<TurnResult<Statement>> => {
    const result = await exchange({ server, name, type: 'TXT', recursive: false, timeoutMs, signal: stop });
    const reading = readResult(result, name, zone);
    return reading.kind === 'good'
      ? reading
      : { kind: 'bad', reason: `${server.name} (${server.ip}) ${reading.reason}` };
  };
  return askInTurn({ servers, staggerMs, signal, ask });
}

function readResult(result: ExchangeResult, name: string, zone: string): TurnResult<Statement> {
  switch (result.kind) {
    case 'timeout':
    case 'aborted':
      return { kind: 'bad', reason: 'did not answer in time' };
    case 'network_error':
      return { kind: 'bad', reason: `could not be reached (${result.reason})` };
    case 'malformed':
      return { kind: 'bad', reason: `gave an unreadable answer (${result.reason})` };
    case 'answer':
      return readAnswer(result.answer, name, zone);
  }
}

function readAnswer(answer: DnsAnswer, name: string, zone: string): TurnResult<Statement> {
  if (answer.rcode !== RCODE.NOERROR && answer.rcode !== RCODE.NXDOMAIN) {
    return { kind: 'bad', reason: `answered ${rcodeName(answer.rcode)}` };
  }
  const referral = readReferral(answer, name, zone);
  if (referral) return good(referral);
  if (!answer.aa) return { kind: 'bad', reason: `does not answer with authority for ${zone}` };
  const chain = followAliases(answer.answers, { name, type: 'TXT', maxAliases: MAX_ALIASES, zone });
  if (chain.records.length > 0) {
    const records = chain.records.flatMap((record) => (record.type === 'TXT' ? record.value : []));
    return good({ kind: 'result', result: { kind: 'found', records, ttlMs: chain.ttlS * SECOND_MS } });
  }
  // Asked again from its own zone: this server need not speak for it.
  if (chain.aliases > 0) return good({ kind: 'alias', target: chain.owner, aliases: chain.aliases });
  return good({ kind: 'result', result: { kind: answer.rcode === RCODE.NXDOMAIN ? 'no_domain' : 'no_records' } });
}

/** RFC 1034 section 4.2.1: downwards only, and glue only for names that this server may speak about. */
function readReferral(answer: DnsAnswer, name: string, zone: string): (Statement & { kind: 'referral' }) | null {
  if (answer.rcode !== RCODE.NOERROR || answer.answers.length > 0) return null;
  if (answer.authorities.some((record) => record.type === 'SOA')) return null;
  const cut = answer.authorities.find((record) => record.type === 'NS');
  if (cut === undefined) return null;
  if (cut.name === zone || !isWithin(cut.name, zone) || !isWithin(name, cut.name)) return null;
  const nsNames = answer.authorities.flatMap((record) => {
    return record.type === 'NS' && record.name === cut.name ? record.value : [];
  });
  const glue = answer.additionals.filter((record) => isWithin(record.name, zone));
  return { kind: 'referral', zone: cut.name, nsNames, glue };
}

function good(value: Statement): TurnResult<Statement> {
  return { kind: 'good', value };
}

function allBad(zone: string, reasons: string[]): DnsResult<string> {
  const shown = reasons.slice(0, MAX_SHOWN_REASONS).join('; ');
  const more = reasons.length > MAX_SHOWN_REASONS ? `; and ${reasons.length - MAX_SHOWN_REASONS} more` : '';
  return unavailable(`no name server of ${zone} gave a usable answer: ${shown}${more}`);
}

function unavailable(reason: string): DnsResult<string> {
  return { kind: 'unavailable', reason };
}
