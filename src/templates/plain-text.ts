// Values of Liquid as text: how they print, how large they are, and how they look in HTML.
import { toValue } from 'liquidjs';

/** As Liquid prints a value: nothing for nil, lists without separators. */
export function plainText(value: unknown): string {
  const plain: unknown = toValue(value);
  if (typeof plain === 'string') return plain;
  if (plain === null || plain === undefined) return '';
  return Array.isArray(plain) ? plain.map(plainText).join('') : String(plain);
}

// What a list's entry costs besides its text: its place, and a comma where one is printed.
const ENTRY_CHARS = 2;

/**
 * Whether a value would print as more than `limitChars`. Looks no further than that: a list
 * that holds itself twice, over and over, has more entries than anybody can count.
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
