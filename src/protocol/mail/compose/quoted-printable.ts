// Quoted-printable: RFC 2045 section 6.7, for text whose lines end with CRLF. The result is ASCII in lines of at most
// 76 characters, and soft breaks never split a UTF-8 character, since some readers decode line by line.

/** RFC 2045 section 6.7 (5); the `=` of a soft break counts. */
const MAX_LINE_CHARS = 76;

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const DOT = 0x2e;
const EQUALS = 0x3d;
const HEX_DIGITS = Buffer.from('0123456789ABCDEF');

/** 1: the byte can be literal anywhere (RFC 2045 section 6.7 (2)). A byte array, since it is read for every byte. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, octet) => {
  return octet > SPACE && octet <= 0x7e && octet !== EQUALS && octet !== DOT ? 1 : 0;
});

/** `source` is UTF-8. */
export function encodeQuotedPrintable(source: Buffer): Buffer {
  const out = Buffer.allocUnsafe(mostOctets(source.length));
  let to = 0;
  let column = 0;
  let at = 0;
  while (at < source.length) {
    const octet = source[at]!;
    if (PLAIN[octet] === 1 && column < MAX_LINE_CHARS - 1) {
      out[to++] = octet;
      column++;
      at++;
      continue;
    }
    if (octet === CR && source[at + 1] === LF) {
      out[to++] = CR;
      out[to++] = LF;
      column = 0;
      at += 2;
      continue;
    }
    const octets = octetsOfCharacter(octet);
    const literal = standsForItself(source, at, column);
    const width = literal ? 1 : 3 * octets;
    if (!fits(column + width, source, at + octets)) {
      to = softBreak(out, to);
      column = 0;
      continue; // the same character again: at the start of a line a dot is another matter
    }
    column += width;
    const next = Math.min(at + octets, source.length);
    if (literal) out[to++] = source[at++]!;
    while (at < next) to = writeEscaped(out, to, source[at++]!);
  }
  return out.subarray(0, to);
}

/** RFC 2045 section 6.7 (2) and (3): blanks do, except at the end of a line. */
function standsForItself(source: Buffer, at: number, column: number): boolean {
  const octet = source[at]!;
  if (octet === SPACE || octet === TAB) return !endsLine(source, at + 1);
  // A dot at the start of a line is allowed, but some SMTP servers still lose it.
  if (octet === DOT) return column > 0;
  return PLAIN[octet] === 1;
}

/** Every octet as three, and a soft break of three for every line of at least 63: the widest character takes 12. */
function mostOctets(sourceOctets: number): number {
  return 3 * sourceOctets + 3 * Math.ceil((3 * sourceOctets) / (MAX_LINE_CHARS - 12));
}

/** The last column is reserved for the soft break, unless the line ends here. */
function fits(column: number, source: Buffer, next: number): boolean {
  return column < MAX_LINE_CHARS || (column === MAX_LINE_CHARS && endsLine(source, next));
}

function endsLine(source: Buffer, at: number): boolean {
  return at >= source.length || (source[at] === CR && source[at + 1] === LF);
}

/** By its first byte (RFC 3629 section 3). */
function octetsOfCharacter(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

function softBreak(out: Buffer, at: number): number {
  out[at] = EQUALS;
  out[at + 1] = CR;
  out[at + 2] = LF;
  return at + 3;
}

function writeEscaped(out: Buffer, at: number, octet: number): number {
  out[at] = EQUALS;
  out[at + 1] = HEX_DIGITS[octet >> 4]!;
  out[at + 2] = HEX_DIGITS[octet & 15]!;
  return at + 3;
}
