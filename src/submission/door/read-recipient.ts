// RCPT at the SMTP door: is it an address that we send to, and is it suppressed?

import type { Clock } from '../../base/clock.ts';
import { parseAddress, policyRefusal, recipientKey, suppressionKey } from '../../protocol/mail/addresses/address.ts';
import type { SmtpReply } from '../../smtp-listener/smtp-reply.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { SuppressionReason } from '../../store/suppressions.ts';
import { findOnPlatformOnly, onPlatformList, type PlatformListStore } from '../../suppression/platform-list.ts';
import type { DoorRecipient } from './arriving-mail.ts';

export interface RecipientOptions {
  store: StoreVerbs<{ suppressions: 'findReasonAgainst' }> & PlatformListStore;
  clock: Clock;
  /** In the sandbox: recipients that are accepted even after a bounce or complaint has suppressed them. */
  staysUsable?(address: string): boolean;
}

/** `key` is equal for two spellings of one recipient. */
export type ReadRecipient =
  | { kind: 'recipient'; key: string; recipient: DoorRecipient }
  | { kind: 'refused'; reply: SmtpReply };

const IN_WORDS: Record<SuppressionReason, string> = {
  hard_bounce: 'it bounced permanently',
  complaint: 'the recipient complained',
  unsubscribe: 'the recipient unsubscribed',
  manual: 'it was added by hand',
};

export async function readRecipient(text: string, tenantId: string, options: RecipientOptions): Promise<ReadRecipient> {
  const parsed = parseAddress(text);
  const problem = parsed.ok ? policyRefusal(parsed.address) : parsed.reason;
  if (!parsed.ok || problem !== null) return refused(553, `5.1.3 ${problem}`);
  const { local, domain, asciiDomain } = parsed.address;
  const address = `${local}@${domain}`;
  const key = suppressionKey(parsed.address);
  const staysUsable = options.staysUsable?.(address) ?? false;
  const now = options.clock.now();
  const reason = await options.store.suppressions.findReasonAgainst(tenantId, key, now);
  if (reason !== null && !(staysUsable && (reason === 'hard_bounce' || reason === 'complaint'))) {
    const ofPlatform = await findOnPlatformOnly(options.store, { tenantId, address: key, now });
    const why = ofPlatform ? `it is ${onPlatformList(ofPlatform)}` : IN_WORDS[reason];
    return refused(550, `5.1.1 The address is suppressed (${reason}): ${why}`);
  }
  const recipient: DoorRecipient = {
    address,
    name: null,
    domain: asciiDomain,
    suppressionKey: key,
    ...(staysUsable && { staysUsable }),
  };
  return { kind: 'recipient', key: recipientKey(parsed.address), recipient };
}

function refused(code: number, text: string): ReadRecipient {
  return { kind: 'refused', reply: { code, text } };
}
