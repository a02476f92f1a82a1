// The parts that pages are made of, each in one place, so that pages look and behave alike: fields,
// buttons, badges, times, things to copy, questions before what cannot be undone, tables, pages of lists.
import { type Html, type HtmlPart, html } from '../http/html.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'busy';

/** A state in one word; the tone only repeats what the word says. */
export function badge(text: string, tone: Tone = 'quiet'): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** Shown in the reader's own time zone where there is script, in UTC where there is none. */
export function time(at: number | null, never = 'never'): Html {
  if (at === null) return html`<span class="quiet">${never}</span>`;
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Text that people take elsewhere; the button needs script, selecting by hand does not. */
export function copyable(text: string, label: string): Html {
  return html`<span class="copyable"><code>${text}</code><button type="button" class="copy" data-copy="${text}" aria-label="Copy ${label}">Copy</button></span>`;
}

/** The same for what has several lines. */
export function copyableBlock(text: string, label: string): Html {
  return html`<div class="copyable block"><pre tabindex="0"><code>${text}</code></pre><button type="button" class="copy" data-copy="${text}" aria-label="Copy ${label}">Copy</button></div>`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

export interface FieldOptions {
  name: string;
  label: string;
  value?: string;
  type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'datetime-local' | 'number';
  hint?: HtmlPart;
  /** What is wrong with what was sent. */
  problem?: string | null;
  required?: boolean;
  maxLength?: number;
  /** Makes it a field of so many lines. */
  rows?: number;
  autocomplete?: string;
  placeholder?: string;
}

export function field(options: FieldOptions): Html {
  const { name, label, value = '', type = 'text', hint, problem, rows } = options;
  const id = `field-${name}`;
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  const attributes = html` id="${id}" name="${name}"${options.required && html` required`}${
    options.maxLength !== undefined && html` maxlength="${options.maxLength}"`
  }${options.autocomplete && html` autocomplete="${options.autocomplete}"`}${
    options.placeholder && html` placeholder="${options.placeholder}"`
  }${described && html` aria-describedby="${described}"`}${problem && html` aria-invalid="true"`}`;
  const input =
    rows === undefined
      ? html`<input type="${type}" value="${value}"${attributes}>`
      : html`<textarea rows="${rows}"${attributes}>\n${value}</textarea>`;
  return html`<div class="field"><label for="${id}">${label}</label>${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}${input}${
    problem && html`<p class="problem" id="${id}-problem">${problem}</p>`
  }</div>`;
}

export interface Choice {
  value: string;
  label: string;
}

export function select(
  { name, label, hint }: { name: string; label: string; hint?: HtmlPart },
  choices: readonly Choice[],
  chosen: string,
): Html {
  const id = `field-${name}`;
  const options = choices.map(
    ({ value, label: text }) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  );
  return html`<div class="field"><label for="${id}">${label}</label>${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}<select id="${id}" name="${name}"${hint && html` aria-describedby="${id}-hint"`}>${options}</select></div>`;
}

export function checkbox(options: {
  name: string;
  value?: string;
  label: string;
  hint?: HtmlPart;
  checked?: boolean;
}): Html {
  const { name, value = 'on', label, hint, checked } = options;
  const id = `field-${name}-${value}`;
  return html`<div class="check"><input type="checkbox" id="${id}" name="${name}" value="${value}"${checked && html` checked`}${hint && html` aria-describedby="${id}-hint"`}><label for="${id}">${label}</label>${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}</div>`;
}

/** What is wrong as a whole, above a form that is shown again. */
export function problemBox(message: string | null): Html | null {
  return message === null ? null : html`<p class="notice bad" role="alert">${message}</p>`;
}

/** Opens to a question with the button that does it, one at a time: works without script, and nothing happens by one slip. */
export function confirmed(options: {
  label: string;
  question: HtmlPart;
  action: string;
  formField: Html;
  button: string;
  /** Hidden fields, or fields to fill in. */
  fields?: HtmlPart;
  /** `danger` when not given: most of what is asked about takes something away. */
  tone?: 'danger' | 'primary' | 'neutral';
}): Html {
  const { label, question, action, formField, button, fields, tone = 'danger' } = options;
  return html`<details class="confirm" name="question"><summary class="button ${tone}">${label}</summary><form method="post" action="${action}" class="card"><p>${question}</p>${formField}${fields}<button class="${tone === 'neutral' ? 'primary' : tone}">${button}</button></form></details>`;
}

/** Name and value, one beside the other. */
export function facts(pairs: readonly (readonly [string, HtmlPart])[]): Html {
  return html`<dl class="facts">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/**
 * Scrolls by itself where it is too wide; on a phone each row becomes a list. The roles say that it is a table
 * there, too. The caption is read out, and seen when `showCaption` is set.
 */
export function table(
  { caption, heads, showCaption = false }: { caption: string; heads: readonly string[]; showCaption?: boolean },
  rows: readonly (readonly HtmlPart[])[],
): Html {
  const headCells = heads.map((head) => html`<th scope="col" role="columnheader">${head}</th>`);
  // The cell's content is one element, so that it stands beside its head as one.
  const cellOf = (cell: HtmlPart, at: number) =>
    html`<td role="cell" data-label="${heads[at]}"><div>${cell}</div></td>`;
  const rowOf = (cells: readonly HtmlPart[]) => html`<tr role="row">${cells.map(cellOf)}</tr>`;
  return html`<div class="scroll stacks" role="region" aria-label="${caption}" tabindex="0"><table role="table"><caption${!showCaption && html` class="unseen"`}>${caption}</caption><thead role="rowgroup"><tr role="row">${headCells}</tr></thead><tbody role="rowgroup">${rows.map(rowOf)}</tbody></table></div>`;
}

/** In place of an empty list: why it is empty, and what to do next. */
export function emptyState(title: string, next: HtmlPart): Html {
  return html`<div class="empty card"><p><strong>${title}</strong></p><p>${next}</p></div>`;
}

export function heading(title: string, beside: HtmlPart = null): Html {
  return html`<div class="heading"><h1>${title}</h1>${beside && html`<div class="beside">${beside}</div>`}</div>`;
}

/** From one page of a list to the next: keyset, so there are no numbers. */
export function pager({ first, next }: { first: string | null; next: string | null }): Html | null {
  if (first === null && next === null) return null;
  return html`<nav class="pager" aria-label="Pages">${first !== null && html`<a href="${first}">Newest</a>`}${next !== null && html`<a href="${next}" rel="next">Older</a>`}</nav>`;
}
