// The pages of templates: the list, one to edit, the preview. The rules are those of the API: every change goes
// through the same service.

import type { Clock } from '../../base/clock.ts';
import { isUuid } from '../../base/ids.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { Templates } from '../../templates/templates.ts';
import {
  action,
  document,
  missing,
  type PageResult,
  type PortalRoute,
  page,
  redirect,
  type VisitOf,
  view,
} from '../page.ts';
import { type EditShown, editView, readOnlyView } from './edit-view.ts';
import { faultOf } from './faults.ts';
import { listView, TEMPLATES_PER_PAGE } from './list-view.ts';
import { FRAME_HEADERS, faultDocument, makePreview, previewView } from './preview.ts';
import { PreviewShelf } from './preview-shelf.ts';
import { sampleData } from './sample-data.ts';
import { bodyOf, nameProblem, readFields, type TemplateFields } from './template-fields.ts';

export interface TemplateServices {
  templates: Templates;
  store: StoreVerbs<{ templates: 'listTemplateNames' }>;
  clock: Clock;
}

type Services = TemplateServices & { shelf: PreviewShelf };
type Viewing = VisitOf<'viewer'>;
type Editing = VisitOf<'member'>;

/** HTML and text of a mebibyte each, and the sample data; percent-encoding makes some of it three times as long. */
const LIMIT_BYTES = 5 * 1024 * 1024;
const NO_TEMPLATE = 'Template not found.';
/** Behind a load balancer it may be another daemon that has it. */
const NO_PREVIEW =
  'This preview has expired, or it was made at another server of this service. Preview the template again.';

export function templatePages(given: TemplateServices): PortalRoute[] {
  const services: Services = { ...given, shelf: new PreviewShelf(given.clock) };
  const change = (path: string, run: (services: Services, visit: Editing) => Promise<PageResult>) =>
    action({ path, access: 'member', limitBytes: LIMIT_BYTES, run: (visit) => run(services, visit) });
  return [
    page({ path: '/portal/templates', access: 'viewer', show: (visit) => showList(services, visit) }),
    page({ path: '/portal/templates/new', access: 'member', show: (visit) => showNew(visit) }),
    page({ path: '/portal/templates/:id', access: 'viewer', show: (visit) => showTemplate(services, visit) }),
    page({ path: '/portal/templates/:id/shown', access: 'viewer', show: (visit) => showKept(services, visit) }),
    page({
      path: '/portal/templates/previews/:token',
      access: 'member',
      show: (visit) => showShelved(services, visit),
    }),
    change('/portal/templates/new', createTemplate),
    change('/portal/templates/preview', previewTemplate),
    change('/portal/templates/:id', saveTemplate),
    change('/portal/templates/:id/delete', deleteTemplate),
  ];
}

async function showList({ store }: Services, visit: Viewing): Promise<PageResult> {
  const before = visit.query.get('before');
  const page = { before: before !== null && isUuid(before) ? before : null, limit: TEMPLATES_PER_PAGE + 1 };
  const templates = await store.templates.listTemplateNames(visit.visitor.tenant.id, page);
  return view({ title: 'Templates', body: listView(templates, page.before, visit.may('member')) });
}

const FIRST_HTML = '<p>Hello {{ name }},</p>\n<p>your order {{ order.number }} is on its way.</p>\n';
const FIRST_TEXT = 'Hello {{ name }},\n\nyour order {{ order.number }} is on its way.\n';

function showNew({ formField }: Editing): PageResult {
  const data = sampleData(FIRST_HTML, FIRST_TEXT);
  const fields = { name: '', subject: '', html: FIRST_HTML, text: FIRST_TEXT, data };
  return editPage({ template: null, fields, formField, preview: null, frame: null });
}

function editPage(shown: EditShown, status = 200): PageResult {
  const title = shown.template?.name ?? 'New template';
  return view({ title, status, body: editView(shown), scripts: ['templates.js'] });
}

async function showTemplate({ templates }: Services, visit: Viewing): Promise<PageResult> {
  const template = await templates.get(visit.visitor.tenant.id, visit.params.id!);
  if (isRefusal(template)) return missing(NO_TEMPLATE);
  const frame = template.html === null ? null : `/portal/templates/${template.id}/shown`;
  if (!visit.may('member')) return view({ title: template.name, body: readOnlyView(template, frame) });
  const { name, subject = '', html, text } = template;
  const data = sampleData(subject, html, text);
  const fields = { name, subject, html: html ?? '', text: text ?? '', data };
  return editPage({ template, fields, formField: visit.formField, preview: null, frame });
}

