// Contract: totals over the whole store that are cheap to read, for metrics.

import type { Tag } from './submissions.ts';

export interface FiguresStore {
  /** Messages that are accepted and not finished, of all tenants. */
  countOpenMessages(): Promise<number>;
}

// Contract: sums for charts, per tenant, hour and receiving provider. The verb that accepts messages counts them.
// Everything else is counted later, in bounded slices along the events committed since; the position moves in the
// transaction that adds to the sums, so no event is lost or counted twice.

export const FIGURE_NAMES = [
  ...(['accepted', 'delivered', 'deferred', 'bouncedHard', 'bouncedSoft', 'bouncedBlock', 'bouncedLater'] as const),
  ...(['failed', 'canceled', 'complained', 'opened', 'openedByMachine', 'clicked'] as const),
] as const;

export type FigureName = (typeof FIGURE_NAMES)[number];

/**
 * `bouncedLater` counts the bounces of messages that had been delivered, as a bounce report told. `opened` counts the
 * first fetch of each message's pixel, `openedByMachine` those of them that a person most likely did not make,
 * `clicked` the first fetch of each link. The others count what happened to messages.
 */
export type Figures = Record<FigureName, number>;

/**
 * Mail whose provider is not known: nothing was sent to its domain yet, or it cannot be reached. All accepted
 * messages are counted here, since the provider is known only at the first attempt.
 */
export const UNKNOWN_PROVIDER = '';
/** Anyone can make up domains, so only so many providers are kept apart per tenant and hour. */
export const OTHER_PROVIDERS = 'other';
export const PROVIDERS_PER_HOUR = 20;

export interface FigureSum {
  tenantId: string;
  /** Since 1970. */
  hour: number;
  /** Name of the MX group. */
  provider: string;
  figures: Figures;
}

/** Tenants make tags up, so only so many are counted per day: the first, whatever comes later. */
export const TAGS_PER_DAY = 100;
/** Of them, with the same name. */
export const TAGS_PER_NAME = 50;

export interface TagSum {
  tenantId: string;
  hour: number;
  /** `name:value` */
  tag: string;
  /** Those that are not 0. */
  figures: Partial<Figures>;
}

/** What was found by tag: in the events of a tally, and in the submissions beyond a position of their own. */
export interface TagTally {
  from: number;
  to: number;
  /** Of tags that their day has room for, as long as the tally is the next one. */
  sums: TagSum[];
}

/** Of receivers, kept apart by the service for each source address and hour. */
export const SERVICE_PROVIDERS_PER_HOUR = 100;

/** What happened to the mail of all tenants that went out from one of our addresses to one receiver. */
export interface ServiceSum {
  hour: number;
  /** Empty: not known, because nothing was sent, or because the system chose it. */
  source: string;
  provider: string;
  figures: Figures;
}

/** The events counted beyond a position. */
export interface Tally {
  /** The position that it was counted from, and the position after it. */
  from: number;
  to: number;
  sums: FigureSum[];
  tags: TagTally;
  service: ServiceSum[];
  /** Events. */
  counted: number;
  /** Whether there is more to count. */
  more: boolean;
}

/** Hours since 1970: the first, and the one after the last. */
export interface HourSpan {
  fromHour: number;
  untilHour: number;
}

export interface ChartPoint {
  /** The first hour of this step. */
  hour: number;
  figures: Figures;
}

export interface ProviderFigures {
  provider: string;
  figures: Figures;
}

export interface ChartFigureStore {
  /** At most `limit` events; reads only. */
  tallyNext(limit: number): Promise<Tally>;
  /** False, and nothing is changed, when another tally was added meanwhile. */
  addTally(tally: Tally): Promise<boolean>;
  /** Erases up to `limit` sums of earlier hours; returns how many. */
  forgetFigures(beforeHour: number, limit: number): Promise<number>;
  /** Steps without events are left out. */
  chartOf(tenantId: string, span: HourSpan & { stepHours: number }): Promise<ChartPoint[]>;
  /** Sorted by finished messages, most first. */
  providersOf(tenantId: string, span: HourSpan): Promise<ProviderFigures[]>;
}

export interface ServiceFiguresAsked extends HourSpan {
  stepHours: number;
  /** Only of this one; null: of all. */
  source: string | null;
  provider: string | null;
  /** Sources and providers. */
  limit: number;
}

export interface ServiceFigures {
  /** Of what was asked for. Steps without events are left out. */
  points: ChartPoint[];
  /** Of the asked provider. Sorted by finished messages, most first. */
  sources: { source: string; figures: Figures }[];
  /** Of the asked source. Sorted as sources are. */
  providers: ProviderFigures[];
}

/** Sums of all tenants. `addTally` adds to them. */
export interface ServiceFigureStore {
  /** Erases up to `limit` sums of earlier hours; returns how many. */
  forgetServiceFigures(beforeHour: number, limit: number): Promise<number>;
}

export interface TagChart {
  /** Steps without events are left out. */
  points: ChartPoint[];
  /** False when the tag may have been left out of one of the days, since there were too many. */
  complete: boolean;
}

export interface TagFigures {
  /** Sorted by messages, most first. */
  tags: { tag: string; figures: Figures }[];
  /** False when tags may have been left out of one of the days. */
  complete: boolean;
}

/** Sums by tag, of each hour for a month and of each day for as long as those of charts. `addTally` adds to them. */
export interface TagFigureStore {
  /** Erases up to `limit` sums of hours and days that began before; returns how many. */
  forgetTagFigures(before: { hours: number; days: number }, limit: number): Promise<number>;
  /** Of whole hours or days. */
  tagChartOf(tenantId: string, asked: HourSpan & { tag: Tag; stepHours: 1 | 24 }): Promise<TagChart>;
  /** Of whole days, or of hours that are still there. */
  tagsOf(tenantId: string, asked: HourSpan & { limit: number }): Promise<TagFigures>;
}

const NONE = Object.fromEntries(FIGURE_NAMES.map((name) => [name, 0])) as Figures;

export function noFigures(): Figures {
  return { ...NONE };
}
