// The list of templates, newest first, without their sources.
import { type Html, html } from '../../http/html.ts';
import type { TemplateName } from '../../store/templates.ts';
import { emptyState, heading, pager, table } from '../elements.ts';
import { lastChanged } from './edit-view.ts';

export const TEMPLATES_PER_PAGE = 50;

/** One more than a page holds says that there are more. */
export function listView(found: readonly TemplateName[], before: string | null, mayChange: boolean): Html {
  const create = mayChange && html`<a class="button primary" href="/portal/templates/new">Create template</a>`;
  const templates = found.slice(0, TEMPLATES_PER_PAGE);
  if (templates.length === 0 && before === null) {
    const next = mayChange
      ? 'Keep the text of your mail here, so that your program only sends the data.'
      : 'A member or an owner of the account can create one.';
    return html`${heading('Templates', create)}${emptyState('No templates yet', next)}`;
  }
  const rows = templates.map((template) => [
    html`<a href="/portal/templates/${template.id}">${template.name}</a>`,
    [template.hasHtml && 'HTML', template.hasText && 'text'].filter(Boolean).join(' and '),
    html`<code>${template.id}</code>`,
    lastChanged(template),
  ]);
  const next = found.length > TEMPLATES_PER_PAGE ? `/portal/templates?before=${templates.at(-1)!.id}` : null;
  return html`${heading('Templates', create)}
${table({ caption: 'Templates, newest first', heads: ['Name', 'Parts', 'template_id', 'Last changed'] }, rows)}
${pager({ first: before === null ? null : '/portal/templates', next })}`;
}
