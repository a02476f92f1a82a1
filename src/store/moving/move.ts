// From SQLite to PostgreSQL, while no daemon runs. Table by table, in pieces that are each one transaction; then every value of
// the copy is compared with its source; then SQLite is marked as moved, and only then may PostgreSQL be used: at no moment
// do both accept mail. Interrupted at any moment, the same call continues. The caller holds the data folder's lock.
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { Fault } from '../../base/errors.ts';
import { sourceName } from '../postgres/engine/copied-from.ts';
import { sentenceOf } from '../postgres/engine/database-fault.ts';
import { describeServer, parseServerAddress, withoutPassword } from '../postgres/engine/server-address.ts';
import { MoveTarget, refusedRow } from '../postgres/moving/target.ts';
import { newestSchema } from '../sqlite/engine/migrations.ts';
import { type MovedMark, noteMoved } from '../sqlite/engine/moved-mark.ts';
import { MoveSource, OWN_META, type SourceTable } from '../sqlite/moving/source.ts';
import { agree, agreeToGoBack } from './agree.ts';
import { COPY_HEADER, COPY_TRAILER, RowBytes, RowSum, type StoredValue } from './row-bytes.ts';

export interface Move {
  /** SQLite's database. */
  file: string;
  url: string;
  now(): number;
  progress(report: MoveProgress): void;
  /** How much is committed together; tests have smaller ones. */
  piece?: PieceLimits;
}

export interface MoveProgress {
  step: 'copy' | 'compare';
  table: string;
  /** Of the table, so far and in all. */
  rows: number;
  of: number;
}

interface PieceLimits {
  rows: number;
  bytes: number;
}

export interface Moved {
  server: string;
  /** For the configuration: with a word in place of the password. */
  url: string;
  tables: number;
  rows: number;
  /** Nothing was left to do. */
  before: boolean;
}

/** A mail of 25 MiB makes a piece larger: a row is not divided. */
const PIECE: PieceLimits = { rows: 20_000, bytes: 8 * 1024 * 1024 };
/** What is handed over to the connection at once. */
const CHUNK_BYTES = 128 * 1024;
/** So that progress can be shown, and a lost connection be noticed. */
const ROWS_PER_TURN = 2000;

