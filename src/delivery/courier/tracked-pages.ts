// The HTML of each message with the pixel and the links of its own, as its tenant wants them. Where
// they go is found once for recipients of a submission that are prepared one after the other.

import { type HtmlOutline, outlineHtml } from '../../links/html-links.ts';
import { fillInOutline } from '../../links/track-html.ts';
import type { HmacKey } from '../../protocol/mail/message-token.ts';
import type { MessageContent } from '../../store/contents.ts';

export interface LinkMaker {
  /** The origin of our links. */
  url: string;
  key: HmacKey;
}

type TrackedContent = Pick<
  MessageContent,
  'submissionId' | 'tenantId' | 'messageId' | 'html' | 'headers' | 'openTracking' | 'clickTracking'
>;

export class TrackedPages {
  /** One is enough, and what it holds may be large. */
  #last: { submissionId: string; outline: HtmlOutline } | null = null;

  /** Null when nothing in the body is this message's own, so that it may be shared. */
  htmlFor(content: TrackedContent, links: LinkMaker): string | null {
    const { tenantId, messageId, html, headers, openTracking: opens, clickTracking: clicks } = content;
    if (html === null || html === '' || !(opens || clicks)) return null;
    const plan = { subject: { tenantId, messageId }, opens, clicks, headers, linksUrl: links.url, key: links.key };
    const tracked = fillInOutline(html, this.#outlineOf(content.submissionId, html), plan);
    return tracked === html ? null : tracked;
  }

  #outlineOf(submissionId: string, html: string): HtmlOutline {
    if (this.#last?.submissionId !== submissionId) this.#last = { submissionId, outline: outlineHtml(html) };
    return this.#last.outline;
  }
}
