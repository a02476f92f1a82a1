// Texts of a mail for people: RFC 2047 encoded words, transfer encodings (RFC 2045 section 6) and charsets. Text that
// can't be decoded is shown as it is; nothing here throws.

/** RFC 2047 section 2 allows 75 characters; some write more. */
const ENCODED_WORD = /=\?([\w.:-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,1000})\?=(?:\s+(?==\?))?/gi;

/** A header value, octets as latin1. */
export function decodeWords(value: string): string {
  const text = hasHighOctets(value) ? decodeOctets(Buffer.from(value, 'latin1'), 'utf-8') : value;
  if (!text.includes('=?')) return text;
  return text.replace(ENCODED_WORD, (_, charset: string, encoding: string, content: string) =>
    decodeOctets(
      encoding.toLowerCase() === 'b'
        ? Buffer.from(content, 'base64')
        : decodeQuotedPrintable(content.replaceAll('_', ' ')),
      charset,
    ),
  );
}

/** The decoded bytes of a body, octets as latin1. */
export function decodeTransfer(body: string, encoding: string): Buffer {
  switch (encoding.trim().toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64');
    case 'quoted-printable':
      return decodeQuotedPrintable(body);
    default:
      return Buffer.from(body, 'latin1');
  }
}

function decodeQuotedPrintable(body: string): Buffer {
  const octets = body
    .replace(/=[ \t]{0,80}\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, 'latin1');
}

/** With an unknown or wrong charset, text is decoded by the most likely one. */
export function decodeOctets(octets: Buffer, charset: string): string {
  const tried = [charset.trim().toLowerCase(), 'utf-8'];
  for (const label of tried) {
    const text = tryDecode(octets, label);
    if (text !== null) return text;
  }
  return new TextDecoder('windows-1252').decode(octets);
}

function tryDecode(octets: Buffer, label: string): string | null {
  // Text declared as US-ASCII with high bytes is mostly UTF-8.
  if (label === '' || label === 'us-ascii') return null;
  try {
    // A text that was truncated within a character is still valid.
    return new TextDecoder(label, { fatal: true }).decode(octets, { stream: true });
  } catch {
    return null;
  }
}

function hasHighOctets(text: string): boolean {
  return /[\x80-\xff]/.test(text);
}
