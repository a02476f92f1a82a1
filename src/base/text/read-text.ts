// Text files. Node's 'utf8' silently replaces bytes that are not UTF-8, so that an address, a key or a password is read as
// another one.
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { Fault } from '../errors.ts';

/** Null for bytes that are not UTF-8. A byte order mark is removed. */
export function utf8Text(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8').replace(/^\ufeff/, '') : null;
}

/** Throws as readFileSync does, and for a file that is not UTF-8. */
export function readTextFile(file: string): string {
  const text = utf8Text(readFileSync(file));
  if (text === null) throw new Fault('it is not UTF-8 text', { permanence: 'permanent' });
  return text;
}
