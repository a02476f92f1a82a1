// A submission's messages. They get their IDs one after the other, so the submission's row notes the first and
// the last, and the order of the table leads to all of them: an index would be written for every message and read for few.
import type { NewRecipient } from '../../../submissions.ts';
import { toId } from '../../values.ts';

/** Joins `messages m` to `submissions s`. Messages of others may have IDs in between. */
export const OF_SUBMISSION = `m.id BETWEEN s.first_message AND coalesce(s.last_message, s.first_message)
  AND m.submission_id = s.id`;

/** The columns `first_message` and `last_message`. IDs sort in the order of recipients. */
export function messageRange(recipients: readonly NewRecipient[]): [first: Buffer, last: Buffer | null] {
  const last = recipients.length > 1 ? toId(recipients.at(-1)!.messageId) : null;
  return [toId(recipients[0]!.messageId), last];
}
