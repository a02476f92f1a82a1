// Markdown to HTML, for the pages of our own documentation: headings with anchors, paragraphs, lists, fenced
// code, tables, code spans, links, emphasis. Everything else is shown as text: markup of HTML above all.
// Comments are left out. Left out on purpose: quotes, images, setext headings, reference links.
import { type Html, html } from '../http/html.ts';

export interface Heading {
  level: number;
  /** Unique on the page, made as GitHub makes it, so that one link works in both places. */
  anchor: string;
  content: Html;
}

export interface RenderedPage {
  title: string;
  headings: Heading[];
  body: Html;
}

/** Where a link leads on the site; null when that is nowhere: then its text alone is shown. */
export type LinkTarget = (written: string) => string | null;

export function renderMarkdown(source: string, linkTarget: LinkTarget): RenderedPage {
  const lines = source.replace(/\r\n?/g, '\n').split('\n');
  const renderer = new Renderer(linkTarget);
  const body = renderer.blocks(lines);
  const title = renderer.headings[0]?.content.text.replace(/<[^>]*>/g, '') ?? '';
  return { title, headings: renderer.headings, body };
}

const FENCE = /^(`{3,})([^`]*)$/;
const HEADING = /^(#{1,6}) +(.+?)(?: +#+)?$/;
const ITEM = /^(?:[-*+]|(\d{1,9})[.)]) +/;
const DIVIDER = /^\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?\|?$/;

