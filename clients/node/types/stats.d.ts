// What happened, in numbers.

export interface StatsQuery {
  /** A time with its offset or a date. */
  from?: string | undefined;
  to?: string | undefined;
  /** `day` unless given. */
  by?: 'hour' | 'day' | undefined;
  /** `name:value`: only messages with this tag. */
  tag?: string | undefined;
}

export interface Stats {
  from: string;
  to: string;
  by: 'hour' | 'day';
  tag: string | null;
  /** Of a tag: false if it was not counted on some day, which had too many. */
  complete: boolean | null;
  total: Figures;
  /** Oldest first. */
  steps: StatsStep[];
}

export interface StatsStep extends Figures {
  start: string;
}

export interface Figures {
  accepted: number;
  delivered: number;
  deferred: number;
  bouncedHard: number;
  bouncedSoft: number;
  bouncedBlock: number;
  /** After delivery; included in the three above. */
  bouncedLater: number;
  failed: number;
  canceled: number;
  complained: number;
  opened: number;
  /** Included in `opened`. */
  openedByMachine: number;
  clicked: number;
}
