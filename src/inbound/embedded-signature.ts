// Whether an embedded original has a DKIM signature (RFC 6376) that verifies and covers its Message-ID:
// then the holder of that domain's key has sent it. The work is bounded, because strangers write
// these mails. The library is loaded when it is first needed, so that a start need not wait for it.
import { isUuid } from '../base/ids.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import { readHeaderBlock } from '../protocol/mail/inbound/header-block.ts';

/** Our messages have two; forwarders add one or two. */
const MAX_SIGNATURES = 6;
/** Hashing more would block the event loop for long; a larger original has its tokens. */
const MAX_BYTES = 1024 * 1024;

/** The message that an original claims to be; null: none of ours, or too large to verify. */
export function claimedMessageId(content: Buffer): string | null {
  if (content.length > MAX_BYTES) return null;
  const text = content.toString('latin1');
  const { header } = readHeaderBlock(text, 0, text.length);
  const named = header.fields.filter(({ name }) => name === 'message-id');
  const signatures = header.fields.filter(({ name }) => name === 'dkim-signature');
  // With two Message-IDs it is unclear which one a signature covers.
  if (named.length !== 1 || signatures.length === 0 || signatures.length > MAX_SIGNATURES) return null;
  const messageId = /^<([0-9a-f-]{36})@/i.exec(named[0]!.value.trim())?.[1]?.toLowerCase();
  return messageId !== undefined && isUuid(messageId) ? messageId : null;
}

/** Whether it has signatures, and few and small enough to verify. */
export function isVerifiable(content: Buffer): boolean {
  if (content.length > MAX_BYTES) return false;
  const text = content.toString('latin1');
  const { header } = readHeaderBlock(text, 0, text.length);
  const signatures = header.fields.filter(({ name }) => name === 'dkim-signature').length;
  return signatures > 0 && signatures <= MAX_SIGNATURES;
}

/** The domains, in lower case, whose signatures verify and cover the field and the whole body. */
export async function wholeSignersOf(content: Buffer, field: string, resolver: Resolver): Promise<string[]> {
  const results = await verify(content, resolver);
  return results
    .filter(({ status, signingHeaders }) => status.result === 'pass' && covers(signingHeaders?.keys, field))
    .filter(({ status }) => !('underSized' in status) || !status.underSized)
    .flatMap(({ signingDomain }) => signingDomain?.toLowerCase() ?? []);
}

/** The domains, in lower case, whose signatures verify and cover the Message-ID. */
export async function signersOf(content: Buffer, resolver: Resolver): Promise<string[]> {
  const results = await verify(content, resolver);
  return results
    .filter(({ status, signingHeaders }) => status.result === 'pass' && covers(signingHeaders?.keys, 'message-id'))
    .flatMap(({ signingDomain }) => signingDomain?.toLowerCase() ?? []);
}

async function verify(content: Buffer, resolver: Resolver) {
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js');
  const { results } = await dkimVerify(content, { resolver: (name, type) => lookUp(resolver, name, type) });
  return results;
}

function covers(keys: string | undefined, field: string): boolean {
  return (keys ?? '')
    .toLowerCase()
    .split(/[\s:]+/)
    .includes(field);
}

/** In the form of Node's dns module: each text as its chunks, errors with a code. */
async function lookUp(resolver: Resolver, name: string, type: string): Promise<string[][]> {
  const answer = type === 'TXT' ? await resolver.txt(name) : ({ kind: 'no_records' } as const);
  if (answer.kind === 'found') return answer.records.map((record) => [record]);
  const code = { no_domain: 'ENOTFOUND', no_records: 'ENODATA', unavailable: 'ETIMEOUT' }[answer.kind];
  throw Object.assign(new Error(`${name}: ${answer.kind}`), { code });
}
