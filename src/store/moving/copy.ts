// Copies the tables one after the other, in pieces that are each one transaction. What has been copied is not read again.
import { Fault } from '../../base/errors.ts';
import { sentenceOf } from '../postgres/engine/database-fault.ts';
import { type MoveTarget, refusedRow } from '../postgres/moving/target.ts';
import type { MoveSource, SourceTable } from '../sqlite/moving/source.ts';
import { COPY_HEADER, COPY_TRAILER, RowBytes, type StoredValue } from './row-bytes.ts';

export interface BothSides {
  source: MoveSource;
  target: MoveTarget;
  progress(report: MoveProgress): void;
}

export interface MoveProgress {
  step: 'copy' | 'compare';
  table: string;
  /** Of the table, so far and in all. */
  rows: number;
  of: number;
}

export type RowCounts = ReadonlyMap<SourceTable, number>;

export interface PieceLimits {
  rows: number;
  bytes: number;
}

/** A mail of 25 MiB makes a piece larger: a row is not divided. */
export const PIECE: PieceLimits = { rows: 20_000, bytes: 8 * 1024 * 1024 };
/** What is handed over to the connection at once. */
const CHUNK_BYTES = 128 * 1024;

export async function copyTables(sides: BothSides, counts: RowCounts, limits: PieceLimits): Promise<void> {
  for (const [table, count] of counts) {
    const copied = sides.target.mark!.rows[table.name] ?? 0;
    if (copied < count) await copyTable(sides, { table, count, copied }, limits);
  }
}

async function copyTable(
  { source, target, progress }: BothSides,
  { table, count, copied }: { table: SourceTable; count: number; copied: number },
  limits: PieceLimits,
): Promise<void> {
  const rows = source.rows(table, copied);
  let place = copied;
  try {
    while (place < count) {
      const piece = new Piece(rows, limits);
      await target.add(table, piece.chunks(), () => piece.rows);
      place += piece.rows;
      progress({ step: 'copy', table: table.name, rows: place, of: count });
    }
  } catch (error) {
    const line = refusedRow(error);
    throw line === null ? error : refusal(error, table, source.describeRow(table, place + line - 1));
  } finally {
    rows.return?.();
  }
}

function refusal(error: unknown, table: SourceTable, row: string): Fault {
  return new Fault(
    `PostgreSQL refuses a row of the table ${table.name} (${row}): ${sentenceOf(error)}. Remove that row from SQLite's file, or shorten its text, and run the command again. Nothing has been switched over: the daemon can still be started on SQLite`,
    { permanence: 'permanent', cause: error },
  );
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
