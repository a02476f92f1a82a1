// Sums of all tenants' mail, by source address and receiver: counted next to the sums of charts, added with
// them, read for operators, and erased after a month.

import {
  FIGURE_NAMES,
  type Figures,
  noFigures,
  OTHER_PROVIDERS,
  SERVICE_PROVIDERS_PER_HOUR,
  type ServiceFigureStore,
  type ServiceFigures,
  type ServiceFiguresAsked,
  type ServiceSum,
  UNKNOWN_PROVIDER,
} from '../../../figures.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import type { Row } from '../../values.ts';
import { addFigures, COLUMN_LIST, figuresFromRow, figureValues, SUM_LIST } from './figure-columns.ts';

export function serviceFigureVerbs(db: Transaction): Work<ServiceFigureStore> {
  return {
    *forgetServiceFigures(beforeHour, limit) {
      const forget = db.sql(
        `DELETE FROM service_figures WHERE (hour, source, provider) IN
           (SELECT hour, source, provider FROM service_figures WHERE hour < +? ORDER BY hour, source, provider LIMIT +?)`,
      );
      return (yield* forget.run(beforeHour, limit)).changes;
    },
  };
}

/** What a slice of the count has found. */
export class ServiceSums {
  readonly #sums = new Map<string, ServiceSum>();

  get list(): ServiceSum[] {
    return [...this.#sums.values()];
  }

  add({ hour, source, provider }: Omit<ServiceSum, 'figures'>, counts: Partial<Figures>): void {
    const key = `${hour} ${source} ${provider}`;
    const sum = this.#sums.get(key) ?? { hour, source, provider, figures: noFigures() };
    this.#sums.set(key, sum);
    addFigures(sum.figures, counts);
  }
}

const ADD = `
  INSERT INTO service_figures (hour, source, provider, ${COLUMN_LIST.join(', ')})
  VALUES (+?, +?, +?, ${COLUMN_LIST.map(() => '+?').join(', ')})
  ON CONFLICT (hour, source, provider)
  DO UPDATE SET ${COLUMN_LIST.map((column) => `${column} = service_figures.${column} + excluded.${column}`).join(', ')}`;

/** The largest first, so that the rooms of an hour go to receivers of much mail. */
export function* addServiceSums(db: Transaction, sums: readonly ServiceSum[]): Steps<void> {
  const bySource = Map.groupBy(
    sums.toSorted((one, other) => sizeOf(other) - sizeOf(one)),
    ({ hour, source }) => `${hour} ${source}`,
  );
  yield* db.forAll([...bySource.values()], function* (ofSource) {
    const fitting = new ServiceSums();
    const known = yield* knownProviders(db, ofSource[0]!);
    for (const { hour, source, provider, figures } of ofSource) {
      const hasRoom = known.has(provider) || known.size < SERVICE_PROVIDERS_PER_HOUR + 2;
      const name = hasRoom ? provider : OTHER_PROVIDERS;
      known.add(name);
      fitting.add({ hour, source, provider: name }, figures);
    }
    const add = db.sql(ADD);
    yield* db.forAll(fitting.list, ({ hour, source, provider, figures }) =>
      add.run(hour, source, provider, ...figureValues(figures)),
    );
  });
}

function sizeOf({ figures }: ServiceSum): number {
  return FIGURE_NAMES.reduce((sum, name) => sum + figures[name], 0);
}

/** The two collective names are always included, so that they don't count towards the limit. */
function* knownProviders(db: Transaction, { hour, source }: ServiceSum): Steps<Set<string>> {
  const known = db.sql('SELECT provider FROM service_figures WHERE hour = +? AND source = +?', 'column');
  return new Set([UNKNOWN_PROVIDER, OTHER_PROVIDERS, ...((yield* known.all(hour, source)) as string[])]);
}

export function* serviceFiguresOf(db: Queries, _: null, asked: ServiceFiguresAsked): Steps<ServiceFigures> {
  const { fromHour: from, untilHour: until, stepHours: step, source, provider, limit } = asked;
  const inTime = 'hour >= +@from AND hour < +@until';
  const ofSource = '(CAST(+@source AS TEXT) IS NULL OR source = +@source)';
  const ofProvider = '(CAST(+@provider AS TEXT) IS NULL OR provider = +@provider)';
  const points = db.sql(
    `SELECT hour - hour % +@step AS step, ${SUM_LIST} FROM service_figures
     WHERE ${inTime} AND ${ofSource} AND ${ofProvider} GROUP BY step ORDER BY step`,
  );
  const by = (column: 'source' | 'provider', where: string) =>
    db.sql(
      `SELECT ${column} AS name, ${SUM_LIST} FROM service_figures WHERE ${inTime} AND ${where} GROUP BY ${column}
       ORDER BY sum(delivered + bounced_hard + bounced_soft + bounced_block + failed) DESC, ${column} LIMIT +@limit`,
    );
  const sources = (yield* by('source', ofProvider).all({ from, until, provider, limit })) as Row[];
  const providers = (yield* by('provider', ofSource).all({ from, until, source, limit })) as Row[];
  return {
    points: ((yield* points.all({ from, until, step, source, provider })) as Row[]).map((row) => ({
      hour: row.step as number,
      figures: figuresFromRow(row),
    })),
    sources: sources.map((row) => ({ source: row.name as string, figures: figuresFromRow(row) })),
    providers: providers.map((row) => ({ provider: row.name as string, figures: figuresFromRow(row) })),
  };
}
