// The pages of webhooks: the list, a new one whose secret is shown a single time, and of each its state, its secret
// and its end. What was sent to one is in attempt-pages.ts.
import { isRefusal } from '../../base/refusals.ts';
import { html } from '../../http/html.ts';
import type { WebhookHealth } from '../../store/webhooks.ts';
import { emptyState, heading, table, time } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { attemptPages } from './attempt-pages.ts';
import { editPages, webhookOf } from './edit-pages.ts';
import { shownTest } from './test-result.ts';
import { newSecret, webhookForm } from './webhook-form.ts';
import { showWebhook } from './webhook-page.ts';
import type { WebhookServices } from './webhook-services.ts';
import { chosenEvents, countOf, healthBadge } from './webhook-words.ts';

const LIST = '/portal/webhooks';
/** In a list of many it is enough to know that there are very many. */
const COUNTED_IN_LIST = 1000;

export function webhookPages(services: WebhookServices): PortalRoute[] {
  return [
    page({ path: LIST, access: 'viewer', show: (visit) => showWebhooks(services, visit) }),
    page({
      path: '/portal/webhooks/new',
      access: 'member',
      show: (visit) => view({ title: 'New webhook', body: webhookForm({ formField: visit.formField }) }),
    }),
    action({ path: '/portal/webhooks/new', access: 'member', run: (visit) => createWebhook(services, visit) }),
    page({ path: '/portal/webhooks/:id', access: 'viewer', show: (visit) => showWebhook(services, visit) }),
    action({ path: '/portal/webhooks/:id/test', access: 'member', run: (visit) => sendTest(services, visit) }),
    action({ path: '/portal/webhooks/:id/rotate', access: 'member', run: (visit) => rotate(services, visit) }),
    action({ path: '/portal/webhooks/:id/delete', access: 'member', run: (visit) => remove(services, visit) }),
    ...editPages(services),
    ...attemptPages(services),
  ];
}

async function showWebhooks({ store }: WebhookServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const all = await store.webhooks.listWebhookHealth(visit.visitor.tenant.id, COUNTED_IN_LIST);
  const mayCreate = visit.may('member');
  const button = html`<a class="button primary" href="/portal/webhooks/new">Add webhook</a>`;
  const body = html`${heading('Webhooks', mayCreate && button)}
<p class="quiet">A webhook URL receives an event for every status change of your messages. It gets every event, or the types that you choose,
signed with its own secret. Failed deliveries are retried for three days.</p>
${all.length > 0 ? listOf(all) : emptyState('No webhooks yet', mayCreate ? html`<a href="/portal/webhooks/new">Add one</a>, or read events with <code>GET /events</code>.` : 'A member or an owner of the account can add one.')}`;
  return view({ title: 'Webhooks', body });
}

function listOf(webhooks: readonly WebhookHealth[]) {
  const heads = ['URL', 'State', 'Waiting', 'Failed', 'Created'];
  const rows = webhooks.map((webhook) => [
    html`<a class="roomy" href="/portal/webhooks/${webhook.id}">${webhook.url}</a>${
      webhook.description !== null && html`<span class="quiet">${webhook.description}</span>`
    }${webhook.events && html`<br><span class="quiet">only ${chosenEvents(webhook)}</span>`}`,
    html`${healthBadge(webhook)}${
      webhook.failingSince !== null && html`<br><span class="quiet">since ${time(webhook.failingSince)}</span>`
    }`,
    countOf(webhook.due, COUNTED_IN_LIST),
    countOf(webhook.failed, COUNTED_IN_LIST),
    time(webhook.createdAt),
  ]);
  return table({ caption: 'Webhooks, oldest first', heads }, rows);
}

async function createWebhook(
  { webhooks, notifyOwners }: WebhookServices,
  visit: VisitOf<'member'>,
): Promise<PageResult> {
  const { formField, form } = visit;
  const [url, description] = [(form.get('url') ?? '').trim(), (form.get('description') ?? '').trim()];
  const events = form.getAll('events');
  const request = { url, ...(description !== '' && { description }), events };
  const result = await webhooks.register(visit.visitor.tenant.id, request);
  if (isRefusal(result)) {
    const body = webhookForm({ formField, url, description, events, problem: result.message });
    return view({ status: 422, title: 'New webhook', body });
  }
  const { webhook, secret } = result;
  const { host } = new URL(webhook.target);
  await visit.audit('webhook.created', { webhook_id: webhook.id, host });
  const { tenant, user } = visit.visitor;
  notifyOwners?.webhookAdded(tenant.id, { id: webhook.id, host, by: user.email });
  const body = newSecret({ webhook, secret, previousUntil: null });
  return view({ title: 'Your new webhook', body });
}

async function sendTest(services: WebhookServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const webhook = await webhookOf(services, visit);
  if (!webhook) return missing();
  const result = await services.tests.send(visit.visitor.tenant.id, webhook.id);
  if (isRefusal(result)) return missing();
  if ('busy' in result) return redirect(`/portal/webhooks/${webhook.id}`, result.busy, 'warn');
  await visit.audit('webhook.tested', { webhook_id: webhook.id, taken: result.accepted, status: result.status });
  return view({ title: 'Test event', body: shownTest(webhook, result, visit.formField) });
}

async function rotate(services: WebhookServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const webhook = await webhookOf(services, visit);
  const rotated = webhook && (await services.webhooks.rotate(visit.visitor.tenant.id, webhook.id));
  if (!rotated || isRefusal(rotated)) return missing();
  await visit.audit('webhook.secret_rotated', { webhook_id: webhook.id });
  return view({ title: 'New secret', body: newSecret({ webhook, ...rotated }) });
}

async function remove(services: WebhookServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const webhook = await webhookOf(services, visit);
  if (!webhook || (await services.webhooks.remove(visit.visitor.tenant.id, webhook.id))) return missing();
  await visit.audit('webhook.deleted', { webhook_id: webhook.id, host: new URL(webhook.target).host });
  return redirect(LIST, `The webhook ${webhook.url} was deleted. Nothing more is sent to it.`);
}
