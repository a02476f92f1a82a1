// One-click unsubscribe (RFC 8058). GET only asks, because scanners follow links; POST acts, for mail
// programs and for the page's own button. The token is all that it takes: no cookie, no login.
import type { HttpRequest } from '../../http/http.ts';
import type { Route } from '../../http/router.ts';
import type { KeyLookup } from '../../protocol/mail/message-token.ts';
import type { TrackingStore } from '../../store/tracking.ts';
import { LINK_PATHS } from '../link-paths.ts';
import { readUnsubscribeToken, type UnsubscribeToken } from '../link-token.ts';
import { type UnsubscribeKit, unsubscribe } from '../unsubscribe.ts';
import { donePage, failurePage, questionPage, unknownLinkPage } from './unsubscribe-page.ts';

export interface UnsubscribePageKit extends UnsubscribeKit {
  store: UnsubscribeKit['store'] & Pick<TrackingStore, 'findTracked'>;
}

/** `List-Unsubscribe=One-Click` has 26 octets; as multipart/form-data some hundred. */
const MAX_BODY_OCTETS = 16 * 1024;

const PATTERN = `${LINK_PATHS.unsubscribe}:token`;

export function unsubscribeRoutes(keys: KeyLookup, kit: UnsubscribePageKit): Route[] {
  return [
    {
      method: 'GET',
      pattern: PATTERN,
      async handler(_, { token = '' }) {
        const message = readUnsubscribeToken(token, keys);
        return message === null ? unknownLinkPage() : questionPage(await shownFacts(kit, message));
      },
    },
    {
      method: 'POST',
      pattern: PATTERN,
      async handler(request, { token = '' }) {
        const message = readUnsubscribeToken(token, keys);
        if (message === null) return unknownLinkPage();
        await takeIn(request);
        try {
          await unsubscribe(kit, message);
        } catch (error) {
          kit.log.error({ error, message_id: message.messageId }, 'an unsubscription could not be stored');
          return failurePage();
        }
        return donePage(await shownFacts(kit, message));
      },
    },
  ];
}

/**
 * RFC 8058 section 3.2 has the body say `List-Unsubscribe=One-Click`. Nothing is made to depend on it: a
 * token and a POST are as clear, and whoever writes the body wrongly still wants no more mail.
 */
async function takeIn(request: HttpRequest): Promise<void> {
  await request.readBody(MAX_BODY_OCTETS);
}

/** The sender's name is a courtesy, and never worth a failure. */
async function shownFacts({ store }: UnsubscribePageKit, { tenantId, messageId, recipient }: UnsubscribeToken) {
  const message = await store.findTracked(tenantId, messageId).catch(() => null);
  return { recipient, fromDomain: message?.fromDomain ?? null };
}
