// A connection over a table of facts, on a disk that can be made to fail: for the tests of
// group commit.

import path from 'node:path';
import Database from 'better-sqlite3';
import type { Test } from 'tap';
import type { Steps } from '../../src/store/sql/steps.ts';
import { openForWriting } from '../../src/store/sqlite/engine/database-file.ts';
import { type StoreFaults, WritingConnection } from '../../src/store/sqlite/engine/writing-connection.ts';
import { testFolder } from '../support/test-folder.ts';

export const UNUSABLE = { name: 'Fault', message: 'the database could not be used' };

/** A disk whose next commits fail. */
export class FailingDisk implements StoreFaults {
  failures = 0;
  code = 'SQLITE_FULL';
  commits: number[] = [];

  beforeCommit(verbs: number): void {
    this.commits.push(verbs);
    if (this.failures-- > 0) throw Object.assign(new Error('injected'), { code: this.code });
    this.failures = 0;
  }
}

export function openFacts(t: Test) {
  const file = path.join(testFolder(t), 'facts.db');
  const db = openForWriting(file);
  db.exec('CREATE TABLE facts (name TEXT PRIMARY KEY, size INTEGER)');
  const disk = new FailingDisk();
  const groups: number[] = [];
  // Only their number cuts groups here: a busy machine must not.
  const groupMaxMs = Number.POSITIVE_INFINITY;
  const onGroup = ({ verbs }: { verbs: number }) => groups.push(verbs);
  const connection = new WritingConnection(db, { faults: disk, groupMaxMs, onGroup });
  const other = new Database(file, { readonly: true });
  const select = other.prepare('SELECT name FROM facts ORDER BY name').pluck();
  t.teardown(async () => {
    other.close();
    await connection.close();
  });
  const add = (name: string) =>
    connection.write('write', function* () {
      yield* connection.sql('INSERT INTO facts (name) VALUES (?)').run(name);
      return name;
    });
  const count = () =>
    connection.read(() => connection.sql('SELECT count(*) FROM facts', 'column').get() as Steps<number>);
  /** What is committed, seen from outside. */
  const onDisk = () => select.all() as string[];
  return { db, file, disk, groups, connection, add, count, onDisk };
}

export function names(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `n${String(n).padStart(4, '0')}`);
}
