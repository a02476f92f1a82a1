// What the daemons of several checkouts took in their turns, each one's figures beside the first one's of the same round.
import { spreadOf } from '../spread.ts';
import { factRow, type Row, showRate } from '../table.ts';

export interface Turn {
  perSecond: number;
  /** Processor time for each message, of the main thread and of all others; NaN where it is not known. */
  mainUs: number;
  othersUs: number;
}

export interface Side {
  name: string;
  turns: Turn[];
}

export function rowsOfTurns(what: string, sides: readonly Side[]): Row[] {
  const [first] = sides;
  return sides.map((side) => {
    const figures = (of: (turn: Turn) => number) => {
      const values = side.turns.map(of);
      const times = values.map((value, round) => value / of(first!.turns[round]!));
      return { median: median(values), times: median(times) };
    };
    const [rate, main, others] = [
      figures(({ perSecond }) => perSecond),
      figures(({ mainUs }) => mainUs),
      figures(({ othersUs }) => othersUs),
    ];
    const all = figures(({ mainUs, othersUs }) => mainUs + othersUs);
    const isFirst = side === first;
    const beside = (text: string, times: number) => (isFirst ? text : `${text} (${showTimes(times)})`);
    const used = [
      beside(`main thread ${main.median.toFixed(0)} µs`, main.times),
      beside(`all others ${others.median.toFixed(0)}`, others.times),
      ...(isFirst ? [] : [`together ${showTimes(all.times)}`]),
    ].join(', ');
    return factRow(
      `${what}: ${side.name}`,
      beside(showRate(rate.median), rate.times),
      {
        per_s: rate.median,
        main_us: main.median,
        others_us: others.median,
        times_rate: rate.times,
        times_us: all.times,
      },
      Number.isNaN(all.median) ? '' : used,
    );
  });
}

function median(values: readonly number[]): number {
  return spreadOf(values).p50;
}

function showTimes(times: number): string {
  return `${times.toFixed(3)} ×`;
}
