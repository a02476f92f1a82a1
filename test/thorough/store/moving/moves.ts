// What the tests of a move have in common.
import path from 'node:path';
import type { Test } from 'tap';
import type { MoveProgress, PieceLimits } from '../../../../src/store/moving/copy.ts';
import { moveBack, moveToPostgres } from '../../../../src/store/moving/move.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import type { PostgresServer } from '../../../support/postgres-server.ts';
import { testFolder } from '../../../support/test-folder.ts';
import { fillEveryTable } from './every-table.ts';

export const NOON = Date.UTC(2026, 10, 26, 12);

export async function newDatabase(t: Test, file = path.join(testFolder(t), 'postrider.db')): Promise<string> {
  await (await openSqliteStore({ file })).close();
  return file;
}

export async function filledDatabase(t: Test, place?: string): Promise<string> {
  const file = await newDatabase(t, place);
  fillEveryTable(file);
  return file;
}

export async function newTarget(t: Test, server: PostgresServer): Promise<{ database: string; url: string }> {
  const database = await server.createDatabase();
  t.teardown(() => server.dropDatabase(database));
  return { database, url: server.url(database) };
}

interface Options {
  progress?(report: MoveProgress): void;
  piece?: PieceLimits;
}

export const move = (file: string, url: string, { progress = () => {}, piece }: Options = {}) =>
  moveToPostgres({ file, url, now: () => NOON, progress, ...(piece && { piece }) });
export const back = (file: string, url: string | null) => moveBack({ file, url, now: () => NOON });

/** As an operator's mistake would. */
export const open = async (file: string) => (await openSqliteStore({ file })).close();
export const use = async (url: string) => (await openPostgresStore({ url })).close();

/** When everything is copied, and nothing compared. */
export function stopAtEnd({ table, rows, of }: MoveProgress): void {
  if (table === 'written_pieces' && rows === of) throw new Error('stopped');
}
