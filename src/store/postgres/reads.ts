// What couriers and commands read of the database, on connections of their own: contents of messages, what is known about
// receivers' TLS, and what a store holds.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Inspection } from '../inspection.ts';
import type { CourierReads } from '../reads.ts';
import { inspectionQueries } from '../sql/reading/inspection-queries.ts';
import type { Reads, Steps } from '../sql/steps.ts';
import type { Work } from '../sql/transaction.ts';
import { transportSecurityQueries } from '../sql/verbs/domains/transport-security.ts';
import { contentQueries } from '../sql/verbs/message/contents.ts';
import type { ContentReader, ContentResult } from '../submissions.ts';
import type { TransportSecurityReader } from '../transport-security.ts';
import { isMigrated, newestSchema, presentSchema } from './engine/migrations.ts';
import { ReadPool } from './engine/read-pool.ts';
import { parseServerAddress } from './engine/server-address.ts';
import { VerbRunner } from './engine/verb-runner.ts';

export function openPostgresCourierReads(url: string): CourierReads {
  const receivers = new Reader(url, COURIER);
  const queries = receivers.answering<Omit<TransportSecurityReader, 'close'>>(transportSecurityQueries);
  return {
    contents: openContentReader(url),
    transportSecurity: { ...queries, close: () => void receivers.close() },
  };
}

/** What they read does not change as long as its message is on its way. */
const COURIER = { applicationName: 'postrider-courier', maxConnections: 1, inTransactions: false };
/** A message that can't be read is parked for people, so a failover must not look like one. */
const READ_FOR_MS = 60 * SECOND_MS;
const READ_AGAIN_MS = SECOND_MS;

function openContentReader(url: string): ContentReader {
  const reader = new Reader(url, COURIER);
  const { readSome, ...others } = reader.answering<Omit<ContentReader, 'close'>>(contentQueries);
  let closed = false;
  const patiently = async (messageIds: readonly string[]): Promise<ContentResult[]> => {
    for (const until = performance.now() + READ_FOR_MS; ; await pause(READ_AGAIN_MS)) {
      try {
        return await readSome(messageIds);
      } catch (error) {
        if (!closed && performance.now() < until) continue;
        const reason = `the stored message cannot be read: ${describeError(error)}`;
        return messageIds.map(() => ({ kind: 'unreadable', reason }));
      }
    }
  };
  return {
    ...others,
    read: async (messageId) => (await patiently([messageId]))[0]!,
    readSome: patiently,
    close() {
      closed = true;
      void reader.close();
    },
  };
}

/** Null: Postrider has no tables in the database yet. */
export async function openPostgresInspection(url: string): Promise<Inspection | null> {
  if (!(await isMigrated(parseServerAddress(url)))) return null;
  const reader = new Reader(url, { applicationName: 'postrider-inspection', maxConnections: 1, inTransactions: true });
  const queries = reader.answering<Omit<Inspection, 'close'>>(inspectionQueries);
  return { ...queries, close: () => void reader.close() };
}

export async function schemaOfDatabase(url: string): Promise<{ version: number; newest: number }> {
  return { version: await presentSchema(parseServerAddress(url)), newest: newestSchema() };
}

interface ReaderOptions {
  applicationName: string;
  maxConnections: number;
  /** Then each query sees one moment. */
  inTransactions: boolean;
}

class Reader {
  readonly #pool: ReadPool;
  readonly #runner: VerbRunner;

  constructor(url: string, { applicationName, maxConnections, inTransactions }: ReaderOptions) {
    this.#pool = new ReadPool({
      address: parseServerAddress(url),
      terms: { applicationName },
      cache: null,
      maxConnections,
      inTransactions,
    });
    this.#runner = new VerbRunner((work) => this.read(work));
  }

  read<T>(work: () => Steps<T>): Promise<T> {
    return this.#pool.read(this.#runner, work);
  }

  /** The queries as callers know them. */
  answering<Contract>(queriesOf: (db: Reads) => Work<Contract>): Contract {
    const queries = queriesOf(this.#runner) as Record<string, (...args: unknown[]) => Steps<unknown>>;
    const answered = Object.entries(queries).map(([name, query]) => [
      name,
      (...args: unknown[]) => this.read(() => query(...args)),
    ]);
    return Object.fromEntries(answered) as Contract;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
