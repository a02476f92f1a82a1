// Environment variables that look like ours and are none. POSTRIDER_BASE_URL, POSTRIDER_API_KEY
// and the like belong to the client libraries and are left alone.

import { nearest } from '../base/suggest.ts';
import { ALL_KEYS } from './keys.ts';

const PREFIX = 'POSTRIDER_';
const SECTIONS = new Set(ALL_KEYS.map(({ section }) => section.toUpperCase()));
const VARIABLES = new Set(ALL_KEYS.map(({ variable }) => variable));

/** A known section with an unknown key is a mistake, and so is a slip of two letters from a known variable. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith(PREFIX) || VARIABLES.has(name)) continue;
    const section = name.slice(PREFIX.length).split('_')[0]!;
    const sectionKnown = SECTIONS.has(section);
    const suggestion = nearest(name, VARIABLES, sectionKnown ? 4 : 2);
    if (suggestion !== null) problems.push(`${name}: unknown key; did you mean ${suggestion}?`);
    else if (sectionKnown) problems.push(`${name}: unknown key of section ${section.toLowerCase()}`);
  }
  return problems;
}
