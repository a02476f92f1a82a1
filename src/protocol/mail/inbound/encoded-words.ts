// Texts of a mail for people: RFC 2047 encoded words, transfer encodings (RFC 2045 section 6) and charsets. Text that
// can't be decoded is shown as it is; nothing here throws.

/** RFC 2047 section 2 allows 75 characters; some write more. */
const ENCODED_WORD = /=\?([\w.:-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,1000})\?=(?:\s+(?==\?))?/gi;

/** A header value, octets as latin1. */
export function decodeWords(value: string): string {
  const text = hasHighOctets(value) ? decodeOctets(Buffer.from(value, 'latin1'), 'utf-8') : value;
  if (!text.includes('=?')) return text;
  let decoded = '';
  let end = 0;
  let run: WordRun = { charset: '', words: [] };
  for (const { 0: word, 1: charset = '', 2: encoding = '', 3: content = '', index } of text.matchAll(ENCODED_WORD)) {
    const continues = index === end && charset.toLowerCase() === run.charset;
    if (!continues) {
      decoded += decodeRun(run) + text.slice(end, index);
      run = { charset: charset.toLowerCase(), words: [] };
    }
    run.words.push(wordOctets(encoding, content));
    end = index + word.length;
  }
  return decoded + decodeRun(run) + text.slice(end);
}

/** Words of one charset with nothing but white space between them. */
interface WordRun {
  charset: string;
  words: Buffer[];
}

/** RFC 2047 section 5 forbids to split a character between two words, and some do. */
function decodeRun({ charset, words }: WordRun): string {
  const whole = words.length > 1 ? tryDecode(Buffer.concat(words), charset) : null;
  return whole ?? words.map((octets) => decodeOctets(octets, charset)).join('');
}

function wordOctets(encoding: string, content: string): Buffer {
  if (encoding.toLowerCase() === 'b') return Buffer.from(content, 'base64');
  return decodeQuotedPrintable(content.replaceAll('_', ' '));
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

const [TAB, LF, CR, SPACE, EQUALS] = [0x09, 0x0a, 0x0d, 0x20, 0x3d];
/** White space that relays put between a soft line break and the end of its line. */
const MAX_PADDING = 80;

function decodeQuotedPrintable(body: string): Buffer {
  return withoutEscapes(withoutSoftBreaks(Buffer.from(body, 'latin1')));
}

/** In place, byte by byte: a mail may have millions of `=41`, and calling a function for each takes seconds. */
function withoutEscapes(octets: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]!;
    const escaped = octet === EQUALS ? (hexDigit(octets[at + 1]) << 4) | hexDigit(octets[at + 2]) : -1;
    octets[length++] = escaped < 0 ? octet : escaped;
    if (escaped >= 0) at += 2;
  }
  return octets.subarray(0, length);
}

/** In place. RFC 2045 section 6.7. */
function withoutSoftBreaks(octets: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < octets.length; ) {
    const behind = octets[at] === EQUALS ? behindSoftBreak(octets, at) : at;
    if (behind === at) octets[length++] = octets[at++]!;
    else at = behind;
  }
  return octets.subarray(0, length);
}

/** -1: it is none. */
function hexDigit(octet = 0): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  const lower = octet | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Where the text goes on after a soft line break; `at` if there is none. */
function behindSoftBreak(octets: Buffer, at: number): number {
  let end = at + 1;
  while (end <= at + MAX_PADDING && (octets[end] === SPACE || octets[end] === TAB)) end++;
  if (octets[end] === CR) end++;
  return octets[end] === LF ? end + 1 : at;
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
