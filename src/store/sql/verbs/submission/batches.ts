// Accepting a batch: every decision and row of all its submissions in one transaction.

import type {
  AcceptResult,
  BatchEntry,
  BatchItem,
  BatchResult,
  NewBatch,
  RefusedItem,
  RefusedSubmission,
  SubmissionReceipt,
  SubmissionStore,
} from '../../../submissions.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { type Row, toId } from '../../values.ts';
import { accept, readReceipt, receiptOf, refusalOf } from './submissions.ts';

export function batchVerbs(db: Transaction): Work<Pick<SubmissionStore, 'acceptBatch' | 'findBatch'>> {
  return {
    acceptBatch: (batch) => acceptBatch(db, batch),
    findBatch: (tenantId, idempotencyKey) => findBatch(db, tenantId, idempotencyKey),
  };
}

function* acceptBatch(db: Transaction, batch: NewBatch): Steps<BatchResult> {
  const { tenantId, idempotencyKey: key, entries, skipsRefused } = batch;
  if (key !== null) {
    const items = yield* findBatch(db, tenantId, key);
    if (items) return { kind: 'replayed', items };
    if (yield* readReceipt(db, tenantId, key)) return { kind: 'key_taken' };
  }
  // Before anything is written: then nothing need be taken back.
  const refused = skipsRefused ? null : yield* firstRefused(db, entries);
  if (refused) return refused;
  const results = yield* db.forAll(entries, function* (entry) {
    return entry.kind === 'submission' ? yield* accept(db, entry.submission) : null;
  });
  const items = entries.map((entry, index) => itemOf(entry, results[index]!));
  if (key !== null && items.some((item) => 'receipt' in item))
    yield* insertBatch(db, { ...batch, idempotencyKey: key }, items);
  return { kind: 'accepted', items, results };
}

function* firstRefused(db: Transaction, entries: readonly BatchEntry[]): Steps<BatchResult | null> {
  const refusals = yield* db.forAll(entries, function* (entry) {
    return entry.kind === 'submission' ? yield* refusalOf(db, entry.submission) : null;
  });
  const index = refusals.findIndex((why) => why !== null);
  return index < 0 ? null : { kind: 'refused', index, why: refusals[index]! };
}

function itemOf(entry: BatchEntry, result: AcceptResult | null): BatchItem {
  if (entry.kind === 'refused') return { error: entry.error, message: entry.message };
  if (result?.kind === 'accepted') return { receipt: result.receipt };
  // Its submissions have no keys of their own, so nothing else can have happened.
  return entry.refusalOf[(result as RefusedSubmission).kind];
}

type StoredItem = { submission: string } | RefusedItem;

function* insertBatch(
  db: Transaction,
  { tenantId, idempotencyKey, acceptedAt }: NewBatch & { idempotencyKey: string },
  items: readonly BatchItem[],
): Steps<void> {
  const stored: StoredItem[] = items.map((item) => ('receipt' in item ? { submission: item.receipt.id } : item));
  const insert = db.sql('INSERT INTO batches (tenant_id, idempotency_key, items, created_at) VALUES (+?, +?, +?, +?)');
  yield* insert.run(toId(tenantId), idempotencyKey, JSON.stringify(stored), acceptedAt);
}

function* findBatch(db: Transaction, tenantId: string, idempotencyKey: string): Steps<BatchItem[] | null> {
  const row = (yield* db
    .sql('SELECT items FROM batches WHERE tenant_id = +? AND idempotency_key = +?')
    .get(toId(tenantId), idempotencyKey)) as Row | undefined;
  if (!row) return null;
  return yield* eachOf(JSON.parse(row.items as string) as StoredItem[], function* (item) {
    return 'submission' in item ? { receipt: yield* storedReceipt(db, tenantId, item.submission) } : item;
  });
}

/** An erased submission still has its ID. */
function* storedReceipt(db: Transaction, tenantId: string, id: string): Steps<SubmissionReceipt> {
  const row = db.sql('SELECT id, rejected FROM submissions WHERE tenant_id = +? AND id = +?');
  const found = (yield* row.get(toId(tenantId), toId(id))) as Row | undefined;
  return found ? yield* receiptOf(db, found) : { id, messageIds: [], rejected: [] };
}
