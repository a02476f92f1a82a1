// Rows of the queue in SQLite as the contract's records.
import type { QueuedMessage } from '../../queue.ts';
import { fromId, type Row } from '../engine/values.ts';

export function messageFromRow(row: Row): QueuedMessage {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    submissionId: fromId(row.submission_id),
    recipient: row.recipient as string,
    state: row.state as QueuedMessage['state'],
    attempts: row.attempts as number,
    dueAt: row.due_at as number | null,
    expiresAt: row.expires_at as number,
    lastReason: row.last_reason as string | null,
    ambiguous: row.ambiguous === 1,
    parked: row.parked === 1,
    sourceAddress: row.source_address as string | null,
    createdAt: row.created_at as number,
    finishedAt: row.finished_at as number | null,
  };
}
