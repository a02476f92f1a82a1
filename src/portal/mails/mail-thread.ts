// The thread that takes mails apart, one after the other, for mail-reader.ts.
import { parentPort } from 'node:worker_threads';
import { describeError } from '../../base/errors.ts';
import { readShownMail } from './read-mail.ts';
import type { MailReading } from './shown-mail.ts';

parentPort?.on('message', async (octets: Uint8Array) => {
  parentPort?.postMessage(await readingOf(octets));
});

async function readingOf(octets: Uint8Array): Promise<MailReading> {
  try {
    return { kind: 'read', mail: await readShownMail(Buffer.from(octets)) };
  } catch (error) {
    return { kind: 'unreadable', reason: describeError(error) };
  }
}
