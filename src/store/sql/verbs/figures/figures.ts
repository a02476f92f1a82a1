// Sums for charts: counting accepted messages, adding what was counted of events, reading by time and by
// provider, and erasing.

import { HOUR_MS } from '../../../../base/clock.ts';
import {
  type ChartFigureStore,
  type ChartPoint,
  type FigureName,
  type FigureSum,
  type Figures,
  type FiguresStore,
  type HourSpan,
  noFigures,
  OTHER_PROVIDERS,
  PROVIDERS_PER_HOUR,
  type ProviderFigures,
  type Tally,
  UNKNOWN_PROVIDER,
} from '../../../figures.ts';
import type { NewSubmission } from '../../../submissions.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { addFigures, COLUMN_LIST, figuresFromRow, figureValues, SUM_LIST } from './figure-columns.ts';
import { addServiceSums, ServiceSums } from './service-figures.ts';
import {
  addTagSums,
  countLabelled,
  isAnythingLabelled,
  setSubmissionsCountedTo,
  submissionsCountedTo,
  TagSums,
} from './tag-figures.ts';

/** Names of groups are lists of hosts, and can be long. */
const MAX_PROVIDER_CHARS = 100;

export function chartFigureVerbs(db: Transaction): Work<ChartFigureStore> {
  return {
    tallyNext: (limit) => tallyNext(db, limit),
    addTally: (tally) => addTally(db, tally),
    forgetFigures: (beforeHour, limit) => forgetFigures(db, beforeHour, limit),
    chartOf: (tenantId, span) => chartOf(db, tenantId, span),
    providersOf: (tenantId, span) => providersOf(db, tenantId, span),
  };
}

const ADD = `
  INSERT INTO chart_figures (tenant_id, hour, provider, ${COLUMN_LIST.join(', ')})
  VALUES (+?, +?, +?, ${COLUMN_LIST.map(() => '+?').join(', ')})
  ON CONFLICT (tenant_id, hour, provider)
  DO UPDATE SET ${COLUMN_LIST.map((column) => `${column} = chart_figures.${column} + excluded.${column}`).join(', ')}`;

/** For the verb that accepts messages: one write per tenant and hour for everything that is committed together. */
export function countAccepted(db: Transaction, { tenantId, acceptedAt }: NewSubmission, messages: number): void {
  const hour = Math.floor(acceptedAt / HOUR_MS);
  db.addUp(`accepted of ${tenantId} in ${hour}`, messages, function* (sum) {
    yield* db
      .sql(
        `INSERT INTO chart_figures (tenant_id, hour, provider, accepted) VALUES (+?, +?, '${UNKNOWN_PROVIDER}', +?)
       ON CONFLICT (tenant_id, hour, provider) DO UPDATE SET accepted = chart_figures.accepted + excluded.accepted`,
      )
      .run(toId(tenantId), hour, sum);
  });
}

function* addTally(db: Transaction, { from, to, sums, tags, service }: Tally): Steps<boolean> {
  if ((yield* eventsCountedTo(db)) !== from || (yield* submissionsCountedTo(db)) !== tags.from) return false;
  const add = db.sql(ADD);
  yield* db.forAll(yield* capProviders(db, sums), ({ tenantId, hour, provider, figures }) =>
    add.run(toId(tenantId), hour, provider, ...figureValues(figures)),
  );
  yield* addTagSums(db, tags.sums);
  yield* addServiceSums(db, service);
  if (to !== from) yield* setEventsCountedTo(db, to);
  if (tags.to !== tags.from) yield* setSubmissionsCountedTo(db, tags.to);
  return true;
}

/** A provider keeps its own sum while its tenant's hour has room for one. The others share one sum. */
function* capProviders(db: Transaction, sums: readonly FigureSum[]): Steps<FigureSum[]> {
  const byHour = Map.groupBy(sums, ({ tenantId, hour }) => `${tenantId} ${hour}`);
  const capped = yield* db.forAll([...byHour.values()], function* (ofHour) {
    const { tenantId, hour } = ofHour[0]!;
    const known: Map<string, FigureSum | null> = yield* knownProviders(db, tenantId, hour);
    for (const { provider, figures } of ofHour) {
      const name = nameWithin(known, provider.slice(0, MAX_PROVIDER_CHARS));
      const sum = known.get(name) ?? { tenantId, hour, provider: name, figures: noFigures() };
      known.set(name, sum);
      addFigures(sum.figures, figures);
    }
    return [...known.values()].filter((sum) => sum !== null);
  });
  return capped.flat();
}

/** The two collective names are always included, so that they don't count towards the limit. */
function* knownProviders(db: Transaction, tenantId: string, hour: number): Steps<Map<string, null>> {
  const known = db.sql('SELECT provider FROM chart_figures WHERE tenant_id = +? AND hour = +?', 'column');
  const names = (yield* known.all(toId(tenantId), hour)) as string[];
  return new Map([UNKNOWN_PROVIDER, OTHER_PROVIDERS, ...names].map((name) => [name, null]));
}