export async function moveToPostgres(move: Move): Promise<Moved> {
  const address = parseServerAddress(move.url);
  const source = new MoveSource(move.file);
  try {
    requireThisSchema(source, move.file);
    const target = await MoveTarget.open(address);
    try {
      return await new Moving(move, source, target).run();
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

/** Null: it was not moved, and nothing had to be done. Without a URL PostgreSQL is not asked. */
export async function moveBack({
  file,
  url,
  now,
}: Pick<Move, 'file' | 'now'> & { url: string | null }): Promise<MovedMark | null> {
  const moved = markOf(file);
  if (moved === null) return null;
  if (moved.complete && url !== null) {
    const target = await MoveTarget.find(parseServerAddress(url));
    try {
      agreeToGoBack({ moved, copied: target.mark, server: describeServer(target.address) });
      await target.giveUp(now());
    } finally {
      await target.close();
    }
  }
  noteMoved(file, null);
  return moved;
}

function markOf(file: string): MovedMark | null {
  const source = new MoveSource(file);
  try {
    return source.mark;
  } finally {
    source.close();
  }
}

function requireThisSchema({ schema }: MoveSource, file: string): void {
  if (schema === newestSchema()) return;
  throw new Fault(
    `the database ${file} has schema ${schema}, and this version copies schema ${newestSchema()} only: run postrider migrate first, which brings it up to date`,
    { permanence: 'permanent' },
  );
}

class Moving {
  readonly #move: Move;
  readonly #source: MoveSource;
  readonly #target: MoveTarget;
  readonly #server: string;

  constructor(move: Move, source: MoveSource, target: MoveTarget) {
    this.#move = move;
    this.#source = source;
    this.#target = target;
    this.#server = describeServer(target.address);
  }

  async run(): Promise<Moved> {
    const plan = await this.#agree();
    const counts = new Map(this.#source.tables.map((table) => [table, this.#source.count(table)]));
    const rows = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const moved = { server: this.#server, url: withoutPassword(this.#move.url), tables: counts.size, rows };
    if (plan === 'finished') {
      this.#noteComplete();
      return { ...moved, before: true };
    }
    if (plan === 'begin') await this.#begin();
    for (const [table, count] of counts) await this.#copy(table, count);
    for (const [table, count] of counts) await this.#compare(table, count);
    this.#noteComplete();
    const lastNumbers = this.#source.tables.map((table) => [table.name, this.#source.lastNumber(table)] as const);
    await this.#target.finish(new Map(lastNumbers), this.#move.now());
    return { ...moved, before: false };
  }

  async #agree(): Promise<'begin' | 'continue' | 'finished'> {
    const { mark: copied } = this.#target;
    return agree({
      moved: this.#source.mark,
      copied,
      source: sourceName(this.#move.file),
      server: this.#server,
      isEmpty: copied === null && (await this.#target.isEmpty(this.#source.tables)),
    });
  }

  /** SQLite first: should this end between the two, the next call finds notes that don't match, and begins again. */
  async #begin(): Promise<void> {
    const { file, now } = this.#move;
    const mark: MovedMark = { id: randomUUID(), server: this.#server, at: now(), complete: false };
    noteMoved(file, mark);
    await this.#target.begin(this.#source.tables, { id: mark.id, source: sourceName(file), at: mark.at });
  }

  #noteComplete(): void {
    const mark = this.#source.mark!;
    if (mark.complete) return;
    noteMoved(this.#move.file, { id: mark.id, server: this.#server, at: this.#move.now(), complete: true });
  }

  async #copy(table: SourceTable, count: number): Promise<void> {
    let copied = this.#target.mark!.rows[table.name] ?? 0;
    if (copied === count) return;
    const rows = this.#source.rows(table, copied);
    try {
      while (copied < count) {
        const piece = new Piece(rows, this.#move.piece ?? PIECE);
        await this.#target
          .add(table, piece.chunks(), () => piece.rows)
          .catch((error: unknown) => {
            throw this.#copyFault(error, table, copied);
          });
        copied += piece.rows;
        this.#move.progress({ step: 'copy', table: table.name, rows: copied, of: count });
      }
    } finally {
      rows.return?.();
    }
  }

  #copyFault(error: unknown, table: SourceTable, copied: number): unknown {
    const line = refusedRow(error);
    if (line === null) return interrupted(error);
    return new Fault(
      `PostgreSQL refuses a row of the table ${table.name} (${this.#source.describeRow(table, copied + line - 1)}): ${sentenceOf(error)}. Nothing has been switched over: the daemon can still be started on SQLite`,
      { permanence: 'permanent', cause: error },
    );
  }

  async #compare(table: SourceTable, count: number): Promise<void> {
    const asked = this.#target.sum(table, OWN_META).then(
      (sum) => ({ sum }),
      (error: unknown) => ({ error }),
    );
    const bytes = new RowBytes();
    const own = new RowSum();
    for (const row of this.#source.rows(table, 0)) {
      own.add(bytes.of(row as StoredValue[]));
      if (own.rows % ROWS_PER_TURN > 0) continue;
      await turn();
      this.#move.progress({ step: 'compare', table: table.name, rows: own.rows, of: count });
    }
    const answer = await asked;
    if ('error' in answer) throw interrupted(answer.error);
    const { rows, sum } = answer.sum;
    if (rows === own.rows && sum === own.sum) return;
    await this.#target.giveUp(this.#move.now());
    const difference =
      rows === own.rows ? `the same number of rows, but other values` : `${rows} rows instead of ${own.rows}`;
    throw new Fault(
      `the copy differs: the table ${table.name} in the database ${this.#server} has ${difference}. Something has changed one of the two while it was copied, or a disk is faulty. Nothing has been switched over: the daemon can still be started on SQLite. The next postrider migrate --to begins from the start`,
      { permanence: 'permanent' },
    );
  }
}

/** Some rows of a table in COPY's format. */
class Piece {
  readonly #rows: Iterator<unknown[]>;
  readonly #limits: PieceLimits;
  #taken = 0;

  constructor(rows: Iterator<unknown[]>, limits: PieceLimits) {
    this.#rows = rows;
    this.#limits = limits;
  }

  /** How many it has given so far. */
  get rows(): number {
    return this.#taken;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    const bytes = new RowBytes();
    let [chunk, size, total] = [[COPY_HEADER], COPY_HEADER.length, 0];
    while (this.#taken < this.#limits.rows && total < this.#limits.bytes) {
      const { value: row, done } = this.#rows.next();
      if (done) break;
      const part = Buffer.from(bytes.of(row as StoredValue[]));
      this.#taken++;
      chunk.push(part);
      size += part.length;
      total += part.length;
      if (size < CHUNK_BYTES) continue;
      yield Buffer.concat(chunk, size);
      [chunk, size] = [[], 0];
    }
    yield Buffer.concat([...chunk, COPY_TRAILER]);
  }
}

function interrupted(error: unknown): unknown {
  if (error instanceof Fault) return error;
  return new Fault(`the copy was interrupted: ${sentenceOf(error)}. Run the same command again: it continues`, {
    cause: error,
  });
}
