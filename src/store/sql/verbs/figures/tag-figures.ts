// Sums by tag: counting them next to the sums of charts, adding them while a day has room for the tag, reading
// and erasing.

import { HOUR_MS } from '../../../../base/clock.ts';
import {
  type ChartPoint,
  type FigureName,
  type Figures,
  type HourSpan,
  noFigures,
  TAGS_PER_DAY,
  TAGS_PER_NAME,
  type TagChart,
  type TagFigureStore,
  type TagFigures,
  type TagSum,
  type TagTally,
} from '../../../figures.ts';
import type { Tag } from '../../../submissions.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { labelsFromText } from '../message/letters.ts';
import { OF_SUBMISSION } from '../message/submission-messages.ts';
import { addFigures, COLUMN_LIST, figuresFromRow, figureValues, SUM_LIST } from './figure-columns.ts';

const DAY_HOURS = 24;

export function tagFigureVerbs(db: Transaction): Work<TagFigureStore> {
  return {
    *forgetTagFigures({ hours, days }, limit) {
      const gone = yield* forget(db, { stepHours: 1, before: hours, limit });
      return gone + (yield* forget(db, { stepHours: DAY_HOURS, before: days, limit: limit - gone }));
    },
    tagChartOf: (tenantId, asked) => tagChartOf(db, tenantId, asked),
    tagsOf: (tenantId, asked) => tagsOf(db, tenantId, asked),
  };
}

/** What a slice of the count has found, tag by tag, as far as the days have room for them. */
export class TagSums {
  readonly #db: Queries;
  readonly #rooms = new Map<string, DayRoom>();
  readonly #sums = new Map<string, TagSum>();

  constructor(db: Queries) {
    this.#db = db;
  }

  get list(): TagSum[] {
    return [...this.#sums.values()];
  }

  get size(): number {
    return this.#sums.size;
  }

  /** `tags` is what was stored: what is damaged in it is passed over, so that it does not stop the count for good. */
  *add({ tenant, hour, tags }: { tenant: Buffer; hour: number; tags: unknown }, counts: Partial<Figures>): Steps<void> {
    if (typeof tags !== 'object' || tags === null) return;
    const tenantId = fromId(tenant);
    const room = yield* this.#roomOf(tenantId, dayOf(hour));
    for (const [name, value] of Object.entries(tags)) {
      if (typeof value !== 'string' || !room.accepts(name, value)) continue;
      const key = `${tenantId} ${hour} ${name}:${value}`;
      const sum = this.#sums.get(key) ?? { tenantId, hour, tag: `${name}:${value}`, figures: {} };
      this.#sums.set(key, sum);
      for (const figure of Object.keys(counts) as FigureName[]) {
        sum.figures[figure] = (sum.figures[figure] ?? 0) + (counts[figure] ?? 0);
      }
    }
  }

  *#roomOf(tenantId: string, day: number): Steps<DayRoom> {
    const key = `${tenantId} ${day}`;
    const room = this.#rooms.get(key) ?? new DayRoom(yield* knownTags(this.#db, tenantId, day));
    this.#rooms.set(key, room);
    return room;
  }
}

function dayOf(hour: number): number {
  return hour - (hour % DAY_HOURS);
}

function* knownTags(db: Queries, tenantId: string, day: number): Steps<string[]> {
  const known = db.sql(
    `SELECT tag FROM tag_figures WHERE tenant_id = +? AND step_hours = ${DAY_HOURS} AND hour = +?`,
    'column',
  );
  return (yield* known.all(toId(tenantId), day)) as string[];
}

/**
 * Which tags a day has sums of. A tag that comes too late stays out of the day, so that what is counted is the whole
 * day's. One name can't take all the room, so an order number among the tags does no harm.
 */
class DayRoom {
  readonly #tags: Set<string>;
  readonly #ofName = new Map<string, number>();

  constructor(known: readonly string[]) {
    this.#tags = new Set(known);
    for (const tag of known) this.#count(tag.slice(0, tag.indexOf(':')));
  }

