// GET /stats: the sums that the portal's charts show, by hour or day, of all messages or of those with a tag.
import { type Clock, DAY_MS, HOUR_MS, toTimestamp } from '../../base/clock.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { FIGURE_NAMES, type FigureName, type Figures, noFigures } from '../../store/figures.ts';
import type { PortalReads } from '../../store/reads.ts';
import type { Tag } from '../../store/submissions.ts';
import { TAG_HOURS_KEPT_MS } from '../../upkeep/count-figures.ts';
import { ok } from '../answer.ts';
import type { Endpoint } from '../endpoint.ts';
import { invalid, readChoice, readTag, readTime, refuseUnknown, refuseUnread } from '../query.ts';

export interface StatsParts {
  clock: Clock;
  reads: Pick<PortalReads, 'chartFigures' | 'tagChart'>;
}

const STEPS = ['hour', 'day'] as const;
type Step = (typeof STEPS)[number];

interface StepRule {
  hours: 1 | 24;
  /** Days; sums are kept for 400. */
  maxDays: number;
  defaultDays: number;
}

const RULES: Readonly<Record<Step, StepRule>> = {
  hour: { hours: 1, maxDays: 31, defaultDays: 1 },
  day: { hours: 24, maxDays: 400, defaultDays: 30 },
};

const HOURS_PER_DAY = DAY_MS / HOUR_MS;
/** A day less than they are kept, which is until some hour of a day. */
const TAG_HOURS_ASKED_MS = TAG_HOURS_KEPT_MS - DAY_MS;

export function statsEndpoints({ clock, reads }: StatsParts): Endpoint[] {
  return [
    {
      method: 'GET',
      pattern: '/stats',
      scope: null,
      body: 'none',
      async answer({ tenant, query }) {
        const now = clock.now();
        const asked = readSpan(query(), now);
        if (isRefusal(asked)) return asked;
        const tag = readTagWithin(query(), asked, now);
        if (isRefusal(tag)) return tag;
        const { by, fromHour, untilHour } = asked;
        const span = { fromHour, untilHour, stepHours: RULES[by].hours };
        const found = await (tag === null
          ? reads.chartFigures(tenant.id, span)
          : reads.tagChart(tenant.id, { ...span, tag }));
        if (found.kind === 'refused') return refuseUnread(found.reason);
        const sums = new Map(found.value.points.map(({ hour, figures }) => [hour, figures]));
        const steps = [];
        for (let hour = fromHour; hour < untilHour; hour += span.stepHours) {
          steps.push({ start: timeOf(hour), ...shown(sums.get(hour) ?? noFigures()) });
        }
        const about = { from: timeOf(fromHour), to: timeOf(untilHour), by };
        const ofTag = 'complete' in found.value && { tag: textOf(tag!), complete: found.value.complete };
        return ok({ ...about, ...ofTag, total: shown(totalOf(sums.values())), steps });
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
  const unknown = refuseUnknown(query, ['from', 'to', 'by', 'tag']);
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

function readTagWithin(query: URLSearchParams, { by, fromHour }: Span, now: number): Tag | null | Refusal {
  const tag = readTag(query);
  const isKept = by === 'day' || fromHour >= Math.floor((now - TAG_HOURS_ASKED_MS) / HOUR_MS);
  if (tag === null || isRefusal(tag) || isKept) return tag;
  const days = TAG_HOURS_ASKED_MS / DAY_MS;
  return invalid('from', `must be at most ${days} days ago when by is hour and there is a tag.`);
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

function textOf({ name, value }: Tag): string {
  return `${name}:${value}`;
}

function timeOf(hour: number): string {
  return toTimestamp(hour * HOUR_MS);
}
