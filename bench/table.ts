// The rows that a run prints, and the result file that it leaves behind with `--save`.
import type { Machine } from './machine.ts';
import type { Spread } from './spread.ts';

export interface Row {
  what: string;
  measured: string;
  /** What the same machine can do at most, measured in the same run; or how to read the figure. */
  beside: string;
  /** The figures in `measured` for programs; names end with their unit. */
  figures: Record<string, number>;
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

export function showSpread({ p50, p99 }: { p50: number; p99: number }): string {
  return `${showMs(p50)} / ${showMs(p99)} ms`;
}

function showMs(ms: number): string {
  return ms.toFixed(ms < 10 ? 2 : 1);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function plainTable(rows: readonly Row[]): string {
  const widths = [widest(rows.map(({ what }) => what)), widest(rows.map(({ measured }) => measured))] as const;
  const line = ({ what, measured, beside }: Row) =>
    `${what.padEnd(widths[0])}  ${measured.padStart(widths[1])}  ${beside}`.trimEnd();
  return rows.map(line).join('\n');
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
  const cells = rows.map(({ what, measured, beside }) => `| ${what} | ${measured} | ${beside} |`);
  return [
    `# ${machine.date}, ${machine.cpu}, ${machine.cores} cores`,
    '',
    ...machineLines(machine),
    '',
    `Command: \`${command}\`. What each row means: [../README.md](../README.md).`,
    '',
    '| what | measured | beside it, in the same run |',
    '| --- | ---: | --- |',
    ...cells,
    '',
    '```json',
    JSON.stringify({ machine, rows: rows.map(({ what, figures }) => ({ what, ...figures })) }, null, 1),
    '```',
    '',
  ].join('\n');
}
