// Contract: totals over the whole store that are cheap to read, for metrics.

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

/** The events counted beyond a position. */
export interface Tally {
  /** The position that it was counted from, and the position after it. */
  from: number;
  to: number;
  sums: FigureSum[];
  /** Events. */
  counted: number;
  /** Whether there are more events to count. */
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

const NONE = Object.fromEntries(FIGURE_NAMES.map((name) => [name, 0])) as Figures;

export function noFigures(): Figures {
  return { ...NONE };
}
