// Conformance: templates: kept as they are, replaced as a whole, within the tenant's quota.
import type { Test } from 'tap';
import type { Template } from '../../../src/store/templates.ts';
import { type Bench, T0 } from './harness.ts';

const QUOTA = { templates: 3, bytes: 100 };

export function newTemplate(bench: Bench, change: Partial<Template> = {}): Template {
  const content = { name: 'Hello', html: '<p>{{ a }}</p>', text: null };
  return { id: bench.id(), ...content, createdAt: T0, updatedAt: T0, changedBy: null, ...change };
}

async function kept(bench: Bench, tenantId: string, change: Partial<Template> = {}): Promise<Template> {
  const template = newTemplate(bench, change);
  if ((await bench.store.templates.createTemplate(tenantId, template, QUOTA)) !== 'created')
    throw new Error('not created');
  return template;
}

export const templateCases = {
  'a template is kept as it is': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const template = await kept(bench, tenantId, { name: 'Grüße 🎉', html: null, text: 'a\r\n\u0000{{ ü }}' });
    t.strictSame(await bench.store.templates.getTemplate(tenantId, template.id), template);
    t.equal(await bench.store.templates.getTemplate(tenantId, bench.id()), null);
  },

  'a subject is kept, counts, and goes when it is left out': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const template = await kept(bench, tenantId, { subject: 'Hi {{ ü }}' });
    t.strictSame(await bench.store.templates.getTemplate(tenantId, template.id), template);
    const replace = (subject?: string) => {
      const content = { name: 'New', html: null, text: 'Hi', ...(subject !== undefined && { subject }) };
      const change = { content, updatedAt: T0, changedBy: null, quota: QUOTA };
      return bench.store.templates.replaceTemplate(tenantId, template.id, change);
    };
    t.match(await replace('ü'.repeat(49)), { subject: 'ü'.repeat(49) });
    t.equal(await replace(`${'ü'.repeat(49)}x`), 'too_large');
    const rest = newTemplate(bench, { text: 'x', html: null });
    t.equal(await bench.store.templates.createTemplate(tenantId, rest, QUOTA), 'too_large');
    t.notOk('subject' in ((await replace()) as Template));
    t.equal(await bench.store.templates.createTemplate(tenantId, rest, QUOTA), 'created');
  },

  'the list is oldest first': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const templates = [];
    for (const name of ['b', 'a', 'c']) templates.push(await kept(bench, tenantId, { name }));
    t.strictSame(await bench.store.templates.listTemplates(tenantId), templates);
  },

  'a page of names is newest first': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const stranger = await bench.tenant();
    const older = await kept(bench, tenantId, { name: 'older', html: null, text: 'x' });
    const newer = await kept(bench, tenantId, { name: 'newer', text: 'x', changedBy: 'ann@acme.test' });
    await kept(bench, stranger.id);
    const names = (before: string | null, limit = 10) =>
      bench.store.templates.listTemplateNames(tenantId, { before, limit });
    const asListed = ({ id, name, updatedAt, changedBy, html }: Template) => {
      return { id, name, hasHtml: html !== null, hasText: true, updatedAt, changedBy };
    };
    t.strictSame(await names(null), [asListed(newer), asListed(older)]);
    t.strictSame(await names(null, 1), [asListed(newer)]);
    t.strictSame(await names(newer.id), [asListed(older)]);
    t.strictSame(await names(older.id), []);
  },

  'replacing replaces all three and keeps the rest': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const template = await kept(bench, tenantId);
    const other = await kept(bench, tenantId);
    const content = { name: 'New', html: null, text: 'Hi' };
    const change = { content, updatedAt: T0 + 1, changedBy: 'ann@acme.test', quota: QUOTA };
    const replaced = await bench.store.templates.replaceTemplate(tenantId, template.id, change);
    t.strictSame(replaced, { ...template, ...content, updatedAt: T0 + 1, changedBy: 'ann@acme.test' });
    t.strictSame(await bench.store.templates.listTemplates(tenantId), [replaced, other]);
    t.equal(await bench.store.templates.replaceTemplate(tenantId, bench.id(), change), null);
  },

  'deleting deletes once': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const { id } = await kept(bench, tenantId);
    t.equal(await bench.store.templates.deleteTemplate(tenantId, id), true);
    t.equal(await bench.store.templates.deleteTemplate(tenantId, id), false);
    t.strictSame(await bench.store.templates.listTemplates(tenantId), []);
  },

  'the quota counts templates and bytes': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const create = (text: string) =>
      bench.store.templates.createTemplate(tenantId, newTemplate(bench, { html: null, text }), QUOTA);
    t.equal(await create('ü'.repeat(51)), 'too_large', '102 bytes');
    const first = await kept(bench, tenantId, { html: 'x'.repeat(40), text: 'ü'.repeat(10) });
    t.equal(await create('x'.repeat(41)), 'too_large');
    t.equal(await create('x'.repeat(40)), 'created', 'to the byte');
    const replace = (size: number) => {
      const content = { name: 'x', html: null, text: 'x'.repeat(size) };
      return bench.store.templates.replaceTemplate(tenantId, first.id, {
        content,
        updatedAt: T0,
        changedBy: null,
        quota: QUOTA,
      });
    };
    t.equal(await replace(61), 'too_large');
    t.equal(((await replace(60)) as Template).text?.length, 60, 'its own old size does not count');
    await replace(1);
    t.equal(await create('x'), 'created');
    t.equal(await create('x'), 'too_many');
    t.equal(
      await bench.store.templates.createTemplate((await bench.tenant()).id, newTemplate(bench), QUOTA),
      'created',
    );
  },

  'another tenant sees and changes nothing': async (t: Test, bench: Bench) => {
    const [owner, stranger] = [await bench.tenant(), await bench.tenant()];
    const template = await kept(bench, owner.id);
    t.equal(await bench.store.templates.getTemplate(stranger.id, template.id), null);
    t.strictSame(await bench.store.templates.listTemplates(stranger.id), []);
    t.equal(await bench.store.templates.deleteTemplate(stranger.id, template.id), false);
    const change = { content: { name: 'x', html: 'x', text: null }, updatedAt: T0 + 1, changedBy: null, quota: QUOTA };
    t.equal(await bench.store.templates.replaceTemplate(stranger.id, template.id, change), null);
    t.strictSame(await bench.store.templates.getTemplate(owner.id, template.id), template);
  },
};
