// Sums for charts in SQLite: adding what was counted, reading it by time and by provider, and forgetting it.
import {
  type ChartFigureStore,
  type ChartPoint,
  FIGURE_NAMES,
  type FigureName,
  type FigureSum,
  type Figures,
  type HourSpan,
  OTHER_PROVIDERS,
  PROVIDERS_PER_HOUR,
  type ProviderFigures,
  type Tally,
  UNKNOWN_PROVIDER,
} from '../chart-figures.ts';
import type { Connection } from './connection.ts';
import { positionOf, type Queries, tallyNext } from './tally.ts';
import { type Row, toId } from './values.ts';

/** Names of groups are lists of hosts, and can be long. */
const MAX_PROVIDER_CHARS = 100;

export function chartFigureVerbs(db: Connection): ChartFigureStore {
  return {
    tallyNext: (source, limit) => db.read(() => tallyNext(db, source, limit)),
    addTally: (tally) => db.writeMail(() => addTally(db, tally)),
    forgetFigures: (beforeHour, limit) => db.writeMail(() => forgetFigures(db, beforeHour, limit)),
    chartOf: (tenantId, span) => db.read(() => chartOf(db, tenantId, span)),
    providersOf: (tenantId, span) => db.read(() => providersOf(db, tenantId, span)),
  };
}

const COLUMNS: Readonly<Record<FigureName, string>> = {
  accepted: 'accepted',
  delivered: 'delivered',
  deferred: 'deferred',
  bouncedHard: 'bounced_hard',
  bouncedSoft: 'bounced_soft',
  bouncedBlock: 'bounced_block',
  failed: 'failed',
  complained: 'complained',
  opened: 'opened',
  openedByMachine: 'opened_by_machine',
  clicked: 'clicked',
};
const COLUMN_LIST = FIGURE_NAMES.map((name) => COLUMNS[name]);
const SUM_LIST = COLUMN_LIST.map((column) => `sum(${column}) AS ${column}`).join(', ');

const ADD = `
  INSERT INTO chart_figures (tenant_id, hour, provider, ${COLUMN_LIST.join(', ')})
  VALUES (?, ?, ?, ${COLUMN_LIST.map(() => '?').join(', ')})
  ON CONFLICT (tenant_id, hour, provider)
  DO UPDATE SET ${COLUMN_LIST.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`;

function addTally(db: Connection, { source, from, to, sums }: Tally): boolean {
  if (positionOf(db, source) !== from) return false;
  for (const sum of sums) {
    const figures = FIGURE_NAMES.map((name) => sum.figures[name]);
    db.sql(ADD).run(toId(sum.tenantId), sum.hour, providerFor(db, sum), ...figures);
  }
  db.sql('UPDATE chart_positions SET position = ? WHERE source = ?').run(to, source);
  return true;
}

/** Its own name while there is room among those of this tenant and hour. */
function providerFor(db: Connection, { tenantId, hour, provider }: FigureSum): string {
  const name = provider.slice(0, MAX_PROVIDER_CHARS);
  if (name === UNKNOWN_PROVIDER || name === OTHER_PROVIDERS) return name;
  const tenant = toId(tenantId);
  const known = db.sql('SELECT 1 FROM chart_figures WHERE tenant_id = ? AND hour = ? AND provider = ?');
  if (known.get(tenant, hour, name) !== undefined) return name;
  const named = db.sql(
    `SELECT count(*) FROM chart_figures WHERE tenant_id = ? AND hour = ? AND provider NOT IN ('', 'other')`,
  );
  return (named.pluck().get(tenant, hour) as number) < PROVIDERS_PER_HOUR ? name : OTHER_PROVIDERS;
}

function forgetFigures(db: Connection, beforeHour: number, limit: number): number {
  const old = db.sql('SELECT tenant_id, hour, provider FROM chart_figures WHERE hour < ? LIMIT ?');
  const forget = db.sql('DELETE FROM chart_figures WHERE tenant_id = ? AND hour = ? AND provider = ?');
  const rows = old.all(beforeHour, limit) as Row[];
  for (const { tenant_id, hour, provider } of rows) forget.run(tenant_id, hour, provider);
  return rows.length;
}

export function chartOf(db: Queries, tenantId: string, span: HourSpan & { stepHours: number }): ChartPoint[] {
  const rows = db.sql(
    `SELECT hour - hour % @step AS step, ${SUM_LIST} FROM chart_figures
     WHERE tenant_id = @tenant AND hour >= @from AND hour < @until GROUP BY step ORDER BY step`,
  );
  const { fromHour: from, untilHour: until, stepHours: step } = span;
  const points = rows.all({ tenant: toId(tenantId), from, until, step }) as Row[];
  return points.map((row) => ({ hour: row.step as number, figures: figuresFromRow(row) }));
}

export function providersOf(db: Queries, tenantId: string, { fromHour, untilHour }: HourSpan): ProviderFigures[] {
  const rows = db.sql(
    `SELECT provider, ${SUM_LIST} FROM chart_figures WHERE tenant_id = ? AND hour >= ? AND hour < ?
     GROUP BY provider ORDER BY sum(accepted + delivered) DESC, provider`,
  );
  const providers = rows.all(toId(tenantId), fromHour, untilHour) as Row[];
  return providers.map((row) => ({ provider: row.provider as string, figures: figuresFromRow(row) }));
}

function figuresFromRow(row: Row): Figures {
  return Object.fromEntries(FIGURE_NAMES.map((name) => [name, row[COLUMNS[name]]])) as Figures;
}
