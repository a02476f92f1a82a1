// Queries the zone's own name servers, past every cache: TXT records, so that a record that a tenant has just published
// counts at once, and whether a mail domain exists at all. Follows aliases into other zones and referrals into child
// zones (RFC 1034 section 5.3.3). The first authoritative answer decides; DNSSEC is left out on purpose.
import { SECOND_MS } from '../../../base/clock.ts';
import { followAliases, MAX_ALIASES } from './alias-chain.ts';
import { askInTurn, type TurnResult } from './ask-in-turn.ts';
import type { DnsResult } from './dns-result.ts';
import { type ExchangeResult, exchange } from './exchange.ts';
import { type BudgetPart, createLookupBudget, OVER_BUDGET } from './lookup-budget.ts';
import { lookupsByType, type Resolver } from './resolver.ts';
import { ROOT_HINTS, ROOT_PORT, type RootHint } from './root-hints.ts';
import {
  type DnsAnswer,
  type DnsRecord,
  isDnsName,
  isWithin,
  normalName,
  RCODE,
  type RecordType,
  ROOT,
  rcodeName,
} from './wire.ts';
import {
  addServers,
  findZoneServers,
  type NameServer,
  type ZoneServers,
  type ZoneServersOptions,
} from './zone-servers.ts';

export interface Authority {
  txt(name: string): Promise<DnsResult<string>>;
  /** Look-ups of all types that our own records have; each has its own budget. */
  records: Pick<Resolver, 'mx' | 'a' | 'aaaa' | 'txt' | 'ptr'>;
  /** Look-ups that share one budget; `share`: how much of it this one may use, 1 by default. */
  limited(): { txt(name: string, share?: number): Promise<DnsResult<string>> };
  /**
   * Whether the domain exists, by its own zone or the zones above, starting at the root if the resolver does not know
   * their servers; an abort ends it as unknown.
   */
  exists(name: string, signal?: AbortSignal): Promise<Existence>;
  /** Look-ups for a mail route that do not rely on any resolver for these names. */
  forRoutes(signal: AbortSignal): Pick<Resolver, 'mx' | 'a' | 'aaaa'>;
}

export type Existence = { kind: 'present' } | { kind: 'absent' } | { kind: 'unknown'; reason: string };

export interface AuthorityOptions {
  resolver: Pick<Resolver, 'ns' | 'a' | 'aaaa'>;
  /** 53, except in tests and the sandbox. */
  authorityPort: number;
  /** Whether name servers on loopback, private and other special addresses are queried. */
  allowPrivate: boolean;
  /** By default the Internet's, with port 53. Another port means a separate DNS. */
  rootHints?: readonly RootHint[];
  serverTimeoutMs?: number;
  totalTimeoutMs?: number;
  staggerMs?: number;
}

type Zone = ZoneServers & { kind: 'zone' };

/** The question, its name, its deadline and its budget. */
interface Question {
  name: string;
  type: RecordType;
  options: AuthorityOptions & ZoneServersOptions;
  budget: BudgetPart;
  signal: AbortSignal;
}

/** The end of a walk: an authoritative answer, or none. */
type WalkEnd = { said: DnsResult<DnsRecord> } | { lost: Exclude<ZoneServers, { kind: 'zone' }> };

/** By default, its own budget. */
interface Asking {
  name: string;
  type: RecordType;
  ending?: AbortSignal | undefined;
  budget?: BudgetPart;
  /** Whether the resolver may be wrong about name servers, too. */
  pastResolver?: boolean;
}

/** What an authoritative answer says about the name. */
type Statement =
  | { kind: 'result'; result: DnsResult<DnsRecord> }
  | { kind: 'alias'; target: string; aliases: number }
  | { kind: 'referral'; zone: string; nsNames: string[]; glue: DnsRecord[] };

/** Aliases and referrals together. */
const MAX_STEPS = 16;
/** Name servers whose addresses only other such name servers know; deeper nesting is a broken delegation. */
const MAX_DEPTH = 2;
const MAX_SHOWN_REASONS = 4;

