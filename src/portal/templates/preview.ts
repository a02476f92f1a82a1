// A preview: what a template becomes with sample data, or everything that keeps it from becoming anything.
import { type Html, html } from '../../http/html.ts';
import type { MissingVariables } from '../../templates/missing-variables.ts';
import type { Templates } from '../../templates/templates.ts';
import { MEASURED_SANDBOX, measuredFrame } from '../quiet-markup.ts';
import { dataFault, type Fault, faultOf, faultView } from './faults.ts';
import type { TemplateFields } from './template-fields.ts';

export type Preview =
  | {
      kind: 'rendered';
      html: string | null;
      text: string | null;
      subject?: string | null;
      missing?: MissingVariables;
    }
  | { kind: 'faulty'; faults: Fault[] }
  | { kind: 'refused'; reason: string };

/** It is looked through on the thread that serves everybody: some milliseconds. */
const MOST_DATA_CHARS = 256 * 1024;

export async function makePreview(
  templates: Pick<Templates, 'preview'>,
  tenantId: string,
  fields: Pick<TemplateFields, 'html' | 'text' | 'data'> & Partial<Pick<TemplateFields, 'subject'>>,
): Promise<Preview> {
  const source = { html: fields.html || null, text: fields.text || null, subject: fields.subject || null };
  if (source.html === null && source.text === null) {
    return { kind: 'refused', reason: 'Nothing to preview yet. Enter HTML, text or both.' };
  }
  if (fields.data.length > MOST_DATA_CHARS) {
    const limit = `${MOST_DATA_CHARS / 1024} KiB`;
    return {
      kind: 'refused',
      reason: `The sample data is longer than ${limit}. A preview needs no more than a few lines.`,
    };
  }
  const data = dataFault(fields.data);
  // With unusable data the syntax is looked at all the same, so that all that is wrong is seen at once.
  const outcome = await templates.preview(tenantId, source, data === null ? fields.data.trim() || '{}' : null);
  const faults = data === null ? [] : [data];
  if (outcome.kind === 'flawed') faults.push(faultOf(outcome.flaw));
  if (faults.length > 0) return { kind: 'faulty', faults };
  if (outcome.kind === 'rendered') return outcome;
  return { kind: 'refused', reason: 'Too many templates are waiting to be rendered. Try again in a moment.' };
}

/** Pictures of the author's own may be loaded; nothing runs, nothing is sent, and nobody else may frame it. */
const FRAME_POLICY = [
  ...[`sandbox ${MEASURED_SANDBOX}`, "default-src 'none'", 'img-src https: data:', 'font-src https: data:'],
  ...["style-src 'unsafe-inline' https:", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'self'"],
].join('; ');

export const FRAME_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': FRAME_POLICY,
  'Referrer-Policy': 'no-referrer',
};

/** The parts have ids, because the script exchanges them one by one: the frame stays where it is. */
export function previewView(preview: Preview | null, frame: string | null, fields: TemplateFields): Html {
  return html`<section id="preview" aria-labelledby="preview-title">
<h2 id="preview-title">Preview</h2>
<div id="preview-problems" aria-live="polite">${preview && problemsOf(preview, fields)}</div>
<div id="preview-subject">${preview?.kind === 'rendered' && preview.subject && html`<h3>Subject</h3><p><strong>${preview.subject}</strong></p>`}</div>
<div id="preview-html">${frame !== null && measuredFrame('The HTML part', frame)}</div>
<div id="preview-text">${preview?.kind === 'rendered' && preview.text !== null && html`<h3>Text part</h3><pre class="wrap" tabindex="0">${preview.text}</pre>`}</div>
</section>`;
}

function problemsOf(preview: Preview, fields: TemplateFields): Html | null {
  switch (preview.kind) {
    case 'faulty':
      return html`${preview.faults.map((fault) => faultView(fault, fields[fault.part]))}`;
    case 'refused':
      return html`<p class="notice warn" role="alert">${preview.reason}</p>`;
    case 'rendered':
      return html`${
        !preview.html &&
        !preview.text &&
        html`<p class="notice warn">With this data the template renders to nothing, so the message would not be sent.</p>`
      }${preview.missing && missingView(preview.missing)}`;
  }
}

function missingView({ names, total }: MissingVariables): Html | null {
  const [first] = names;
  if (first === undefined) return null;
  const listed = names.map((name, at) => html`${at > 0 && ', '}<code>${name}</code>`);
  const more = total - names.length;
  // A shortened name would be no example.
  const guarded = `{{ ${first.includes('…') ? 'name' : first} | default: "…" }}`;
  return html`<p class="notice warn">Not in the sample data: ${listed}${more > 0 && html` and ${more} more`}. A variable that a call’s data doesn’t have renders as nothing; <code>${guarded}</code> gives it a value.</p>`;
}

/** In the frame, where a kept template cannot be shown. */
export function faultDocument(preview: Exclude<Preview, { kind: 'rendered' }>): string {
  const words =
    preview.kind === 'refused'
      ? preview.reason
      : preview.faults.map(({ part, problem }) => `${part}: ${problem}.`).join(' ');
  return html`<!doctype html><meta charset="utf-8"><title>Preview</title><p>This template can’t be rendered with generated sample data. ${words}</p>`
    .text;
}
