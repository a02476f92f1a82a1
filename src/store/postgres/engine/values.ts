// Between PostgreSQL's values and those that the shared verbs know from SQLite: every integer is a number, a boolean is
// 0 or 1, bytes are a Buffer, and text may contain U+0000.
import type { CustomTypesConfig } from 'pg';

/** Object IDs of pg_catalog.pg_type, which never change. */
const OID = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, float4: 700, float8: 701, numeric: 1700 } as const;

const asNumber = (text: string) => Number(text);
const asFlag = (text: string) => (text === 't' ? 1 : 0);
const asBytes = (text: string) => Buffer.from(text.slice(2), 'hex');

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [OID.bool]: asFlag,
  [OID.bytea]: asBytes,
  [OID.int8]: asNumber,
  [OID.int2]: asNumber,
  [OID.int4]: asNumber,
  [OID.float4]: asNumber,
  [OID.float8]: asNumber,
  // Of sums; all of ours are far below 2^53.
  [OID.numeric]: asNumber,
};

/** All other types are read as text. */
export function parserOf(oid: number): (text: string) => unknown {
  return PARSERS[oid] ?? restoreText;
}

export const TYPES = { getTypeParser: parserOf } as unknown as CustomTypesConfig;

// A subject, a file name or an EHLO name may contain U+0000, which PostgreSQL's text can't hold. It is stored as two
// characters, and so is the first of these two, a noncharacter of Unicode: what was put in comes out again, and different
// texts stay different.
const ESCAPE = '\uffff';
const ESCAPED_ZERO = `${ESCAPE}0`;
const ESCAPED_ESCAPE = `${ESCAPE}1`;

export function toParameter(value: unknown): unknown {
  return typeof value === 'string' ? storableText(value) : value;
}

export function storableText(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, ESCAPED_ESCAPE).replaceAll('\0', ESCAPED_ZERO);
}

export function restoreText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPED_ZERO, '\0').replaceAll(ESCAPED_ESCAPE, ESCAPE);
}
