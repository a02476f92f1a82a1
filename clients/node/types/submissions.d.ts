// A call of `emails.send` with all its messages.

import type { MessageState, RejectionReason } from './emails.js';

export interface Submissions {
  /** What became of all messages of one call, by the `id` of its result. */
  get(id: string): Promise<Submission>;
  /** Changes the time of what is still scheduled; a ValidationError with the code `not_scheduled` if nothing is. */
  move(id: string, sendAt: Date | string): Promise<MovedSubmission>;
  /** Ends every message that is neither finished nor being sent. */
  cancel(id: string): Promise<CanceledSubmission>;
}

export interface Submission {
  id: string;
  createdAt: string;
  /** Null: at once. */
  sendAt: string | null;
  from: string;
  subject: string;
  /** How it was handed in; missing if by HTTP. */
  source?: 'smtp';
  /** The Message-ID of a mail that was handed in by SMTP. */
  headerMessageId?: string;
  tags: Record<string, string> | null;
  metadata: Record<string, string> | null;
  /** One per recipient, in the order of `to`, `cc` and `bcc`. */
  messages: SubmissionMessage[];
  rejected: { to: string; reason: RejectionReason }[];
}

export interface MovedSubmission {
  id: string;
  sendAt: string;
}

/** IDs of messages. */
export interface CanceledSubmission {
  canceled: string[];
  tooLate: string[];
}

export interface SubmissionMessage {
  id: string;
  to: string;
  kind: 'to' | 'cc' | 'bcc';
  state: MessageState;
}
