// For servers without 8BITMIME: a leaf with octets above 127 gets an encoding in ASCII (RFC 6152 section 3). What a reader
// decodes is the same.
import { isAscii } from 'node:buffer';
import type { ChangedPart, HeldPart } from './leaf-rules.ts';
import { reEncode } from './re-encode.ts';

/** Of a leaf that may change; null: it is in ASCII, and says so. */
export function toSevenBits({ leaf, content }: HeldPart): ChangedPart | null {
  if (!isAscii(content)) return reEncode(content, leaf.isText);
  return leaf.encoding === '8bit' || leaf.encoding === 'binary' ? { encoding: '7bit', bytes: content } : null;
}
