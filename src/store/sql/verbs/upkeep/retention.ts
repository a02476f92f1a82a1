// Erasing data past its retention: walks along the index of finished messages, in slices so short that no other verb waits
// for long. What one slice erases goes table by table, so that a database at the end of a connection is not asked row by row.

import { MINUTE_MS } from '../../../../base/clock.ts';
import type { ContentWalk, RetentionCursor, RetentionSlice, RetentionStore } from '../../../upkeep.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { eventsCountedTo } from '../figures/figures.ts';
import { submissionsCountedTo } from '../figures/tag-figures.ts';
import { eraseEvents } from '../message/erased-events.ts';
import { OF_SUBMISSION } from '../message/submission-messages.ts';
import { forgetWritten } from '../message/written-mails.ts';
import { dropCursor, keepCursor, keptCursor } from './kept-cursors.ts';
import { eraseBatches } from './old-batches.ts';

/** Of one slice. */
const ROWS_AT_ONCE = 100;
/** Of mail that finishes after the clock was set back and before the next walk: a daemon walks a minute after its start. */
const WALK_AGAIN_MS = 2 * MINUTE_MS;

export function retentionVerbs(db: Transaction): Work<RetentionStore> {
  return {
    eraseContents: (walk) => eraseContents(db, walk),
    eraseRecords: (before, budgetMs) => eraseRecords(db, before, budgetMs),
    *contentDaysInUse() {
      const days = db.sql(
        'SELECT DISTINCT content_days FROM tenants WHERE content_days IS NOT NULL ORDER BY 1',
        'column',
      );
      return (yield* days.all()) as number[];
    },
    setContentDays: (tenantId, days) => setContentDays(db, tenantId, days),
    *contentDaysOf(tenantId) {
      const days = yield* db.sql('SELECT content_days FROM tenants WHERE id = +?', 'column').get(toId(tenantId));
      return (days as number | null | undefined) ?? null;
    },
    reusableBytes: () => db.reusableBytes(),
  };
}

