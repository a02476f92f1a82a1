// Entry of the thread that takes mails apart, one after the other, for mail-reader.ts.
import { describeError } from '../../base/errors.ts';
import { startJobThread } from '../../threads/job-thread.ts';
import { readShownMail } from './read-mail.ts';
import type { MailReading } from './shown-mail.ts';

export async function runJob(octets: Uint8Array): Promise<MailReading> {
  try {
    return { kind: 'read', mail: await readShownMail(Buffer.from(octets)) };
  } catch (error) {
    return { kind: 'unreadable', reason: describeError(error) };
  }
}

startJobThread();
