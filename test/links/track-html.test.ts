// HTML with our links and pixel: which links are rewritten, and that nothing else moves. The judge of
// what is a link is the parser of parse5, not the tokenizer that the product uses.
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import t from 'tap';
import { readClickToken, readOpenToken } from '../../src/links/link-token.ts';
import { type TrackingPlan, trackHtml } from '../../src/links/track-html.ts';
import { SeededRandom } from '../fuzz/seeded-random.ts';
import { ProcessorTime } from '../support/patience.ts';

const KEY = Buffer.alloc(32, 7);
const keys = () => KEY;
const LINKS_URL = 'https://links.example';

const PLAN: TrackingPlan = {
  subject: { messageId: '019a9b6e-0c52-7b1f-9a41-2f6c0d7e8b11', tenantId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10' },
  opens: false,
  clicks: true,
  linksUrl: LINKS_URL,
  key: { id: 'a', key: KEY },
  headers: [],
};

const TRACKED = /https:\/\/links\.example\/c\/([\w-]+)/g;
const PIXEL = /<img src="https:\/\/links\.example\/o\/([\w-]+)"[^>]*>/g;

/** The HTML with `[0]`, `[1]` … for our links and `[dot]` for the pixel. */
function marked(html: string, plan: Partial<TrackingPlan> = {}): string {
  return trackHtml(html, { ...PLAN, ...plan })
    .replace(PIXEL, '[dot]')
    .replace(TRACKED, (_, token) => `[${readClickToken(token, keys)!.linkIndex}]`);
}

function targets(html: string): string[] {
  return [...trackHtml(html, PLAN).matchAll(TRACKED)].map(([, token]) => readClickToken(token!, keys)!.url);
}

t.test('links that are rewritten', async (t) => {
  const cases: [html: string, marked: string][] = [
    ['<a href="http://x.example/">x</a>', '<a href="[0]">x</a>'],
    ["<A\n HREF = 'HTTPS://x.example/?a=1&amp;b=2' >x</A>", "<A\n HREF = '[0]' >x</A>"],
    ['<a class=big href=http://x.example/a/b>x</a>', '<a class=big href=[0]>x</a>'],
    ['<a href="https://x.example/" href="https://y.example/">x</a>', '<a href="[0]" href="https://y.example/">x</a>'],
    ['<map><area href="https://x.example/"></map>', '<map><area href="[0]"></map>'],
    ['<a href=" https://x.example/\n">x</a>', '<a href="[0]">x</a>'],
    ['<a href="https://x.example/">1</a><a href="https://x.example/">2</a>', '<a href="[0]">1</a><a href="[1]">2</a>'],
    ['<p><a title="a > b" href="https://x.example/">x', '<p><a title="a > b" href="[0]">x'],
    [
      '<!-- <a href="https://n.example/"> --><a href="https://x.example/">',
      '<!-- <a href="https://n.example/"> --><a href="[0]">',
    ],
    [
      '<a href="https://x.example/">ä🙂\r\n</a>\r\n<a href="https://y.example/">',
      '<a href="[0]">ä🙂\r\n</a>\r\n<a href="[1]">',
    ],
    ['<a data-postrider-track="on" href="https://x.example/">', '<a data-postrider-track="on" href="[0]">'],
    ['<a href="https://optout.example/shop">shop</a>', '<a href="[0]">shop</a>'],
  ];
  for (const [html, expected] of cases) t.equal(marked(html), expected, html);
});

t.test('links that stay', async (t) => {
  const cases = [
    '<a href="mailto:jo@x.example">',
    '<a href="tel:+123">',
    '<a href="#top">',
    '<a href="/path">',
    '<a href="//x.example/">',
    '<a href="javascript:alert(1)">',
    '<a href="">',
    '<a href>',
    '<a href="http://">',
    '<a href="https://[bad/">',
    '<a name="http://x.example/">',
    '<img src="https://x.example/a.png">',
    '<link href="https://x.example/a.css">',
    '<form action="https://x.example/"></form>',
    '<a href="https://x.example/" data-postrider-track="off">',
    "<a data-postrider-track=' OFF ' href='https://x.example/'>",
    '<a href="https://x.example/Unsubscribe?u=1">',
    '<a href="https://x.example/?action=opt-out">',
    '<a href="https://x.example/l" rel="nofollow unsubscribe">',
    '<a href="https://x.example/l">click <b>here</b> to\n unsubscribe</a>',
    '<a href="https://x.example/l">Newsletter abbestellen</a>',
    '<a href="https://x.example/l">Se d&eacute;sabonner</a>',
    `<a href="${LINKS_URL}/c/whatever">`,
    '<script>document.write("<a href=\'https://x.example/\'>")</script>',
    '<style>a[href="https://x.example/"] { } <a href="https://x.example/"></style>',
    '<title><a href="https://x.example/"></title>',
    '<textarea><a href="https://x.example/"></textarea>',
    '<![CDATA[<a href="https://x.example/"',
    '<p title=\'<a href="https://x.example/">\'>',
    '<a href="https://x.example/',
    `<a href="https://x.example/${'x'.repeat(2000)}">`,
  ];
  for (const html of cases) t.equal(trackHtml(html, PLAN), html, html.slice(0, 80));
  const own = [['list-UNSUBSCRIBE', '<mailto:u@x.example>, <https://x.example/l?a=1&b=2>']] as const;
  const html = '<a href="https://x.example/l?a=1&amp;b=2">Enough</a><a href="https://x.example/l">Shop</a>';
  t.equal(marked(html, { headers: own }), html.replace('https://x.example/l"', '[0]"'), 'its own List-Unsubscribe');
});

t.test('where a link leads is what a browser would have read', async (t) => {
  t.strictSame(targets('<a href="https://x.example/?a=1&amp;b=2&copy=3&#x26;c=%20">'), [
    'https://x.example/?a=1&b=2&copy=3&c=%20',
  ]);
  t.strictSame(targets('<a href="\t https://x.exam\nple/ä "><a href=https://y.example/?q=a&b>'), [
    'https://x.example/ä',
    'https://y.example/?q=a&b',
  ]);
});

t.test('at most a thousand links', async (t) => {
  const html = '<a href="https://x.example/">'.repeat(1002);
  t.equal(targets(html).length, 1000);
  t.ok(trackHtml(html, PLAN).endsWith('<a href="https://x.example/">'.repeat(2)));
});

t.test('where the pixel stands', async (t) => {
  const opens = { opens: true, clicks: false };
  const cases: [html: string, marked: string][] = [
    ['<html><body><p>Hi</p></body></html>\n', '<html><body><p>Hi</p>[dot]</body></html>\n'],
    ['<p>Hi', '<p>Hi[dot]'],
    ['Hi </BODY >', 'Hi [dot]</BODY >'],
    ['a</body>b</body>c', 'a</body>b[dot]</body>c'],
    ['<!-- </body> --><p>Hi', '<!-- </body> --><p>Hi[dot]'],
    ['<script>"</body>"</script>x', '<script>"</body>"</script>x[dot]'],
  ];
  for (const [html, expected] of cases) t.equal(marked(html, opens), expected, html);
  for (const cut of ['<p>Hi <a href="x', '<p>Hi <!-- open', '<style>p {', '<textarea>x', '<p', '<script>']) {
    t.equal(marked(cut, opens), cut, `nothing would show it: ${cut}`);
  }
  const [, token] = [...trackHtml('x', { ...PLAN, ...opens }).matchAll(PIXEL)][0]!;
  t.strictSame(readOpenToken(token!, keys), PLAN.subject);
  t.equal(marked('<a href="https://x.example/">x</a></body>', { opens: true }), '<a href="[0]">x</a>[dot]</body>');
  t.equal(
    marked('</body><a href="https://x.example/">', { opens: true }),
    '[dot]</body><a href="[0]">',
    'a link behind it',
  );
});

const PIECES = [
  '<a href="https://x.example/?a=1&amp;b=%C3%A4">',
  '<a href=\'http://y.example/\' title="<b>">',
  '<a href=https://z.example/p>',
  '<A HREF="mailto:a@x.example">',
  '<a data-postrider-track="off" href="https://off.example/">',
  '<a href="https://x.example/unsubscribe">',
  '</a>',
  '<p>',
  '</p>',
  '<b',
  '>',
  '"',
  "'",
  '<',
  '&',
  '&lt;',
  '=',
  'href=',
  '<br/>',
  '<!--',
  '-->',
  '<!-- x -->',
  '<div class="a">',
  '</div>',
  '<table><tr><td>',
  '</table>',
  '\r\n',
  '\n',
  '\r',
  '\t',
  'ä',
  '🙂',
  '\ud800',
  '\0',
  'text',
  '<body>',
  '</body>',
  '</html>',
  '<style>',
  '</style>',
  '<title>',
  '</title>',
  '<script>',
  '</script>',
  '<textarea>',
  '</textarea>',
  '<![CDATA[',
  ']]>',
  '<?x',
  '<!doctype html>',
];

t.test('of anything, nothing but the links changes', async (t) => {
  const random = new SeededRandom(20261122);
  let rewritten = 0;
  for (let round = 0; round < 3000; round++) {
    const html = random.times(1 + random.below(25), () => random.pick(PIECES)).join('');
    const tracked = trackHtml(html, { ...PLAN, opens: true });
    const before = linksOf(html);
    const after = linksOf(tracked.replace(PIXEL, ''));
    const restored = after.map((href) =>
      href.replace(/^https:\/\/links\.example\/c\/([\w-]+)$/, (_, token) => readClickToken(token, keys)!.url),
    );
    const trimmed = before.map((href) => href.trim());
    if (JSON.stringify(restored.map((href) => href.trim())) !== JSON.stringify(trimmed)) {
      t.strictSame(restored, before, JSON.stringify(html));
    }
    const parts = tracked.replace(PIXEL, '\u0001').split(/https:\/\/links\.example\/c\/[\w-]+|\u0001/);
    let at = 0;
    for (const part of parts) {
      const found = html.indexOf(part, at);
      if (found < 0) t.fail(`bytes changed in ${JSON.stringify(html)}`);
      at = found + part.length;
    }
    if (at !== html.length) t.fail(`the end is missing of ${JSON.stringify(html)}`);
    rewritten += [...tracked.matchAll(TRACKED)].length;
  }
  t.ok(rewritten > 1000, `${rewritten} links were rewritten`);
});

function linksOf(html: string): string[] {
  const found: string[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node) => {
    if ('tagName' in node && node.tagName === 'a') {
      const href = node.attrs.find(({ name }) => name === 'href');
      if (href) found.push(href.value);
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return found;
}

t.test('a large mail takes no time worth mentioning', async (t) => {
  const html = `<body>${'<tr><td style="padding:0"><a href="https://x.example/p?id=1&amp;x=2">A link</a> text &nbsp;</td></tr>'.repeat(900)}</body>`;
  const time = new ProcessorTime();
  trackHtml(html, { ...PLAN, opens: true });
  t.ok(time.usedMs < 1000, `${html.length} characters in ${time.usedMs} ms of processor time`);
});