/** Old messages come under the new setting, too: its walk starts over. */
function* setContentDays(db: Transaction, tenantId: string, days: number | null): Steps<boolean> {
  const set = db.sql('UPDATE tenants SET content_days = +? WHERE id = +?');
  if ((yield* set.run(days, toId(tenantId))).changes === 0) return false;
  yield* dropCursor(db, cursorName(days));
  return true;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

function cursorName(days: number | null): string {
  return `content_walk_${days ?? 'default'}`;
}

/** It is beyond `before` only after the clock was set back. What finishes now would be behind it, and its content would stay. */
function* readCursor(db: Transaction, { days, before }: ContentWalk): Steps<RetentionCursor> {
  const text = yield* keptCursor(db, cursorName(days));
  const [finishedAt = '0', messageId = FIRST_ID] = text?.split(' ') ?? [];
  if (Number(finishedAt) <= before) return { finishedAt: Number(finishedAt), messageId };
  const again = { finishedAt: before - WALK_AGAIN_MS, messageId: FIRST_ID };
  yield* keepCursor(db, cursorName(days), `${again.finishedAt} ${again.messageId}`);
  return again;
}

/** The walk visits every message of a submission; at the one that finished last, the content is erased. */
function* eraseContents(db: Transaction, walk: ContentWalk): Steps<RetentionSlice> {
  const { days, before, budgetMs } = walk;
  const { finishedAt, messageId } = yield* readCursor(db, walk);
  const rows = (yield* db
    .sql(
      `SELECT m.id, m.finished_at, m.submission_id, t.content_days FROM messages m JOIN tenants t ON t.id = m.tenant_id
       WHERE m.finished_at IS NOT NULL AND (m.finished_at, m.id) > (+?, +?) AND m.finished_at <= +?
       ORDER BY m.finished_at, m.id LIMIT ${ROWS_AT_ONCE}`,
    )
    .all(finishedAt, toId(messageId), before)) as Row[];
  let erased = 0;
  const seen = yield* db.asTimeAllows(rows, budgetMs, function* (visited) {
    const submissions = submissionsOf(visited.filter(({ content_days }) => content_days === days));
    const counts = yield* db.forAll(submissions, (submission) => eraseContentOf(db, submission, before));
    erased += counts.reduce((sum, count) => sum + count, 0);
    return visited.length;
  });
  const last = rows[seen - 1];
  if (last) yield* keepCursor(db, cursorName(days), `${last.finished_at} ${fromId(last.id)}`);
  return { seen, erased, more: seen < rows.length || rows.length === ROWS_AT_ONCE };
}

/** Each once. */
function submissionsOf(messages: readonly Row[]): Buffer[] {
  const submissions = messages.map((message) => message.submission_id as Buffer);
  return [...new Map(submissions.map((id) => [fromId(id), id])).values()];
}

function* eraseContentOf(db: Transaction, submission: Buffer, before: number): Steps<number> {
  const isNeeded = db.sql(
    `SELECT 1 FROM submissions s JOIN messages m ON ${OF_SUBMISSION}
     WHERE s.id = +? AND (m.finished_at IS NULL OR m.finished_at > +?) LIMIT 1`,
  );
  return (yield* isNeeded.get(submission, before)) === undefined ? yield* deleteContent(db, submission) : 0;
}

function* eraseRecords(db: Transaction, before: number, budgetMs: number): Steps<RetentionSlice> {
  const forBatches = budgetMs / 4;
  const messages = yield* eraseOldest(db, before, budgetMs - forBatches);
  // No fewer than messages: each batch has sent at least one.
  const batches = yield* eraseBatches(db, before, { limit: ROWS_AT_ONCE, budgetMs: forBatches });
  return { ...messages, more: messages.more || batches.more };
}

function* eraseOldest(db: Transaction, before: number, budgetMs: number): Steps<RetentionSlice> {
  const rows = (yield* db
    .sql(
      `SELECT m.id, m.submission_id FROM messages m WHERE m.finished_at IS NOT NULL AND m.finished_at <= +?
       ORDER BY m.finished_at, m.id LIMIT ${ROWS_AT_ONCE}`,
    )
    .all(before)) as Row[];
  const counted = { events: yield* eventsCountedTo(db), submissions: yield* submissionsCountedTo(db) };
  let mustWait = false;
  const erased = yield* db.asTimeAllows(rows, budgetMs, function* (oldest) {
    const uncounted = yield* db.forAll(oldest, (row) => isUncounted(db, row, counted));
    // What charts do not include yet waits: the count runs every few seconds.
    mustWait = uncounted.includes(true);
    const messages = mustWait ? oldest.slice(0, uncounted.indexOf(true)) : oldest;
    yield* eraseMessages(db, messages, before);
    return messages.length;
  });
  const more = !mustWait && (erased < rows.length || rows.length === ROWS_AT_ONCE);
  return { seen: erased, erased, more };
}

function* isUncounted(db: Transaction, row: Row, counted: { events: number; submissions: number }): Steps<boolean> {
  const event = db.sql('SELECT 1 FROM events WHERE message_id = +? AND seq > +? LIMIT 1');
  if ((yield* event.get(row.id, counted.events)) !== undefined) return true;
  const labelled = db.sql('SELECT 1 FROM submissions WHERE id = +? AND labels IS NOT NULL AND content_id > +?');
  return (yield* labelled.get(row.submission_id, counted.submissions)) !== undefined;
}

function* eraseMessages(db: Transaction, messages: readonly Row[], before: number): Steps<void> {
  const ids = messages.map(({ id }) => id as Buffer);
  yield* eraseEvents(db, ids, before);
  yield* db.forAll(ids, function* (id) {
    yield* db.sql('DELETE FROM attempts WHERE message_id = +?').run(id);
    yield* db.sql('DELETE FROM messages WHERE id = +?').run(id);
  });
  yield* db.forAll(submissionsOf(messages), (submission) => eraseIfEmpty(db, submission));
}

/** A submission goes with the last of its messages. */
function* eraseIfEmpty(db: Transaction, submission: Buffer): Steps<void> {
  const messages = db.sql(`SELECT 1 FROM submissions s JOIN messages m ON ${OF_SUBMISSION} WHERE s.id = +? LIMIT 1`);
  if ((yield* messages.get(submission)) !== undefined) return;
  yield* deleteContent(db, submission);
  yield* db.sql('DELETE FROM submissions WHERE id = +?').run(submission);
}

/** Returns how many were there: one or none. */
function* deleteContent(db: Transaction, submission: Buffer): Steps<number> {
  const of = db.sql('SELECT tenant_id, content_id, source FROM submissions WHERE id = +?');
  const row = (yield* of.get(submission)) as Row | undefined;
  if (!row) return 0;
  if (row.source !== null) yield* forgetWritten(db, row.tenant_id as Buffer, submission);
  yield* db.sql('DELETE FROM attachments WHERE content_id = +?').run(row.content_id);
  return (yield* db.sql('DELETE FROM contents WHERE id = +?').run(row.content_id)).changes;
}