export function createAuthority(options: AuthorityOptions): Authority {
  const { totalTimeoutMs = 15 * SECOND_MS } = options;
  const fresh = () => createLookupBudget(options.resolver).part(1);
  const { rootHints = options.authorityPort === ROOT_PORT ? ROOT_HINTS : [] } = options;
  const ask = ({ name, type, ending, budget = fresh(), pastResolver = false }: Asking): Promise<WalkEnd> => {
    const timedOut = unavailable(`the name servers of ${name} gave no answer within ${totalTimeoutMs / SECOND_MS} s`);
    const start = (deadline: AbortSignal) => {
      const signal = ending ? AbortSignal.any([deadline, ending]) : deadline;
      const question = { name, type, options: { ...options, resolver: budget.resolver }, budget, signal };
      return walk(pastResolver && rootHints.length > 0 ? fromRoot(question, rootHints, MAX_DEPTH) : question);
    };
    return inTime(totalTimeoutMs, { lost: timedOut }, start);
  };
  const look = async (rawName: string, type: RecordType, budget?: BudgetPart): Promise<DnsResult<DnsRecord>> => {
    const name = normalName(rawName);
    if (!isDnsName(name)) return { kind: 'no_domain' };
    const end = await ask({ name, type, ...(budget && { budget }) });
    return 'lost' in end ? end.lost : end.said;
  };
  const records = lookupsByType(look);
  return {
    txt: records.txt,
    records,
    limited() {
      const budget = createLookupBudget(options.resolver);
      return {
        txt: (name, share = 1) => lookupsByType((each, type) => look(each, type, budget.part(share))).txt(name),
      };
    },
    async exists(rawName, signal) {
      const name = normalName(rawName);
      if (!isDnsName(name)) return { kind: 'absent' };
      return existenceOf(await ask({ name, type: 'MX', ending: signal, pastResolver: true }));
    },
    forRoutes(signal) {
      const budget = fresh();
      const find = async (name: string, type: RecordType): Promise<DnsResult<DnsRecord>> => {
        if (!isDnsName(name)) return { kind: 'no_domain' };
        const end = await ask({ name, type, ending: signal, budget, pastResolver: true });
        if ('said' in end) return end.said;
        return end.lost.kind === 'unavailable' ? end.lost : unavailable(`no name servers above ${name} are known`);
      };
      return lookupsByType(find);
    },
  };
}

/** If the resolver knows no name servers, that proves nothing. */
function existenceOf(end: WalkEnd): Existence {
  if ('lost' in end) {
    const reason = end.lost.kind === 'unavailable' ? end.lost.reason : 'no name servers above it are known';
    return { kind: 'unknown', reason };
  }
  if (end.said.kind === 'unavailable') return { kind: 'unknown', reason: end.said.reason };
  return { kind: end.said.kind === 'no_domain' ? 'absent' : 'present' };
}

/** Look-ups of name servers cannot be aborted, so results after the deadline are dropped. */
async function inTime<T>(timeoutMs: number, timedOut: T, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeOver = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(timedOut), timeoutMs);
  });
  try {
    return await Promise.race([start(deadline.signal), timeOver]);
  } finally {
    clearTimeout(timer);
    deadline.abort();
  }
}

/** Name servers that the resolver does not return are found from the root downwards, within the same budget. */
function fromRoot(question: Question, rootHints: readonly RootHint[], depth: number): Question {
  const addressesOf = async (name: string) => {
    if (depth === 0) return [];
    const ends = (['A', 'AAAA'] as const).map((type) =>
      walk(fromRoot({ ...question, name, type }, rootHints, depth - 1)),
    );
    const records = (await Promise.all(ends)).flatMap((end) =>
      'said' in end && end.said.kind === 'found' ? end.said.records : [],
    );
    return records.flatMap((record) => (record.type === 'A' || record.type === 'AAAA' ? [record.value] : []));
  };
  return { ...question, options: { ...question.options, pastResolver: { rootHints, addressesOf } } };
}

