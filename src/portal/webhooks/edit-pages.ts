// Changing a webhook: its URL, its description and its events. The secret has a way of its own.
import { isUuid } from '../../base/ids.ts';
import { isRefusal } from '../../base/refusals.ts';
import type { Webhook } from '../../store/webhooks.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { webhookForm } from './webhook-form.ts';
import type { WebhookServices } from './webhook-services.ts';

const PATH = '/portal/webhooks/:id/edit';
const TITLE = 'Edit webhook';

export function editPages(services: WebhookServices): PortalRoute[] {
  return [
    page({ path: PATH, access: 'member', show: (visit) => showForm(services, visit) }),
    action({ path: PATH, access: 'member', run: (visit) => change(services, visit) }),
  ];
}

/** The tenant's own, which the path names. */
export async function webhookOf(
  { webhooks }: Pick<WebhookServices, 'webhooks'>,
  { params, visitor }: VisitOf<'member'>,
): Promise<Webhook | null> {
  const { id = '' } = params;
  const webhook = isUuid(id) ? await webhooks.get(visitor.tenant.id, id) : null;
  return webhook === null || isRefusal(webhook) ? null : webhook;
}

async function showForm(services: WebhookServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const webhook = await webhookOf(services, visit);
  if (!webhook) return missing();
  const { url, description, events = [] } = webhook;
  const { formField } = visit;
  const body = webhookForm({ formField, url, description: description ?? '', events, changed: webhook });
  return view({ title: TITLE, body });
}

async function change(services: WebhookServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const webhook = await webhookOf(services, visit);
  if (!webhook) return missing();
  const { form, formField, visitor } = visit;
  const url = (form.get('url') ?? '').trim();
  const description = (form.get('description') ?? '').trim();
  const events = form.getAll('events');
  const wasEvents = webhook.events ?? [];
  const changed = [
    ...(url === webhook.url ? [] : ['url']),
    ...(description === (webhook.description ?? '') ? [] : ['description']),
    ...(events.length === wasEvents.length && wasEvents.every((one) => events.includes(one)) ? [] : ['events']),
  ];
  const path = `/portal/webhooks/${webhook.id}`;
  if (changed.length === 0) return redirect(path, 'Nothing was changed.', 'warn');
  const wanted = Object.fromEntries(
    Object.entries({ url, description, events }).filter(([name]) => changed.includes(name)),
  );
  const result = await services.webhooks.change(visitor.tenant.id, webhook.id, wanted);
  if (isRefusal(result)) {
    const body = webhookForm({ formField, url, description, events, changed: webhook, problem: result.message });
    return view({ status: 422, title: TITLE, body });
  }
  const { host } = new URL(result.target);
  await visit.audit('webhook.changed', { webhook_id: webhook.id, host, changed: changed.join(' ') });
  if (host !== new URL(webhook.target).host) {
    services.notifyOwners?.webhookMoved(visitor.tenant.id, { id: webhook.id, host, by: visitor.user.email });
  }
  return redirect(path, 'The webhook was changed.');
}
