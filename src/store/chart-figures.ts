// Contract: sums for charts, per tenant, hour and receiving provider. They are not written when mail is
// taken in or recorded, but counted afterwards, in bounded slices along what has been committed since.
// The position of that walk moves in the transaction that adds to the sums: nothing is lost or counted twice.

export const FIGURE_NAMES = [
  ...(['accepted', 'delivered', 'deferred', 'bouncedHard', 'bouncedSoft', 'bouncedBlock', 'failed'] as const),
  ...(['complained', 'opened', 'openedByMachine', 'clicked'] as const),
] as const;

export type FigureName = (typeof FIGURE_NAMES)[number];

/**
 * `opened` counts the first fetch of each message's pixel, `openedByMachine` those of them that were most
 * likely made by no person, `clicked` the first fetch of each link. The others count what has happened to messages.
 */
export type Figures = Record<FigureName, number>;

/** Of mail whose receiver is not known: nothing was sent to its domain yet, or it cannot be reached. */
export const UNKNOWN_PROVIDER = '';
/** Everybody can make up domains: of one tenant and hour only so many providers are told apart. */
export const OTHER_PROVIDERS = 'other';
export const PROVIDERS_PER_HOUR = 20;

/** Accepted messages are counted along submissions, all else along events. */
export const FIGURE_SOURCES = ['submissions', 'events'] as const;
export type FigureSource = (typeof FIGURE_SOURCES)[number];

export interface FigureSum {
  tenantId: string;
  /** Since 1970. */
  hour: number;
  /** Name of the MX group. */
  provider: string;
  figures: Figures;
}

/** What follows the position of one source. */
export interface Tally {
  source: FigureSource;
  /** The position that it was counted from, and the one that follows. */
  from: number;
  to: number;
  sums: FigureSum[];
  /** Messages or events. */
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
  /** At most about `limit` messages or events; reads only. */
  tallyNext(source: FigureSource, limit: number): Promise<Tally>;
  /** False, and nothing is changed, when the source has been counted further meanwhile. */
  addTally(tally: Tally): Promise<boolean>;
  /** Erases up to `limit` sums of earlier hours; returns how many. */
  forgetFigures(beforeHour: number, limit: number): Promise<number>;
  /** Steps without any figure are left out. */
  chartOf(tenantId: string, span: HourSpan & { stepHours: number }): Promise<ChartPoint[]>;
  /** Those with most mail first. */
  providersOf(tenantId: string, span: HourSpan): Promise<ProviderFigures[]>;
}

export function noFigures(): Figures {
  return Object.fromEntries(FIGURE_NAMES.map((name) => [name, 0])) as Figures;
}
