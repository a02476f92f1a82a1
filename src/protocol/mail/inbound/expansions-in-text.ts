// Finds which recipient of a report was made from which: `<bob@a.test> (expanded from <team@b.test>)` (Postfix) and
// `bob@a.test (generated from team@b.test)` (Exim). The former fails, and the latter is where the message was sent.
import { ADDRESS, addressesIn, tidyAddress } from './addresses-in-text.ts';
import type { Expansion } from './inbound-mail.ts';

const MAX_EXPANSIONS = 200;
const MAX_CHARACTERS_BEFORE = 400;

const EXPANDED = new RegExp(
  String.raw`\((?:expanded|(?:ultimately )?generated) from:?\s{1,20}<?(${ADDRESS})>?\s?\)`,
  'gi',
);
/** Nothing but punctuation and a line end after the address. */
const JUST_BEFORE = /\S{1,400}@\S{1,255}\s{0,20}$/;

export function expansionsIn(lines: readonly string[]): Expansion[] {
  const text = lines.join('\n');
  const found: Expansion[] = [];
  for (const match of text.matchAll(EXPANDED)) {
    const before = text.slice(Math.max(0, match.index - MAX_CHARACTERS_BEFORE), match.index);
    const to = addressesIn(JUST_BEFORE.exec(before)?.[0] ?? '').at(-1);
    const from = tidyAddress(match[1]!);
    if (to !== undefined && from !== '') found.push({ from, to });
    if (found.length === MAX_EXPANSIONS) break;
  }
  return found;
}
