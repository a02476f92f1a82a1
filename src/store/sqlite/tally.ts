// Counting what has been committed since the last time, for charts in SQLite. Reads only: what it finds is
// added by a verb of the writer, so that it may as well run on a connection and a thread of its own.
import { HOUR_MS } from '../../base/clock.ts';
import {
  type FigureName,
  type FigureSource,
  type FigureSum,
  noFigures,
  type Tally,
  UNKNOWN_PROVIDER,
} from '../chart-figures.ts';
import type { Connection } from './connection.ts';
import { fromId, type Row } from './values.ts';

export type Queries = Pick<Connection, 'sql'>;

export function tallyNext(db: Queries, source: FigureSource, limit: number): Tally {
  const from = positionOf(db, source);
  const sums = new Sums(db);
  const walk = source === 'events' ? tallyEvents : tallySubmissions;
  return { source, from, ...walk(db, { from, limit }, sums), sums: sums.list() };
}

export function positionOf(db: Queries, source: FigureSource): number {
  return db.sql('SELECT position FROM chart_positions WHERE source = ?').pluck().get(source) as number;
}

type Walked = Pick<Tally, 'to' | 'counted' | 'more'>;

interface Start {
  from: number;
  limit: number;
}

// A transaction of the one writer assigns seq, so no event can appear behind one that was seen.
function tallyEvents(db: Queries, { from, limit }: Start, sums: Sums): Walked {
  const rows = db
    .sql(
      `SELECT e.seq, e.tenant_id, e.at, e.type, m.lane,
         CASE WHEN e.type IN ('email.bounced', 'email.opened', 'email.clicked') THEN e.data END AS data
       FROM events e LEFT JOIN messages m ON m.id = e.message_id WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
    )
    .all(from, limit) as Row[];
  for (const row of rows) {
    for (const name of figuresOfEvent(row))
      sums.add(row.tenant_id as Buffer, hourOf(row.at), row.lane, { name, by: 1 });
  }
  const to = (rows.at(-1)?.seq as number | undefined) ?? from;
  return { to, counted: rows.length, more: rows.length === limit };
}

const PLAIN_FIGURES: Readonly<Record<string, FigureName>> = {
  'email.delivered': 'delivered',
  'email.deferred': 'deferred',
  'email.failed': 'failed',
  'email.complained': 'complained',
};

function figuresOfEvent({ type, data }: Row): FigureName[] {
  const plain = PLAIN_FIGURES[type as string];
  if (plain) return [plain];
  const { bounce, open, click } = readData(data);
  if (type === 'email.bounced') return [bounceFigure(bounce?.type)];
  if (type === 'email.opened' && open?.first) return open.machine ? ['opened', 'openedByMachine'] : ['opened'];
  if (type === 'email.clicked' && click?.first) return ['clicked'];
  return [];
}

function bounceFigure(type: unknown): FigureName {
  if (type === 'hard') return 'bouncedHard';
  return type === 'block' ? 'bouncedBlock' : 'bouncedSoft';
}

type Parts = Partial<Record<'bounce' | 'open' | 'click', Record<string, unknown>>>;

/** One damaged row must not stop the count for ever. */
function readData(json: unknown): Parts {
  try {
    return (JSON.parse(json as string) as Parts | null) ?? {};
  } catch {
    return {};
  }
}

/**
 * Along content ids, not along the ids of messages: those are made before their transaction, and one that
 * waited for it (or was made before the clock went back) would land behind the position, never to be counted.
 */
function tallySubmissions(db: Queries, { from, limit }: Start, sums: Sums): Walked {
  const next = db.sql(
    'SELECT id, tenant_id, content_id, created_at FROM submissions WHERE content_id > ? ORDER BY content_id LIMIT ?',
  );
  const messages = db.sql('SELECT lane, count(*) AS count FROM messages WHERE submission_id = ? GROUP BY lane');
  const submissions = next.all(from, limit) as Row[];
  let to = from;
  let counted = 0;
  let more = submissions.length === limit;
  for (const { id, tenant_id: tenant, content_id: position, created_at: at } of submissions) {
    more = more || counted >= limit;
    if (counted >= limit) break;
    for (const { lane, count } of messages.all(id) as Row[]) {
      sums.add(tenant as Buffer, hourOf(at), lane, { name: 'accepted', by: count as number });
      counted += count as number;
    }
    to = position as number;
  }
  return { to, counted, more };
}

function hourOf(at: unknown): number {
  return Math.floor((at as number) / HOUR_MS);
}

class Sums {
  readonly #db: Queries;
  readonly #sums = new Map<string, FigureSum>();
  readonly #providers = new Map<unknown, string>();

  constructor(db: Queries) {
    this.#db = db;
  }

  add(tenant: Buffer, hour: number, lane: unknown, { name, by }: { name: FigureName; by: number }): void {
    const provider = this.#providerOf(lane);
    const key = `${tenant.toString('hex')} ${hour} ${provider}`;
    let sum = this.#sums.get(key);
    if (!sum) {
      sum = { tenantId: fromId(tenant), hour, provider, figures: noFigures() };
      this.#sums.set(key, sum);
    }
    sum.figures[name] += by;
  }

  list(): FigureSum[] {
    return [...this.#sums.values()];
  }

  /** Where the domain's mail went last: only a look into DNS tells, and delivery has looked. */
  #providerOf(lane: unknown): string {
    const known = this.#providers.get(lane);
    if (known !== undefined) return known;
    const group = this.#db.sql(
      'SELECT g.mx_group FROM lanes l JOIN groups_of_domains g ON g.domain = l.domain WHERE l.id = ?',
    );
    const provider = (group.pluck().get(lane) as string | undefined) ?? UNKNOWN_PROVIDER;
    this.#providers.set(lane, provider);
    return provider;
  }
}
