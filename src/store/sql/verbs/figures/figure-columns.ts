// The columns of sums for charts, which those by provider and those by tag have in common.
import { FIGURE_NAMES, type FigureName, type Figures } from '../../../figures.ts';
import type { Row } from '../../values.ts';

const COLUMNS: Readonly<Record<FigureName, string>> = {
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

export const COLUMN_LIST = FIGURE_NAMES.map((name) => COLUMNS[name]);
export const SUM_LIST = COLUMN_LIST.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** In the order of COLUMN_LIST. */
export function figureValues(figures: Partial<Figures>): number[] {
  return FIGURE_NAMES.map((name) => figures[name] ?? 0);
}

export function figuresFromRow(row: Row): Figures {
  return Object.fromEntries(FIGURE_NAMES.map((name) => [name, row[COLUMNS[name]]])) as Figures;
}

/** Most of them are one or two: the others are not looked at. */
export function addFigures(to: Figures, counts: Partial<Figures>): void {
  for (const name in counts) to[name as FigureName] += counts[name as FigureName] ?? 0;
}
