// The sentence that a redirect leaves for the next page, in a cookie. Sealed with the reader's own secret, so that
// nobody else can put words into the portal's mouth; a forged one is not shown.
import { createHmac, timingSafeEqual } from 'node:crypto';

// A cookie of four kilobytes is refused by browsers.
const MOST_CHARS = 1000;

/** `warn` for what did not become of it as was wished; it only repeats what the words say. */
export type NoticeTone = 'good' | 'warn';

export interface Notice {
  text: string;
  tone: NoticeTone;
}

const MARKS: Readonly<Record<NoticeTone, string>> = { good: '+', warn: '!' };

export function sealNotice({ text, tone }: Notice, secret: string): string {
  const payload = Buffer.from(MARKS[tone] + text.slice(0, MOST_CHARS)).toString('base64url');
  return `${payload}.${sealOf(payload, secret).toString('base64url')}`;
}

export function openNotice(sealed: string, secret: string): Notice | null {
  const [payload = '', seal = ''] = sealed.split('.');
  const [expected, actual] = [sealOf(payload, secret), Buffer.from(seal, 'base64url')];
  const holds = expected.length === actual.length && timingSafeEqual(expected, actual);
  if (!holds) return null;
  const said = Buffer.from(payload, 'base64url').toString('utf8');
  return { text: said.slice(1), tone: said.startsWith(MARKS.warn) ? 'warn' : 'good' };
}

function sealOf(payload: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(`notice of the portal ${payload}`).digest();
}
