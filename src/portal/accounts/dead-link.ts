// What somebody sees who follows a link of a mail that does not hold: used, too old, or replaced by a newer one.
import { html } from '../../http/html.ts';
import type { Used } from '../../tenants/accounts/mail-proofs.ts';
import { type PageResult, view } from '../page.ts';
import { waitingTime } from './waiting-time.ts';

export function deadLink(what: string, next: { path: string; label: string }): PageResult {
  return view({
    title: 'This link does not work any more',
    status: 410,
    body: html`<h1>This link does not work any more</h1>
<div class="card"><p>It was used before, is too old, or a newer one was sent. ${what}</p>
<p class="last"><a class="button primary" href="${next.path}">${next.label}</a></p></div>`,
  });
}

/** Of a link that holds: why it was not used; null when it is dead. */
export function problemWith(used: Exclude<Used, { kind: 'used' }>): string | null {
  if (used.kind === 'refused') return used.message;
  return used.kind === 'wait' ? `Too many tries. Wait ${waitingTime(used.waitMs)}, then try again.` : null;
}
