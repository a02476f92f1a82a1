// The template of the portal's pages: whatever is put in stands in the page as text or as the value of an attribute,
// and becomes no markup. Judged by parse5, which reads as browsers do.
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { type HtmlPart, html } from '../../../src/http/html.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { difference, type FuzzTarget } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

type Node = DefaultTreeAdapterMap['node'];

const WORDS = [
  ...[
    '<',
    '>',
    '"',
    "'",
    '&',
    '`',
    '=',
    '/',
    '</',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?',
    '&lt;',
    '&#60;',
    '&quot',
    '&amp;lt;',
  ],
  ...[
    '<script>',
    '</title>',
    '</textarea>',
    '</p>',
    '<svg onload=x>',
    '" onx="',
    "' onx='",
    ' onx=1 ',
    'javascript:',
    '{{',
    '${',
  ],
  ...['\n', '\r', '\r\n', '\0', '\t', '\f', '\ud800', '\udc00', '\u2028', '\ufeff', '\u00a0', '🎉', '\ufffd', '\x1b'],
];
const LONG_WORDS = ['&'.repeat(2_000), '<'.repeat(2_000), '"'.repeat(2_000)];
const SEEDS = ['Acme & Sons', '<xss-probe>', `" onxss="1' onxss='1>`, 'plain', '', '&lt;b&gt;'];
const SKELETON = 'html head title body p p b a textarea';

export const markupTarget: FuzzTarget = {
  name: 'markup',
  open() {
    const material: Material = { seeds: SEEDS, words: WORDS, longWords: LONG_WORDS };
    const reached = { escaped: 0, plain: 0 };
    return {
      mutate: (random: SeededRandom) => mutateText(material, random),
      reached,
      run(text: string) {
        const page = pageWith(text).text;
        reached[/[<>"'&]/.test(text) ? 'escaped' : 'plain']++;
        const elements = [...elementsOf(parse(page))];
        const names = elements.map(({ tagName }) => tagName).join(' ');
        return difference('the elements of the page', names, SKELETON) ?? valueProblem(elements, text);
      },
    };
  },
} as FuzzTarget;

function pageWith(text: string) {
  const parts: HtmlPart[] = [text, [text, html`<b>${text}</b>`, null, false], undefined];
  return html`<!doctype html><html><head><title>t${text}</title></head><body><p class="${text}">${text}</p><p>${parts}</p><a href="/x?y=${text}" title="${text}">${text}</a><textarea>\n${text}</textarea></body></html>`;
}

type Element = DefaultTreeAdapterMap['element'];

function valueProblem(elements: readonly Element[], text: string): string | null {
  const named = (name: string) => elements.filter(({ tagName }) => tagName === name);
  const [first, second] = named('p');
  const attribute = (element: Element | undefined, name: string) =>
    element?.attrs.find((one) => one.name === name)?.value;
  const anchor = named('a')[0];
  const inText = readAs(text, '');
  const inValue = readAs(text, '\ufffd');
  return (
    difference('a text', textOf(first!), inText) ??
    difference('parts', textOf(second!), readAs(text + text, '') + readAs(text, '')) ??
    difference('a value', attribute(first, 'class'), inValue) ??
    difference('a title', attribute(anchor, 'title'), inValue) ??
    difference('an address', attribute(anchor, 'href'), `/x?y=${inValue}`) ??
    difference('the title of the page', textOf(named('title')[0]!), `t${inValue}`) ??
    difference('a field', textOf(named('textarea')[0]!), inValue)
  );
}

/** What HTML makes of any text, escaped or not: one kind of line end, and no NUL. */
function readAs(text: string, nul: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\0', nul);
}

function* elementsOf(node: Node): Generator<Element> {
  if ('tagName' in node) yield node;
  if ('childNodes' in node) for (const child of node.childNodes) yield* elementsOf(child);
}

function textOf(node: Node): string {
  if (node.nodeName === '#text') return (node as DefaultTreeAdapterMap['textNode']).value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}
