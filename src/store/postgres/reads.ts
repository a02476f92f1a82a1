// What couriers and commands read of the database, on connections of their own: contents of messages, what is known about
// receivers' TLS, and what a store holds.
import { SECOND_MS } from '../../base/clock.ts';
import { Fault } from '../../base/errors.ts';
import type { Inspection } from '../inspection.ts';
import { instead, PatientReads } from '../patient-reads.ts';
import type { CourierReads } from '../reads.ts';
import { inspectionQueries } from '../sql/reading/inspection-queries.ts';
import type { Reads, Steps } from '../sql/steps.ts';
import type { Work } from '../sql/transaction.ts';
import { transportSecurityQueries } from '../sql/verbs/domains/transport-security.ts';
import { CONTENT_MISSING, contentQueries } from '../sql/verbs/message/contents.ts';
import type { ContentReader, ContentResult } from '../submissions.ts';
import type { TransportSecurityReader } from '../transport-security.ts';
import { isOutage } from './engine/database-fault.ts';
import { isMigrated, newestSchema, presentSchema } from './engine/migrations.ts';
import { Primary } from './engine/primary.ts';
import { ReadPool } from './engine/read-pool.ts';
import { parseServerAddress } from './engine/server-address.ts';
import { VerbRunner } from './engine/verb-runner.ts';

export function openPostgresCourierReads(url: string, { readForMs = READ_FOR_MS } = {}): CourierReads {
  const receivers = new Reader(url, COURIER);
  const queries = receivers.answering<Omit<TransportSecurityReader, 'close'>>(transportSecurityQueries);
  return {
    contents: openContentReader(url, readForMs),
    transportSecurity: { ...queries, close: () => void receivers.close() },
  };
}

/** What they read does not change as long as its message is on its way. */
const COURIER = { applicationName: 'postrider-courier', maxConnections: 1, inTransactions: false };
/** So long a failover of the database is not noticed. */
const READ_FOR_MS = 60 * SECOND_MS;

function openContentReader(url: string, readForMs: number): ContentReader {
  const reader = new Reader(url, COURIER);
  const { readSome, attachments, piece } = reader.answering<Omit<ContentReader, 'close'>>(contentQueries);
  const patient = new PatientReads({ readForMs, isAway });
  const some = async (messageIds: readonly string[]): Promise<ContentResult[]> => {
    try {
      const found = await patient.answer(() => readSome(messageIds));
      if (!found.includes(CONTENT_MISSING)) return found;
      // After a failover this may still be the old server, which knows nothing of mail that came since.
      reader.reconnect();
      return await patient.answer(() => readSome(messageIds));
    } catch (error) {
      return messageIds.map(() => instead(error));
    }
  };
  return {
    read: async (messageId) => (await some([messageId]))[0]!,
    readSome: some,
    attachments: (tenantId, submissionId) => patient.answer(() => attachments(tenantId, submissionId)),
    piece: (wanted) => patient.answer(() => piece(wanted)),
    close() {
      patient.close();
      void reader.close();
    },
  };
}

/** The database or the way to it, and not what was asked. */
function isAway(error: unknown): boolean {
  return error instanceof Fault && error.cause !== undefined && isOutage(error.cause);
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
      primary: new Primary(parseServerAddress(url)),
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

  reconnect(): void {
    this.#pool.reconnect();
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
