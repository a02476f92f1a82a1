// The pages of sending domains: the list with a form to add one, and what can be done with each. The page of one domain
// is in domain-page.ts.
import { isRefusal } from '../../base/refusals.ts';
import { defaultSelector } from '../../domains/domain-name.ts';
import { type Html, html } from '../../http/html.ts';
import { parseDomain } from '../../protocol/mail/addresses/domain.ts';
import type { Domain } from '../../store/domains.ts';
import { emptyState, field, heading, problemBox, table, time } from '../elements.ts';
import { endOfCheck } from '../end-of-check.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { refusalSentence } from '../refusal-words.ts';
import { domainOf, downloadZoneFile, ownerOf, showDomain } from './domain-page.ts';
import type { DomainServices } from './domain-services.ts';
import { domainBadge, stateInWords } from './domain-words.ts';

const LIST = '/portal/domains';

export function domainPages(services: DomainServices): PortalRoute[] {
  return [
    page({ path: LIST, access: 'viewer', show: (visit) => showDomains(services, visit) }),
    action({ path: LIST, access: 'member', run: (visit) => addDomain(services, visit) }),
    page({ path: '/portal/domains/:id', access: 'viewer', show: (visit) => showDomain(services, visit) }),
    page({
      path: '/portal/domains/:id/zone-file',
      access: 'viewer',
      show: (visit) => downloadZoneFile(services, visit),
    }),
    action({ path: '/portal/domains/:id/check', access: 'member', run: (visit) => checkDomain(services, visit) }),
    action({ path: '/portal/domains/:id/remove', access: 'member', run: (visit) => removeDomain(services, visit) }),
  ];
}

interface Attempt {
  domain: string;
  selector: string;
  problem: string | null;
}

const NO_ATTEMPT: Attempt = { domain: '', selector: '', problem: null };

async function showDomains(
  { domains }: DomainServices,
  visit: VisitOf<'viewer'>,
  attempt = NO_ATTEMPT,
): Promise<PageResult> {
  const all = await domains.list(ownerOf(visit));
  const live = all.filter(({ state }) => state !== 'revoked');
  const removed = all.filter(({ state }) => state === 'revoked').reverse();
  const mayAdd = visit.may('member');
  const body = html`${heading('Domains')}
<p class="quiet">Mail is sent from your own domains. Each is verified by a DNS record, which also lets receivers check that the mail really comes from you. Leave it in place: receivers look it up for every message.</p>
${problemBox(attempt.problem)}
${live.length > 0 ? liveTable(live) : nothingYet(mayAdd)}
${mayAdd && addForm(attempt, visit)}
${removed.length > 0 && removedTable(removed)}`;
  return view({ status: attempt.problem === null ? 200 : 422, title: 'Domains', body });
}

function nothingYet(mayAdd: boolean): Html {
  const next = mayAdd
    ? 'Add the domain to send from. You need access to its DNS.'
    : 'A member or an owner of the account can add one.';
  return emptyState('No domains yet', next);
}

function liveTable(domains: readonly Domain[]): Html {
  const heads = ['Domain', 'State', 'Details', 'Last DNS check'];
  const rows = domains.map((domain) => [
    html`<a class="roomy" href="/portal/domains/${domain.id}"><strong>${domain.name}</strong></a>`,
    domainBadge(domain),
    stateInWords(domain),
    time(domain.lastCheckedAt),
  ]);
  return table({ caption: 'Domains, oldest first', heads }, rows);
}

function removedTable(domains: readonly Domain[]): Html {
  const rows = domains.map((domain) => [
    html`<a href="/portal/domains/${domain.id}">${domain.name}</a>`,
    time(domain.createdAt),
  ]);
  return html`<details><summary>Removed domains (${domains.length})</summary>${table(
    { caption: 'Removed domains', heads: ['Domain', 'Added'] },
    rows,
  )}</details>`;
}

function addForm({ domain, selector, problem }: Attempt, { formField, now }: VisitOf<'viewer'>): Html {
  const at = (name: string) => (problem?.toLowerCase().startsWith(`${name} `) ? problem : null);
  return html`<h2>Add a domain</h2>
<form method="post" action="${LIST}" class="card">${formField}
${field({
  name: 'domain',
  label: 'Domain',
  value: domain,
  required: true,
  placeholder: 'example.com',
  autocomplete: 'off',
  hint: 'The part after the @ in your From address. A subdomain like mail.example.com is a separate domain.',
  problem: at('domain'),
})}
<details${selector !== '' && html` open`}><summary>DKIM selector</summary>
${field({
  name: 'selector',
  label: 'Selector (optional)',
  value: selector,
  placeholder: defaultSelector(now),
  hint: 'The first part of the DKIM record’s name. Choose your own only if the default is already in use.',
  problem: at('selector'),
})}</details>
<div class="actions"><button class="primary">Add domain</button></div>
</form>`;
}

async function addDomain(services: DomainServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const domain = readDomain(visit.form.get('domain') ?? '');
  const selector = (visit.form.get('selector') ?? '').trim().toLowerCase();
  const result = await services.domains.register(ownerOf(visit), { domain, ...(selector !== '' && { selector }) });
  if (isRefusal(result))
    return showDomains(services, visit, { domain, selector, problem: refusalSentence(result.message) });
  await visit.audit('domain.created', { domain_id: result.id, domain: result.name });
  return redirect(`${LIST}/${result.id}`, `${result.name} was added. Now publish its DNS records.`);
}

/** People paste names with capitals, a final dot or umlauts; the API is stricter. */
function readDomain(text: string): string {
  const name = text.trim().toLowerCase().replace(/\.$/, '');
  const parsed = parseDomain(name);
  return parsed.ok && !parsed.isLiteral ? parsed.asciiDomain : name;
}

async function checkDomain(services: DomainServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const domain = await domainOf(services, visit);
  if (!domain) return missing();
  const result = await services.domains.verify(ownerOf(visit), domain.id);
  if (isRefusal(result) && result.refused === 'domain_not_found') return missing();
  const { outcome, said, tone } = endOfCheck(domain, result);
  const facts = { domain_id: domain.id, domain: domain.name, outcome };
  if (outcome !== null) await visit.audit('domain.checked', facts);
  return redirect(`${LIST}/${domain.id}`, said, tone);
}

async function removeDomain(services: DomainServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const domain = await domainOf(services, visit);
  const removed = domain && (await services.domains.revoke(ownerOf(visit), domain.id));
  if (!removed || isRefusal(removed)) return missing();
  await visit.audit('domain.removed', { domain_id: removed.id, domain: removed.name });
  return redirect(LIST, `${removed.name} was removed.`);
}
