// A profile as text: the table of parts, and the functions that cost most in each.
import { atMost, factRow, type Row, withLimit } from '../table.ts';
import { PARTS } from './parts.ts';
import type { DaemonProfile } from './profile-section.ts';
import type { PartTime } from './split.ts';

/** How far the sum of the parts may be from the processor time of the process. */
const TOLERANCE = 0.1;
const US_PER_MS = 1000;
const SHOWN_FUNCTIONS = 5;
const SHOWN_SHARE = 0.002;

export function showProfile({ section, split, messages }: DaemonProfile): string {
  const each = messages ?? US_PER_MS;
  const unit = messages === null ? 'ms' : 'µs per message';
  const shown = split.parts.filter(({ us }) => us > split.us * SHOWN_SHARE);
  const column = (us: number) => (Math.round(us / each) === 0 ? '' : Math.round(us / each).toLocaleString('en'));
  const rows = shown.map(({ part, us, byRole }) => {
    const { main, writer, courier, other } = byRole;
    const share = `${((us * 100) / split.us).toFixed(1)} %`;
    return `| ${[part, ...[us, main, writer, courier, other].map(column), share, PARTS[part]].join(' | ')} |`;
  });
  return [
    `${section}: processor time by part`,
    '',
    `| part | ${unit} | main | writer | couriers | others | share | what it is |`,
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...rows,
    '',
    `${split.samples.toLocaleString('en')} samples, one per ${(split.sampledUs / split.samples / 1000).toFixed(1)} ms of processor time.`,
    `JavaScript threads without any: ${column(split.unsampledUs) || 0} ${unit}.`,
    '',
    ...shown.flatMap((part) => expensiveFunctions(part, each)),
  ].join('\n');
}

/** For the table of the run: whether the profile can be believed. */
export function profileRow({ section, split, messages, plain }: DaemonProfile): Row {
  const { us, measuredUs } = split;
  const show = (time: number, of: number | null) => {
    return `${Math.round(time / (of ?? US_PER_MS)).toLocaleString('en')} ${of === null ? 'ms' : 'µs'}`;
  };
  const off = Math.abs(us - measuredUs) / measuredUs;
  const beside = [
    `measured ${show(measuredUs, messages)}${messages === null ? '' : ' per message'}`,
    ...(plain === null ? [] : [`${show(plain.used.processUs, plain.messages)} without a profile`]),
  ];
  return withLimit(
    factRow(
      `profile of ${section}: sum of its parts`,
      show(us, messages),
      { parts_us: us, measured_us: measuredUs, messages: messages ?? 0 },
      beside.join('; '),
    ),
    atMost(off, TOLERANCE, (share) => `${Math.round(share * 100)} % off`),
  );
}

function expensiveFunctions({ part, functions }: PartTime, each: number): string[] {
  const most = [...functions].sort((a, b) => b[1] - a[1]).slice(0, SHOWN_FUNCTIONS);
  return [part, ...most.map(([name, us]) => `${(us / each).toFixed(1).padStart(10)}  ${name}`)];
}
