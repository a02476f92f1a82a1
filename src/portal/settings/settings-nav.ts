// From one part of the settings to the next.
import { type Html, html } from '../../http/html.ts';
import { heading } from '../elements.ts';

const PARTS = [
  ['/portal/settings', 'General'],
  ['/portal/settings/members', 'Members'],
  ['/portal/keys', 'API keys'],
  ['/portal/settings/audit', 'Audit log'],
] as const;

export function settingsHead(title: string, current: (typeof PARTS)[number][0]): Html {
  const links = PARTS.map(
    ([path, label]) => html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${label}</a></li>`,
  );
  return html`${heading(title)}<nav class="parts" aria-label="Settings"><ul>${links}</ul></nav>`;
}
