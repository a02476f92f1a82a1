// GET /stats: the sums that the portal's charts show, by hour or day.
import { type Clock, DAY_MS, HOUR_MS, toTimestamp } from '../base/clock.ts';
import { isRefusal, type Refusal } from '../base/refusals.ts';
import { FIGURE_NAMES, type FigureName, type Figures, noFigures } from '../store/figures.ts';
import type { PortalReads } from '../store/reads.ts';
import { ok } from './answer.ts';
import type { Endpoint } from './endpoint.ts';
import { invalid, readChoice, readTime, refuseUnknown, refuseUnread } from './query.ts';

export interface StatsParts {
  clock: Clock;
  reads: Pick<PortalReads, 'chartFigures'>;
}

const STEPS = ['hour', 'day'] as const;
type Step = (typeof STEPS)[number];

interface StepRule {
  hours: number;
  /** Days; sums are kept for 400. */
  maxDays: number;
  defaultDays: number;
}

const RULES: Readonly<Record<Step, StepRule>> = {
  hour: { hours: 1, maxDays: 31, defaultDays: 1 },
  day: { hours: 24, maxDays: 400, defaultDays: 30 },
};

const HOURS_PER_DAY = DAY_MS / HOUR_MS;

export function statsEndpoints({ clock, reads }: StatsParts): Endpoint[] {
  return [
    {
      method: 'GET',
      pattern: '/stats',
      scope: null,
      body: 'none',
      async answer({ tenant, query }) {
        const asked = readSpan(query, clock.now());
        if (isRefusal(asked)) return asked;
        const { by, fromHour, untilHour } = asked;
        const stepHours = RULES[by].hours;
        const found = await reads.chartFigures(tenant.id, { fromHour, untilHour, stepHours });
        if (found.kind === 'refused') return refuseUnread(found.reason);
        const sums = new Map(found.value.points.map(({ hour, figures }) => [hour, figures]));
        const steps = [];
        for (let hour = fromHour; hour < untilHour; hour += stepHours) {
          steps.push({ start: timeOf(hour), ...shown(sums.get(hour) ?? noFigures()) });
        }
        const span = { from: timeOf(fromHour), to: timeOf(untilHour), by };
        return ok({ ...span, total: shown(totalOf(sums.values())), steps });
      },
    },
  ];
}

interface Span {
  by: Step;
  fromHour: number;
  /** The one after the last. */
  untilHour: number;
}

/** Whole steps: what contains `from`, up to the end of what contains the moment before `to`. */
function readSpan(query: URLSearchParams, now: number): Span | Refusal {
  const unknown = refuseUnknown(query, ['from', 'to', 'by']);
  if (unknown) return unknown;
  const by = readChoice(query, 'by', STEPS) ?? 'day';
  if (isRefusal(by)) return by;
  const { hours, maxDays, defaultDays } = RULES[by];
  const to = readTime(query, 'to') ?? now + 1;
  if (isRefusal(to)) return to;
  const stepMs = hours * HOUR_MS;
  const untilHour = Math.ceil(to / stepMs) * hours;
  const from = readTime(query, 'from') ?? (untilHour - defaultDays * HOURS_PER_DAY) * HOUR_MS;
  if (isRefusal(from)) return from;
  if (from >= to) return invalid('from', 'must be before to.');
  const fromHour = Math.floor(from / stepMs) * hours;
  if (untilHour - fromHour > maxDays * HOURS_PER_DAY) {
    return invalid('from', `must be at most ${maxDays} days before to when by is ${by}.`);
  }
  return { by, fromHour, untilHour };
}

function totalOf(sums: Iterable<Figures>): Figures {
  const total = noFigures();
  for (const figures of sums) for (const name of FIGURE_NAMES) total[name] += figures[name];
  return total;
}

const FIELDS: Readonly<Record<FigureName, string>> = {
  accepted: 'accepted',
  delivered: 'delivered',
  deferred: 'deferred',
  bouncedHard: 'bounced_hard',
  bouncedSoft: 'bounced_soft',
  bouncedBlock: 'bounced_block',
  bouncedLater: 'bounced_later',
  failed: 'failed',
  canceled: 'canceled',
  complained: 'complained',
  opened: 'opened',
  openedByMachine: 'opened_by_machine',
  clicked: 'clicked',
};

function shown(figures: Figures): Record<string, number> {
  return Object.fromEntries(FIGURE_NAMES.map((name) => [FIELDS[name], figures[name]]));
}

function timeOf(hour: number): string {
  return toTimestamp(hour * HOUR_MS);
}
