// The optional whitespace around a field value: spaces and tabs, and nothing else (RFC 9110 section
// 5.6.3). `String.trim` would also take U+00A0, the octet 0xA0 as header values are read, and so
// make one of two values that differ.

export function trimFieldValue(value: string): string {
  return value.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');
}
