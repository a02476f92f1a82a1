// What a courier thread reads, on read-only connections of its own. Every read transaction starts with an empty page cache
// after any write, so a batch of messages shares one.

import { transportSecurityQueries } from '../../sql/verbs/domains/transport-security.ts';
import { contentQueries } from '../../sql/verbs/message/contents.ts';
import type { ContentReader } from '../../submissions.ts';
import type { TransportSecurityReader } from '../../transport-security.ts';
import { ReadingConnection } from '../engine/reading-connection.ts';

export function openContentReader(file: string): ContentReader {
  const db = new ReadingConnection(file);
  return Object.assign(db.answering<Omit<ContentReader, 'close'>>(contentQueries(db)), { close: () => db.close() });
}

export function openTransportSecurityReader(file: string): TransportSecurityReader {
  const db = new ReadingConnection(file);
  const queries = transportSecurityQueries(db);
  return Object.assign(db.answering<Omit<TransportSecurityReader, 'close'>>(queries), { close: () => db.close() });
}
