// DKIM key records (RFC 6376 section 3.6.1, tag lists of 3.2): reads one TXT record and says whether receivers can
// verify our signatures with it (RSA with SHA-256, mail). The flags t=y and t=s do not prevent that.

export type DkimVerdict =
  | { kind: 'ok' }
  /** Another TXT record at the same name. */
  | { kind: 'no_key_record' }
  | { kind: 'invalid'; problem: string }
  | { kind: 'mismatch'; problem: string };

/** A malformed key record, for example with quotes or in the wrong case, still counts as one. */
const LOOKS_LIKE_KEY = /^[\s"'\\]*v\s*=\s*["']?dkim/i;
const TAG_NAME = /^[a-z][a-z0-9_]*$/i;

export function checkDkimRecord(text: string, expectedKeyB64: string): DkimVerdict {
  const tags = parseTagList(text);
  const version = tags?.get('v');
  const isMeant = version === undefined ? tags?.has('p') : /^dkim/i.test(version);
  if (!isMeant && !LOOKS_LIKE_KEY.test(text)) return { kind: 'no_key_record' };
  if (!tags) return { kind: 'invalid', problem: 'its tags are not written as name=value with semicolons between them' };
  return checkTags(tags, text, withoutSpace(expectedKeyB64));
}

/**
 * How many records have the key in pieces: forms invite to enter the strings of one record as several records. 0 if the
 * records do not make up the whole key, or a single one has it.
 */
export function countPieces(texts: readonly string[], expectedKeyB64: string): number {
  const pieces = texts.map(pieceOf).sort((one, other) => other.length - one.length);
  let rest = withoutSpace(expectedKeyB64);
  let count = 0;
  while (rest !== '') {
    const next = pieces.findIndex((piece) => piece !== '' && rest.startsWith(piece));
    if (next < 0) return 0;
    rest = rest.slice(pieces.splice(next, 1)[0]!.length);
    count++;
  }
  return count > 1 ? count : 0;
}

/** Only the first has the tags, unless each was entered as a record of its own. */
function pieceOf(text: string): string {
  const bare = text.replace(/[\s"]+/g, '');
  return parseTagList(bare)?.get('p') ?? bare;
}

function checkTags(tags: Map<string, string>, text: string, expectedKey: string): DkimVerdict {
  const version = tags.get('v');
  if (version !== undefined && (version !== 'DKIM1' || [...tags.keys()][0] !== 'v')) {
    return { kind: 'invalid', problem: 'it does not begin with "v=DKIM1;"' };
  }
  const key = tags.get('p');
  if (key === undefined) return { kind: 'invalid', problem: 'it has no p= tag' };
  // RFC 6376 section 3.6.1: an empty key means that the key is revoked.
  if (key === '') return { kind: 'mismatch', problem: 'its p= tag is empty, which revokes the key' };
  const keyType = tags.get('k') ?? 'rsa';
  if (keyType !== 'rsa') return { kind: 'mismatch', problem: 'its k= tag is not rsa' };
  if (withoutSpace(key) !== expectedKey) return { kind: 'mismatch', problem: otherKey(key, text, expectedKey) };
  if (!allows(tags.get('h'), 'sha256')) return { kind: 'mismatch', problem: 'its h= tag does not allow sha256' };
  const services = tags.get('s') ?? '*';
  if (!allows(services, '*') && !allows(services, 'email')) {
    return { kind: 'mismatch', problem: 'its s= tag does not allow email' };
  }
  return { kind: 'ok' };
}

/** Forms of DNS providers keep only the first of the strings that a TXT record needs for a key (RFC 1035 section 3.3.14). */
function otherKey(key: string, text: string, expectedKey: string): string {
  if (!expectedKey.startsWith(withoutSpace(key))) return 'its p= tag holds another key';
  return `it is cut off after ${text.trim().length} characters; publish it as several strings of one record, of at most 255 characters each`;
}

/** Null if it is not a tag list; names keep their order. A repeated name makes the list invalid. */
export function parseTagList(text: string): Map<string, string> | null {
  const tags = new Map<string, string>();
  const parts = text.split(';');
  if (parts.at(-1)?.trim() === '') parts.pop();
  for (const part of parts) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trim();
    if (!TAG_NAME.test(name) || tags.has(name)) return null;
    tags.set(name, part.slice(equals + 1).trim());
  }
  return tags.size > 0 ? tags : null;
}

function allows(list: string | undefined, wanted: string): boolean {
  return list === undefined || list.split(':').some((item) => item.trim() === wanted);
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}
