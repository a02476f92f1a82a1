// The note in a PostgreSQL database that it is a copy of a SQLite database, and in which state. Nothing may work on a copy
// that is unfinished or was given up. Whatever opens a complete one for writing closes the way back: from then on it may
// hold what SQLite doesn't have.
import { hostname } from 'node:os';
import { Fault } from '../../../base/errors.ts';
import { type PostgresConnection, SCHEMA } from './connection.ts';
import { describeServer, type ServerAddress } from './server-address.ts';

/**
 * copying → complete → in_use. From the first two it goes to `void`: by the way back, or when the copy turned out to differ.
 * Every change compares with the note that was read, so that a way back and a first start can't both succeed.
 */
export interface CopyMark {
  id: string;
  /** The machine and the file. */
  source: string;
  state: 'copying' | 'complete' | 'in_use' | 'void';
  /** When it got into this state. */
  at: number;
  /** While copying: how many rows of each table are here, in the order of their primary key. */
  rows: Readonly<Record<string, number>>;
}

export const COPY_MARK = 'copied_from';

export function sourceName(file: string): string {
  return `${hostname()}:${file}`;
}

/** Null: it is not a copy. The schema is there. */
export async function readCopyMark(connection: PostgresConnection): Promise<CopyMark | null> {
  const { rows } = await connection.sendText(`SELECT value FROM ${SCHEMA}.meta WHERE name = '${COPY_MARK}'`);
  const found = rows[0] as { value: string } | undefined;
  return found ? (JSON.parse(found.value) as CopyMark) : null;
}

/** False: another process was faster. */
export async function changeCopyMark(connection: PostgresConnection, from: CopyMark, to: CopyMark): Promise<boolean> {
  const text = `UPDATE ${SCHEMA}.meta SET value = $2 WHERE name = '${COPY_MARK}' AND value = $1`;
  const statement = { name: 'change_copy_mark', text, names: [] };
  const values = [JSON.stringify(from), JSON.stringify(to)];
  return (await connection.send(statement, values, 'arrays')).changes === 1;
}

/** Before anything reads a database as its own. */
export function refuseUnfinishedCopy(mark: CopyMark | null, address: ServerAddress): void {
  if (mark?.state === 'copying') {
    throw refusal(
      `the database ${describeServer(address)} is an unfinished copy of ${mark.source}: run postrider migrate --to there again, which continues it`,
    );
  }
  if (mark?.state === 'void') {
    throw refusal(
      `the database ${describeServer(address)} is a copy of ${mark.source} that was given up: run postrider migrate --to there to make a new one, or name another database in store.url`,
    );
  }
}

/** Before anything writes: from now on there is no way back to SQLite. */
export async function beginUse(connection: PostgresConnection, address: ServerAddress): Promise<void> {
  for (;;) {
    const mark = await readCopyMark(connection);
    refuseUnfinishedCopy(mark, address);
    if (mark?.state !== 'complete') return;
    const { id, source, rows } = mark;
    if (await changeCopyMark(connection, mark, { id, source, state: 'in_use', at: Date.now(), rows })) return;
  }
}

function refusal(message: string): Fault {
  return new Fault(message, { permanence: 'permanent' });
}
