// Templates of tenants: stored as their source, checked before that, rendered for each submission. Leaves out what
// Liquid is, and all slow work, which is the renderer's.

import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import type { Store } from '../store/store.ts';
import type { Template, TemplateContent, TemplateExcess, TemplateQuota } from '../store/templates.ts';
import { type Flaw, PARTS, type TemplateSource } from './render-job.ts';
import type { Renderer, RenderOutcome } from './render-pool.ts';

/** The body as schema/api/template.json allows it, without its nulls. */
export interface TemplateBody {
  name: string;
  html?: string;
  text?: string;
  subject?: string;
}

/** A template with a call's data. */
export interface RenderedTemplate {
  /** Null: the call has its own. */
  subject: string | null;
  html: string | null;
  text: string | null;
}

export interface RenderedCall {
  id: string;
  dataJson: string;
  /** The call has none of its own. */
  needsSubject: boolean;
}

export interface TemplatesOptions {
  store: Pick<Store, 'templates'>;
  renderer: Renderer;
  clock: Clock;
  ids: IdSource;
}

export interface Templates {
  /** `changedBy` is the email address of the user in the portal. */
  create(tenantId: string, body: TemplateBody, changedBy?: string): Promise<Template | Refusal>;
  /** Oldest first. */
  list(tenantId: string): Promise<Template[]>;
  get(tenantId: string, id: string): Promise<Template | Refusal>;
  replace(tenantId: string, id: string, body: TemplateBody, changedBy?: string): Promise<Template | Refusal>;
  /** Null on success. */
  remove(tenantId: string, id: string): Promise<Refusal | null>;
  /** The parts of a message; a part that the template lacks, or that renders to nothing, is null. */
  render(tenantId: string, call: RenderedCall): Promise<RenderedTemplate | Refusal>;
  /** Renders a source without storing it, or says what is wrong with it. Without data only its syntax is checked. */
  preview(tenantId: string, source: TemplateSource, dataJson: string | null): Promise<RenderOutcome>;
}

/** For html and text each. */
const SOURCE_MAX_BYTES = 1024 * 1024;
/** Ten times what it may render to. */
const SUBJECT_MAX_BYTES = 10 * 1024;

// The list of a tenant's templates is one response, built on the main thread.
const QUOTA: TemplateQuota = { templates: 1000, bytes: 8 * 1024 * 1024 };

export function createTemplates(options: TemplatesOptions): Templates {
  const { store, clock, ids } = options;

  return {
    async create(tenantId, body, changedBy) {
      const content = await readContent(options, tenantId, body);
      if (isRefusal(content)) return content;
      const createdAt = clock.now();
      const template = { id: ids.next(), ...content, createdAt, updatedAt: createdAt, changedBy: changedBy ?? null };
      const result = await store.templates.createTemplate(tenantId, template, QUOTA);
      return result === 'created' ? template : refuseExcess(result);
    },
    list: (tenantId) => store.templates.listTemplates(tenantId),
    get: async (tenantId, id) => (await store.templates.getTemplate(tenantId, id)) ?? notFound(),
    async replace(tenantId, id, body, changedBy) {
      if (!(await store.templates.getTemplate(tenantId, id))) return notFound();
      const content = await readContent(options, tenantId, body);
      if (isRefusal(content)) return content;
      const change = { content, updatedAt: clock.now(), changedBy: changedBy ?? null, quota: QUOTA };
      const result = await store.templates.replaceTemplate(tenantId, id, change);
      if (result === null) return notFound();
      return result === 'too_large' ? refuseExcess(result) : result;
    },
    remove: async (tenantId, id) => ((await store.templates.deleteTemplate(tenantId, id)) ? null : notFound()),
    render: (tenantId, call) => render(options, tenantId, call),
    preview: (tenantId, source, dataJson) => preview(options, { tenantId, source, dataJson }),
  };
}

