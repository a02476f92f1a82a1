// What the server says of itself, for the doctor, on a connection of its own. Much of it is only for members of
// pg_monitor: to others PostgreSQL shows empty fields.
import { clockAheadMs } from '../owners.ts';
import type { ServerFacts, ServerStandby } from '../server-facts.ts';
import { type PostgresConnection, SCHEMA } from './engine/connection.ts';
import { Primary } from './engine/primary.ts';
import { parseServerAddress } from './engine/server-address.ts';

const FACTS = `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
    current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AS survives_crash,
    current_setting('synchronous_commit') AS synchronous_commit,
    nullif(current_setting('synchronous_standby_names'), '') AS standby_names,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections_used,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections_most,
    (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()) AS unfrozen`;
const STANDBYS = `SELECT application_name AS name, state, sync_state FROM pg_stat_replication ORDER BY application_name`;
const OLDEST = `SELECT application_name AS application, usename AS "user",
    (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint AS age_ms
  FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  ORDER BY xact_start LIMIT 1`;
const CLOCK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';
const NODES = `SELECT node, version, seen_at FROM ${SCHEMA}.nodes ORDER BY node`;

export async function readServerFacts(url: string, now: () => number): Promise<ServerFacts> {
  const primary = new Primary(parseServerAddress(url));
  const connection = await primary.connect({ applicationName: 'postrider-doctor' });
  try {
    const facts = (await connection.sendText(FACTS)).rows[0] as Record<string, string & number>;
    const clock = await compareClocks(connection, now);
    return {
      version: facts.version!,
      host: primary.host,
      outdated: primary.outdated,
      clockAheadMs: clock.aheadMs,
      survivesCrash: facts.survives_crash === 1,
      synchronousCommit: facts.synchronous_commit!,
      standbyNames: facts.standby_names ?? null,
      standbys: standbysOf((await connection.sendText(STANDBYS)).rows as StandbyRow[]),
      oldestTransaction: oldestOf((await connection.sendText(OLDEST)).rows as OldestRow[]),
      connections: { used: facts.connections_used!, most: facts.connections_most! },
      transactionsUnfrozen: facts.unfrozen!,
      nodes: await nodesOf(connection, clock.theirs),
    };
  } finally {
    await connection.end();
  }
}

async function compareClocks(
  connection: PostgresConnection,
  now: () => number,
): Promise<{ theirs: number; aheadMs: number }> {
  const before = now();
  const { now: theirs } = (await connection.sendText(CLOCK)).rows[0] as { now: number };
  const after = now();
  return { theirs, aheadMs: clockAheadMs(theirs, { before, after }) };
}

interface StandbyRow {
  name: string;
  state: string | null;
  sync_state: string | null;
}

function standbysOf(rows: readonly StandbyRow[]): ServerStandby[] | null {
  if (rows.some(({ state }) => state === null)) return null;
  return rows.map(({ name, state, sync_state: sync }) => {
    return { name, isStreaming: state === 'streaming', isSynchronous: sync === 'sync' || sync === 'quorum' };
  });
}

interface OldestRow {
  application: string;
  user: string;
  age_ms: number;
}

function oldestOf([oldest]: readonly OldestRow[]): ServerFacts['oldestTransaction'] {
  return oldest ? { ageMs: oldest.age_ms, application: oldest.application, user: oldest.user } : null;
}

/** None before the first start. */
async function nodesOf(connection: PostgresConnection, now: number): Promise<ServerFacts['nodes']> {
  const found = await connection.sendText(`SELECT to_regclass('${SCHEMA}.nodes') IS NOT NULL AS are_there`);
  if ((found.rows[0] as { are_there: number }).are_there === 0) return [];
  const rows = (await connection.sendText(NODES)).rows as { node: string; version: string; seen_at: number }[];
  return rows.map(({ node, version, seen_at: seenAt }) => {
    return { node, version, seenMsAgo: seenAt === 0 ? null : now - seenAt };
  });
}
