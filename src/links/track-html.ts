// Puts the pixel and our links into the HTML of one message. Every byte outside of the values of
// the links that are tracked, and the pixel, stays as it is.

import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import type { HmacKey } from '../protocol/mail/message-token.ts';
import { linkUrl, makeClickToken, makeOpenToken, type TokenSubject } from './link-token.ts';

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

// Finds the links of an HTML mail and the place for a pixel, by the tokenizer of the HTML standard
// (13.2.5), which says where each token stands. Changes nothing. Left out on purpose: what mail
// programs make of comments (conditional ones of Outlook included), forms, and links in SVG.

export interface HtmlLink {
  /** Of the value of href in the source, without its quotes. */
  start: number;
  end: number;
  /** The value, character references decoded, trimmed as browsers do. */
  href: string;
  /** What `data-postrider-track` says, or null. */
  track: string | null;
  rel: string;
  /** What can be read between the tags; at most as much as decides whether it is about unsubscribing. */
  text: string;
}

export interface HtmlOutline {
  links: HtmlLink[];
  /** Where an image shows: before the last `</body>`, else the end; null where the end lies inside of a tag, comment or the like. */
  pixelAt: number | null;
}

/** Elements whose content is text for the tokenizer: the standard leaves it to the parser to say so (13.2.6.2). */
const TEXT_ELEMENTS = new Map<string, Tokenizer['state']>([
  ...['title', 'textarea'].map((name) => [name, TokenizerMode.RCDATA] as const),
  ...['style', 'xmp', 'iframe', 'noembed', 'noframes'].map((name) => [name, TokenizerMode.RAWTEXT] as const),
  ['script', TokenizerMode.SCRIPT_DATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
]);

const MAX_TEXT_CHARS = 200;

export function outlineHtml(html: string): HtmlOutline {
  const links: HtmlLink[] = [];
  let open: HtmlLink | null = null;
  let bodyEnd: number | null = null;
  let isCutOff = false;
  const addText = ({ chars }: Token.CharacterToken) => {
    if (open && open.text.length < MAX_TEXT_CHARS) open.text += chars.slice(0, MAX_TEXT_CHARS);
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(tag) {
        const { tagName } = tag;
        if (tagName === 'a' || tagName === 'area') {
          const link = linkOf(tag, html);
          if (link) links.push(link);
          if (tagName === 'a') open = link;
        }
        const textState = TEXT_ELEMENTS.get(tagName);
        if (textState !== undefined) tokenizer.state = textState;
      },
      onEndTag({ tagName, location }) {
        if (tagName === 'a') open = null;
        else if (tagName === 'body') bodyEnd = location!.startOffset;
      },
      onCharacter: addText,
      onWhitespaceCharacter: addText,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
      onParseError: ({ code }) => {
        if (code.startsWith('eof-in-')) isCutOff = true;
      },
    },
  );
  tokenizer.write(html, true);
  const isAtText = !isCutOff && tokenizer.state === TokenizerMode.DATA;
  return { links, pixelAt: bodyEnd ?? (isAtText ? html.length : null) };
}

/** Up to the value: name, equals sign, and the quote if there is one. */
const BEFORE_VALUE = /^[^=]*=[\t\n\f\r ]*(["']?)/;

function linkOf(tag: Token.TagToken, html: string): HtmlLink | null {
  const attribute = (name: string) => tag.attrs.find((attr) => attr.name === name)?.value ?? null;
  const href = attribute('href');
  const location = tag.location?.attrs?.href;
  if (href === null || !location) return null;
  const before = BEFORE_VALUE.exec(html.slice(location.startOffset, location.endOffset));
  if (!before) return null; // an href without a value
  const start = location.startOffset + before[0].length;
  const end = location.endOffset - before[1]!.length;
  const track = attribute('data-postrider-track');
  return { start, end, href: asBrowsersRead(href), track, rel: attribute('rel') ?? '', text: '' };
}

/** The URL standard (4.4) strips control characters and spaces from both ends, and line breaks and tabs anywhere. */
function asBrowsersRead(href: string): string {
  let start = 0;
  let end = href.length;
  // Not by a pattern: on a million spaces one for the end would take hours.
  while (start < end && href.charCodeAt(start) <= SPACE) start++;
  while (start < end && href.charCodeAt(end - 1) <= SPACE) end--;
  return href.slice(start, end).replace(/[\t\n\r]/g, '');
}

const SPACE = 0x20;

// Tells links for unsubscribing from all others: they are never rewritten, because whoever wants no
// more mail does not want to be counted either, and because scanners follow tracked links first.

/** In URLs, where they stand between punctuation or run together. */
const URL_WORDS =
  /unsubscri|opt[-_.]?out|abmeld|abbestell|desabonn|desinscri|darse[-_]?de[-_]?baja|cancelar[-_]?suscri|disiscri|afmeld|uitschrijv|wypis/i;

/** What people read on such links, in the languages that most mail is written in. */
const TEXT_WORDS =
  /unsubscribe|opt[\s-]?out|abmelden|abbestellen|abmeldung|austragen|d[ée]sabonne|d[ée]sinscri|darse de baja|cancelar (?:la )?suscripci|anular (?:la )?suscripci|cancelar (?:a )?(?:inscri|assinatura)|disiscri|annulla (?:l['’])?iscrizione|afmelden|uitschrijven|wypisz|отписаться|退订|取消订阅|配信停止|수신\s?거부/i;

interface LinkToJudge {
  href: string;
  rel: string;
  text: string;
}

/** `ownUrls` are those that the message's own List-Unsubscribe names. */
function isUnsubscribeLink({ href, rel, text }: LinkToJudge, ownUrls: ReadonlySet<string>): boolean {
  if (ownUrls.has(href) || /(?:^|\s)unsubscribe(?:\s|$)/i.test(rel)) return true;
  return URL_WORDS.test(withoutHost(href)) || TEXT_WORDS.test(text.replace(/\s+/g, ' '));
}

/** The URIs of a List-Unsubscribe header (RFC 2369 section 2). */
function listUnsubscribeUrls(headers: readonly (readonly [name: string, value: string])[]): Set<string> {
  const values = headers.flatMap(([name, value]) => (name.toLowerCase() === 'list-unsubscribe' ? [value] : []));
  return new Set(values.flatMap((value) => [...value.matchAll(/<([^<>]*)>/g)].map((match) => match[1]!.trim())));
}

/** A shop called optout.example is no reason. */
function withoutHost(href: string): string {
  return href.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
}
