// The bounce that a receiving system sends for a mail that it has taken: a DSN (RFC 3464) to its return path.
import { composeDsn } from '../../src/protocol/mail/dsn.ts';
import type { ReceivedMail } from './mail-sink.ts';

export function dsnFor({ from, to, raw }: ReceivedMail): Buffer {
  return composeDsn({
    reportingMta: 'relay.receiver.test',
    from: 'mailer-daemon@relay.receiver.test',
    to: from,
    finalRecipient: to,
    action: 'failed',
    status: '5.1.1',
    diagnostic: '550 5.1.1 No such user here',
    originalHeaders: raw.subarray(0, raw.indexOf('\r\n\r\n') + 2),
    date: new Date('2026-11-20T10:00:00Z'),
  });
}
