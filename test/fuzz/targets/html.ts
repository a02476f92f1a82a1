// The rewriting of links in HTML: what stands outside of the links that are tracked, and of the pixel,
// is what the tenant wrote, and what a reader of HTML finds in it afterwards are the same links.

import { readClickToken, readOpenToken } from '../../../src/links/link-token.ts';
import { type HtmlLink, outlineHtml, type TrackingPlan, trackHtml } from '../../../src/links/track-html.ts';
import type { HmacKey } from '../../../src/protocol/mail/addresses/message-token.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget, seedFiles } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const LINKS_URL = 'https://links.example';
const KEY: HmacKey = { id: 'a', key: Buffer.alloc(32, 7) };
const keys = (id: string) => (id === KEY.id ? KEY.key : undefined);
const SUBJECT = { messageId: '019a9b6e-0c52-7b1f-9a41-2f6c0d7e8b11', tenantId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10' };
const PIXEL = /<img src="https:\/\/links\.example\/o\/([\w-]+)" width="1" height="1" alt="" style="[\w:;]+">/g;
const OURS = `${LINKS_URL}/c/`;

const WORDS = [
  ...[
    '<a href="https://acme.test/n">',
    "<a href='http://acme.test/n'>",
    '<a href=https://acme.test/n>',
    '<a/href=http://x/',
    '</a>',
  ],
  ...[
    '<a',
    ' href',
    '=',
    '"',
    "'",
    '`',
    '<',
    '>',
    '/>',
    '</',
    '<!--',
    '-->',
    '--!>',
    '<!',
    '<?',
    '<![CDATA[',
    ']]>',
    '<!DOCTYPE',
  ],
  ...[
    '<title>',
    '</title>',
    '<style>',
    '</style>',
    '<script>',
    '</script>',
    '<!--<script>',
    '<textarea>',
    '<plaintext>',
    '<xmp>',
  ],
  ...[
    '<svg>',
    '</svg>',
    '<math>',
    '<template>',
    '<noscript>',
    '<body>',
    '</body>',
    '</html>',
    '</body ',
    '<BODY/>',
    '<iframe>',
  ],
  ...[
    '&amp;',
    '&',
    '&#',
    '&#x0;',
    '&#xD800;',
    '&notin;',
    '&lt',
    ' data-postrider-track=off ',
    ' rel=unsubscribe ',
    'Unsubscribe',
  ],
  ...[
    '\0',
    '\r',
    '\r\n',
    '\t',
    '\f',
    '\ufeff',
    '\ud800',
    '\udc00',
    '你',
    '🚲',
    '\u00a0',
    '\u2028',
    ' href="',
    '="https://a.test/',
  ],
];
const LONG_WORDS = [
  '<a href="http://a.test">'.repeat(1200),
  '<'.repeat(30_000),
  ' '.repeat(50_000),
  '<a '.repeat(10_000),
  '&'.repeat(30_000),
];

interface HtmlInput {
  html: string;
  opens: boolean;
  clicks: boolean;
}

export const htmlTarget: FuzzTarget = {
  name: 'html',
  open() {
    const letters = seedFiles('html');
    // Their lines as well: small inputs are changed more thoroughly.
    const lines = letters.flatMap((letter) => letter.trim().split('\n'));
    const reached = { pixel: 0, link: 0, 'left as it is': 0 };
    const material: Material = { seeds: [...letters, ...lines], words: WORDS, longWords: LONG_WORDS };
    return {
      reached,
      mutate: (random: SeededRandom): HtmlInput => ({
        html: mutateText(material, random),
        opens: random.chance(0.7),
        clicks: random.chance(0.9),
      }),
      run: ({ html, opens, clicks }: HtmlInput) => {
        const plan: TrackingPlan = { subject: SUBJECT, opens, clicks, linksUrl: LINKS_URL, key: KEY, headers: [] };
        const tracked = trackHtml(html, plan);
        if (tracked === html) reached['left as it is']++;
        if (tracked.includes(OURS)) reached.link++;
        if (tracked.includes(`${LINKS_URL}/o/`)) reached.pixel++;
        return trackingProblem(html, tracked, plan);
      },
    };
  },
};

function trackingProblem(html: string, tracked: string, plan: TrackingPlan): string | null {
  if (!plan.opens && !plan.clicks) return tracked === html ? null : 'it was changed without any tracking';
  const pixels = [...tracked.matchAll(PIXEL)].length;
  if (pixels > (plan.opens ? 1 : 0)) return `${pixels} pixels`;
  const [before, after] = [outlineHtml(html), outlineHtml(tracked)];
  if (pixels === 1 && [...tracked.matchAll(PIXEL)].some(([, token]) => readOpenToken(token!, keys) === null)) {
    return 'the token of the pixel is wrong';
  }
  if (before.pixelAt !== null && plan.opens && pixels === 0) return 'the pixel is missing';
  if (pixels === 1 && html.length < SMALL_CHARACTERS && !isAtText(html, before.pixelAt!, before.links.length)) {
    return 'the pixel stands where no image shows';
  }
  if (before.links.length !== after.links.length)
    return `of ${before.links.length} links ${after.links.length} are left`;
  let restored = '';
  let done = 0;
  for (const [at, link] of after.links.entries()) {
    const source = before.links[at]!;
    const problem = linkProblem(source, link, plan);
    if (problem !== null) return problem;
    restored += tracked.slice(done, link.start) + html.slice(source.start, source.end);
    done = link.end;
  }
  restored += tracked.slice(done);
  return difference('what stands outside of the links', restored.replace(PIXEL, ''), html);
}

/** Since it costs one more reading. */
const SMALL_CHARACTERS = 500;

/** Where a tag is read as a tag. */
function isAtText(html: string, at: number, links: number): boolean {
  return outlineHtml(`${html.slice(0, at)}<a href="https://acme.test/">${html.slice(at)}`).links.length === links + 1;
}

function linkProblem(source: HtmlLink, link: HtmlLink, { clicks }: TrackingPlan): string | null {
  const changed = difference('track and rel of a link', [source.track, source.rel], [link.track, link.rel]);
  if (changed !== null || link.href === source.href) return changed;
  if (!clicks || !link.href.startsWith(OURS)) return `a link to ${source.href} became one to ${link.href}`;
  const token = readClickToken(link.href.slice(OURS.length), keys);
  return difference('where a link leads', token?.url, source.href);
}
