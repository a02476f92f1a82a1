// Optional whitespace around a field value is spaces and tabs only (RFC 9110 section 5.6.3). `String.trim` would also
// remove U+00A0, which the octet 0xA0 of a header value is decoded to, and so make two different values equal.

export function trimFieldValue(value: string): string {
  return value.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');
}
