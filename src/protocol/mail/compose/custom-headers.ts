// Which extra header fields a tenant may give a message, and their values. Refused are names that the service writes
// itself, or that would break the message or its authentication. Reports problems; changes nothing.
import { isAsciiText } from '../addresses/address.ts';
import { FIELD_NAME, fitsLines, MAX_LINE_OCTETS } from '../header-field.ts';

const MAX_HEADERS = 50;
/** Names and values together, in UTF-8. */
const MAX_TOTAL_BYTES = 10 * 1024;
/** A name has to fit into a line together with its colon. */
const MAX_NAME_OCTETS = MAX_LINE_OCTETS - 1;

const RESERVED_NAMES = new Set([
  'from',
  'to',
  'subject',
  'message-id',
  'dkim-signature',
  'return-path',
  'cc',
  'bcc',
  'content-type',
  'content-transfer-encoding',
  'mime-version',
  'date',
  'received',
  'sender',
  'feedback-id',
]);
const RESERVED_PREFIXES = ['cfbl-', 'arc-', 'authentication-'];

/** Null when valid, otherwise a sentence that names the header. */
export function validateCustomHeaders(headers: Record<string, string>): string | null {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return `There are ${entries.length} headers; the limit is ${MAX_HEADERS}.`;
  const seen = new Set<string>();
  let octets = 0;
  for (const [name, value] of entries) {
    // Check lengths before anything that reads each character.
    const tooLong = octets + name.length + value.length > MAX_TOTAL_BYTES;
    if (tooLong) return `${shown(name)}: This header takes the total above the limit of ${MAX_TOTAL_BYTES} bytes.`;
    const problem = headerNameProblem(name) ?? headerValueProblem(value);
    if (problem !== null) return `${shown(name)}: ${problem}`;
    const key = name.toLowerCase();
    if (seen.has(key)) return `${shown(name)}: This header is given twice; header names are case-insensitive.`;
    seen.add(key);
    octets += name.length + Buffer.byteLength(value);
    if (octets > MAX_TOTAL_BYTES)
      return `${shown(name)}: This header takes the total above the limit of ${MAX_TOTAL_BYTES} bytes.`;
  }
  return null;
}

function headerNameProblem(name: string): string | null {
  if (!FIELD_NAME.test(name)) return 'A header name must consist of printable ASCII characters other than the colon.';
  if (name.length > MAX_NAME_OCTETS) return `The header name is longer than ${MAX_NAME_OCTETS} bytes.`;
  const key = name.toLowerCase();
  if (key === 'cc' || key === 'bcc') return `This header can't be set; use the field "${key}".`;
  const reserved = RESERVED_NAMES.has(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
  return reserved ? "This header can't be set; Postrider writes it itself or does not allow it." : null;
}

function headerValueProblem(value: string): string | null {
  if (/[\r\n\0]/.test(value)) return 'The value contains a CR, LF or NUL character.';
  // Non-ASCII values are written as encoded words, which can be split anywhere.
  if (isAsciiText(value) && !fitsLines(value)) {
    return `The value has a word that does not fit into a line of ${MAX_LINE_OCTETS} bytes.`;
  }
  return null;
}

/** A name for an error message: one short line, whatever was sent. */
function shown(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name).slice(1, -1);
}
