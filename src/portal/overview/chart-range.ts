// The times that charts can show: how far back, and in what steps. All of them end with the present hour.
import { HOUR_MS } from '../../base/clock.ts';
import { type ChartPoint, type HourSpan, noFigures } from '../../store/figures.ts';

export interface ChartRange {
  name: '24h' | '7d' | '30d' | '90d';
  label: string;
  hours: number;
  stepHours: number;
}

export const RANGES: readonly ChartRange[] = [
  { name: '24h', label: '24 hours', hours: 24, stepHours: 1 },
  { name: '7d', label: '7 days', hours: 7 * 24, stepHours: 6 },
  { name: '30d', label: '30 days', hours: 30 * 24, stepHours: 24 },
  { name: '90d', label: '90 days', hours: 90 * 24, stepHours: 24 },
];

const [DAY, USUAL] = [RANGES[0]!, RANGES[1]!];

export function chosenRange(name: string | null): ChartRange {
  return RANGES.find((range) => range.name === name) ?? USUAL;
}

const ENOUGH_FOR_DAYS_HOURS = 48;

/** Unless one was asked for, a day by the hour as long as all there is fits into two: days would be two bars. */
export function fittingRange(
  name: string | null,
  points: readonly Pick<ChartPoint, 'hour'>[],
  now: number,
): ChartRange {
  if (RANGES.some((range) => range.name === name)) return chosenRange(name);
  const [first] = points;
  return first && first.hour > Math.floor(now / HOUR_MS) - ENOUGH_FOR_DAYS_HOURS ? DAY : USUAL;
}

/** Whole steps, of which the last one is under way. */
export function spanOf({ hours, stepHours }: ChartRange, now: number): HourSpan & { stepHours: number } {
  const hour = Math.floor(now / HOUR_MS);
  const untilHour = hour - (hour % stepHours) + stepHours;
  return { fromHour: untilHour - hours, untilHour, stepHours };
}

/** One point for each step, also where nothing has happened. */
export function everyStep(points: readonly ChartPoint[], span: HourSpan & { stepHours: number }): ChartPoint[] {
  const known = new Map(points.map((point) => [point.hour, point]));
  const steps: ChartPoint[] = [];
  for (let hour = span.fromHour; hour < span.untilHour; hour += span.stepHours) {
    steps.push(known.get(hour) ?? { hour, figures: noFigures() });
  }
  return steps;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** In UTC, as steps begin. Short where it stands below a chart. */
export function stepName(hour: number, { stepHours }: ChartRange, form: 'short' | 'long'): string {
  const at = new Date(hour * HOUR_MS);
  const day = `${MONTHS[at.getUTCMonth()]} ${at.getUTCDate()}`;
  const time = `${String(at.getUTCHours()).padStart(2, '0')}:00`;
  if (stepHours >= 24) return day;
  if (form === 'long') return `${day}, ${time} UTC`;
  return stepHours === 1 ? time : day;
}