function nameWithin(known: ReadonlyMap<string, unknown>, name: string): string {
  return known.has(name) || known.size < PROVIDERS_PER_HOUR + 2 ? name : OTHER_PROVIDERS;
}

function* forgetFigures(db: Transaction, beforeHour: number, limit: number): Steps<number> {
  const old = db.sql('SELECT tenant_id, hour, provider FROM chart_figures WHERE hour < +? LIMIT +?');
  const forget = db.sql('DELETE FROM chart_figures WHERE tenant_id = +? AND hour = +? AND provider = +?');
  const rows = (yield* old.all(beforeHour, limit)) as Row[];
  yield* db.forAll(rows, ({ tenant_id, hour, provider }) => forget.run(tenant_id, hour, provider));
  return rows.length;
}

export function* chartOf(db: Queries, tenantId: string, span: HourSpan & { stepHours: number }): Steps<ChartPoint[]> {
  const rows = db.sql(
    `SELECT hour - hour % +@step AS step, ${SUM_LIST} FROM chart_figures
     WHERE tenant_id = +@tenant AND hour >= +@from AND hour < +@until GROUP BY step ORDER BY step`,
  );
  const { fromHour: from, untilHour: until, stepHours: step } = span;
  const points = (yield* rows.all({ tenant: toId(tenantId), from, until, step })) as Row[];
  return points.map((row) => ({ hour: row.step as number, figures: figuresFromRow(row) }));
}

export function* providersOf(
  db: Queries,
  tenantId: string,
  { fromHour, untilHour }: HourSpan,
): Steps<ProviderFigures[]> {
  const rows = db.sql(
    `SELECT provider, ${SUM_LIST} FROM chart_figures WHERE tenant_id = +? AND hour >= +? AND hour < +?
     GROUP BY provider ORDER BY sum(delivered + bounced_hard + bounced_soft + bounced_block + failed) DESC, provider`,
  );
  const providers = (yield* rows.all(toId(tenantId), fromHour, untilHour)) as Row[];
  return providers.map((row) => ({ provider: row.provider as string, figures: figuresFromRow(row) }));
}

// Counting the events that have been committed since the last time, for charts. Read-only: a verb of the
// writer adds the result, so counting may as well run on its own connection and thread.

const POSITION = 'events_in_charts';

/** The seq of the last event that was counted. */
export function* eventsCountedTo(db: Queries): Steps<number> {
  const position = (yield* db.sql('SELECT value FROM meta WHERE name = +?', 'column').get(POSITION)) as
    | string
    | undefined;
  return Number(position ?? 0);
}

function* setEventsCountedTo(db: Queries, seq: number): Steps<void> {
  const set = 'INSERT INTO meta (name, value) VALUES (+?, +?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
  yield* db.sql(set).run(POSITION, String(seq));
}

/**
 * Invalid JSON makes SQLite fail, and one damaged row must not stop the count for good, so it is checked first.
 * Most events are counted by their type alone, and their JSON is not read.
 */
const FIGURE = `
  CASE e.type
    WHEN 'email.delivered' THEN 'delivered'
    WHEN 'email.deferred' THEN 'deferred'
    WHEN 'email.failed' THEN 'failed'
    WHEN 'email.canceled' THEN 'canceled'
    WHEN 'email.complained' THEN 'complained'
    WHEN 'email.bounced' THEN
      CASE WHEN NOT json_valid(e.data) THEN 'bouncedSoft' WHEN e.data ->> '$.bounce.type' = 'hard' THEN 'bouncedHard'
        WHEN e.data ->> '$.bounce.type' = 'block' THEN 'bouncedBlock' ELSE 'bouncedSoft' END
    WHEN 'email.opened' THEN
      CASE WHEN NOT json_valid(e.data) OR coalesce(CAST(e.data ->> '$.open.first' AS TEXT), '0') <> '1' THEN NULL
        WHEN CAST(e.data ->> '$.open.machine' AS TEXT) = '1' THEN 'openedByMachine' ELSE 'opened' END
    WHEN 'email.clicked' THEN
      CASE WHEN NOT json_valid(e.data) THEN NULL WHEN CAST(e.data ->> '$.click.first' AS TEXT) = '1' THEN 'clicked' END
  END`;

/** Bounces of delivered messages, by a bounce report. A report can also end a message whose final reply was lost. */
const LATER = `
  CASE WHEN e.type <> 'email.bounced' OR NOT json_valid(e.data) THEN 0
    WHEN e.data ->> '$.bounce.source' = 'dsn'
      AND EXISTS (SELECT 1 FROM events d WHERE d.message_id = e.message_id AND d.type = 'email.delivered') THEN 1
    ELSE 0 END`;

