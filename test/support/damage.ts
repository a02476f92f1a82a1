// Changes rows behind the daemon's back, as an operator with the wrong tool would, or a disk with a bad block.
import Database from 'better-sqlite3';
import { uuidToBytes } from '../../src/base/ids.ts';
import type { DeliveryHarness } from './delivery-harness.ts';

export function damage(harness: DeliveryHarness, sql: string, ...values: unknown[]): void {
  const db = new Database(harness.databaseFile);
  db.prepare(sql).run(...values);
  db.close();
}

/** The row can still be read, but no mail be composed from it: the message is parked. */
export function spoilRecipient(harness: DeliveryHarness, messageId: string): void {
  damage(harness, "UPDATE messages SET recipient = '<b>@rcpt.test' WHERE id = ?", uuidToBytes(messageId));
}
