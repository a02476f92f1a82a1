// Mails of the portal as those who get them see them: their text, and the link in it that leads into the portal.
import type { MailSink } from '../support/mail-sink.ts';

export interface Letter {
  to: string;
  text: string;
  /** Path and query of its first link into the portal. */
  link: string;
}

/** The mail to this address that follows so many others, read as a mail program does. */
export async function nextLetter(sink: MailSink, to: string, seen: number): Promise<Letter> {
  for (let count = sink.mails.length; ; count++) {
    const found = sink.mails.filter((mail) => mail.to === to)[seen];
    if (found) {
      const body = found.raw.toString('latin1').split('\r\n\r\n').slice(1).join('\r\n\r\n');
      const text = body
        .replace(/=\r\n/g, '')
        .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
      const link = /http:\/\/mail\.postrider\.test(\/portal\S*)/.exec(text)?.[1] ?? '';
      return { to, text, link };
    }
    await sink.received(count + 1);
  }
}
