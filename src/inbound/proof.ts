// What proves which message a complaint is about: our tokens first, since they cost a hash; the original's
// signature last, since it costs DNS queries.

import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import { readFeedbackId } from '../protocol/mail/addresses/feedback-id.ts';
import type { KeyLookup } from '../protocol/mail/addresses/message-token.ts';
import { readReturnPath } from '../protocol/mail/addresses/return-path.ts';
import type { OriginalMessage } from '../protocol/mail/inbound/inbound-mail.ts';
import type { ReportedMessage } from '../store/inbound.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { Proof } from './decide-complaint.ts';
import { claimedMessageId, signersOf } from './embedded-signature.ts';

export interface ProofKit {
  store: StoreVerbs<{ inbound: 'findReported' }>;
  tokenKeys: KeyLookup;
  resolver: Resolver;
}

export interface Proven {
  proof: Proof | null;
  /** Null with a proof: the message is no longer stored. */
  message: ReportedMessage | null;
  messageId: string | null;
  /** 1 with a token or signature in the original; less with the return path alone, which others may know. */
  weight: number;
}

const RETURN_PATH_WEIGHT = 0.5;

export async function prove(
  { returnPath, original }: { returnPath: string | null; original: OriginalMessage | null },
  kit: ProofKit,
): Promise<Proven> {
  const token = readTokens(returnPath, original, kit.tokenKeys);
  if (token === null) return (await proveBySignature(original, kit)) ?? NOTHING;
  const message = await kit.store.inbound.findReported(token.messageId);
  const weight = message && (await isProvenByOriginal(token, original, kit)) ? 1 : RETURN_PATH_WEIGHT;
  return { ...token, message, weight };
}

const NOTHING: Proven = { proof: null, message: null, messageId: null, weight: 0 };

/** Whether the original proves the same message as the token. */
async function isProvenByOriginal(
  { proof, messageId }: { proof: Proof; messageId: string },
  original: OriginalMessage | null,
  kit: ProofKit,
): Promise<boolean> {
  if (proof === 'feedback_id') return true;
  const feedbackIds = original?.feedbackIds ?? [];
  if (feedbackIds.some((value) => readFeedbackId(value, kit.tokenKeys) === messageId)) return true;
  return (await proveBySignature(original, kit))?.messageId === messageId;
}

function readTokens(
  returnPath: string | null,
  original: OriginalMessage | null,
  tokenKeys: KeyLookup,
): { proof: Proof; messageId: string } | null {
  if (returnPath !== null) return { proof: 'return_path', messageId: returnPath };
  const first = (values: readonly string[], read: (value: string) => string | null) => {
    for (const value of values) {
      const messageId = read(value);
      if (messageId !== null) return messageId;
    }
    return null;
  };
  const byFeedbackId = first(original?.feedbackIds ?? [], (value) => readFeedbackId(value, tokenKeys));
  if (byFeedbackId !== null) return { proof: 'feedback_id', messageId: byFeedbackId };
  const byReturnPath = first(original?.returnPaths ?? [], (address) =>
    readReturnPath(address.slice(0, Math.max(0, address.lastIndexOf('@'))), tokenKeys),
  );
  return byReturnPath === null ? null : { proof: 'embedded_return_path', messageId: byReturnPath };
}

/**
 * The signer must be the domain of the message that the original claims to be. The service's own signature is no proof: any
 * tenant's mail has it, and a mail that was handed in by SMTP may bear the Message-ID of another tenant's.
 */
async function proveBySignature(original: OriginalMessage | null, kit: ProofKit): Promise<Proven | null> {
  const content = original?.content ?? null;
  const claimed = content && claimedMessageId(content);
  const message = claimed && (await kit.store.inbound.findReported(claimed));
  if (!content || !message) return null;
  const signers = await signersOf(content, kit.resolver);
  if (!signers.includes(message.fromDomain)) return null;
  return { proof: 'signature', message, messageId: message.id, weight: 1 };
}
