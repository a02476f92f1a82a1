// Signs messages with DKIM: RFC 6376, relaxed/relaxed, rsa-sha256, and ed25519-sha256 of
// RFC 8463. Keys come parsed, the body is hashed once for all signatures. Does not verify;
// no l= (a signed prefix invites additions) and no x=.
import { createHash, type KeyObject, sign } from 'node:crypto';
import { Fault } from '../../base/errors.ts';
import { canonicalBody, canonicalField } from './dkim-canonical.ts';

export interface DkimSigner {
  /** The d= domain, in A-labels. */
  domain: string;
  selector: string;
  /** A private RSA or Ed25519 key. */
  key: KeyObject;
  /** Replaces SIGNED_NAMES. */
  headerNames?: readonly string[];
}

/**
 * Named once more than they are present, even when they are absent: a copy that somebody
 * adds on the way breaks the signature (RFC 6376 sections 5.4.2 and 8.15). These are what
 * people see or answer to, and what decides how the body is read; each may stand only once.
 */
const ALWAYS_NAMES = [
  'From',
  'To',
  'Cc',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
] as const;

/**
 * Named, and once more, only where present: relays may add a missing
 * Content-Transfer-Encoding, lists their own List-*, and a message without them promises nothing.
 */
const PRESENT_NAMES = [
  'Content-Transfer-Encoding',
  'In-Reply-To',
  'References',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'List-Help',
  'List-Owner',
  'Auto-Submitted',
  'CFBL-Address',
  'CFBL-Feedback-ID',
  'Feedback-ID',
] as const;

export const SIGNED_NAMES: readonly string[] = [...ALWAYS_NAMES, ...PRESENT_NAMES];

const ALWAYS = new Set<string>(ALWAYS_NAMES.map((name) => name.toLowerCase()));
/** b= is folded at this many characters: within the 78 of RFC 5322 section 2.1.1. */
const FOLD_AT = 72;

/** The message with one DKIM-Signature per signer in front, the first signer's on top. */
export function signMessage(raw: Buffer, signers: readonly DkimSigner[], nowSeconds: number): Buffer {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) throw new Fault('the message to be signed has no end of its header', { permanence: 'permanent' });
  // latin1 maps octets to characters one to one, so UTF-8 headers survive unread.
  const fields = fieldsByName(raw.toString('latin1', 0, end + 2));
  const bodyHash = createHash('sha256')
    .update(canonicalBody(raw.subarray(end + 4)))
    .digest('base64');
  const signatures = signers.map((signer) => signatureField(signer, { fields, bodyHash, nowSeconds }));
  return Buffer.concat([Buffer.from(signatures.join(''), 'latin1'), raw]);
}

interface Signable {
  /** By lower-case name, in the order of the message. */
  fields: Map<string, string[]>;
  bodyHash: string;
  nowSeconds: number;
}

function fieldsByName(header: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const field of header.split(/\r\n(?![ \t])/)) {
    const name = field.slice(0, field.indexOf(':')).trim().toLowerCase();
    if (name === '') continue;
    const same = fields.get(name);
    if (same) same.push(field);
    else fields.set(name, [field]);
  }
  return fields;
}

function signatureField(signer: DkimSigner, { fields, bodyHash, nowSeconds }: Signable): string {
  const isEd25519 = signer.key.asymmetricKeyType === 'ed25519';
  const names = namesToSign(signer.headerNames ?? SIGNED_NAMES, fields);
  const unsigned = [
    `DKIM-Signature: v=1; a=${isEd25519 ? 'ed25519' : 'rsa'}-sha256; c=relaxed/relaxed;`,
    ` d=${signer.domain};`,
    ` s=${signer.selector}; t=${Math.floor(nowSeconds)};`,
    ...foldNames(names),
    ` bh=${bodyHash};`,
    ' b=',
  ].join('\r\n');
  const data = Buffer.from(signedFields(names, fields) + canonicalField(unsigned), 'latin1');
  // RFC 8463 section 3: Ed25519 signs the hash of the data, not the data.
  const signature = isEd25519
    ? sign(null, createHash('sha256').update(data).digest(), signer.key)
    : sign('sha256', data, signer.key);
  return `${unsigned}${foldBase64(signature.toString('base64'))}\r\n`;
}

/** Each name as often as it is present, and once more. */
function namesToSign(names: readonly string[], fields: Map<string, string[]>): string[] {
  return names.flatMap((name) => {
    const key = name.toLowerCase();
    const present = fields.get(key)?.length ?? 0;
    return present > 0 || ALWAYS.has(key) ? Array<string>(present + 1).fill(name) : [];
  });
}

/** RFC 6376 section 5.4.2: of several fields of a name, the last in the message comes first. */
function signedFields(names: readonly string[], fields: Map<string, string[]>): string {
  const taken = new Map<string, number>();
  let text = '';
  for (const name of names) {
    const key = name.toLowerCase();
    const count = (taken.get(key) ?? 0) + 1;
    taken.set(key, count);
    const field = fields.get(key)?.at(-count);
    if (field !== undefined) text += `${canonicalField(field)}\r\n`;
  }
  return text;
}

/** RFC 6376 section 3.5: white space may stand around the colons of h=. */
function foldNames(names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = ' h=';
  names.forEach((name, index) => {
    const piece = name + (index === names.length - 1 ? ';' : ':');
    if (line.length + piece.length > FOLD_AT) {
      lines.push(line);
      line = ' ';
    }
    line += piece;
  });
  return [...lines, line];
}

function foldBase64(text: string): string {
  return (text.match(/.{1,72}/g) ?? []).join('\r\n ');
}
