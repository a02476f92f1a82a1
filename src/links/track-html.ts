// Puts the pixel and our links into the HTML of one message. Every byte outside of the values of
// the links that are tracked, and the pixel, stays as it is.
import type { HmacKey } from '../protocol/mail/message-token.ts';
import { type HtmlLink, type HtmlOutline, outlineHtml } from './html-links.ts';
import { linkUrl } from './link-paths.ts';
import { makeClickToken, makeOpenToken, type TokenSubject } from './link-token.ts';
import { isUnsubscribeLink, listUnsubscribeUrls } from './unsubscribe-links.ts';

export interface TrackingPlan {
  subject: TokenSubject;
  opens: boolean;
  clicks: boolean;
  /** The origin of our links. */
  linksUrl: string;
  key: HmacKey;
  /** The message's headers: their List-Unsubscribe names links that stay. */
  headers: readonly (readonly [name: string, value: string])[];
}

/**
 * In octets. What comes of it is a third longer, and some programs cut addresses off at 2,083 characters
 * (Internet Explorer's limit): a longer link goes out as it is, and works.
 */
const MAX_TARGET_OCTETS = 1400;
/** Each link costs 150 bytes; nobody follows a thousand. */
const MAX_TRACKED_LINKS = 1000;

export function trackHtml(html: string, plan: TrackingPlan): string {
  return fillInOutline(html, outlineHtml(html), plan);
}

/** With what was found in the HTML once for all of its recipients. */
export function fillInOutline(html: string, { links, pixelAt }: HtmlOutline, plan: TrackingPlan): string {
  let tracked = '';
  let done = 0;
  const put = (start: number, end: number, text: string) => {
    tracked += html.slice(done, start) + text;
    done = end;
  };
  let pixelIsDue = plan.opens && pixelAt !== null;
  for (const { start, end, url } of plan.clicks ? rewrittenLinks(links, plan) : []) {
    // A link behind the last </body> is odd, and shown by browsers all the same.
    if (pixelIsDue && pixelAt! <= start) {
      put(pixelAt!, pixelAt!, pixel(plan));
      pixelIsDue = false;
    }
    put(start, end, url);
  }
  if (pixelIsDue) put(pixelAt!, pixelAt!, pixel(plan));
  return tracked + html.slice(done);
}

interface Rewrite {
  start: number;
  end: number;
  url: string;
}

function rewrittenLinks(links: readonly HtmlLink[], plan: TrackingPlan): Rewrite[] {
  const ownUrls = listUnsubscribeUrls(plan.headers);
  const tracked = links
    .filter((link) => isTrackable(link, plan.linksUrl) && !isUnsubscribeLink(link, ownUrls))
    .slice(0, MAX_TRACKED_LINKS);
  return tracked.map(({ start, end, href: url }, linkIndex) => {
    const token = makeClickToken({ ...plan.subject, linkIndex, linkCount: tracked.length, url }, plan.key);
    // None of its characters means anything in an attribute, with quotes or without.
    return { start, end, url: linkUrl(plan.linksUrl, 'click', token) };
  });
}

function isTrackable({ href, track }: HtmlLink, linksUrl: string): boolean {
  if (track?.trim().toLowerCase() === 'off') return false;
  // Our own, in the HTML of a mail that is sent on: it is counted for the first one.
  if (!/^https?:\/\//i.test(href) || href.startsWith(`${linksUrl}/`)) return false;
  return Buffer.byteLength(href) <= MAX_TARGET_OCTETS && URL.canParse(href) && href.isWellFormed();
}

/** Without a size of its own it would not be fetched by some, and be seen in others. */
function pixel({ linksUrl, subject, key }: TrackingPlan): string {
  const url = linkUrl(linksUrl, 'open', makeOpenToken(subject, key));
  return `<img src="${url}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;
}
