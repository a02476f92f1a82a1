// What PostgreSQL did for each statement that a store sent: the plans that it really used, with the rows and pages that they
// read, as its module auto_explain logs them. Statements of triggers and foreign keys are among them.
import fs from 'node:fs';
import path from 'node:path';
import type { PostgresServer } from '../../../support/postgres-server.ts';
import { until } from '../../../support/until.ts';

/** For startPostgres. */
export const PLANS_LOGGED = {
  shared_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  logging_collector: 'on',
  log_destination: 'jsonlog',
  log_directory: 'log',
  log_filename: 'plans',
  log_rotation_size: '0',
  log_min_messages: 'log',
};

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** One look at a table. */
export interface Scan {
  /** `Index Scan by messages_due`. */
  by: string;
  table: string;
  rows: number;
}

/** What one statement read. */
export interface UsedPlan {
  text: string;
  scans: Scan[];
  /** Rows that its scans looked at, those that a filter then removed included. */
  rows: number;
  /** Pages of 8 KiB, each as often as it was looked at. */
  pages: number;
}

export class PlanLog {
  readonly #server: PostgresServer;
  #read = 0;
  #marks = 0;

  constructor(server: PostgresServer) {
    this.#server = server;
  }

  /** The plans of all that `run` has a store ask, and of what was asked since the last time. */
  async during(database: string, run: () => Promise<unknown>): Promise<UsedPlan[]> {
    await run();
    return (await this.#next(database)).flatMap(plansOfLine);
  }

  /** What was logged since the last time. A statement's plan is logged when it is closed, at the latest by the commit. */
  async #next(database: string): Promise<string[]> {
    const busy = `SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'postrider-%' AND state <> 'idle'`;
    await until('the commits', async () => (await this.#server.run(database, busy)).rows.length === 0);
    const mark = `plans so far: ${++this.#marks}`;
    await this.#server.run(database, `DO $$ BEGIN RAISE LOG '${mark}'; END $$`);
    const file = path.join(this.#server.dataFolder, 'log/plans.json');
    return until('the log', () => {
      const text = readFrom(file, this.#read);
      const end = text.indexOf(`"message":"${mark}"`);
      if (end < 0) return null;
      const bytes = Buffer.byteLength(text.slice(0, end));
      this.#read += bytes;
      return text.slice(0, end).split('\n');
    });
  }
}

function readFrom(file: string, position: number): string {
  const bytes = fs.statSync(file).size - position;
  const handle = fs.openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.toString('utf8', 0, fs.readSync(handle, buffer, 0, bytes, position));
  } finally {
    fs.closeSync(handle);
  }
}

function plansOfLine(line: string): UsedPlan[] {
  if (!line.startsWith('{')) return [];
  let entry: { application_name?: string; message: string };
  try {
    entry = JSON.parse(line);
  } catch {
    return []; // the part of a line before a mark
  }
  const json = /^duration: [\d.]+ ms {2}plan:\s+([\s\S]+)$/.exec(entry.message)?.[1];
  if (json === undefined || !entry.application_name?.startsWith('postrider-')) return [];
  const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode };
  const scans = nodesOf(plan).flatMap(scanOf);
  const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  return [{ text, scans, rows: scans.reduce((sum, { rows }) => sum + rows, 0), pages }];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** PostgreSQL tells averages per loop. */
function scanOf(node: PlanNode): Scan[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index } = node;
  if (table === undefined || !type.endsWith(' Scan')) return [];
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const rows = Math.round((node['Actual Rows'] + removed) * node['Actual Loops']);
  return [{ by: index === undefined ? type : `${type} by ${index}`, table, rows }];
}
