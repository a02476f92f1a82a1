// Signs messages with DKIM: RFC 6376, relaxed/relaxed, rsa-sha256, and ed25519-sha256 of RFC 8463. Keys are passed in
// parsed form, the body is hashed once for all signatures. Does not verify; no l= (a signed prefix could be extended)
// and no x=.
import { hash, type KeyObject, sign } from 'node:crypto';
import { Fault } from '../../../base/errors.ts';
import { canonicalBody, canonicalField } from './dkim-canonical.ts';

export interface DkimSigner {
  /** The d= domain, in A-labels. */
  domain: string;
  selector: string;
  /** A private RSA or Ed25519 key. */
  key: KeyObject;
  /** Replaces SIGNED_NAMES; each name once. */
  headerNames?: readonly string[];
}

/**
 * Listed once more often than present, even when absent: a copy that is added on the way then breaks the signature (RFC
 * 6376 sections 5.4.2 and 8.15). These fields are shown or replied to, or decide how the body is read; each may occur
 * only once.
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
 * Listed, and once more, only where present: relays may add a missing Content-Transfer-Encoding, lists their own
 * List-*, and a message without them promises nothing.
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

const SIGNED_NAMES: readonly string[] = [...ALWAYS_NAMES, ...PRESENT_NAMES];

const ALWAYS = new Set<string>(ALWAYS_NAMES.map((name) => name.toLowerCase()));
const KEYS = new Map(SIGNED_NAMES.map((name) => [name, name.toLowerCase()]));
const keyOf = (name: string): string => KEYS.get(name) ?? name.toLowerCase();
/** b= is folded at this many characters: within the 78 of RFC 5322 section 2.1.1. */
const FOLD_AT = 72;

/** A message in the two halves that are signed separately: one body may be sent with many headers. */
export interface SignableMessage {
  /** With the empty line at its end. */
  header: Buffer;
  body: Buffer;
  /** Of the body, by hashBody(). */
  bodyHash: string;
}

/** The bh= of all signatures of the body: all of them are relaxed with SHA-256. */
export function hashBody(body: Buffer): string {
  return hash('sha256', canonicalBody(body), 'base64');
}

/** The message with one DKIM-Signature per signer in front, the first signer's on top. */
export function signMessage(message: SignableMessage, signers: readonly DkimSigner[], nowSeconds: number): Buffer {
  return Buffer.concat([signedHeader(message, signers, nowSeconds), message.body]);
}

/** The signatures and the header: all that comes before the body. */
export function signedHeader(
  { header, bodyHash }: Omit<SignableMessage, 'body'>,
  signers: readonly DkimSigner[],
  nowSeconds: number,
): Buffer {
  if (!header.subarray(-4).equals(HEADER_END)) {
    throw new Fault('the message to be signed has no end of its header', { permanence: 'permanent' });
  }
  // latin1 maps octets to characters one to one, so UTF-8 headers survive unread.
  const fields = fieldsByName(header.toString('latin1', 0, header.length - 2));
  const coverings = new Map<readonly string[], Covering>();
  const signatures = signers.map((signer) => {
    const headerNames = signer.headerNames ?? SIGNED_NAMES;
    // Nearly always the same for all signers.
    const covering = coverings.get(headerNames) ?? coverFields(headerNames, fields);
    coverings.set(headerNames, covering);
    return signatureField(signer, { covering, bodyHash, nowSeconds });
  });
  return Buffer.concat([Buffer.from(signatures.join(''), 'latin1'), header]);
}

const HEADER_END = Buffer.from('\r\n\r\n');

/** Which fields a signature covers. */
interface Covering {
  /** h=, folded. */
  names: string;
  /** The hashed form of these fields. */
  canonical: string;
}

interface Signable {
  covering: Covering;
  bodyHash: string;
  nowSeconds: number;
}

/** In their canonical form, which all signatures share. */
function fieldsByName(header: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const field of header.split(/\r\n(?![ \t])/)) {
    const canonical = canonicalField(field);
    const name = canonical.slice(0, canonical.indexOf(':'));
    if (name === '') continue;
    const same = fields.get(name);
    if (same) same.push(canonical);
    else fields.set(name, [canonical]);
  }
  return fields;
}

/** Each name as often as it is present, and once more. */
function coverFields(headerNames: readonly string[], fields: Map<string, string[]>): Covering {
  const names: string[] = [];
  let canonical = '';
  for (const name of headerNames) {
    const key = keyOf(name);
    const present = fields.get(key) ?? [];
    if (present.length === 0 && !ALWAYS.has(key)) continue;
    // RFC 6376 section 5.4.2: of several fields of a name, the last in the message comes first.
    for (let index = present.length - 1; index >= 0; index--) {
      names.push(name);
      canonical += `${present[index]}\r\n`;
    }
    names.push(name);
  }
  return { names: foldNames(names), canonical };
}

function signatureField(signer: DkimSigner, { covering, bodyHash, nowSeconds }: Signable): string {
  const isEd25519 = signer.key.asymmetricKeyType === 'ed25519';
  const start = `v=1; a=${isEd25519 ? 'ed25519' : 'rsa'}-sha256; c=relaxed/relaxed;`;
  const tags = `${start}\r\n d=${signer.domain};\r\n s=${signer.selector}; t=${Math.floor(nowSeconds)};\r\n`;
  const unsigned = `${tags}${covering.names}\r\n bh=${bodyHash};\r\n b=`;
  // As canonicalField() would: all its white space is single spaces, each after the end of a line or within one.
  const data = Buffer.from(`${covering.canonical}dkim-signature:${unsigned.replaceAll('\r\n', '')}`, 'latin1');
  // RFC 8463 section 3: Ed25519 signs the hash of the data, not the data.
  const signature = isEd25519
    ? sign(null, hash('sha256', data, 'buffer'), signer.key)
    : sign('sha256', data, signer.key);
  return `DKIM-Signature: ${unsigned}${foldBase64(signature.toString('base64'))}\r\n`;
}

/** RFC 6376 section 3.5: white space is allowed around the colons of h=. */
function foldNames(names: readonly string[]): string {
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
  return [...lines, line].join('\r\n');
}

function foldBase64(text: string): string {
  let folded = text.slice(0, FOLD_AT);
  for (let at = FOLD_AT; at < text.length; at += FOLD_AT) folded += `\r\n ${text.slice(at, at + FOLD_AT)}`;
  return folded;
}
