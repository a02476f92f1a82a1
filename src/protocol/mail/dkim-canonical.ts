// The relaxed canonicalizations of RFC 6376 section 3.4: what a relay may change about a
// message (case of names, folding, white space, blank lines at the end) is taken out before hashing.

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** What the value of a field may have that has to be taken out of it; most fields have none. */
const TO_BE_TAKEN_OUT = /^ |[\r\t]| {2}| $/;

/** Section 3.4.2; without the CRLF at the end. Expects octets as latin1 characters. */
export function canonicalField(field: string): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon).trim().toLowerCase();
  const value = field.slice(field.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
  if (!TO_BE_TAKEN_OUT.test(value)) return `${name}:${value}`;
  const unfolded = value.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ');
  // Not trim(): it takes 0xA0 too, which here is the last octet of many a UTF-8 character.
  return `${name}:${unfolded.replace(/^ | $/g, '')}`;
}

/**
 * Section 3.4.4, in one pass over the octets: bodies have megabytes. White space is held
 * back until it is known whether anything follows it in its line, and whatever comes after
 * the last octet that is neither white space nor a line end is dropped.
 */
export function canonicalBody(body: Buffer): Buffer {
  // Nothing grows but a last line without its CRLF.
  const out = Buffer.allocUnsafe(body.length + 2);
  let length = 0;
  let contentEnd = 0;
  let spaceHeld = false;
  for (let at = 0; at < body.length; at++) {
    const octet = body[at]!;
    // Nearly every octet is of this kind.
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
