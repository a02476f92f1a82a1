// What the SMTP door hands over for each mail that an application sends through it: who sends, to whom, and the content
// as it arrives.

import type { SmtpReply } from '../../smtp-listener/smtp-reply.ts';
import type { NewRecipient } from '../../store/submissions.ts';
import type { Sender } from '../sender.ts';

export interface ArrivingMail {
  /** The API key, with its tenant and the domain that it may be bound to. */
  sender: Sender;
  /** Distinct, in the order of the RCPT commands. */
  recipients: readonly DoorRecipient[];
  remoteIp: string;
  /** For example `TLSv1.3`; null: without TLS. */
  tls: string | null;
}

export type DoorRecipient = Omit<NewRecipient, 'messageId' | 'copy'>;

/**
 * Returns the reply to the final dot: 250 when the mail is on disk. The content comes without the dots that SMTP puts
 * in, and all lines end with CR LF. It throws, at its end or before, where the mail is refused for its size or its line
 * ends, or where the connection is lost: then nothing may be kept. It need not be read to its end.
 */
export type TakeMail = (mail: ArrivingMail, content: AsyncIterable<Buffer>) => Promise<SmtpReply>;
