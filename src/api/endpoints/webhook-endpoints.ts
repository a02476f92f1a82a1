// POST and GET /webhooks, GET, PATCH and DELETE /webhooks/{id}, POST /webhooks/{id}/rotate.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal, refuse } from '../../base/refusals.ts';
import type { Webhook } from '../../store/webhooks.ts';
import type { OwnerNotices } from '../../tenants/owner-notices.ts';
import type { ChangeWebhook, RegisterWebhook, Webhooks } from '../../webhooks/webhooks.ts';
import { ok } from '../answer.ts';
import { loadBodyShape } from '../body-shape.ts';
import type { Endpoint } from '../endpoint.ts';
import { refuseUnknown } from '../query.ts';

export function webhookEndpoints(webhooks: Webhooks, notifyOwners?: OwnerNotices): Endpoint[] {
  const shape = loadBodyShape<RegisterWebhook>('register-webhook');

  return [
    {
      method: 'POST',
      pattern: '/webhooks',
      scope: 'webhooks:write',
      body: 'json',
      async answer({ tenant, key, read, audit }) {
        const request = await read(shape);
        if (isRefusal(request)) return request;
        const result = await webhooks.register(tenant.id, request);
        if (isRefusal(result)) return result;
        const { host } = new URL(result.webhook.target);
        await audit('webhook.created', { webhook_id: result.webhook.id, host });
        notifyOwners?.webhookAdded(tenant.id, { id: result.webhook.id, host, by: `the API key "${key.name}"` });
        // The one answer that shows the secret.
        return { status: 201, body: { ...webhookRecord(result.webhook), secret: result.secret.toString('base64') } };
      },
    },
    {
      method: 'GET',
      pattern: '/webhooks',
      scope: null,
      body: 'none',
      answer: async ({ tenant, query }) =>
        refuseUnknown(query(), []) ?? ok({ webhooks: (await webhooks.list(tenant.id)).map(webhookRecord) }),
    },
    {
      method: 'GET',
      pattern: '/webhooks/:id',
      scope: null,
      body: 'none',
      async answer({ tenant, id }) {
        const webhook = await webhooks.get(tenant.id, id);
        return isRefusal(webhook) ? webhook : ok(webhookRecord(webhook));
      },
    },
    changeEndpoint(webhooks, notifyOwners),
    {
      method: 'POST',
      pattern: '/webhooks/:id/rotate',
      scope: 'webhooks:write',
      body: 'none',
      async answer({ tenant, id, audit }) {
        const webhook = await webhooks.get(tenant.id, id);
        if (isRefusal(webhook)) return webhook;
        const rotated = await webhooks.rotate(tenant.id, id);
        if (isRefusal(rotated)) return rotated;
        await audit('webhook.secret_rotated', { webhook_id: webhook.id });
        const secret = rotated.secret.toString('base64');
        return ok({ ...webhookRecord(webhook), secret, previous_until: toTimestamp(rotated.previousUntil) });
      },
    },
    {
      method: 'DELETE',
      pattern: '/webhooks/:id',
      scope: 'webhooks:write',
      body: 'none',
      async answer({ tenant, id, audit }) {
        const webhook = await webhooks.get(tenant.id, id);
        if (isRefusal(webhook)) return webhook;
        const refusal = await webhooks.remove(tenant.id, id);
        if (refusal) return refusal;
        await audit('webhook.deleted', { webhook_id: webhook.id, host: new URL(webhook.target).host });
        return { status: 204 };
      },
    },
  ];
}

const NOTHING_TO_CHANGE = 'The request body must have at least one of url, description and events.';

function changeEndpoint(webhooks: Webhooks, notifyOwners?: OwnerNotices): Endpoint {
  const shape = loadBodyShape<ChangeWebhook>('change-webhook');

  return {
    method: 'PATCH',
    pattern: '/webhooks/:id',
    scope: 'webhooks:write',
    body: 'json',
    async answer({ tenant, key, id, read, audit }) {
      const request = await read(shape);
      if (isRefusal(request)) return request;
      const changed = Object.keys(request);
      if (changed.length === 0) return refuse('validation_failed', NOTHING_TO_CHANGE);
      const before = await webhooks.get(tenant.id, id);
      if (isRefusal(before)) return before;
      const webhook = await webhooks.change(tenant.id, id, request);
      if (isRefusal(webhook)) return webhook;
      const { host } = new URL(webhook.target);
      await audit('webhook.changed', { webhook_id: webhook.id, host, changed: changed.join(' ') });
      const by = `the API key "${key.name}"`;
      if (host !== new URL(before.target).host) notifyOwners?.webhookMoved(tenant.id, { id: webhook.id, host, by });
      return ok(webhookRecord(webhook));
    },
  };
}

function webhookRecord(webhook: Webhook) {
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    created_at: toTimestamp(webhook.createdAt),
    ...(webhook.events && { events: webhook.events }),
  };
}
