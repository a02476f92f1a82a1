// What the header of a mail, or of one of its parts, says about the content after it (RFC 2045, 2046): parts, or a leaf
// that may or may not get another encoding. Where readers may disagree about it, nothing may change.
import { readContentType } from '../inbound/content-type.ts';
import type { WrittenField } from './header-fields.ts';
import type { LeafEncoding } from './re-encode.ts';

export type Entity = Multipart | Leaf;

export interface Multipart {
  kind: 'multipart';
  /** What its header says of it; null: nothing. */
  encoding: LeafEncoding | null;
  boundary: string;
  isDigest: boolean;
  isSealed: boolean;
  isEmbedded: boolean;
}

export interface Leaf {
  kind: 'leaf';
  /** What its header says; null: nothing, or nothing that is clear. */
  encoding: LeafEncoding | null;
  isText: boolean;
  /** HTML that readers show as the mail, or as a part of it; null: it is something else. */
  html: Html | null;
  /** Another encoding would change nothing for the recipient. */
  mayChange: boolean;
  /** It is encoded, and shorter lines would change nothing for the recipient. */
  mayCut: boolean;
  /** A mail that can be read where it is: a header follows. */
  isOpenMail: boolean;
  isSealed: boolean;
}

export interface Html {
  /** In lower case; null: none is named. */
  charset: string | null;
}

/** What is around a part decides about it. */
export interface Around {
  /** Inside a signature or an encryption: every octet counts. */
  isSealed: boolean;
  isDigest: boolean;
  /** Inside a mail that is a part: its HTML is not that of the mail. */
  isEmbedded: boolean;
}

export const NOTHING_AROUND: Around = { isSealed: false, isDigest: false, isEmbedded: false };
const SEALED_TYPE = /^(?:multipart\/(?:signed|encrypted)|application\/(?:x-)?pkcs7-[\w-]+)$/;
const ENCODINGS: readonly LeafEncoding[] = ['7bit', '8bit', 'binary', 'quoted-printable', 'base64'];
/** RFC 2045 section 6.2: the content is what is written. */
const IDENTITY: ReadonlySet<LeafEncoding> = new Set<LeafEncoding>(['7bit', '8bit', 'binary']);

export function readEntity(fields: readonly WrittenField[], around: Around = NOTHING_AROUND): Entity {
  const types = fields.filter(({ key }) => key === 'content-type');
  const encodings = fields.filter(({ key }) => key === 'content-transfer-encoding');
  const value = types[0]?.value ?? (around.isDigest ? 'message/rfc822' : 'text/plain');
  const read = readContentType(value);
  const { type } = read;
  const { isEmbedded } = around;
  const isMultipart = type.startsWith('multipart/');
  const all = [type, ...types.slice(1).map((field) => readContentType(field.value).type)];
  const isSealed = around.isSealed || all.some((one) => SEALED_TYPE.test(one));
  const isReadable = isOneOrNone(types) && isOneOrNone(encodings);
  const encoding = isReadable ? encodingNamed(encodings[0]?.value) : null;
  const isClear = isReadable && (encodings.length === 0 || (encoding !== null && IDENTITY.has(encoding)));
  const boundary = isMultipart && isClear ? boundaryIn(value) : null;
  if (boundary !== null && boundary === read.parameters.get('boundary')) {
    return { kind: 'multipart', encoding, boundary, isDigest: type === 'multipart/digest', isSealed, isEmbedded };
  }
  const isKnown = encodings.length === 0 || encoding !== null;
  // Embedded messages stay as they are (RFC 2046 section 5.2.1).
  const isOpen = !isSealed && !isMultipart && !type.startsWith('message/');
  const isPage = type === 'text/html' && isReadable && isKnown && !isSealed && !isEmbedded && isShown(fields);
  return {
    kind: 'leaf',
    encoding,
    isText: type.startsWith('text/'),
    html: isPage ? { charset: read.parameters.get('charset')?.toLowerCase() ?? null } : null,
    mayChange: isClear && isOpen,
    mayCut: isOpen && encoding !== null && !IDENTITY.has(encoding),
    isOpenMail: isClear && !isSealed && type === 'message/rfc822',
    isSealed,
  };
}

/** A part whose header can't be read stays as it is. */
export function unreadable(isSealed: boolean): Leaf {
  const rest = { mayChange: false, mayCut: false, isOpenMail: false };
  return { kind: 'leaf', encoding: null, isText: false, html: null, isSealed, ...rest };
}

function encodingNamed(value: string | undefined): LeafEncoding | null {
  const name = value?.toLowerCase();
  return ENCODINGS.find((encoding) => encoding === name) ?? null;
}

/** RFC 2183: with `attachment` it is a file. With Content-MD5 (RFC 1864) a change would be taken for a fault. */
function isShown(fields: readonly WrittenField[]): boolean {
  return !fields.some(
    ({ key, value }) => key === 'content-md5' || (key === 'content-disposition' && !/^[ \t]*inline\b/i.test(value)),
  );
}

/** Some readers don't know a field with a blank before its colon. */
function isOneOrNone([field, ...more]: readonly WrittenField[]): boolean {
  return more.length === 0 && (field === undefined || field.raw[field.name.length] === ':');
}

/** In quotes or a token (RFC 2045 section 5.1): readers differ about other characters outside of quotes. */
const BOUNDARY_PARAMETER =
  /;[ \t]*boundary[ \t]*=[ \t]*(?:"([!#-[\]-~ ]{0,198}[!#-[\]-~])"|([!#$%&'*+.0-9A-Z^_`a-z{|}~-]{1,199}))[ \t]*(?=;|$)/gi;
const ANY_BOUNDARY = /boundary[ \t]*[*=]/i;

/** Null when there is none, or when readers may find different ones. */
function boundaryIn(value: string): string | null {
  const [found, ...more] = value.matchAll(BOUNDARY_PARAMETER);
  const boundary = found?.[1] ?? found?.[2];
  if (boundary === undefined || more.length > 0) return null;
  const outside = value.replace(found![0], '');
  return ANY_BOUNDARY.test(outside) || outside.includes('(') ? null : boundary;
}
