// The rows about several machines: what all turns of SQLite, PostgreSQL with one daemon and with two add up to.
import type { Committed } from '../postrider.ts';
import { atMost, factRow, type Row, rateRow, showShare, withLimit } from '../table.ts';
import type { Cores } from '../traffic.ts';

/** A daemon's processor time on PostgreSQL, to that on SQLite. */
const WANTED_TIMES = 1.1;

/** Of all turns, and of all daemons. */
const NOTHING_SENT = { messages: 0, seconds: 0, daemonS: 0, serverS: 0, elsewhereS: 0 };
const NOTHING_COMMITTED: Committed = { groups: 0, verbs: 0, roundTrips: 0, statements: 0, tries: 0 };

export type Sent = typeof NOTHING_SENT;

export interface Measured {
  accept: Sent;
  endToEnd: Sent;
  /** Of the end-to-end traffic, warm-up included. */
  committed: Committed;
  rest: { calls: number; lost: number; twice: number };
}

export function nothingMeasured(): Measured {
  const rest = { calls: 0, lost: 0, twice: 0 };
  return { accept: NOTHING_SENT, endToEnd: NOTHING_SENT, committed: NOTHING_COMMITTED, rest };
}

export function added<T extends object>(one: T, other: T): T {
  const sums = Object.entries(one).map(([name, value]) => [name, value + other[name as keyof T]]);
  return Object.fromEntries(sums) as T;
}

/** NaN where it cannot be known. */
export function usedOf(cores: Cores | null, seconds: number): Pick<Sent, 'daemonS' | 'serverS' | 'elsewhereS'> {
  const { mainThread, otherThreads, server, elsewhere } = cores ?? UNKNOWN;
  return {
    daemonS: (mainThread + otherThreads) * seconds,
    serverS: server * seconds,
    elsewhereS: elsewhere * seconds,
  };
}

const UNKNOWN = {
  mainThread: Number.NaN,
  otherThreads: Number.NaN,
  server: Number.NaN,
  elsewhere: Number.NaN,
};

/** `sqlite`: what they are compared with; null: these are it. */
export function rowsOf(what: string, { accept, endToEnd, committed, rest }: Measured, sqlite: Measured | null): Row[] {
  const lostAndTwice = `${rest.lost}, ${rest.twice}`;
  return [
    rateRow(`${what}: accept, delivery held`, rateOf(accept), besideOf(accept, sqlite?.accept)),
    rateRow(`${what}: end to end`, rateOf(endToEnd), besideOf(endToEnd, sqlite?.endToEnd)),
    daemonRow({ accept, endToEnd }, sqlite),
    ...(sqlite ? [serverRow({ accept, endToEnd }), ...commitRows(committed, rest.calls)] : []),
    factRow('  after draining: lost, twice', lostAndTwice, rest, `of ${rest.calls} answered 202`),
  ];
}

export function rateOf({ messages, seconds }: Sent): number {
  return messages / seconds;
}

/** Other programs take from all of them, but not the same from each. */
function besideOf(sent: Sent, sqlite: Sent | undefined): string {
  const share = sqlite === undefined ? '' : `${showShare(rateOf(sent) / rateOf(sqlite))} of SQLite; `;
  return `${share}other programs took ${(sent.elsewhereS / sent.seconds).toFixed(2)} cores`;
}

function daemonRow({ accept, endToEnd }: Pick<Measured, 'accept' | 'endToEnd'>, sqlite: Measured | null): Row {
  const [accepting, whole] = [accept, endToEnd].map(daemonUs) as [number, number];
  const figures = { us: Math.round(whole), accept_us: Math.round(accepting) };
  const of = 'processor time of the daemon, per message';
  if (sqlite === null) return factRow(`  ${of}`, showUs(whole), figures, `accepting alone ${showUs(accepting)}`);
  const times = whole / daemonUs(sqlite.endToEnd);
  const timesAccepting = accepting / daemonUs(sqlite.accept);
  const beside = `${showTimes(times)} SQLite; accepting alone ${showUs(accepting)}, ${showTimes(timesAccepting)}`;
  return withLimit(
    factRow(`  ${of}`, showUs(whole), { ...figures, times }, beside),
    atMost(times, WANTED_TIMES, showTimes),
  );
}

function serverRow({ accept, endToEnd }: Pick<Measured, 'accept' | 'endToEnd'>): Row {
  const [accepting, whole] = [accept, endToEnd].map(({ serverS, messages }) => (serverS * 1e6) / messages) as [
    number,
    number,
  ];
  const figures = { us: Math.round(whole), accept_us: Math.round(accepting) };
  return factRow('  of the database server', showUs(whole), figures, `accepting alone ${showUs(accepting)}`);
}

function commitRows({ groups, verbs, roundTrips, statements, tries }: Committed, messages: number): Row[] {
  const show = (value: number) => value.toFixed(value < 10 ? 2 : 1);
  const perMessage = `${show(roundTrips / messages)} and ${show(statements / messages)}`;
  return [
    factRow(
      '  operations per commit',
      show(verbs / groups),
      { verbs: verbs / groups, tries: tries / groups },
      `${show(groups / messages)} commits per message, ${show(tries / groups)} tries each`,
    ),
    factRow(
      '  round trips, statements per commit',
      `${show(roundTrips / groups)}, ${show(statements / groups)}`,
      { round_trips: roundTrips / groups, statements: statements / groups },
      `per message ${perMessage}`,
    ),
  ];
}

export function daemonUs({ daemonS, messages }: Sent): number {
  return (daemonS * 1e6) / messages;
}

export function showUs(us: number): string {
  return `${Math.round(us)} µs`;
}

function showTimes(times: number): string {
  return `${times.toFixed(2)} ×`;
}
