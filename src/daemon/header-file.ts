// The file with header fields for the receiver of traces (`traces.headers_file`).
import { readFileSync } from 'node:fs';
import { Fault } from '../base/errors.ts';

const MAX_HEADERS_BYTES = 64 * 1024;
/** RFC 9110: a token; visible ASCII and blanks. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/;
/** Ours, or the connection's. */
const RESERVED = /^(?:content-.*|transfer-encoding|connection|host|expect|upgrade|keep-alive)$/i;

/** One `Name: value` per line. The file's content is secret: no message quotes it. */
export function readHeaderFile(file: string): Record<string, string> {
  const text = readFileSync(file, 'utf8');
  if (text.length > MAX_HEADERS_BYTES) throw problem(`${file} has more than ${MAX_HEADERS_BYTES / 1024} KiB`);
  const headers: Record<string, string> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw problem(`line ${index + 1} of ${file} is not "Name: value"`);
    if (RESERVED.test(name)) throw problem(`line ${index + 1} of ${file}: ${name} is set by Postrider`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function problem(message: string): Fault {
  return new Fault(`traces.headers_file: ${message}`, { permanence: 'permanent' });
}
