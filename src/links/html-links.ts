// Finds the links of an HTML mail and the place for a pixel, by the tokenizer of the HTML standard
// (13.2.5), which says where each token stands. Changes nothing. Left out on purpose: what mail
// programs make of comments (conditional ones of Outlook included), forms, and links in SVG.
import { type Token, Tokenizer, TokenizerMode } from 'parse5';

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
