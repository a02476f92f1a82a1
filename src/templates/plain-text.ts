// Values of Liquid as text: how they print, how large they are, and how they are escaped in HTML.
import { toValue } from 'liquidjs';

/** Prints a value as Liquid does: nothing for nil, lists without separators. */
export function plainText(value: unknown): string {
  const plain: unknown = toValue(value);
  if (typeof plain === 'string') return plain;
  if (plain === null || plain === undefined) return '';
  return Array.isArray(plain) ? plain.map(plainText).join('') : String(plain);
}

// What a list entry counts besides its text: its slot, and a comma where one is printed.
const ENTRY_CHARS = 2;

/**
 * Whether a value would print as more than `limitChars`. Stops counting there: a list that contains itself twice, over
 * and over, has too many entries to visit.
 */
export function isLarger(value: unknown, limitChars: number): boolean {
  let left = limitChars;
  const visit = (part: unknown): void => {
    if (typeof part === 'string') left -= part.length;
    if (!Array.isArray(part)) return;
    left -= part.length * ENTRY_CHARS;
    for (let index = 0; index < part.length && left >= 0; index++) visit(part[index]);
  };
  visit(value);
  return left < 0;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
