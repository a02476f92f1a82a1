// The page of one domain: its state, the records to publish, and what DNS says of each. It looks again by itself as long
// as the domain is not verified and somebody who may change it has the page open.
import { isUuid } from '../../base/ids.ts';
import { isRefusal } from '../../base/refusals.ts';
import { checkedDomainRecord } from '../../domains/check-needed.ts';
import { factsOf } from '../../domains/domains.ts';
import { domainRecords } from '../../domains/needed-records.ts';
import { zoneFile } from '../../domains/zone-file.ts';
import { type Html, html } from '../../http/html.ts';
import type { Domain, DomainChecks } from '../../store/domains.ts';
import { confirmed, facts, heading, time } from '../elements.ts';
import { document, missing, type PageResult, type VisitOf, view } from '../page.ts';
import type { DomainServices } from './domain-services.ts';
import { checkBadge, domainBadge, RECORD_NAMES, stateInWords } from './domain-words.ts';
import { recordCard } from './record-card.ts';

const POLL_MS = 2000;
const KINDS = ['dkim', 'spf', 'dmarc'] as const;

export function ownerOf(visit: VisitOf<'viewer'>) {
  return { tenantId: visit.visitor.tenant.id, boundDomain: null };
}

/** Null for what is not there or not theirs. */
export async function domainOf({ domains }: DomainServices, visit: VisitOf<'viewer'>): Promise<Domain | null> {
  const { id = '' } = visit.params;
  const domain = isUuid(id) ? await domains.get(ownerOf(visit), id) : null;
  return domain === null || isRefusal(domain) ? null : domain;
}

export async function showDomain(services: DomainServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const { domains, attended, names } = services;
  const domain = await domainOf(services, visit);
  if (!domain) return missing();
  const last = await domains.lastChecks(ownerOf(visit), domain.id);
  const waits = domain.state === 'pending' || domain.state === 'failed';
  const attends = waits && visit.may('member');
  const isLooking = attends && attended.attend(domain.tenantId, domain.id);
  const hint = waits ? whenChecked(attends, await domains.recheckedUntil(domain, attends)) : null;
  const records = domains.recordsOf(domain);
  const body = html`<p class="crumb"><a href="/portal/domains">Domains</a></p>
${heading(domain.name)}
${status({ domain, last, isLooking, hint })}
${domain.state !== 'revoked' && visit.may('member') && actions(domain, visit.formField)}
${
  domain.state !== 'revoked' &&
  html`<h2>Records to publish</h2>
<p>Publish them where the DNS of ${domain.name} is managed: at your registrar or your DNS provider.
<a href="/portal/domains/${domain.id}/zone-file" download>Download them as a zone file</a> if your provider can import one.</p>
${records.map((record, at) => {
  const kind = KINDS[at]!;
  const check = last?.checks.find((one) => one.record === kind);
  return recordCard({ kind, domain: domain.name, record, check, names });
})}`
}`;
  return view({ title: domain.name, body });
}

interface StatusFacts {
  domain: Domain;
  last: DomainChecks | null;
  isLooking: boolean;
  /** What happens next; null: nothing is waited for. */
  hint: Html | null;
}

function status({ domain, last, isLooking, hint }: StatusFacts): Html {
  // A check by an older version did not note its time with the domain.
  const checkedAt = Math.max(last?.at ?? 0, domain.lastCheckedAt ?? 0) || null;
  const polling = hint && html` data-poll="/portal/domains/${domain.id}" data-poll-ms="${POLL_MS}"`;
  return html`<div class="card" id="status"${polling}>
${facts([
  ['State', html`${domainBadge(domain)} ${stateInWords(domain)}`],
  [
    'Records',
    html`${KINDS.map((kind) => html`<span class="pair">${RECORD_NAMES[kind]} ${checkBadge(last?.checks.find((one) => one.record === kind))}</span> `)}`,
  ],
  ['Last DNS check', html`${time(checkedAt)}${isLooking && html` <span class="quiet">· checking again now</span>`}`],
  ['DKIM selector', html`<code>${domain.selector}</code>`],
  ['Added', time(domain.createdAt)],
  ['ID', html`<code>${domain.id}</code>`],
])}
${hint}
</div>`;
}

/** Only who may check a domain has it checked by having its page open. */
function whenChecked(attends: boolean, until: number | null): Html {
  const byItself = until !== null && html`from time to time until ${time(until)}`;
  const checks = attends
    ? html`Postrider checks for them automatically while this page is open${byItself && html`, and after that ${byItself}`}.`
    : byItself
      ? html`Postrider checks for them automatically ${byItself}.`
      : html`They are checked when a member or an owner of the account opens this page.`;
  return html`<p class="hint">Publish the records below. ${checks}</p>`;
}

function actions(domain: Domain, formField: Html): Html {
  const path = `/portal/domains/${domain.id}`;
  return html`<div class="actions after-card">
<form method="post" action="${path}/check">${formField}<button class="primary">Check now</button></form>
${confirmed({
  label: 'Remove',
  question: html`Remove <strong>${domain.name}</strong>? Mail can no longer be sent from it; mail already accepted is still delivered. To use the domain again,
add it again; it gets a new DKIM record.`,
  action: `${path}/remove`,
  formField,
  button: 'Remove domain',
})}</div>`;
}

export async function downloadZoneFile(services: DomainServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const domain = await domainOf(services, visit);
  if (!domain || domain.state === 'revoked') return missing();
  const last = await services.domains.lastChecks(ownerOf(visit), domain.id);
  const entries = domainRecords(factsOf(domain), services.names).map((record) => {
    const check = last?.checks.find((one) => one.name === record.name);
    return check ? checkedDomainRecord(record, check, services.names.spfDomain) : record;
  });
  return document(zoneFile(domain.name, entries), {
    'Content-Type': 'text/plain; charset=utf-8',
    // The name is of A-labels, so nothing in it needs quoting.
    'Content-Disposition': `attachment; filename="${domain.name}.zone"`,
  });
}
