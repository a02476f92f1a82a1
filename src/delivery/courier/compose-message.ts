// A message from its content to what will be signed: the common fields, and the service's own ones,
// which carry tokens made with the keys of the kit.

import { unsubscribeHeaders } from '../../links/unsubscribe.ts';
import { type Composed, compose } from '../../protocol/mail/compose.ts';
import { makeFeedbackId } from '../../protocol/mail/feedback-id.ts';
import type { MimeBody } from '../../protocol/mail/lean-body.ts';
import type { HmacKey } from '../../protocol/mail/message-token.ts';
import type { ComposedContent } from '../../store/message-view.ts';
import type { LinkMaker } from './tracked-pages.ts';

export interface ComposeKit {
  tokenKey: HmacKey;
  bouncesDomain: string;
  links: LinkMaker;
}

export function composeMessage(content: ComposedContent, body: MimeBody, kit: ComposeKit): Composed {
  const { messageId, from, to } = content;
  return compose(
    {
      messageId,
      from: { address: from.address, name: from.name ?? '' },
      to: { address: to.address, name: to.name ?? '' },
      subject: content.subject,
      headers: content.headers,
      serviceHeaders: serviceHeaders(content, kit),
      date: new Date(content.createdAt),
    },
    body,
  );
}

/** RFC 9477 for complaint loops that mailbox providers run; Feedback-ID has no part per message, so that it can be counted. */
function serviceHeaders(content: ComposedContent, kit: ComposeKit): [string, string][] {
  const unsubscribe = content.unsubscribe ? unsubscribePair(content, kit) : [];
  return [
    ...unsubscribe,
    ['CFBL-Address', `fbl@${kit.bouncesDomain}; report=arf`],
    ['CFBL-Feedback-ID', makeFeedbackId(content.messageId, kit.tokenKey)],
    ['Feedback-ID', `${content.tenantId}:${content.signing.domain}:transactional:postrider`],
  ];
}

function unsubscribePair({ tenantId, messageId, to, bouncesDomain }: ComposedContent, kit: ComposeKit) {
  return unsubscribeHeaders(
    { tenantId, messageId, recipient: to.address },
    {
      linksUrl: kit.links.url,
      linkKey: kit.links.key,
      bouncesDomain: bouncesDomain ?? kit.bouncesDomain,
      addressKey: kit.tokenKey,
    },
  );
}
