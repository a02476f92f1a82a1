// What a courier thread reads, on read-only connections of its own. Every read transaction starts with an empty page cache
// after any write, so a batch of messages shares one.
import { SECOND_MS } from '../../../base/clock.ts';
import { instead, PatientReads } from '../../patient-reads.ts';
import { transportSecurityQueries } from '../../sql/verbs/domains/transport-security.ts';
import { contentQueries } from '../../sql/verbs/message/contents.ts';
import type { ContentReader, ContentResult } from '../../submissions.ts';
import type { TransportSecurityReader } from '../../transport-security.ts';
import { isPassing } from '../engine/database-fault.ts';
import { ReadingConnection } from '../engine/reading-connection.ts';

/** What a disk denies for longer may take hours, and a connection to a receiver waits meanwhile. */
const READ_FOR_MS = 10 * SECOND_MS;

export function openContentReader(file: string, { readForMs = READ_FOR_MS } = {}): ContentReader {
  const db = new ReadingConnection(file);
  const queries = db.answering<Omit<ContentReader, 'close'>>(contentQueries(db, isPassing));
  const patient = new PatientReads({ readForMs, isAway: isPassing });
  const read = (messageId: string): Promise<ContentResult> =>
    patient.answer(() => queries.read(messageId)).catch(instead);
  return {
    read,
    // One that cannot be read now does not keep those before it waiting.
    readSome: (messageIds) => queries.readSome(messageIds).catch(async () => [await read(messageIds[0]!)]),
    attachments: (tenantId, submissionId) => patient.answer(() => queries.attachments(tenantId, submissionId)),
    piece: (wanted) => patient.answer(() => queries.piece(wanted)),
    close() {
      patient.close();
      db.close();
    },
  };
}

export function openTransportSecurityReader(file: string): TransportSecurityReader {
  const db = new ReadingConnection(file);
  const queries = transportSecurityQueries(db);
  return Object.assign(db.answering<Omit<TransportSecurityReader, 'close'>>(queries), { close: () => db.close() });
}