/** A code span, a link, **strong**, *emphasis*. The label of a link may hold code. */
const INLINE =
  /(`+)(.+?)(?<!`)\1(?!`)|\[((?:`[^`]*`|[^[\]`])*)\]\(([^()\s]+)\)|\*\*(\S(?:.*?\S)?)\*\*|(?<![\w*])\*([^\s*](?:[^*]*[^\s*])?)\*(?![\w*])/gs;

class Renderer {
  readonly headings: Heading[] = [];
  readonly #linkTarget: LinkTarget;
  readonly #anchors = new Map<string, number>();

  constructor(linkTarget: LinkTarget) {
    this.#linkTarget = linkTarget;
  }

  blocks(lines: readonly string[]): Html {
    const blocks: Html[] = [];
    for (let at = 0; at < lines.length; ) {
      const block = this.#blockAt(lines, at);
      if (block.content) blocks.push(block.content);
      at = block.end;
    }
    return html`${blocks.map((block) => html`${block}\n`)}`;
  }

  #blockAt(lines: readonly string[], at: number): { content: Html | null; end: number } {
    const line = lines[at]!;
    if (line.trim() === '') return { content: null, end: at + 1 };
    if (line.startsWith('<!--')) return { content: null, end: endOf(lines, at, (text) => text.includes('-->')) };
    const fence = FENCE.exec(line);
    if (fence) return codeBlock(lines, at, fence[1]!);
    const heading = HEADING.exec(line);
    if (heading) return { content: this.#heading(heading[1]!.length, heading[2]!), end: at + 1 };
    if (line.startsWith('|') && DIVIDER.test(lines[at + 1] ?? '')) return this.#table(lines, at);
    if (ITEM.test(line)) return this.#list(lines, at);
    let end = at + 1;
    while (end < lines.length && !beginsBlock(lines, end)) end++;
    return { content: html`<p>${this.#inline(joined(lines.slice(at, end)))}</p>`, end };
  }

  #heading(level: number, text: string): Html {
    const content = this.#inline(text);
    const anchor = this.#anchorOf(text);
    this.headings.push({ level, anchor, content });
    return html`<h${level} id="${anchor}">${content}</h${level}>`;
  }

  #anchorOf(text: string): string {
    const plain = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const name = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    const earlier = this.#anchors.get(name) ?? 0;
    this.#anchors.set(name, earlier + 1);
    return earlier === 0 ? name : `${name}-${earlier}`;
  }

  #table(lines: readonly string[], at: number): { content: Html; end: number } {
    const end = endOf(lines, at + 2, (_, next) => !next?.startsWith('|'));
    const heads = cellsOf(lines[at]!);
    const rows = lines.slice(at + 2, end).filter((line) => line.startsWith('|'));
    const head = html`<tr>${heads.map((cell) => (cell === '' ? html`<td></td>` : html`<th scope="col">${this.#inline(cell)}</th>`))}</tr>`;
    const body = rows.map((row) => {
      const cells = cellsOf(row).slice(0, heads.length);
      return html`<tr>${cells.map((cell) => html`<td>${this.#inline(cell)}</td>`)}</tr>\n`;
    });
    // Wide ones scroll by themselves; whoever has no mouse must reach them by the keyboard.
    const content = html`<div class="table" tabindex="0"><table>
<thead>${heads.some((cell) => cell !== '') && head}</thead>
<tbody>
${body}</tbody>
</table></div>`;
    return { content, end };
  }

  #list(lines: readonly string[], at: number): { content: Html; end: number } {
    const number = ITEM.exec(lines[at]!)![1];
    const items: string[][] = [];
    let end = at;
    for (; end < lines.length; end++) {
      const line = lines[end]!;
      const item = ITEM.exec(line);
      if (item && (item[1] === undefined) === (number === undefined)) items.push([line.slice(item[0].length)]);
      else if (line.trim() === '' && !/^ {2,}\S/.test(lines[end + 1] ?? '')) break;
      else if (line.trim() !== '' && !line.startsWith('  ') && beginsBlock(lines, end)) break;
      else items.at(-1)!.push(line.replace(/^ {1,3}/, ''));
    }
    const content = items.map((item) => html`<li>${this.#item(item)}</li>\n`);
    if (number === undefined) return { content: html`<ul>\n${content}</ul>`, end };
    return { content: html`<ol start="${number}">\n${content}</ol>`, end };
  }

  /** A single paragraph is shown without one: a list of short items stays close together. */
  #item(lines: readonly string[]): Html {
    const simple = !lines.some((line, at) => at > 0 && (line.trim() === '' || beginsBlock(lines, at)));
    return simple ? this.#inline(joined(lines)) : this.blocks(lines);
  }

  #inline(text: string): Html {
    const parts: Html[] = [];
    let end = 0;
    for (const found of text.matchAll(INLINE)) {
      parts.push(plain(text.slice(end, found.index)), this.#marked(found));
      end = found.index + found[0].length;
    }
    return html`${[...parts, plain(text.slice(end))]}`;
  }

  #marked([, , code, label, target, strong, emphasis]: RegExpExecArray): Html {
    if (code !== undefined) return html`<code>${code.replace(/^ (.+) $/, '$1')}</code>`;
    if (strong !== undefined) return html`<strong>${this.#inline(strong)}</strong>`;
    if (emphasis !== undefined) return html`<em>${this.#inline(emphasis)}</em>`;
    const content = this.#inline(label ?? '');
    const href = this.#linkTarget(target ?? '');
    return href === null ? content : html`<a href="${href}">${content}</a>`;
  }
}

function plain(text: string): Html {
  return html`${text.replace(/\\([\\`*_[\]|#-])/g, '$1')}`;
}

function codeBlock(lines: readonly string[], at: number, fence: string): { content: Html; end: number } {
  const end = endOf(lines, at + 1, (text) => text.trimEnd() === fence);
  const code = lines.slice(at + 1, lines[end - 1]?.trimEnd() === fence ? end - 1 : end).join('\n');
  return { content: html`<pre tabindex="0"><code>${code}</code></pre>`, end };
}

/** The first line behind the one that ends a block; `at` may be that one. */
function endOf(
  lines: readonly string[],
  at: number,
  ends: (line: string, next: string | undefined) => boolean,
): number {
  let end = at;
  while (end < lines.length && !ends(lines[end]!, lines[end + 1])) end++;
  return Math.min(end + 1, lines.length);
}

/** Whether a paragraph ends before this line. */
function beginsBlock(lines: readonly string[], at: number): boolean {
  const line = lines[at]!;
  if (line.trim() === '' || FENCE.test(line) || HEADING.test(line) || line.startsWith('<!--')) return true;
  return /^[-*+] +/.test(line) || (line.startsWith('|') && DIVIDER.test(lines[at + 1] ?? ''));
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => line.trim()).join('\n');
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