/** A look for the name is cheaper than reading the JSON of events that have none. */
const TAGS = `CASE WHEN instr(e.data, '"tags":') > 0 AND json_valid(e.data) THEN e.data -> '$.tags' END`;

/**
 * The single writer assigns seq in its transactions, so no event can appear before one that was seen. The provider is
 * the MX group that delivery last found for the domain: finding it here would need DNS. When SQLite itself sums up, an
 * event costs a third of what it does as a JavaScript object.
 */
const next = (tags: string) => `
  SELECT tenant, hour, provider, source, figure, tags, count(*), max(seq), sum(later) FROM (
    SELECT e.seq AS seq, e.tenant_id AS tenant, e.at / ${HOUR_MS} AS hour,
      coalesce(g.mx_group, '${UNKNOWN_PROVIDER}') AS provider, coalesce(m.source_address, '') AS source, ${FIGURE} AS figure, ${tags} AS tags,
      ${LATER} AS later
    FROM events e LEFT JOIN messages m ON m.id = e.message_id LEFT JOIN lanes l ON l.id = m.lane
      LEFT JOIN groups_of_domains g ON g.domain = l.domain
    WHERE e.seq > +? ORDER BY e.seq LIMIT +?) counted
  GROUP BY tenant, hour, provider, source, figure, tags`;
const NEXT = { plain: next('NULL'), tagged: next(TAGS) };

type Group = [
  ...[tenant: Buffer, hour: number, provider: string, source: string],
  ...[figure: FigureName | null, tags: string | null, count: number, last: number, later: number],
];

const MAX_TAG_SUMS = 1000;
/** An event and a submission have ten tags each. */
const TAGS_PER_ITEM = 20;

function* tallyNext(db: Queries, limit: number): Steps<Tally> {
  const from = yield* eventsCountedTo(db);
  const sums = new Sums();
  const tags = new TagSums(db);
  const service = new ServiceSums();
  let to = from;
  let counted = 0;
  const statement = (yield* isAnythingLabelled(db)) ? NEXT.tagged : NEXT.plain;
  for (const group of (yield* db.sql(statement, 'tuple').all(from, limit)) as Group[]) {
    const [tenant, hour, provider, source, figure, text, count, last, later] = group;
    // Events that are not in any figure count as seen, too.
    if (figure) {
      const counts = countsOf(figure, count, later);
      sums.add(group, counts);
      service.add({ hour, source, provider: provider.slice(0, MAX_PROVIDER_CHARS) }, counts);
      if (text !== null) yield* tags.add({ tenant, hour, tags: JSON.parse(text) }, counts);
    }
    counted += count;
    to = Math.max(to, last);
  }
  const { seen, ...labelled } = yield* countLabelled(db, tags, limit);
  // Of many tenants. The writer gets no more at once than it adds in some milliseconds.
  if (tags.size > MAX_TAG_SUMS && limit > MAX_TAG_SUMS / TAGS_PER_ITEM)
    return yield* tallyNext(db, Math.ceil(limit / 10));
  const more = counted === limit || seen === limit;
  return { from, to, sums: sums.list, tags: { ...labelled, sums: tags.list }, service: service.list, counted, more };
}

function countsOf(figure: FigureName, count: number, later: number): Partial<Figures> {
  const bounced = later > 0 ? { bouncedLater: later } : {};
  return figure === 'openedByMachine' ? { opened: count, openedByMachine: count } : { [figure]: count, ...bounced };
}

/** Groups are ordered: the figures of one sum follow each other, and so do the sums of one tenant. */
class Sums {
  readonly list: FigureSum[] = [];
  #tenant: Buffer = Buffer.alloc(0);

  add([tenant, hour, provider]: Group, counts: Partial<Figures>): void {
    addFigures(this.#sumOf(tenant, hour, provider).figures, counts);
  }

  #sumOf(tenant: Buffer, hour: number, provider: string): FigureSum {
    const last = this.list.at(-1);
    const sameTenant = last !== undefined && tenant.equals(this.#tenant);
    if (sameTenant && last.hour === hour && last.provider === provider) return last;
    const sum = { tenantId: sameTenant ? last.tenantId : fromId(tenant), hour, provider, figures: noFigures() };
    this.#tenant = tenant;
    this.list.push(sum);
    return sum;
  }
}

// Totals over the whole store. Each domain counts its unfinished messages, so the cost does not grow with
// the mail.

export function figuresVerbs(db: Transaction): Work<FiguresStore> {
  return {
    *countOpenMessages() {
      const open = db.sql(
        `SELECT (SELECT coalesce(sum(open_messages), 0) FROM domains)
           + (SELECT coalesce(sum(open_messages), 0) FROM domain_counts)`,
        'column',
      );
      return (yield* open.get()) as number;
    },
  };
}
