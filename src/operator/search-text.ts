// What a person types to find mail: an address, a domain, part of an ID, or else part of a subject or an address. The command line
// and the portal read it in the same way.
import { parseAddress, suppressionKey } from '../protocol/mail/addresses/address.ts';
import { parseDomain } from '../protocol/mail/addresses/domain.ts';
import type { MessageSearch } from '../store/reads.ts';

export interface SearchText {
  search: Pick<MessageSearch, 'recipient' | 'recipientDomain' | 'textPart' | 'idPart'>;
  /** Of a whole address: the name of its entry on suppression lists. */
  suppressionKey: string | null;
  /** What it was taken for. */
  meaning: 'recipient' | 'domain' | 'id' | 'text';
}

/** Fewer are words too often, such as "decade". */
const MIN_ID_CHARS = 6;
const HEX_AND_HYPHENS = /^[0-9a-f][0-9a-f-]*$/i;
const QUOTED = /^"(.+)"$/;

/** In quotes, it is a text in any case. */
export function readSearchText(typed: string): SearchText {
  const text = typed.trim();
  const words = QUOTED.exec(text)?.[1];
  if (words !== undefined) return asText(words);
  const digits = text.replaceAll('-', '');
  if (HEX_AND_HYPHENS.test(text) && /\d/.test(digits) && digits.length >= MIN_ID_CHARS) {
    return { search: { idPart: digits }, suppressionKey: null, meaning: 'id' };
  }
  if (text.lastIndexOf('@') > 0) {
    const parsed = parseAddress(text);
    if (!parsed.ok) return asText(text);
    const { asciiDomain: recipientDomain } = parsed.address;
    const key = suppressionKey(parsed.address);
    return { search: { recipient: text, recipientDomain }, suppressionKey: key, meaning: 'recipient' };
  }
  const domain = text.includes('.') || text.startsWith('@') ? parseDomain(text.replace(/^@/, '')) : null;
  if (!domain?.ok) return asText(text);
  return { search: { recipientDomain: domain.asciiDomain }, suppressionKey: null, meaning: 'domain' };
}

function asText(textPart: string): SearchText {
  return { search: { textPart }, suppressionKey: null, meaning: 'text' };
}
