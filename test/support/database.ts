// The daemon's database as somebody sees it who opens the file: only ever a copy, or that of a
// daemon that has ended.
import Database from 'better-sqlite3';
import { bytesToUuid } from '../../src/base/ids.ts';

export interface Insight {
  integrity: string;
  /** How many messages are in each state. */
  states: Record<string, number>;
  /** How many messages have had so many attempts. */
  attempts: Record<string, number>;
  /** Ids of the messages that are marked as being sent. */
  sending: string[];
}

export function lookInto(file: string): Insight {
  return withDatabase(file, (db) => {
    const rows = db.prepare('SELECT id, state, attempts FROM messages').all() as MessageRow[];
    return {
      integrity: String(db.pragma('integrity_check', { simple: true })),
      states: count(rows.map(({ state }) => state)),
      attempts: count(rows.map(({ attempts }) => String(attempts))),
      sending: rows.filter(({ state }) => state === 'sending').map(({ id }) => bytesToUuid(id)),
    };
  });
}

export function withDatabase<T>(file: string, work: (db: Database.Database) => T): T {
  const db = new Database(file);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

interface MessageRow {
  id: Buffer;
  state: string;
  attempts: number;
}

function count(values: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
