// What is wrong with a template or its sample data, with its place: found for JSON, taken from the renderer for
// Liquid, and shown as the lines around it with the place marked.
import { scanJson } from '../../base/text/json-scan.ts';
import { type Html, html } from '../../http/html.ts';
import type { Flaw, TemplatePosition } from '../../templates/render-job.ts';

export interface Fault {
  part: 'subject' | 'html' | 'text' | 'data';
  /** A sentence without its full stop. */
  problem: string;
  place: TemplatePosition | null;
}

export function faultOf({ part, problem, position }: Flaw): Fault {
  return { part, problem, place: position };
}

/** Of sample data: an object is needed. Null: it is one. */
export function dataFault(json: string): Fault | null {
  if (json.trim() === '') return null;
  const scan = scanJson(json, []);
  if (scan.kind === 'invalid')
    return { part: 'data', problem: jsonProblem(json, scan.at), place: placeAt(json, scan.at) };
  const isObject = json.trimStart().startsWith('{');
  return isObject ? null : { part: 'data', problem: 'must be a JSON object: { … }', place: placeAt(json, 0) };
}

function jsonProblem(json: string, at: number): string {
  const char = String.fromCodePoint(json.codePointAt(at) ?? 0);
  return at >= json.length
    ? 'is incomplete: the JSON ends too early'
    : `is not valid JSON: ${quoted(char)} is unexpected here`;
}

function quoted(char: string): string {
  return char === '\n' ? 'the end of the line' : `“${char}”`;
}

/** Counted from 1, columns in UTF-16 units. */
export function placeAt(text: string, at: number): TemplatePosition {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return { line, column: at - (before.lastIndexOf('\n') + 1) + 1 };
}

export function wherePlace({ part, place }: Pick<Fault, 'part' | 'place'>): string {
  const name = { subject: 'Subject', html: 'HTML', text: 'Text', data: 'Sample data' }[part];
  return place === null ? name : `${name}, line ${place.line}, column ${place.column}`;
}

/** Lines may be of any length: minified HTML is one. */
const CHARS_BEFORE = 60;
const CHARS_AFTER = 60;
const LINES_BESIDE = 2;

export function faultView(fault: Fault, source: string): Html {
  const { problem, place } = fault;
  return html`<div class="fault"><p role="alert"><strong>${wherePlace(fault)}:</strong> ${problem}.</p>${place && excerpt(source, place)}</div>`;
}

function excerpt(source: string, { line, column }: TemplatePosition): Html {
  const lines = source.split('\n');
  const from = Math.max(1, line - LINES_BESIDE);
  const shown = lines.slice(from - 1, line + LINES_BESIDE);
  const rows = shown.map((text, at) => {
    const number = from + at;
    const isFaulty = number === line;
    const content = isFaulty ? marked(text, column - 1) : cut(text, 0);
    return html`<span class="row${isFaulty && ' faulty'}"><span class="line-number">${number}</span>${content}\n</span>`;
  });
  return html`<pre class="excerpt" tabindex="0">${rows}</pre>`;
}

/** A place at the end of a line is marked by a space of its own. */
function marked(text: string, at: number): Html {
  const from = Math.max(0, at - CHARS_BEFORE);
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  const after = at + char.length;
  return html`${from > 0 && '…'}${text.slice(from, at)}<mark>${char}</mark>${cut(text.slice(after), 0)}`;
}

function cut(text: string, from: number): string {
  const end = from + CHARS_BEFORE + CHARS_AFTER;
  return text.length > end ? `${text.slice(from, end)}…` : text.slice(from);
}
