// POST and GET /templates, GET, PUT and DELETE /templates/{id}.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import type { Template } from '../../store/templates.ts';
import type { TemplateBody, Templates } from '../../templates/templates.ts';
import { type Answer, ok } from '../answer.ts';
import { loadBodyShape } from '../body-shape.ts';
import type { Endpoint } from '../endpoint.ts';
import { refuseUnknown } from '../query.ts';

export function templateEndpoints(templates: Templates): Endpoint[] {
  const shape = loadBodyShape<TemplateBody>('template');

  return [
    {
      method: 'POST',
      pattern: '/templates',
      scope: 'templates:write',
      body: 'json',
      async answer({ tenant, read, audit }) {
        const body = await read(shape);
        if (isRefusal(body)) return body;
        const template = await templates.create(tenant.id, body);
        if (!isRefusal(template)) await audit('template.created', { template: template.id, name: template.name });
        return answerWith(201, template);
      },
    },
    {
      method: 'GET',
      pattern: '/templates',
      scope: null,
      body: 'none',
      answer: async ({ tenant, query }) =>
        refuseUnknown(query(), []) ?? ok({ templates: (await templates.list(tenant.id)).map(templateRecord) }),
    },
    {
      method: 'GET',
      pattern: '/templates/:id',
      scope: null,
      body: 'none',
      answer: async ({ tenant, id }) => answerWith(200, await templates.get(tenant.id, id)),
    },
    {
      method: 'PUT',
      pattern: '/templates/:id',
      scope: 'templates:write',
      body: 'json',
      async answer({ tenant, id, read, audit }) {
        const body = await read(shape);
        if (isRefusal(body)) return body;
        const template = await templates.replace(tenant.id, id, body);
        if (!isRefusal(template)) await audit('template.changed', { template: template.id, name: template.name });
        return answerWith(200, template);
      },
    },
    {
      method: 'DELETE',
      pattern: '/templates/:id',
      scope: 'templates:write',
      body: 'none',
      async answer({ tenant, id, audit }) {
        const template = await templates.get(tenant.id, id);
        if (isRefusal(template)) return template;
        const refusal = await templates.remove(tenant.id, id);
        if (refusal) return refusal;
        await audit('template.deleted', { template: template.id, name: template.name });
        return { status: 204 };
      },
    },
  ];
}

function answerWith(status: number, result: Template | Refusal): Answer | Refusal {
  return isRefusal(result) ? result : { status, body: templateRecord(result) };
}

function templateRecord({ id, name, html, text, subject, createdAt, updatedAt }: Template) {
  const times = { created_at: toTimestamp(createdAt), updated_at: toTimestamp(updatedAt) };
  return { id, name, html, text, ...(subject !== undefined && { subject }), ...times };
}
