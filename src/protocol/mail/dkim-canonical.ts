// The relaxed canonicalizations of RFC 6376 section 3.4: removes what relays may change in a message (case of names,
// folding, white space, blank lines at the end) before hashing.

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** What must be removed from a field's value; most fields have nothing. */
const TO_BE_TAKEN_OUT = /^ |[\r\t]| {2}| $/;

/** Section 3.4.2; without the CRLF at the end. Expects octets as latin1 characters. */
export function canonicalField(field: string): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon).trim().toLowerCase();
  const value = field.slice(field.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
  if (!TO_BE_TAKEN_OUT.test(value)) return `${name}:${value}`;
  const unfolded = value.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ');
  // Not trim(): it also removes 0xA0, which here is the last octet of many UTF-8 characters.
  return `${name}:${unfolded.replace(/^ | $/g, '')}`;
}

/**
 * Section 3.4.4, in one pass over the octets, since bodies can have megabytes. White space is held back until it is
 * known whether its line continues, and everything after the last octet that is neither white space nor a line end is
 * dropped.
 */
export function canonicalBody(body: Buffer): Buffer {
  // The result is never longer, except for a last line without CRLF.
  const out = Buffer.allocUnsafe(body.length + 2);
  let length = 0;
  let contentEnd = 0;
  let spaceHeld = false;
  for (let at = 0; at < body.length; at++) {
    const octet = body[at]!;
    // Nearly all octets take this branch.
    if (octet > SPACE && !spaceHeld) {
      out[length++] = octet;
      contentEnd = length;
    } else if (octet === SPACE || octet === TAB) {
      spaceHeld = true;
    } else if (octet === CR && body[at + 1] === LF) {
      spaceHeld = false;
      out[length++] = CR;
      out[length++] = LF;
      at++;
    } else {
      if (spaceHeld) out[length++] = SPACE;
      spaceHeld = false;
      out[length++] = octet;
      contentEnd = length;
    }
  }
  if (contentEnd === 0) return out.subarray(0, 0);
  out[contentEnd] = CR;
  out[contentEnd + 1] = LF;
  return out.subarray(0, contentEnd + 2);
}
