// Finds mail addresses in texts that programs write for people, and in header fields. This is a search, not a check:
// results may be undeliverable.

/** Characters around addresses in East Asian texts and quotations, without a space between. */
const WIDE = '\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u00ab\u00bb\u2018-\u201f';

/** A source for other patterns; bounded, so that no text takes long. RFC 5321 section 4.5.3.1. */
export const ADDRESS = String.raw`(?:"[^"\s]{1,64}"|[^\s<>()[\]{}",;:|\\@${WIDE}]{1,128})@[^\s<>()[\]{}",;:|\\@/?=&${WIDE}]{1,255}`;

const ADDRESSES = new RegExp(ADDRESS, 'g');
const MAX_SEARCHED_CHARACTERS = 20_000;

/** Each address once, in order. */
export function addressesIn(text: string): string[] {
  if (!text.includes('@')) return [];
  const found = text.slice(0, MAX_SEARCHED_CHARACTERS).match(ADDRESSES) ?? [];
  return [...new Set(found.map(tidyAddress).filter((address) => address !== ''))];
}

/** Without the punctuation of its sentence; empty when nothing is left. */
export function tidyAddress(text: string): string {
  const tidy = text.replace(/^[\s'`*=<>.]+|[\s'`*<>.!?]+$/g, '');
  return /^[^@]+@[^@]*[\p{L}\p{N}\]]$/u.test(tidy) ? tidy : '';
}

export function sameAddress(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.toLowerCase() === other.toLowerCase();
}
