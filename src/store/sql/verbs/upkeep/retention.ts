// Erasing data past its retention: walks along the index of finished messages, a few milliseconds at a time,
// so that other verbs of the writer wait no longer than that.

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

/** Rows are read in such batches, and the time is checked after each row. */
const ROWS_AT_ONCE = 100;

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

function cursorName(days: number | null): string {
  return `content_walk_${days ?? 'default'}`;
}

function* readCursor(db: Transaction, days: number | null): Steps<RetentionCursor> {
  const text = yield* keptCursor(db, cursorName(days));
  const [finishedAt = '0', messageId = '00000000-0000-0000-0000-000000000000'] = text?.split(' ') ?? [];
  return { finishedAt: Number(finishedAt), messageId };
}

/** The walk visits every message of a submission; at the one that finished last, the content is erased. */
function* eraseContents(db: Transaction, { days, before, budgetMs }: ContentWalk): Steps<RetentionSlice> {
  const endsAt = performance.now() + budgetMs;
  let cursor = yield* readCursor(db, days);
  const rows = (yield* db
    .sql(
      `SELECT m.id, m.finished_at, m.submission_id, t.content_days FROM messages m JOIN tenants t ON t.id = m.tenant_id
       WHERE m.finished_at IS NOT NULL AND (m.finished_at, m.id) > (+?, +?) AND m.finished_at <= +?
       ORDER BY m.finished_at, m.id LIMIT ${ROWS_AT_ONCE}`,
    )
    .all(cursor.finishedAt, toId(cursor.messageId), before)) as Row[];
  let seen = 0;
  let erased = 0;
  for (const row of rows) {
    if (row.content_days === days) erased += yield* eraseContentOf(db, row.submission_id as Buffer, before);
    cursor = { finishedAt: row.finished_at as number, messageId: fromId(row.id) };
    seen++;
    if (performance.now() >= endsAt) break;
  }
  if (seen > 0) yield* keepCursor(db, cursorName(days), `${cursor.finishedAt} ${cursor.messageId}`);
  return { seen, erased, more: seen < rows.length || rows.length === ROWS_AT_ONCE };
}

function* eraseContentOf(db: Transaction, submission: Buffer, before: number): Steps<number> {
  const isNeeded = db.sql(
    `SELECT 1 FROM submissions s JOIN messages m ON ${OF_SUBMISSION}
     WHERE s.id = +? AND (m.finished_at IS NULL OR m.finished_at > +?) LIMIT 1`,
  );
  return (yield* isNeeded.get(submission, before)) === undefined ? yield* deleteContent(db, submission) : 0;
}

/** Each has up to 100 submissions. */
const BATCHES_AT_ONCE = 20;

function* eraseRecords(db: Transaction, before: number, budgetMs: number): Steps<RetentionSlice> {
  const messages = yield* eraseMessages(db, before, budgetMs);
  const batches = yield* eraseBatches(db, before, BATCHES_AT_ONCE);
  return { ...messages, more: messages.more || batches.more };
}

function* eraseMessages(db: Transaction, before: number, budgetMs: number): Steps<RetentionSlice> {
  const endsAt = performance.now() + budgetMs;
  const rows = (yield* db
    .sql(
      `SELECT m.id, m.submission_id FROM messages m WHERE m.finished_at IS NOT NULL AND m.finished_at <= +?
       ORDER BY m.finished_at, m.id LIMIT ${ROWS_AT_ONCE}`,
    )
    .all(before)) as Row[];
  const counted = { events: yield* eventsCountedTo(db), submissions: yield* submissionsCountedTo(db) };
  let erased = 0;
  for (const row of rows) {
    // What charts do not include yet waits: the count runs every few seconds, this every minute.
    if (yield* isUncounted(db, row, counted)) return { seen: erased, erased, more: false };
    yield* eraseMessage(db, row, before);
    erased++;
    if (performance.now() >= endsAt) break;
  }
  return { seen: erased, erased, more: erased < rows.length || rows.length === ROWS_AT_ONCE };
}

function* isUncounted(db: Transaction, row: Row, counted: { events: number; submissions: number }): Steps<boolean> {
  const event = db.sql('SELECT 1 FROM events WHERE message_id = +? AND seq > +? LIMIT 1');
  if ((yield* event.get(row.id, counted.events)) !== undefined) return true;
  const labelled = db.sql('SELECT 1 FROM submissions WHERE id = +? AND labels IS NOT NULL AND content_id > +?');
  return (yield* labelled.get(row.submission_id, counted.submissions)) !== undefined;
}

function* eraseMessage(db: Transaction, { id, submission_id: submission }: Row, before: number): Steps<void> {
  yield* eraseEvents(db, id as Buffer, before);
  yield* db.sql('DELETE FROM attempts WHERE message_id = +?').run(id);
  yield* db.sql('DELETE FROM messages WHERE id = +?').run(id);
  const others = db.sql(`SELECT 1 FROM submissions s JOIN messages m ON ${OF_SUBMISSION} WHERE s.id = +? LIMIT 1`);
  if ((yield* others.get(submission)) !== undefined) return;
  yield* deleteContent(db, submission as Buffer);
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
