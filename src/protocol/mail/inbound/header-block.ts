// Reads the header of a message or part: RFC 5322 section 2.2, leniently, since returned mail has passed through many
// systems. Text is octets as latin1 here: an offset in it is an offset in the mail.
import { decodeWords } from './encoded-words.ts';

export interface HeaderField {
  /** In lower case. */
  name: string;
  /** Unfolded, octets as latin1. */
  value: string;
}

/** The fields of one header in their order. */
export class Header {
  readonly fields: readonly HeaderField[];

  constructor(fields: readonly HeaderField[]) {
    this.fields = fields;
  }

  /** The first raw field of this name, or null. */
  raw(name: string): string | null {
    return this.fields.find((field) => field.name === name)?.value ?? null;
  }

  /** The first field of this name, decoded for people; empty when there is none. */
  text(name: string): string {
    return decodeWords((this.raw(name) ?? '').slice(0, MAX_SHOWN_BYTES));
  }

  has(name: string): boolean {
    return this.raw(name) !== null;
  }
}

export interface HeaderBlock {
  header: Header;
  bodyStart: number;
}

// Far more than mail systems write (Exchange Online: about 30 KiB and 80 fields).
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_FIELDS = 500;
const MAX_VALUE_BYTES = 16 * 1024;
/** Of a subject or a name. */
const MAX_SHOWN_BYTES = 4_000;

const FIELD = /^([!-9;-~]{1,80})[ \t]*:(.*)$/s;
const DELIMITER = /^--\S/;

export function readHeaderBlock(text: string, start: number, end: number): HeaderBlock {
  const fields: HeaderField[] = [];
  const limit = Math.min(end, start + MAX_HEADER_BYTES);
  let at = start;
  while (at < limit) {
    const lineEnd = lineEndAt(text, at, limit);
    const line = withoutReturn(text.slice(at, lineEnd));
    // A delimiter ends a header that lacks its empty line.
    if (line === '' || (DELIMITER.test(line) && !line.includes(':'))) {
      return { header: new Header(fields), bodyStart: line === '' ? Math.min(lineEnd + 1, end) : at };
    }
    addLine(fields, line);
    at = lineEnd + 1;
  }
  return { header: new Header(fields), bodyStart: Math.min(at, end) };
}

function addLine(fields: HeaderField[], line: string): void {
  const last = fields.at(-1);
  const isFolded = line.startsWith(' ') || line.startsWith('\t');
  const match = isFolded ? null : FIELD.exec(line);
  if (match) {
    if (fields.length < MAX_FIELDS) fields.push({ name: match[1]!.toLowerCase(), value: match[2]!.trim() });
    return;
  }
  // A parameter that lost its leading space still belongs to its field.
  const isParameter = last?.value.endsWith(';') && /^[\w*-]+=/.test(line);
  if (last && (isFolded || isParameter) && last.value.length < MAX_VALUE_BYTES) last.value += ` ${line.trim()}`;
}

/** The end of the line that begins at `at`: its LF, or the limit. */
function lineEndAt(text: string, at: number, limit: number): number {
  const found = text.indexOf('\n', at);
  return found < 0 || found > limit ? limit : found;
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
