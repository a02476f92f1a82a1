// Counting the events that have been committed since the last time, for charts in SQLite. Reads only: what it
// finds is added by a verb of the writer, so that it may as well run on a connection and a thread of its own.
import { HOUR_MS } from '../../../base/clock.ts';
import { type FigureName, type FigureSum, noFigures, type Tally, UNKNOWN_PROVIDER } from '../../chart-figures.ts';
import type { Queries } from '../engine/statements.ts';
import { fromId } from '../engine/values.ts';

const POSITION = 'events_in_charts';

/** The seq of the last event that is counted. */
export function eventsCountedTo(db: Queries): number {
  const position = db.sql('SELECT value FROM meta WHERE name = ?', 'column').get(POSITION) as string | undefined;
  return Number(position ?? 0);
}

export function setEventsCountedTo(db: Queries, seq: number): void {
  const set = 'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
  db.sql(set).run(POSITION, String(seq));
}

/**
 * One damaged row must not stop the count for ever: JSON that is none makes SQLite fail, so it is looked at before.
 * Most events are counted by their type, and their JSON is not read.
 */
const FIGURE = `
  CASE e.type
    WHEN 'email.delivered' THEN 'delivered'
    WHEN 'email.deferred' THEN 'deferred'
    WHEN 'email.failed' THEN 'failed'
    WHEN 'email.complained' THEN 'complained'
    WHEN 'email.bounced' THEN
      CASE WHEN NOT json_valid(e.data) THEN 'bouncedSoft' WHEN e.data ->> '$.bounce.type' = 'hard' THEN 'bouncedHard'
        WHEN e.data ->> '$.bounce.type' = 'block' THEN 'bouncedBlock' ELSE 'bouncedSoft' END
    WHEN 'email.opened' THEN
      CASE WHEN NOT json_valid(e.data) OR NOT coalesce(e.data ->> '$.open.first', 0) THEN NULL
        WHEN e.data ->> '$.open.machine' THEN 'openedByMachine' ELSE 'opened' END
    WHEN 'email.clicked' THEN
      CASE WHEN NOT json_valid(e.data) THEN NULL WHEN e.data ->> '$.click.first' THEN 'clicked' END
  END`;

/** Told by a report of a message that had been delivered. One whose answer was lost may end by a report, too. */
const LATER = `
  CASE WHEN e.type <> 'email.bounced' OR NOT json_valid(e.data) THEN 0
    WHEN e.data ->> '$.bounce.source' = 'dsn' THEN
      EXISTS (SELECT 1 FROM events d WHERE d.message_id = e.message_id AND d.type = 'email.delivered')
    ELSE 0 END`;

/**
 * A transaction of the one writer assigns seq, so no event can appear behind one that was seen. The provider is
 * where the domain's mail went last: only a look into DNS tells, and delivery has looked. Summed up by SQLite
 * itself, an event costs a third of what it does when its row becomes an object first.
 */
const NEXT = `
  SELECT tenant, hour, provider, figure, count(*), max(seq), sum(later) FROM (
    SELECT e.seq AS seq, e.tenant_id AS tenant, e.at / ${HOUR_MS} AS hour,
      coalesce(g.mx_group, '${UNKNOWN_PROVIDER}') AS provider, ${FIGURE} AS figure, ${LATER} AS later
    FROM events e LEFT JOIN messages m ON m.id = e.message_id LEFT JOIN lanes l ON l.id = m.lane
      LEFT JOIN groups_of_domains g ON g.domain = l.domain
    WHERE e.seq > ? ORDER BY e.seq LIMIT ?)
  GROUP BY tenant, hour, provider, figure`;

type Group = [
  ...[tenant: Buffer, hour: number, provider: string],
  ...[figure: FigureName | null, count: number, last: number, later: number],
];

export function tallyNext(db: Queries, limit: number): Tally {
  const from = eventsCountedTo(db);
  const sums = new Sums();
  let to = from;
  let counted = 0;
  for (const group of db.sql(NEXT, 'tuple').all(from, limit) as Group[]) {
    const [, , , figure, count, last] = group;
    // What is no figure is passed, too.
    if (figure) sums.add(group, figure);
    counted += count;
    to = Math.max(to, last);
  }
  return { from, to, sums: sums.list, counted, more: counted === limit };
}

/** Groups come in their order: the figures of one sum follow each other, and so do the sums of one tenant. */
class Sums {
  readonly list: FigureSum[] = [];
  #tenant: Buffer = Buffer.alloc(0);

  add([tenant, hour, provider, , count, , later]: Group, figure: FigureName): void {
    const { figures } = this.#sumOf(tenant, hour, provider);
    figures[figure] += count;
    figures.bouncedLater += later;
    if (figure === 'openedByMachine') figures.opened += count;
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
