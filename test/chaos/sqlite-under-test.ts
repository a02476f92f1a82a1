// SQLite below a chaos run. The files are read as they lie there: while no daemon runs, or in a copy of the
// log beside a link to the database, so that what the next daemon finds stays as the kill left it.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { bytesToUuid, uuidToBytes } from '../../src/base/ids.ts';
import type { Launch } from '../support/daemon-process.ts';
import { preparePowerCuts } from './power-cut.ts';
import { readFacts } from './sqlite-facts.ts';
import type { AfterKill, OpenWork, StoreUnderTest } from './store-under-test.ts';

const FINISHED = new Set(['delivered', 'bounced', 'failed']);

export function sqliteUnderTest(folder: string, launch: Launch): StoreUnderTest {
  const data = path.join(folder, 'data');
  fs.mkdirSync(data, { mode: 0o700 });
  const file = path.join(data, 'postrider.db');
  const cuts = preparePowerCuts(data, folder);
  if (cuts !== null) launch.env = cuts.env;
  return {
    name: 'sqlite',
    cutsPower: cuts !== null,
    prepareStart: () => cuts?.tidy(),
    checkpointBegins: (signal) => changeOf(file, signal),
    cutPower: (survives, random) => cuts?.cut(survives, random) ?? { writes: 0, blocksLost: 0 },
    lookAfterKill: (arrived, thorough) =>
      withCopy(file, path.join(folder, 'look'), (db) => {
        try {
          return lookAfterKill(db, arrived, thorough);
        } catch (error) {
          return { inFlight: new Set(), damage: String(error) };
        }
      }),
    openWork: () => reading(file, countOpenWork),
    hastenWebhooks() {
      const db = new Database(file);
      db.prepare('UPDATE webhook_deliveries SET due_at = 0 WHERE due_at IS NOT NULL').run();
      db.close();
    },
    facts: (tenantId) => reading(file, (db) => readFacts(db, tenantId)),
  };
}

/** Only checkpoints write the database file itself; commits go to the log. */
function changeOf(file: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const watcher = fs.watch(file, () => done());
    const done = () => {
      watcher.close();
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
  });
}

function reading<T>(file: string, work: (db: Database.Database) => T): T {
  const db = new Database(file, { readonly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function withCopy<T>(file: string, folder: string, work: (db: Database.Database) => T): T {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder);
  const copy = path.join(folder, 'postrider.db');
  fs.linkSync(file, copy);
  if (fs.existsSync(`${file}-wal`)) fs.copyFileSync(`${file}-wal`, `${copy}-wal`);
  try {
    return reading(copy, work);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function lookAfterKill(db: Database.Database, arrived: Iterable<string>, thorough: boolean): AfterKill {
  const sending = db.prepare("SELECT id FROM messages WHERE state = 'sending'").pluck().all() as Buffer[];
  const inFlight = new Set(sending.map(bytesToUuid));
  const state = db.prepare('SELECT state FROM messages WHERE id = ?').pluck();
  for (const id of arrived) {
    const found = state.get(uuidToBytes(id)) as string | undefined;
    if (found !== undefined && !FINISHED.has(found)) inFlight.add(id);
  }
  const damage = thorough ? String(db.pragma('quick_check', { simple: true })) : 'ok';
  return { inFlight, damage: damage === 'ok' ? null : damage };
}

function countOpenWork(db: Database.Database): OpenWork {
  const count = (from: string) => Number(db.prepare(`SELECT count(*) FROM ${from}`).pluck().get());
  return {
    messages: count('messages WHERE finished_at IS NULL'),
    inbound: count('inbound_mails WHERE processed_at IS NULL'),
    webhookDeliveries: count('webhook_deliveries WHERE due_at IS NOT NULL'),
  };
}
