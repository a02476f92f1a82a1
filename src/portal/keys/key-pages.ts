// The pages of API keys: the list with last uses, making one, which is shown a single time, and revoking.

import { isUuid } from '../../base/ids.ts';
import { type Html, html } from '../../http/html.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { Keys, ShownKey } from '../../tenants/keys.ts';
import type { OwnerNotices } from '../../tenants/owner-notices.ts';
import { badge, confirmed, emptyState, heading, table, time } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { createdKey } from './created-key.ts';
import { emptyKeyRequest, keyForm, keyProblem, readKeyRequest } from './key-form.ts';

export interface KeyServices {
  keys: Keys;
  store: StoreVerbs<{ domains: 'listDomains' }>;
  /** `service.base_url`: where the calls go that are shown. */
  baseUrl: string;
  notifyOwners?: OwnerNotices;
}

const LIST = '/portal/keys';

export function keyPages(services: KeyServices): PortalRoute[] {
  return [
    page({ path: LIST, access: 'viewer', show: (visit) => showKeys(services, visit) }),
    page({ path: '/portal/keys/new', access: 'member', show: (visit) => showForm(services, visit) }),
    action({ path: '/portal/keys/new', access: 'member', run: (visit) => createKey(services, visit) }),
    action({ path: '/portal/keys/:id/revoke', access: 'owner', run: (visit) => revokeKey(services, visit) }),
  ];
}

async function showKeys({ keys }: KeyServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const all = (await keys.list(visit.visitor.tenant.id)).reverse();
  const live = all.filter((key) => key.revokedAt === null);
  const revoked = all.filter((key) => key.revokedAt !== null);
  const mayCreate = visit.may('member');
  const body = html`${heading('API keys', mayCreate && html`<a class="button primary" href="/portal/keys/new">Create key</a>`)}
<p class="quiet">Your programs call the API with a key. Give each program its own key, with only the scopes it needs; then you can
revoke one without affecting the others. ${live.length} of at most ${keys.maxLive} are in use.</p>
${live.length > 0 ? liveTable(live, visit) : nothingYet(mayCreate)}
${revoked.length > 0 && revokedTable(revoked)}`;
  return view({ title: 'API keys', body });
}

function nothingYet(mayCreate: boolean): Html {
  const next = mayCreate
    ? html`<a href="/portal/keys/new">Create a key</a> to send your first message.`
    : 'A member or an owner of the account can create one.';
  return emptyState('No keys yet', next);
}

function liveTable(keys: readonly ShownKey[], visit: VisitOf<'viewer'>): Html {
  const mayRevoke = visit.may('owner');
  const heads = ['Key', 'Scopes', 'Sends from', 'Last used', ...(mayRevoke ? ['Revoke'] : [])];
  const rows = keys.map((key) => [
    html`<strong>${key.name}</strong><br><code class="unbroken">${key.publicPart}_…</code><br><span class="hint">created ${time(key.createdAt)}</span>`,
    scopesOf(key),
    key.boundDomain ?? html`<span class="quiet">any domain</span>`,
    time(key.lastUsedAt),
    ...(mayRevoke ? [revokeButton(key, visit.formField)] : []),
  ]);
  const note = html`<p class="quiet">Only an owner of the account can revoke keys.</p>`;
  return html`${table({ caption: 'Keys in use, newest first', heads }, rows)}${!mayRevoke && note}`;
}

function scopesOf({ scopes }: ShownKey): Html {
  if (scopes.length === 0) return html`<span class="quiet">read only</span>`;
  return html`${scopes.map((scope) => html`${badge(scope)} `)}`;
}

function revokeButton(key: ShownKey, formField: Html): Html {
  return confirmed({
    label: 'Revoke',
    question: html`Revoke <strong>${key.name}</strong>? All calls with this key are refused from now on; this can’t be undone. Mail already accepted is still delivered.`,
    action: `/portal/keys/${key.id}/revoke`,
    formField,
    button: 'Revoke key',
  });
}

function revokedTable(keys: readonly ShownKey[]): Html {
  const heads = ['Name', 'Key', 'Last used', 'Revoked'];
  const rows = keys.map((key) => [
    key.name,
    html`<code class="unbroken">${key.publicPart}_…</code>`,
    time(key.lastUsedAt),
    time(key.revokedAt),
  ]);
  return html`<h2>Revoked</h2>${table({ caption: 'Revoked keys', heads }, rows)}`;
}

async function showForm({ store }: KeyServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const domains = await store.domains.listDomains(visit.visitor.tenant.id);
  return view({
    title: 'New API key',
    body: keyForm({ wish: emptyKeyRequest(), domains, formField: visit.formField }),
  });
}

async function createKey(
  { keys, store, baseUrl, notifyOwners }: KeyServices,
  visit: VisitOf<'member'>,
): Promise<PageResult> {
  const { tenant, user } = visit.visitor;
  const wish = readKeyRequest(visit.form);
  const domains = await store.domains.listDomains(tenant.id);
  const result = await keys.create(tenant.id, wish);
  if (result.kind === 'refused') {
    const body = keyForm({ wish, domains, formField: visit.formField, problem: keyProblem(result) });
    return view({ status: 422, title: 'New API key', body });
  }
  const { key, token } = result;
  const details = { key_id: key.id, name: key.name, scopes: key.scopes.join(' '), domain: key.boundDomain };
  await visit.audit('key.created', details);
  notifyOwners?.keyAdded(tenant.id, { id: key.id, name: key.name, by: user.email });
  return view({ title: 'Your new API key', body: createdKey({ key, token, domains, baseUrl, to: user.email }) });
}

async function revokeKey({ keys }: KeyServices, visit: VisitOf<'owner'>): Promise<PageResult> {
  const { id = '' } = visit.params;
  const revoked = isUuid(id) ? await keys.revoke(visit.visitor.tenant.id, id) : null;
  if (!revoked) return missing('Key not found, or already revoked.');
  await visit.audit('key.revoked', { key_id: revoked.id, name: revoked.name });
  return redirect(LIST, `The key ${revoked.name} was revoked.`);
}
