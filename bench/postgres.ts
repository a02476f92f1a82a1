// The PostgreSQL of a run: a server of its own, on the disk that is measured, whose commits are on disk when it answers.
import { type PostgresServer, postgresMissing, startPostgres } from '../test/support/postgres-server.ts';
import { cpuTimeWithChildren } from './cpu-time.ts';

/**
 * What an operator of a server for mail sets first; everything else has PostgreSQL's default. The write-ahead log may
 * grow between two checkpoints, or they come so often that each page is written to it in full again and again.
 */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  autovacuum: 'on',
  shared_buffers: '1GB',
  max_wal_size: '4GB',
};

export interface Database {
  server: PostgresServer;
  name: string;
  url: string;
  /** Processor time of the server's processes so far; null where that cannot be known. */
  usedS(): number | null;
}

/** Why there is none, or false. */
export const databaseMissing = postgresMissing;

/** Removed with all that is in it once the work has ended. */
export async function withDatabaseServer<T>(
  { dir, settings = {} }: { dir: string; settings?: Record<string, string> },
  work: (makeDatabase: () => Promise<Database>) => Promise<T>,
): Promise<T> {
  const endings: (() => unknown)[] = [];
  const starter = { teardown: (end: () => unknown) => void endings.unshift(end) };
  try {
    const server = await startPostgres(starter, { settings: { ...SETTINGS, ...settings }, parent: dir });
    const usedS = () => cpuTimeWithChildren(server.program.child.pid!);
    return await work(async () => {
      const name = await server.createDatabase();
      return { server, name, url: server.url(name), usedS };
    });
  } finally {
    for (const end of endings) await end();
  }
}
