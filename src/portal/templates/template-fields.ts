// What the form of a template sends, made plain: line ends as the API's callers write them, empty parts absent.
import type { TemplateBody } from '../../templates/templates.ts';

export interface TemplateFields {
  name: string;
  subject: string;
  html: string;
  text: string;
  /** Sample data as JSON; never kept. */
  data: string;
}

const MOST_NAME_CHARS = 200;

export function readFields(form: URLSearchParams): TemplateFields {
  // Browsers send CRLF from fields of several lines (HTML, "constructing the entry list").
  const lines = (name: string) => (form.get(name) ?? '').replaceAll('\r\n', '\n');
  const line = (name: string) => (form.get(name) ?? '').trim();
  return {
    name: line('name'),
    subject: line('subject'),
    html: lines('html'),
    text: lines('text'),
    data: lines('data'),
  };
}

/** As the API takes it. */
export function bodyOf({ name, subject, html, text }: TemplateFields): TemplateBody {
  return { name, ...(subject !== '' && { subject }), ...(html !== '' && { html }), ...(text !== '' && { text }) };
}

/** The rule of schema/api/template.json; everything else is asked of the service. */
export function nameProblem({ name }: Pick<TemplateFields, 'name'>): string | null {
  if (name === '') return 'Enter a name.';
  const chars = [...name].length;
  return chars > MOST_NAME_CHARS ? `At most ${MOST_NAME_CHARS} characters; this has ${chars}.` : null;
}