/** What the frame of a template's page begins with: as it is kept, with data made up. */
async function showKept({ templates }: Services, { visitor, params }: Viewing): Promise<PageResult> {
  const template = await templates.get(visitor.tenant.id, params.id!);
  if (isRefusal(template) || template.html === null) return missing(NO_TEMPLATE);
  const { html } = template;
  const preview = await makePreview(templates, visitor.tenant.id, { html, text: '', data: sampleData(html) });
  return document(preview.kind === 'rendered' ? (preview.html ?? '') : faultDocument(preview), FRAME_HEADERS);
}

async function showShelved({ shelf }: Services, { visitor, params }: Editing): Promise<PageResult> {
  const markup = shelf.find(visitor.user.id, params.token!);
  return markup === null ? missing(NO_PREVIEW) : document(markup, FRAME_HEADERS);
}

/** As a form, the whole page again; for the script, which sends `only`, the preview alone. */
async function previewTemplate(services: Services, visit: Editing): Promise<PageResult> {
  const { visitor, form, formField } = visit;
  const fields = readFields(form);
  const preview = await makePreview(services.templates, visitor.tenant.id, fields);
  const markup = preview.kind === 'rendered' ? preview.html : null;
  const frame = markup && `/portal/templates/previews/${services.shelf.put(visitor.user.id, markup)}`;
  if (form.has('only')) return view({ title: 'Preview', body: previewView(preview, frame, fields) });
  const id = form.get('id');
  const template = id === null ? null : await services.templates.get(visitor.tenant.id, id);
  if (isRefusal(template)) return missing(NO_TEMPLATE);
  return editPage({ template, fields, formField, preview, frame });
}

async function createTemplate(services: Services, visit: Editing): Promise<PageResult> {
  const { visitor, form } = visit;
  const fields = readFields(form);
  if (nameProblem(fields)) return shownAgain(services, visit, { template: null, fields, refusal: null });
  const result = await services.templates.create(visitor.tenant.id, bodyOf(fields), visitor.user.email);
  if (isRefusal(result)) return shownAgain(services, visit, { template: null, fields, refusal: result });
  await visit.audit('template.created', { template: result.id, name: result.name });
  return redirect(`/portal/templates/${result.id}`, 'Template created.');
}

async function saveTemplate(services: Services, visit: Editing): Promise<PageResult> {
  const { visitor, form, params } = visit;
  const template = await services.templates.get(visitor.tenant.id, params.id!);
  if (isRefusal(template)) return missing(NO_TEMPLATE);
  const fields = readFields(form);
  if (nameProblem(fields)) return shownAgain(services, visit, { template, fields, refusal: null });
  const result = await services.templates.replace(visitor.tenant.id, template.id, bodyOf(fields), visitor.user.email);
  if (isRefusal(result) && result.refused === 'template_not_found') return missing(NO_TEMPLATE);
  if (isRefusal(result)) return shownAgain(services, visit, { template, fields, refusal: result });
  await visit.audit('template.changed', { template: result.id, name: result.name });
  return redirect(`/portal/templates/${result.id}`, 'Changes saved.');
}

interface Refused extends Pick<EditShown, 'template'> {
  fields: TemplateFields;
  /** Null: the name alone is wrong. */
  refusal: Refusal | null;
}

/** A refusal says in one sentence what is wrong; the source is looked at once more for the place. */
async function shownAgain(
  services: Services,
  visit: Editing,
  { template, fields, refusal }: Refused,
): Promise<PageResult> {
  const { visitor, formField } = visit;
  const shown = { template, fields, formField, nameProblem: nameProblem(fields), preview: null, frame: null };
  if (refusal === null) return editPage(shown, 422);
  const source = { html: fields.html || null, text: fields.text || null, subject: fields.subject || null };
  const outcome = await services.templates.preview(visitor.tenant.id, source, null);
  const faults = outcome.kind === 'flawed' ? [faultOf(outcome.flaw)] : [];
  return editPage(
    { ...shown, faults, problem: faults.length > 0 ? 'The template was not saved.' : refusal.message },
    422,
  );
}

async function deleteTemplate({ templates }: Services, visit: Editing): Promise<PageResult> {
  const { tenant } = visit.visitor;
  const template = await templates.get(tenant.id, visit.params.id!);
  if (isRefusal(template) || (await templates.remove(tenant.id, template.id)) !== null) return missing(NO_TEMPLATE);
  await visit.audit('template.deleted', { template: template.id, name: template.name });
  return redirect('/portal/templates', 'Template deleted.');
}
