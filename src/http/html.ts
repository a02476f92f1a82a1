// HTML as a tagged template in which every inserted value is escaped, for text and for quoted attributes alike. Markup
// is a type of its own, so that it cannot be confused with text. Not supported: unquoted attributes, script and style
// elements.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** Null, undefined and false insert nothing, so that `condition && html…` can be written. */
export type HtmlPart = string | number | Html | null | undefined | false | readonly HtmlPart[];

export function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  let text = strings[0]!;
  for (const [at, part] of parts.entries()) text += markupOf(part) + strings[at + 1]!;
  return new Html(text);
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ESCAPES[char]!);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function markupOf(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(markupOf).join('');
  return escapeHtml(String(part));
}
