// What a call may have beyond text and recipients, between the contract and its columns: labels, header lists,
// attachments.

import type { Attachment, HeaderLists, Labels, Mailbox, NewSubmission } from '../../../submissions.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import type { Row } from '../../values.ts';

/** Null when there are none: that is how nearly all rows are. */
export function labelsText(labels: Labels | null | undefined): string | null {
  if (!labels || !(labels.tags || labels.metadata)) return null;
  const { tags, metadata } = labels;
  return JSON.stringify({ tags, metadata });
}

/** A damaged row must not keep its message from being sent: it loses its labels. */
export function labelsFromText(text: unknown): Labels | null {
  if (typeof text !== 'string') return null;
  try {
    const { tags = null, metadata = null } = JSON.parse(text) as Partial<Labels>;
    return { tags, metadata };
  } catch {
    return null;
  }
}

/** Of a row with `labels` and `header_message_id`. */
export function labelsFromRow({ labels: text, header_message_id: headerMessageId }: Row): Labels | null {
  const given = labelsFromText(text);
  return typeof headerMessageId === 'string' ? { tags: null, metadata: null, ...given, headerMessageId } : given;
}

type StoredMailbox = [name: string | null, address: string];

interface StoredLists {
  letter: { to: StoredMailbox[]; cc: StoredMailbox[] } | null;
  replyTo: StoredMailbox[];
}

export function listsText(lists: HeaderLists | null | undefined): string | null {
  if (!lists) return null;
  const { letter, replyTo } = lists;
  const stored: StoredLists = {
    letter: letter && { to: letter.to.map(toStored), cc: letter.cc.map(toStored) },
    replyTo: replyTo.map(toStored),
  };
  return JSON.stringify(stored);
}

export function listsFromText(text: unknown): HeaderLists | null {
  if (typeof text !== 'string') return null;
  const { letter, replyTo } = JSON.parse(text) as StoredLists;
  return {
    letter: letter && { to: letter.to.map(fromStored), cc: letter.cc.map(fromStored) },
    replyTo: replyTo.map(fromStored),
  };
}

function toStored({ name, address }: Mailbox): StoredMailbox {
  return [name, address];
}

function fromStored([name, address]: StoredMailbox): Mailbox {
  return { name, address };
}

export function* insertAttachments(
  db: Transaction,
  contentId: number,
  attachments: NonNullable<NewSubmission['attachments']>,
): Steps<void> {
  const insert = db.sql(
    'INSERT INTO attachments (content_id, position, filename, content_type, cid, bytes) VALUES (+?, +?, +?, +?, +?, +?)',
  );
  const rows = attachments.map(({ filename, contentType, contentId: cid, content }, position) => {
    return [contentId, position, filename, contentType, cid, content];
  });
  yield* db.forAll(rows, (row) => insert.run(...row));
}

const ATTACHMENTS_OF_SUBMISSION = `
  SELECT a.filename, a.content_type, a.cid, a.bytes
  FROM submissions s JOIN attachments a ON a.content_id = s.content_id
  WHERE s.tenant_id = +? AND s.id = +? ORDER BY a.position`;

type SubmissionOf = [tenant: Buffer, submission: Buffer];

export function* readAttachments(db: Queries, of: SubmissionOf): Steps<Attachment[]> {
  return ((yield* db.sql(ATTACHMENTS_OF_SUBMISSION).all(...of)) as Row[]).map((row) => ({
    filename: row.filename as string,
    contentType: row.content_type as string,
    contentId: row.cid as string | null,
    content: row.bytes as Buffer,
  }));
}
