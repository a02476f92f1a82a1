// Inserts the pixel and our links into the HTML of one message. All other bytes stay as they are.

import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import type { HmacKey } from '../protocol/mail/addresses/message-token.ts';
import { linkUrl, makeClickToken, makeOpenToken, type TokenSubject } from './link-token.ts';

export interface TrackingPlan {
  subject: TokenSubject;
  opens: boolean;
  clicks: boolean;
  /** The origin of our links. */
  linksUrl: string;
  key: HmacKey;
  /** The message's headers: URLs in its List-Unsubscribe are not rewritten. */
  headers: readonly (readonly [name: string, value: string])[];
}

/**
 * Our link is a third longer, and some programs truncate URLs after 2,083 characters (Internet Explorer's limit): a
 * longer link is sent as it is, and works.
 */
const MAX_TARGET_BYTES = 1400;
/** Each link adds 150 bytes; a thousand are more than any reader follows. */
const MAX_TRACKED_LINKS = 1000;

export function trackHtml(html: string, plan: TrackingPlan): string {
  return fillInOutline(html, outlineHtml(html), plan);
}

/** With the outline of the HTML, which is the same for all recipients. */
export function fillInOutline(html: string, { links, pixelAt }: HtmlOutline, plan: TrackingPlan): string {
  let tracked = '';
  let done = 0;
  const insert = (start: number, end: number, text: string) => {
    tracked += html.slice(done, start) + text;
    done = end;
  };
  let pixelPending = plan.opens && pixelAt !== null;
  for (const { start, end, url } of plan.clicks ? rewrittenLinks(links, plan) : []) {
    // Browsers show even a link after the last </body>.
    if (pixelPending && pixelAt! <= start) {
      insert(pixelAt!, pixelAt!, pixel(plan));
      pixelPending = false;
    }
    insert(start, end, url);
  }
  if (pixelPending) insert(pixelAt!, pixelAt!, pixel(plan));
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
    // None of its characters is special in an attribute, with or without quotes.
    return { start, end, url: linkUrl(plan.linksUrl, 'click', token) };
  });
}

function isTrackable({ href, track }: HtmlLink, linksUrl: string): boolean {
  if (track?.trim().toLowerCase() === 'off') return false;
  // Our own links in forwarded HTML are counted for the first message.
  if (!/^https?:\/\//i.test(href) || href.startsWith(`${linksUrl}/`)) return false;
  return Buffer.byteLength(href) <= MAX_TARGET_BYTES && URL.canParse(href) && href.isWellFormed();
}

/** Without a size, some programs would not fetch it, and others would show it. */
function pixel({ linksUrl, subject, key }: TrackingPlan): string {
  const url = linkUrl(linksUrl, 'open', makeOpenToken(subject, key));
  return `<img src="${url}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;
}

// Finds the links of an HTML mail and the position for a pixel, with the tokenizer of the HTML standard (13.2.5), which
// says where each token is. Changes nothing. Left out on purpose: how mail programs interpret comments (Outlook's
// conditional ones included), forms, and links in SVG.

export interface HtmlLink {
  /** The range of the href value in the source, without its quotes. */
  start: number;
  end: number;
  /** The value, character references decoded, trimmed as browsers do. */
  href: string;
  /** The value of `data-postrider-track`, or null. */
  track: string | null;
  rel: string;
  /** The visible text of the link; only as much as is needed to recognize an unsubscribe link. */
  text: string;
}

export interface HtmlOutline {
  links: HtmlLink[];
  /**
   * Where an image shows: before the last `</body>`, otherwise at the end; null if the HTML ends inside a tag, comment
   * or the like.
   */
  pixelAt: number | null;
}

/** Elements whose content is text for the tokenizer, as the parser must tell it by the standard (13.2.6.2). */
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

/** Everything before the value: name, equals sign, and the quote if there is one. */
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
  // Not with a regular expression: on a million spaces, one for the end would take hours.
  while (start < end && href.charCodeAt(start) <= SPACE) start++;
  while (start < end && href.charCodeAt(end - 1) <= SPACE) end--;
  return href.slice(start, end).replace(/[\t\n\r]/g, '');
}

const SPACE = 0x20;

// Recognizes unsubscribe links. They are never rewritten, because these recipients do not want to be counted either,
// and because scanners follow tracked links first.

/** Words in URLs, separated by punctuation or joined. */
const URL_WORDS =
  /unsubscri|opt[-_.]?out|abmeld|abbestell|desabonn|desinscri|darse[-_]?de[-_]?baja|cancelar[-_]?suscri|disiscri|afmeld|uitschrijv|wypis/i;

/** Texts of such links, in the languages that most mail is written in. */
const TEXT_WORDS =
  /unsubscribe|opt[\s-]?out|abmelden|abbestellen|abmeldung|austragen|d[ée]sabonne|d[ée]sinscri|darse de baja|cancelar (?:la )?suscripci|anular (?:la )?suscripci|cancelar (?:a )?(?:inscri|assinatura)|disiscri|annulla (?:l['’])?iscrizione|afmelden|uitschrijven|wypisz|отписаться|退订|取消订阅|配信停止|수신\s?거부/i;

interface LinkToJudge {
  href: string;
  rel: string;
  text: string;
}

/** `ownUrls` are the URLs of the message's own List-Unsubscribe. */
function isUnsubscribeLink({ href, rel, text }: LinkToJudge, ownUrls: ReadonlySet<string>): boolean {
  if (ownUrls.has(href) || /(?:^|\s)unsubscribe(?:\s|$)/i.test(rel)) return true;
  return URL_WORDS.test(withoutHost(href)) || TEXT_WORDS.test(text.replace(/\s+/g, ' '));
}

/** The URIs of a List-Unsubscribe header (RFC 2369 section 2). */
function listUnsubscribeUrls(headers: readonly (readonly [name: string, value: string])[]): Set<string> {
  const values = headers.flatMap(([name, value]) => (name.toLowerCase() === 'list-unsubscribe' ? [value] : []));
  return new Set(values.flatMap((value) => [...value.matchAll(/<([^<>]*)>/g)].map((match) => match[1]!.trim())));
}

/** Without the host, since a shop may be called optout.example. */
function withoutHost(href: string): string {
  return href.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
}