  accepts(name: string, value: string): boolean {
    const tag = `${name}:${value}`;
    if (this.#tags.has(tag)) return true;
    if (this.#tags.size >= TAGS_PER_DAY || (this.#ofName.get(name) ?? 0) >= TAGS_PER_NAME) return false;
    this.#tags.add(tag);
    this.#count(name);
    return true;
  }

  #count(name: string): void {
    this.#ofName.set(name, (this.#ofName.get(name) ?? 0) + 1);
  }
}

// What was accepted is not counted as it is accepted, as without tags: a call with ten tags that nobody has used before
// would cost the writer as much again as the call itself.

const POSITION = 'submissions_in_tags';

/** The content of the last submission that was counted. */
export function* submissionsCountedTo(db: Queries): Steps<number> {
  const position = (yield* db.sql('SELECT value FROM meta WHERE name = +?', 'column').get(POSITION)) as
    | string
    | undefined;
  return Number(position ?? 0);
}

export function* setSubmissionsCountedTo(db: Queries, contentId: number): Steps<void> {
  const set = 'INSERT INTO meta (name, value) VALUES (+?, +?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
  yield* db.sql(set).run(POSITION, String(contentId));
}

/** Where nobody uses tags, events are not searched for them, which would take as long as counting them. */
export function* isAnythingLabelled(db: Queries): Steps<boolean> {
  const any =
    'SELECT 1 FROM submissions INDEXED BY submissions_labelled WHERE labels IS NOT NULL AND content_id > 0 LIMIT 1';
  return (yield* db.sql(any).get()) !== undefined;
}

/** Adds the accepted messages of at most `limit` submissions to `sums`. */
export function* countLabelled(
  db: Queries,
  sums: TagSums,
  limit: number,
): Steps<Omit<TagTally, 'sums'> & { seen: number }> {
  const from = yield* submissionsCountedTo(db);
  const rows = (yield* db
    .sql(
      `SELECT s.content_id, s.tenant_id, s.created_at / ${HOUR_MS} AS hour, s.labels,
         (SELECT count(*) FROM messages m WHERE ${OF_SUBMISSION}) AS messages
       FROM submissions s INDEXED BY submissions_labelled WHERE s.labels IS NOT NULL AND s.content_id > +?
       ORDER BY s.content_id LIMIT +?`,
    )
    .all(from, limit)) as Row[];
  for (const row of rows) {
    const tags = labelsFromText(row.labels)?.tags;
    const of = { tenant: row.tenant_id as Buffer, hour: row.hour as number, tags };
    yield* sums.add(of, { accepted: row.messages as number });
  }
  return { from, to: (rows.at(-1)?.content_id as number | undefined) ?? from, seen: rows.length };
}

const ADD = `
  INSERT INTO tag_figures (tenant_id, step_hours, hour, tag, ${COLUMN_LIST.join(', ')})
  VALUES (+?, +?, +?, +?, ${COLUMN_LIST.map(() => '+?').join(', ')})
  ON CONFLICT (tenant_id, step_hours, hour, tag)
  DO UPDATE SET ${COLUMN_LIST.map((column) => `${column} = tag_figures.${column} + excluded.${column}`).join(', ')}`;

/** What the slice had no room for is not among them. */
export function* addTagSums(db: Transaction, sums: readonly TagSum[]): Steps<void> {
  const add = db.sql(ADD);
  const addAll = (stepHours: number, all: readonly TagSum[]) =>
    db.forAll(all, ({ tenantId, hour, tag, figures }) =>
      add.run(toId(tenantId), stepHours, hour, tag, ...figureValues(figures)),
    );
  yield* addAll(1, sums);
  yield* addAll(DAY_HOURS, sumsOfDays(sums));
}

function sumsOfDays(sums: readonly TagSum[]): TagSum[] {
  const days = new Map<string, TagSum & { figures: Figures }>();
  for (const { tenantId, hour, tag, figures } of sums) {
    const day = dayOf(hour);
    const key = `${tenantId} ${day} ${tag}`;
    const sum = days.get(key) ?? { tenantId, hour: day, tag, figures: noFigures() };
    days.set(key, sum);
    addFigures(sum.figures, figures);
  }
  return [...days.values()];
}

function* forget(db: Transaction, of: { stepHours: number; before: number; limit: number }): Steps<number> {
  const old = db.sql('SELECT tenant_id, hour, tag FROM tag_figures WHERE step_hours = +? AND hour < +? LIMIT +?');
  const gone = db.sql('DELETE FROM tag_figures WHERE tenant_id = +? AND step_hours = +? AND hour = +? AND tag = +?');
  const rows = (yield* old.all(of.stepHours, of.before, of.limit)) as Row[];
  yield* db.forAll(rows, ({ tenant_id, hour, tag }) => gone.run(tenant_id, of.stepHours, hour, tag));
  return rows.length;
}

/** One look-up for each step, so that other tags cost nothing. */
export function* tagChartOf(
  db: Queries,
  tenantId: string,
  { tag, fromHour, untilHour, stepHours }: HourSpan & { tag: Tag; stepHours: 1 | 24 },
): Steps<TagChart> {
  const text = `${tag.name}:${tag.value}`;
  const find = db.sql('SELECT * FROM tag_figures WHERE tenant_id = +? AND step_hours = +? AND hour = +? AND tag = +?');
  const points: ChartPoint[] = [];
  for (let hour = fromHour; hour < untilHour; hour += stepHours) {
    const row = (yield* find.get(toId(tenantId), stepHours, hour, text)) as Row | undefined;
    if (row) points.push({ hour, figures: figuresFromRow(row) });
  }
  const days = db.sql(
    `SELECT count(*) AS tags, 
       count(*) FILTER (WHERE tag >= CAST(+@name AS TEXT) || ':' AND tag < CAST(+@name AS TEXT) || ';') AS of_name,
       count(*) FILTER (WHERE tag = +@tag) AS has
     FROM tag_figures WHERE tenant_id = +@tenant AND step_hours = ${DAY_HOURS} AND hour >= +@from AND hour < +@until
     GROUP BY hour`,
  );
  const rows = (yield* days.all({
    tenant: toId(tenantId),
    name: tag.name,
    tag: text,
    from: dayOf(fromHour),
    until: untilHour,
  })) as { tags: number; of_name: number; has: number }[];
  const complete = rows.every((day) => day.has === 1 || (day.tags < TAGS_PER_DAY && day.of_name < TAGS_PER_NAME));
  return { points, complete };
}

/** Hours are kept for a month only, so a longer span has to begin and end with a day. */
export function* tagsOf(
  db: Queries,
  tenantId: string,
  { fromHour, untilHour, limit }: HourSpan & { limit: number },
): Steps<TagFigures> {
  const isByDay = fromHour % DAY_HOURS === 0 && untilHour % DAY_HOURS === 0;
  const rows = (yield* db
    .sql(
      `SELECT tag, ${SUM_LIST} FROM tag_figures WHERE tenant_id = +? AND step_hours = +? AND hour >= +? AND hour < +?
       GROUP BY tag ORDER BY sum(accepted + delivered + bounced_hard + bounced_soft + bounced_block + failed) DESC, tag
       LIMIT +?`,
    )
    .all(toId(tenantId), isByDay ? DAY_HOURS : 1, fromHour, untilHour, limit)) as Row[];
  const tags = rows.map((row) => ({ tag: row.tag as string, figures: figuresFromRow(row) }));
  return { tags, complete: !(yield* hasFullDay(db, tenantId, { fromHour, untilHour })) };
}

function* hasFullDay(db: Queries, tenantId: string, { fromHour, untilHour }: HourSpan): Steps<boolean> {
  const full = db.sql(
    `SELECT 1 FROM (SELECT hour, count(*) AS tags FROM tag_figures
       WHERE tenant_id = +? AND step_hours = ${DAY_HOURS} AND hour >= +? AND hour < +?
       GROUP BY hour, substr(tag, 1, instr(tag, ':'))) names
     GROUP BY hour HAVING sum(tags) >= ${TAGS_PER_DAY} OR max(tags) >= ${TAGS_PER_NAME} LIMIT 1`,
  );
  return (yield* full.get(toId(tenantId), dayOf(fromHour), untilHour)) !== undefined;
}
