// The envelope of one message with one recipient: whether the server can accept it, and the MAIL and RCPT commands with
// the required parameters (RFC 5321 section 4.1.1, RFC 1870, 6152, 6531). Addresses are only checked against injection
// here, not validated.
import { Fault } from '../../base/errors.ts';
import type { Capabilities } from './capabilities.ts';

export interface Envelope {
  /** Empty for the null sender `<>`. */
  mailFrom: string;
  rcptTo: string;
  /** The message without dot-stuffing (RFC 1870 section 5). */
  sizeBytes: number;
  smtputf8: boolean;
  eightBit: boolean;
}

export interface Unsupported {
  need: 'smtputf8' | 'eightbit' | 'size';
  why: string;
}

/** Throws when an address could break out of its command or its angle brackets. */
export function assertSafe({ mailFrom, rcptTo }: Envelope): void {
  for (const address of [mailFrom, rcptTo]) {
    if (!canBeCarried(address)) {
      throw new Fault('an address contains a character that SMTP does not allow', {
        permanence: 'permanent',
        detail: JSON.stringify(address),
      });
    }
  }
  if (rcptTo === '') throw new Fault('the recipient is empty', { permanence: 'permanent' });
}

/** Whether `assertSafe` would pass. */
export function isSafe({ mailFrom, rcptTo }: Envelope): boolean {
  return canBeCarried(mailFrom) && canBeCarried(rcptTo) && rcptTo !== '';
}

/** RFC 5321 section 4.1.2: inside quotes an angle bracket is a character like any other. */
const QUOTED_LOCAL = /^"(?:[^"\\]|\\.)*"(?=@)/;

function canBeCarried(address: string): boolean {
  const isInOneLine = !/[\u0000-\u001f\u007f-\u009f]/.test(address) && address.isWellFormed();
  return isInOneLine && !/[<>]/.test(address.replace(QUOTED_LOCAL, ''));
}

/** The capability that this message needs and the server does not offer. */
export function findUnsupported(envelope: Envelope, capabilities: Capabilities): Unsupported | null {
  const { sizeBytes, eightBit } = envelope;
  const { maxSizeBytes, smtpUtf8, eightBitMime } = capabilities;
  if (needsUtf8(envelope) && !smtpUtf8) return { need: 'smtputf8', why: 'the server does not offer SMTPUTF8' };
  if (eightBit && !eightBitMime) return { need: 'eightbit', why: 'the server does not offer 8BITMIME' };
  if (maxSizeBytes !== null && sizeBytes > maxSizeBytes) {
    return { need: 'size', why: `the server accepts ${maxSizeBytes} bytes, but the message has ${sizeBytes}` };
  }
  return null;
}

export function mailCommand(envelope: Envelope, capabilities: Capabilities): string {
  const size = capabilities.size ? ` SIZE=${envelope.sizeBytes}` : '';
  const body = envelope.eightBit ? ' BODY=8BITMIME' : '';
  const utf8 = needsUtf8(envelope) ? ' SMTPUTF8' : '';
  return `MAIL FROM:<${envelope.mailFrom}>${size}${body}${utf8}\r\n`;
}

export function rcptCommand({ rcptTo }: Envelope): string {
  return `RCPT TO:<${rcptTo}>\r\n`;
}

/** RFC 6531 section 3.4: a non-ASCII address needs it, just as a non-ASCII header does. */
function needsUtf8({ smtputf8, mailFrom, rcptTo }: Envelope): boolean {
  return smtputf8 || /[^\u0000-\u007f]/.test(mailFrom + rcptTo);
}
