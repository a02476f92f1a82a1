// How needed DNS records are shown: as a table, with what DNS has, and while they are waited for.
import { setTimeout as sleep } from 'node:timers/promises';
import { atStep } from '../base/backoff.ts';
import { SECOND_MS } from '../base/clock.ts';
import { counted } from '../base/text/counted.ts';
import type { CheckedRecord } from '../domains/check-needed.ts';
import type { DnsNeeds, NeededRecord } from '../domains/needed-records.ts';
import type { RecordState } from '../domains/record-state.ts';
import type { DnsPlan } from '../operator/dns-needs.ts';
import type { LocalContext } from './command.ts';
import { renderTable } from './table.ts';

/** A record is published by a person, in minutes; the zone's own servers are asked, and they may be somebody else's. */
const PAUSES_MS = [1, 2, 3, 5, 10, 20, 30, 60].map((secs) => secs * SECOND_MS);

interface Waiting {
  first: DnsPlan;
  /** Ends the wait, with the states as last seen. */
  signal?: AbortSignal;
  /** Anew each time: the daemon's first start may make a key meanwhile. */
  plan(): Promise<DnsPlan>;
  look(needs: DnsNeeds): Promise<CheckedRecord[]>;
  /** The values stand above already. */
  isBrief?: boolean;
}

/** Prints all once, then each record whose state has changed. */
export async function waitForAll(
  context: Pick<LocalContext, 'json' | 'print'>,
  { first, plan, look, signal, isBrief = false }: Waiting,
): Promise<CheckedRecord[]> {
  const print = (text: string) => {
    if (!context.json) context.print(text);
  };
  let records = await look(first.needs);
  print([checkedTable(records.map(shown), isBrief), ...notesOf(first).flatMap((note) => ['', note])].join('\n'));
  for (let round = 1; records.some(({ state }) => state !== 'right'); round++) {
    if (round === 1) print('\nChecking again until all are right. Ctrl-C ends this and changes nothing.');
    await sleep(atStep(PAUSES_MS, round)!, null, { ...(signal && { signal }) }).catch(() => {});
    if (signal?.aborted) break;
    const before = new Map(records.map((record) => [keyOf(record), record.state]));
    const next = await Promise.race([plan().then(({ needs }) => look(needs)), aborted(signal)]);
    if (next === null) break;
    records = next;
    const changed = records.filter((record) => before.get(keyOf(record)) !== record.state);
    if (changed.length > 0) print(changed.map((record) => lineOf(shown(record), isBrief).join('\n')).join('\n'));
  }
  return records;
}

function aborted(signal: AbortSignal | undefined): Promise<null> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(null), { once: true }));
}

function keyOf({ name, type, what, ip, value }: NeededRecord): string {
  return [what, name, type, ip, what === 'DKIM' ? '' : value].join(' ');
}

export function notesOf({ notes, domainsLeftOut }: DnsPlan): string[] {
  if (domainsLeftOut === 0) return notes;
  return [...notes, `${counted(domainsLeftOut, 'domain is', 'domains are')} left out: --domain DOMAIN shows one.`];
}

type Shown = ReturnType<typeof shown>;

export function shown(record: NeededRecord | CheckedRecord) {
  const checked = 'state' in record ? record : null;
  return {
    domain: record.domain,
    what: record.what,
    name: record.name,
    type: record.type,
    value: record.value,
    unknown: record.unknown,
    required: record.required,
    purpose: record.purpose,
    zone: record.zone,
    keeper: record.zone ?? `hoster of ${record.ip}`,
    state: checked?.state ?? null,
    found: checked?.found ?? null,
    message: checked?.message ?? null,
  };
}

export function neededTable(records: readonly Shown[]): string {
  return renderTable(
    records,
    [
      { title: 'WHAT', value: ({ what, required }) => (required ? what : `${what} (recommended)`) },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'TYPE', value: ({ type }) => type },
      { title: 'ZONE', value: ({ keeper }) => keeper },
      // Last, since keys are long.
      { title: 'VALUE', value: ({ value, unknown }) => value ?? `unknown: ${unknown}` },
    ],
    'No records.',
  );
}

const ORDER: readonly RecordState[] = ['right', 'unknown', 'wrong', 'missing'];

export function checkedTable(records: readonly Shown[], isBrief = false): string {
  if (records.length === 0) return 'No records.';
  const counts = ORDER.map((state) => [records.filter((record) => record.state === state).length, state] as const);
  const sum = counts.filter(([count]) => count > 0).map(([count, state]) => `${count} ${state}`);
  return [...records.flatMap((record) => lineOf(record, isBrief)), '', `${sum.join(', ')}.`].join('\n');
}

/** What is not right says what to publish, so that the table need not be printed again. */
function lineOf({ state, what, keeper, message, name, type, value }: Shown, isBrief: boolean): string[] {
  const line = `${(state ?? '').padEnd(7)}  ${what}: ${message}`;
  if (state === 'right' || value === null || isBrief) return [line];
  return [line, `         -> in the zone of ${keeper}: ${name} ${type} ${value}`];
}
