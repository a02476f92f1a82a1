// Splits the header of a written mail into its fields (RFC 5322 section 2.2), strictly: what one reader takes for a
// field and another does not is refused. Obsolete white space before the colon is accepted (section 4.5).
import { isUtf8 } from 'node:buffer';
import { MAX_LINE_OCTETS } from '../header-field.ts';

/** Texts have octets as latin1. */
export interface WrittenField {
  /** As written. */
  name: string;
  /** In lower case. */
  key: string;
  /** Unfolded, without white space around it. */
  value: string;
  /** All of the field, with the line ends. */
  raw: string;
}

export interface WrittenFields {
  fields: WrittenField[];
  /** With the empty one. */
  lines: number;
}

/** A sentence for the sender, in ASCII. */
export interface HeaderProblem {
  problem: string;
}

const NAME_AND_COLON = /^([!-9;-~]+)[ \t]*:/;
const HEADER_END = '\r\n\r\n';

/** The header ends with its empty line. */
export function splitHeader(header: Buffer): WrittenFields | HeaderProblem {
  const text = header.toString('latin1');
  if (text.includes('\0')) return { problem: 'The header contains a NUL.' };
  if (/\r(?!\n)|(?<!\r)\n/.test(text)) return { problem: 'The header contains a CR or LF that is not part of a CRLF.' };
  if (!text.endsWith(HEADER_END)) return { problem: 'The header has no empty line at its end.' };
  const lines = text.slice(0, -HEADER_END.length).split('\r\n');
  const fields: WrittenField[] = [];
  let folded: string[] = [];
  for (const [index, line] of lines.entries()) {
    const number = index + 1;
    if (line.length > MAX_LINE_OCTETS) return { problem: `Line ${number} is longer than ${MAX_LINE_OCTETS} bytes.` };
    const isFolded = line.startsWith(' ') || line.startsWith('\t');
    if (isFolded ? folded.length === 0 : !NAME_AND_COLON.test(line)) {
      return { problem: `Line ${number} is not a header field; an empty line must follow the header.` };
    }
    if (!isFolded && folded.length > 0) fields.push(toField(folded));
    folded = isFolded ? folded : [];
    folded.push(line);
  }
  fields.push(toField(folded));
  if (isUtf8(header)) return { fields, lines: lines.length + 1 };
  const { name } = fields.find(({ raw }) => !isUtf8(Buffer.from(raw, 'latin1')))!;
  return { problem: `${shownName(name)}: This header is not valid UTF-8; encode it as in RFC 2047.` };
}

function toField(lines: readonly string[]): WrittenField {
  const unfolded = lines.join('');
  const [start, name] = NAME_AND_COLON.exec(unfolded)! as unknown as [string, string];
  return {
    name,
    key: name.toLowerCase(),
    value: trimBlanks(unfolded.slice(start.length)),
    raw: `${lines.join('\r\n')}\r\n`,
  };
}

/** Not trim(): it also removes 0xA0, which here is the last octet of many UTF-8 characters. */
export function trimBlanks(text: string): string {
  return text.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');
}

/** A name for an error message: short, whatever was sent. */
export function shownName(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}...` : name;
}
