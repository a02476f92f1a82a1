// From SQLite to PostgreSQL, while no daemon runs. Table by table, in pieces that are each one transaction; then every value of
// the copy is compared with its source; then SQLite is marked as moved, and only then may PostgreSQL be used: at no moment
// do both accept mail. Interrupted at any moment, the same call continues. The caller holds the data folder's lock.
import { randomUUID } from 'node:crypto';
import { Fault } from '../../base/errors.ts';
import { sourceName } from '../postgres/engine/copied-from.ts';
import { codeOf, sentenceOf } from '../postgres/engine/database-fault.ts';
import { describeServer, parseServerAddress, withoutPassword } from '../postgres/engine/server-address.ts';
import { MoveTarget } from '../postgres/moving/target.ts';
import { newestSchema } from '../sqlite/engine/migrations.ts';
import { type MovedMark, noteMoved } from '../sqlite/engine/moved-mark.ts';
import { MoveSource } from '../sqlite/moving/source.ts';
import { agree, agreeToGoBack } from './agree.ts';
import { findDifference } from './compare.ts';
import { type BothSides, copyTables, type MoveProgress, PIECE, type PieceLimits, type RowCounts } from './copy.ts';

export interface Move {
  /** SQLite's database. */
  file: string;
  url: string;
  now(): number;
  progress(report: MoveProgress): void;
  /** How much is committed together; tests have smaller ones. */
  piece?: PieceLimits;
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

export async function moveToPostgres(move: Move): Promise<Moved> {
  const address = parseServerAddress(move.url);
  const source = new MoveSource(move.file);
  try {
    requireThisSchema(source, move.file);
    const target = await MoveTarget.open(address);
    try {
      return await new Moving(move, source, target).run();
    } catch (error) {
      throw interrupted(error);
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
  const moved = readMark(file);
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

export function readMark(file: string): MovedMark | null {
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
    const counts: RowCounts = new Map(this.#source.tables.map((table) => [table, this.#source.count(table)]));
    const rows = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const moved = { server: this.#server, url: withoutPassword(this.#move.url), tables: counts.size, rows };
    if (plan === 'finished') {
      this.#noteComplete();
      return { ...moved, before: true };
    }
    if (plan === 'begin') await this.#begin();
    await copyTables(this.#sides, counts, this.#move.piece ?? PIECE);
    await this.#requireSame(counts);
    this.#noteComplete();
    const { tables } = this.#source;
    await this.#target.finish(tables, (table) => this.#source.lastNumber(table), this.#move.now());
    return { ...moved, before: false };
  }

  get #sides(): BothSides {
    return { source: this.#source, target: this.#target, progress: this.#move.progress };
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
    const { file, url, now } = this.#move;
    const mark: MovedMark = {
      id: randomUUID(),
      server: this.#server,
      url: withoutPassword(url),
      at: now(),
      complete: false,
    };
    noteMoved(file, mark);
    await this.#target.begin(this.#source.tables, { id: mark.id, source: sourceName(file), at: mark.at });
  }

  #noteComplete(): void {
    const mark = this.#source.mark!;
    if (mark.complete) return;
    const { file, url, now } = this.#move;
    noteMoved(file, { id: mark.id, server: this.#server, url: withoutPassword(url), at: now(), complete: true });
  }

  async #requireSame(counts: RowCounts): Promise<void> {
    const difference = await findDifference(this.#sides, counts);
    if (difference === null) return;
    const [table, how] = difference;
    await this.#target.giveUp(this.#move.now());
    throw new Fault(
      `the copy differs: the table ${table} in the database ${this.#server} has ${how}. Something has changed one of the two while it was copied, or a disk is faulty. Nothing has been switched over: the daemon can still be started on SQLite. The next postrider migrate --to begins from the start`,
      { permanence: 'permanent' },
    );
  }
}

/** What is no decision of ours, and nothing about SQLite's file: PostgreSQL, or the connection to it. */
function interrupted(error: unknown): unknown {
  if (error instanceof Fault || codeOf(error).startsWith('SQLITE_')) return error;
  return new Fault(`the copy was interrupted: ${sentenceOf(error)}. Run the same command again: it continues`, {
    cause: error,
  });
}