async function walk(question: Question): Promise<WalkEnd> {
  const { name, options, signal } = question;
  let owner = name;
  let aliasesLeft = MAX_ALIASES;
  let zone = await findZoneServers(owner, options);
  for (let step = 0; step < MAX_STEPS && !signal.aborted; step++) {
    if (zone.kind !== 'zone') return { lost: zone };
    const answer = await askZone(zone, { ...question, name: owner });
    if (answer.kind === 'all_bad') return { lost: allBad(zone.zone, answer.reasons) };
    const statement = answer.value;
    switch (statement.kind) {
      case 'result':
        return { said: statement.result };
      case 'referral':
        zone = await addServers(statement.zone, statement.nsNames, statement.glue, options);
        break;
      case 'alias':
        aliasesLeft -= statement.aliases;
        if (aliasesLeft < 0) return { lost: unavailable(`${name} leads through more than ${MAX_ALIASES} aliases`) };
        owner = statement.target;
        zone = await findZoneServers(owner, options);
    }
  }
  return { lost: unavailable(`${name} leads through too many referrals and aliases`) };
}

function askZone({ zone, servers }: Zone, { name, type, options, budget, signal }: Question) {
  const { serverTimeoutMs: timeoutMs = 5 * SECOND_MS, staggerMs = 300 } = options;
  const ask = async (server: NameServer, stop: AbortSignal): Promise<TurnResult<Statement>> => {
    if (!budget.mayAsk(server.ip)) return { kind: 'bad', reason: OVER_BUDGET };
    const result = await exchange({ server, name, type, recursive: false, timeoutMs, signal: stop });
    const reading = readResult(result, { name, type }, zone);
    return reading.kind === 'good'
      ? reading
      : { kind: 'bad', reason: `${server.name} (${server.ip}) ${reading.reason}` };
  };
  return askInTurn({ servers, staggerMs, signal, ask });
}

function readResult(result: ExchangeResult, asked: AskedRecord, zone: string): TurnResult<Statement> {
  switch (result.kind) {
    case 'timeout':
    case 'aborted':
      return { kind: 'bad', reason: 'did not answer in time' };
    case 'network_error':
      return { kind: 'bad', reason: `could not be reached (${result.reason})` };
    case 'malformed':
      return { kind: 'bad', reason: `gave an unreadable answer (${result.reason})` };
    case 'answer':
      return readAnswer(result.answer, asked, zone);
  }
}

type AskedRecord = Pick<Question, 'name' | 'type'>;

function readAnswer(answer: DnsAnswer, { name, type }: AskedRecord, zone: string): TurnResult<Statement> {
  if (answer.rcode !== RCODE.NOERROR && answer.rcode !== RCODE.NXDOMAIN) {
    return { kind: 'bad', reason: `answered ${rcodeName(answer.rcode)}` };
  }
  const referral = readReferral(answer, name, zone);
  if (referral) return good(referral);
  if (!answer.aa) return { kind: 'bad', reason: `does not answer with authority for ${shownZone(zone)}` };
  const chain = followAliases(answer.answers, { name, type, maxAliases: MAX_ALIASES, zone });
  if (chain.records.length > 0) {
    const { records, ttlS } = chain;
    return good({ kind: 'result', result: { kind: 'found', records, ttlMs: ttlS * SECOND_MS } });
  }
  // Looked up in its own zone, since this server need not be authoritative for it.
  if (chain.aliases > 0) return good({ kind: 'alias', target: chain.owner, aliases: chain.aliases });
  return good({ kind: 'result', result: { kind: answer.rcode === RCODE.NXDOMAIN ? 'no_domain' : 'no_records' } });
}

/** RFC 1034 section 4.2.1: downwards only, and glue only for names within this server's zone. */
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

function allBad(zone: string, reasons: string[]): Unavailable {
  const shown = reasons.slice(0, MAX_SHOWN_REASONS).join('; ');
  const more = reasons.length > MAX_SHOWN_REASONS ? `; and ${reasons.length - MAX_SHOWN_REASONS} more` : '';
  return unavailable(`no name server of ${shownZone(zone)} gave a usable answer: ${shown}${more}`);
}

function shownZone(zone: string): string {
  return zone === ROOT ? 'the root zone' : zone;
}

type Unavailable = Extract<ZoneServers, { kind: 'unavailable' }>;

function unavailable(reason: string): Unavailable {
  return { kind: 'unavailable', reason };
}
