// The rows that a run prints, and the result file that it leaves behind with `--save`.
import type { Machine } from './machine.ts';
import type { Spread } from './spread.ts';

export interface Row {
  what: string;
  measured: string;
  /** What is demanded of the figure, and whether it is so; nothing is demanded of most. */
  limit?: Limit;
  /** What the same machine can do at most, measured in the same run; or how to read the figure. */
  beside: string;
  /** The figures in `measured` for programs; names end with their unit. */
  figures: Record<string, number>;
}

export interface Limit {
  wanted: string;
  met: boolean;
}

export function atLeast(figure: number, wanted: number, show: (value: number) => string = showRate): Limit {
  return { wanted: `≥ ${show(wanted)}`, met: figure >= wanted };
}

export function atMost(figure: number, wanted: number, show: (value: number) => string): Limit {
  return { wanted: `≤ ${show(wanted)}`, met: figure <= wanted };
}

export function withLimit(row: Row, ...limits: (Limit | null)[]): Row {
  const given = limits.filter((limit) => limit !== null);
  if (given.length === 0) return row;
  return {
    ...row,
    limit: { wanted: given.map(({ wanted }) => wanted).join(', '), met: given.every(({ met }) => met) },
  };
}

export function rateRow(what: string, perSecond: number, beside: string): Row {
  return { what, measured: showRate(perSecond), beside, figures: { per_s: round(perSecond) } };
}

export function latencyRow(what: string, { p50, p99 }: Spread, beside: string): Row {
  return { what, measured: showSpread({ p50, p99 }), beside, figures: { p50_ms: round(p50), p99_ms: round(p99) } };
}

export function factRow(what: string, measured: string, figures: Record<string, number>, beside = ''): Row {
  return { what, measured, beside, figures };
}

export function showRate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString('en')} /s`;
}

export function showShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function showSpread({ p50, p99 }: { p50: number; p99: number }): string {
  return `${showMs(p50)} / ${showMs(p99)} ms`;
}

export function showMs(ms: number): string {
  return ms.toFixed(ms < 10 ? 2 : 1);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function plainTable(rows: readonly Row[]): string {
  const what = widest(rows.map((row) => row.what));
  const measured = widest(rows.map((row) => row.measured));
  const limit = widest(rows.map(limitText));
  const line = (row: Row) =>
    `${row.what.padEnd(what)}  ${row.measured.padStart(measured)}  ${limitText(row).padEnd(limit)}  ${row.beside}`;
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

function limitText({ limit }: Row): string {
  return limit === undefined ? '' : `${limit.wanted}: ${limit.met ? 'yes' : 'NO'}`;
}

function widest(texts: string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}

const QUIET_LOAD_PER_CORE = 0.25;
const NOT_QUIET = 'NOTE: other programs were at work: on a quiet machine every figure would be better.';

export function machineLines(machine: Machine): string[] {
  const { date, cpu, cores, memoryGiB, os, node, fileSystem, loadBefore } = machine;
  return [
    `${date}, ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${os}, Node ${node}`,
    `data on ${fileSystem}; load average before the run: ${loadBefore.toFixed(2)}`,
    ...(loadBefore > QUIET_LOAD_PER_CORE * cores ? [NOT_QUIET] : []),
  ];
}

export function markdownResult(machine: Machine, command: string, rows: readonly Row[]): string {
  const cells = rows.map((row) => `| ${row.what} | ${row.measured} | ${limitText(row)} | ${row.beside} |`);
  return [
    `# ${machine.date}, ${machine.cpu}, ${machine.cores} cores`,
    '',
    ...machineLines(machine),
    '',
    `Command: \`${command}\`. What each row means: [../README.md](../README.md).`,
    '',
    '| what | measured | limit | beside it, in the same run |',
    '| --- | ---: | --- | --- |',
    ...cells,
    '',
    '```json',
    JSON.stringify({ machine, rows: rows.map(({ what, figures }) => ({ what, ...figures })) }, null, 1),
    '```',
    '',
  ].join('\n');
}
