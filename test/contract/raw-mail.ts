// A received message looked at byte by byte, without the product's own ideas of a header.

export interface RawField {
  name: string;
  /** Unfolded (RFC 5322 section 2.2.3), encoded words decoded. */
  value: string;
}

/** Throws when the header is not made of well-formed fields on lines that end with CRLF. */
export function readHeader(raw: Buffer): RawField[] {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) throw new Error('there is no end of the header');
  const header = raw.subarray(0, end).toString('latin1');
  const lines = header.split('\r\n');
  const fields: string[] = [];
  for (const line of lines) {
    if (/[\r\n\0]/.test(line)) throw new Error(`a bare CR, LF or NUL: ${JSON.stringify(line)}`);
    if (Buffer.byteLength(line, 'latin1') > 998) throw new Error(`a line of ${line.length} octets`);
    if (/^[ \t]/.test(line)) fields[fields.length - 1] += line;
    else fields.push(line);
    if (line.trim() === '') throw new Error('a line of white space alone');
  }
  return fields.map((field) => {
    const match = /^([!-9;-~]+):(.*)$/.exec(field);
    if (!match) throw new Error(`not a header field: ${JSON.stringify(field)}`);
    return { name: match[1]!, value: decodeWords(Buffer.from(match[2]!.trim(), 'latin1').toString()) };
  });
}

export function namesOf(raw: Buffer): string[] {
  return readHeader(raw).map(({ name }) => name.toLowerCase());
}

export function fieldValue(raw: Buffer, name: string): string | undefined {
  return readHeader(raw).find((field) => field.name.toLowerCase() === name.toLowerCase())?.value;
}

/** RFC 2047, as far as UTF-8 goes: white space between two encoded words is not there. */
export function decodeWords(text: string): string {
  const word = /=\?utf-8\?([QB])\?([^? ]*)\?=/gi;
  return text.replace(/(\?=)\s+(?==\?)/g, '$1').replace(word, (_all, encoding: string, content: string) => {
    if (encoding.toUpperCase() === 'B') return Buffer.from(content, 'base64').toString();
    const octets = content.replaceAll('_', ' ').replace(/=([0-9A-F]{2})/gi, (_hex, hex: string) => {
      return String.fromCharCode(Number.parseInt(hex, 16));
    });
    return Buffer.from(octets, 'latin1').toString();
  });
}
