// A call of `emails.send` with all its messages.

import type { MessageState, RejectionReason } from './emails.js';

export interface Submissions {
  /** What became of all messages of one call, by the `id` of its result. */
  get(id: string): Promise<Submission>;
}

export interface Submission {
  id: string;
  createdAt: string;
  /** Null: at once. */
  sendAt: string | null;
  from: string;
  subject: string;
  tags: Record<string, string> | null;
  metadata: Record<string, string> | null;
  /** One per recipient, in the order of `to`, `cc` and `bcc`. */
  messages: SubmissionMessage[];
  rejected: { to: string; reason: RejectionReason }[];
}

export interface SubmissionMessage {
  id: string;
  to: string;
  kind: 'to' | 'cc' | 'bcc';
  state: MessageState;
}
