// The page of one template: its source in a form, the preview beside it, where it was last changed. Who may only
// look sees the source without a form.
import { type Html, html } from '../../http/html.ts';
import type { Template } from '../../store/templates.ts';
import { confirmed, copyable, facts, field, heading, problemBox, time } from '../elements.ts';
import { type Fault, faultView } from './faults.ts';
import { type Preview, previewView } from './preview.ts';
import type { TemplateFields } from './template-fields.ts';

export interface EditShown {
  /** Null: a new one. */
  template: Template | null;
  fields: TemplateFields;
  formField: Html;
  nameProblem?: string | null;
  /** Why it was not kept: at a place of the source, or as a whole. */
  faults?: readonly Fault[];
  problem?: string | null;
  preview: Preview | null;
  /** Path of what the frame shows. */
  frame: string | null;
}

const CRUMB = html`<p class="crumb"><a href="/portal/templates">Templates</a></p>`;

export function editView(shown: EditShown): Html {
  const { template, fields, formField, preview, frame } = shown;
  return html`${CRUMB}
${heading(template?.name ?? 'New template', template && deletion(template, formField))}
${template && knownFacts(template)}
${problemBox(shown.problem ?? null)}${(shown.faults ?? []).map((fault) => faultView(fault, fields[fault.part]))}
<div class="editor">
${form(shown)}
${previewView(preview, frame, fields)}
</div>`;
}

function form({ template, fields, formField, nameProblem }: EditShown): Html {
  const action = template ? `/portal/templates/${template.id}` : '/portal/templates/new';
  return html`<form method="post" action="${action}" class="card" data-template-preview="/portal/templates/preview" data-sample-of="${template?.id ?? 'new'}">${formField}
${template && html`<input type="hidden" name="id" value="${template.id}">`}
${field({ name: 'name', label: 'Name', value: fields.name, required: true, maxLength: 200, autocomplete: 'off', problem: nameProblem ?? null })}
${field({
  name: 'subject',
  label: 'Subject (optional)',
  value: fields.subject,
  autocomplete: 'off',
  hint: html`Liquid, too. Calls with a <code>subject</code> of their own keep it.`,
})}
${field({
  name: 'html',
  label: 'HTML',
  value: fields.html,
  rows: 18,
  hint: html`<a href="https://shopify.github.io/liquid/" rel="noreferrer">Liquid</a>: <code>{{ name }}</code> is escaped, <code>{{ name | raw }}</code> is not.`,
})}
${field({ name: 'text', label: 'Text', value: fields.text, rows: 8, hint: 'The same in plain text; nothing is escaped here.' })}
${field({
  name: 'data',
  label: 'Sample data',
  value: fields.data,
  rows: 8,
  hint: html`JSON for the preview, like <code>data</code> in an API call. It isn’t saved with the template.`,
})}
<div class="actions"><button class="primary">${template ? 'Save' : 'Create template'}</button><button formaction="/portal/templates/preview" formnovalidate>Preview</button></div>
</form>`;
}

function knownFacts(template: Template): Html {
  return facts([
    ['template_id', copyable(template.id, 'the template ID')],
    ['Last changed', lastChanged(template)],
    ['Created', time(template.createdAt)],
  ]);
}

export function lastChanged({ updatedAt, changedBy }: Pick<Template, 'updatedAt' | 'changedBy'>): Html {
  return html`${time(updatedAt)} ${changedBy === null ? 'through the API' : html`in the portal by ${changedBy}`}`;
}

function deletion({ id, name }: Template, formField: Html): Html {
  return confirmed({
    label: 'Delete',
    question: html`Delete <strong>${name}</strong>? Calls that use it are refused from then on. Messages already accepted are still sent as rendered.`,
    action: `/portal/templates/${id}/delete`,
    formField,
    button: 'Delete template',
  });
}

/** For those who only look. */
export function readOnlyView(template: Template, frame: string | null): Html {
  const part = (label: string, source: string | null) =>
    source !== null && html`<h2>${label}</h2><pre tabindex="0">${source}</pre>`;
  const fields = { name: '', subject: '', html: '', text: '', data: '' };
  return html`${CRUMB}
${heading(template.name)}
${knownFacts(template)}
<div class="editor">
<div class="card">${part('Subject', template.subject ?? null)}${part('HTML', template.html)}${part('Text', template.text)}</div>
${previewView(null, frame, fields)}
</div>`;
}
