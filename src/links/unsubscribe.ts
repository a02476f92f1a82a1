// One-click unsubscribe (RFC 8058, RFC 2369): the headers that offer it, and its effect: the recipient is added to the
// tenant's suppression list. Doing it again changes nothing.

import type { Clock } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import * as mailLog from '../observe/mail-log.ts';
import { suppressionKeyOf } from '../protocol/mail/addresses/address.ts';
import type { HmacKey } from '../protocol/mail/addresses/message-token.ts';
import { makeUnsubscribeAddress } from '../protocol/mail/addresses/unsubscribe-address.ts';
import type { StoreVerbs } from '../store/store.ts';
import { linkUrl, makeUnsubscribeToken, type UnsubscribeToken } from './link-token.ts';

export interface UnsubscribeHeaderKit {
  /** The origin of our links. */
  linksUrl: string;
  bouncesDomain: string;
  linkKey: HmacKey;
  /** Signs the address, as it does return paths. */
  addressKey: HmacKey;
}

export function unsubscribeHeaders(
  message: UnsubscribeToken,
  { linksUrl, bouncesDomain, linkKey, addressKey }: UnsubscribeHeaderKit,
): [name: string, value: string][] {
  const url = linkUrl(linksUrl, 'unsubscribe', makeUnsubscribeToken(message, linkKey));
  const address = `${makeUnsubscribeAddress(message.messageId, addressKey)}@${bouncesDomain}`;
  return [
    // The URL first: RFC 2369 section 2 gives the order of preference.
    ['List-Unsubscribe', `<${url}>, <mailto:${address}?subject=unsubscribe>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

export interface UnsubscribeKit {
  store: StoreVerbs<{ suppressions: 'addSuppression' }>;
  clock: Clock;
  log: Logger;
}

/** Settles when it is on disk. */
export async function unsubscribe(
  { store, clock, log }: UnsubscribeKit,
  { tenantId, messageId, recipient }: UnsubscribeToken,
): Promise<void> {
  const entry = {
    address: suppressionKeyOf(recipient),
    reason: 'unsubscribe',
    messageId,
    createdAt: clock.now(),
  } as const;
  if ((await store.suppressions.addSuppression(tenantId, entry)) === 'exists') return;
  mailLog.unsubscribed(log, { id: messageId, tenantId, recipient });
}