async function readContent(
  { renderer }: TemplatesOptions,
  tenantId: string,
  body: TemplateBody,
): Promise<TemplateContent | Refusal> {
  const { name } = body;
  const content = {
    name,
    html: body.html || null,
    text: body.text || null,
    ...(body.subject && { subject: body.subject }),
  };
  const problem = contentProblem(content);
  if (problem !== null) return refuse('validation_failed', problem);
  const { name: _, ...source } = content;
  const outcome = await renderer.run(tenantId, { source, data: null });
  const checked = partsOf(outcome, ({ part, problem, position }) => `${part}: ${problem}${inWords(position)}.`);
  return isRefusal(checked) ? checked : content;
}

function contentProblem({ name, ...source }: TemplateContent): string | null {
  if (!name.isWellFormed()) return 'name: must be valid Unicode; it contains a lone surrogate.';
  if (source.html === null && source.text === null) return 'html: at least one of html and text is required.';
  const flaw = sourceFlaw(source);
  return flaw && `${flaw.part}: ${flaw.problem}.`;
}

function sourceFlaw(source: TemplateSource): Flaw | null {
  for (const part of PARTS) {
    const problem = sourceProblem(source[part] ?? '', part === 'subject' ? SUBJECT_MAX_BYTES : SOURCE_MAX_BYTES);
    if (problem !== null) return { part, problem, position: null };
  }
  return null;
}

function sourceProblem(text: string, maxBytes: number): string | null {
  if (!text.isWellFormed()) return 'must be valid Unicode; it contains a lone surrogate';
  return Buffer.byteLength(text) > maxBytes ? `must have at most ${maxBytes} bytes` : null;
}

async function preview(
  { renderer }: TemplatesOptions,
  { tenantId, source, dataJson }: { tenantId: string; source: TemplateSource; dataJson: string | null },
): Promise<RenderOutcome> {
  const flaw = sourceFlaw(source);
  if (flaw) return { kind: 'flawed', flaw };
  return renderer.run(tenantId, { source, data: dataJson, listsMissing: true });
}

async function render(
  { store, renderer }: TemplatesOptions,
  tenantId: string,
  { id, dataJson, needsSubject }: RenderedCall,
): Promise<RenderedTemplate | Refusal> {
  const template = await store.templates.getTemplate(tenantId, id);
  if (!template)
    return refuse('validation_failed', 'template_id: template not found. GET /templates lists your templates.');
  const subjectSource = needsSubject ? template.subject : null;
  if (subjectSource === undefined)
    return refuse('validation_failed', 'subject: this field is required: the template has no subject.');
  const source = { html: template.html, text: template.text, subject: subjectSource };
  const outcome = await renderer.run(tenantId, { source, data: dataJson });
  const parts = partsOf(outcome, ({ part, problem, position }) => {
    return `template_id: the template's ${part} can't be rendered: ${problem}${inWords(position)}.`;
  });
  if (isRefusal(parts)) return parts;
  const [html, text] = [parts.html || null, parts.text || null];
  if (html === null && text === null)
    return refuse('validation_failed', 'template_id: the template renders to an empty message.');
  const subject = parts.subject || null;
  if (needsSubject && subject === null)
    return refuse('validation_failed', "template_id: the template's subject renders to nothing.");
  return { subject, html, text };
}

/** Of the thread pool that renders: a job waits ten seconds at most. */
const RETRY_AFTER_SECS = 10;

function partsOf(outcome: RenderOutcome, describe: (flaw: Flaw) => string): TemplateSource | Refusal {
  switch (outcome.kind) {
    case 'rendered':
      return outcome;
    case 'flawed':
      return refuse('validation_failed', describe(outcome.flaw));
    case 'overloaded':
      return {
        ...refuse('internal_error', 'Too many templates are waiting to be rendered. Retry later.'),
        retryAfterSecs: RETRY_AFTER_SECS,
      };
  }
}

function inWords(position: Flaw['position']): string {
  return position === null ? '' : `, line ${position.line}, column ${position.column}`;
}

function refuseExcess(excess: TemplateExcess): Refusal {
  const limit =
    excess === 'too_many' ? `${QUOTA.templates} templates` : `${QUOTA.bytes} bytes of html and text in all templates`;
  return refuse('validation_failed', `The account is limited to ${limit}. Delete some first.`);
}

function notFound(): Refusal {
  return refuse('template_not_found', 'Template not found. GET /templates lists your templates.');
}
