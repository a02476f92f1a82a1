// The sentence that a redirect leaves for the next page, in a cookie. Sealed with the reader's own secret, so that
// nobody else can put words into the portal's mouth; a forged one is not shown.
import { createHmac, timingSafeEqual } from 'node:crypto';

// A cookie of four kilobytes is refused by browsers.
const MOST_CHARS = 1000;

export function sealNotice(text: string, secret: string): string {
  const payload = Buffer.from(text.slice(0, MOST_CHARS)).toString('base64url');
  return `${payload}.${sealOf(payload, secret).toString('base64url')}`;
}

export function openNotice(sealed: string, secret: string): string | null {
  const [payload = '', seal = ''] = sealed.split('.');
  const [expected, actual] = [sealOf(payload, secret), Buffer.from(seal, 'base64url')];
  const holds = expected.length === actual.length && timingSafeEqual(expected, actual);
  return holds ? Buffer.from(payload, 'base64url').toString('utf8') : null;
}

function sealOf(payload: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(`notice of the portal ${payload}`).digest();
}
