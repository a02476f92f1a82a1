// Contract: numbers about the whole store that cost little to know, for metrics.

export interface FiguresStore {
  /** Messages that are accepted and not finished, of all tenants. */
  countOpenMessages(): Promise<number>;
}

// Contract: sums for charts, per tenant, hour and receiving provider. Accepted messages are counted by the verb
// that accepts them. All else is counted afterwards, in bounded slices along the events committed since; the
// position of that walk moves in the transaction that adds to the sums: nothing is lost or counted twice.

export const FIGURE_NAMES = [
  ...(['accepted', 'delivered', 'deferred', 'bouncedHard', 'bouncedSoft', 'bouncedBlock', 'bouncedLater'] as const),
  ...(['failed', 'complained', 'opened', 'openedByMachine', 'clicked'] as const),
] as const;

export type FigureName = (typeof FIGURE_NAMES)[number];

/**
 * `bouncedLater` counts those of the bounces that a report has told of, of messages that had been delivered.
 * `opened` counts the first fetch of each message's pixel, `openedByMachine` those of them that were most likely made
 * by no person, `clicked` the first fetch of each link. The others count what has happened to messages.
 */
export type Figures = Record<FigureName, number>;

/**
 * Of mail whose receiver is not known: nothing was sent to its domain yet, or it cannot be reached. Accepted
 * messages are all counted here: who receives them shows at their first attempt.
 */
export const UNKNOWN_PROVIDER = '';
/** Everybody can make up domains: of one tenant and hour only so many providers are told apart. */
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

/** The events that follow those that are counted. */
export interface Tally {
  /** The position that it was counted from, and the one that follows. */
  from: number;
  to: number;
  sums: FigureSum[];
  /** Events. */
  counted: number;
  /** Whether something was left for the next one. */
  more: boolean;
}

/** Hours since 1970: the first, and the one behind the last. */
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
  /** False, and nothing is changed, when events have been counted further meanwhile. */
  addTally(tally: Tally): Promise<boolean>;
  /** Erases up to `limit` sums of earlier hours; returns how many. */
  forgetFigures(beforeHour: number, limit: number): Promise<number>;
  /** Steps without any figure are left out. */
  chartOf(tenantId: string, span: HourSpan & { stepHours: number }): Promise<ChartPoint[]>;
  /** Those first at which most messages have come to an end. */
  providersOf(tenantId: string, span: HourSpan): Promise<ProviderFigures[]>;
}

const NONE = Object.fromEntries(FIGURE_NAMES.map((name) => [name, 0])) as Figures;

export function noFigures(): Figures {
  return { ...NONE };
}
