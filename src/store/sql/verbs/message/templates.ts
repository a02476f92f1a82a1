// Templates of tenants.

import type {
  Template,
  TemplateContent,
  TemplateExcess,
  TemplateName,
  TemplateQuota,
  TemplateReplacement,
  TemplateStore,
} from '../../../templates.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { BEHIND_ALL_IDS, fromId, type Row, toId } from '../../values.ts';

export function templateVerbs(db: Transaction): Work<TemplateStore> {
  return {
    createTemplate: (tenantId, template, quota) => createTemplate(db, { tenantId, template, quota }),
    *listTemplates(tenantId) {
      const rows = db.sql('SELECT * FROM templates WHERE tenant_id = +? ORDER BY id');
      return ((yield* rows.all(toId(tenantId))) as Row[]).map(templateFromRow);
    },
    listTemplateNames: (tenantId, page) => listNames(db, tenantId, page),
    getTemplate: (tenantId, id) => readTemplate(db, tenantId, id),
    replaceTemplate: (tenantId, id, change) => replaceTemplate(db, { tenantId, id, change }),
    *deleteTemplate(tenantId, id) {
      const remove = db.sql('DELETE FROM templates WHERE tenant_id = +? AND id = +?');
      return (yield* remove.run(toId(tenantId), toId(id))).changes === 1;
    },
  };
}

function* listNames(
  db: Transaction,
  tenantId: string,
  { before, limit }: { before: string | null; limit: number },
): Steps<TemplateName[]> {
  const rows = db.sql(
    `SELECT id, name, html IS NOT NULL AS has_html, text IS NOT NULL AS has_text, updated_at, changed_by
     FROM templates WHERE tenant_id = +? AND id < +? ORDER BY id DESC LIMIT +?`,
  );
  const found = (yield* rows.all(toId(tenantId), before === null ? BEHIND_ALL_IDS : toId(before), limit)) as Row[];
  return found.map((row) => ({
    id: fromId(row.id),
    name: row.name as string,
    hasHtml: row.has_html === 1,
    hasText: row.has_text === 1,
    updatedAt: row.updated_at as number,
    changedBy: row.changed_by as string | null,
  }));
}

function* createTemplate(
  db: Transaction,
  { tenantId, template, quota }: { tenantId: string; template: Template; quota: TemplateQuota },
): Steps<'created' | TemplateExcess> {
  const [tenant, id] = [toId(tenantId), toId(template.id)];
  const others = yield* usage(db, tenant, id);
  if (others.count >= quota.templates) return 'too_many';
  if (others.bytes + bytesOf(template) > quota.bytes) return 'too_large';
  yield* db
    .sql(
      `INSERT INTO templates (tenant_id, id, name, html, text, subject, created_at, updated_at, changed_by)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?)`,
    )
    .run(
      ...[tenant, id, template.name, template.html, template.text, template.subject ?? null],
      ...[template.createdAt, template.updatedAt, template.changedBy],
    );
  return 'created';
}

function* replaceTemplate(
  db: Transaction,
  { tenantId, id, change }: { tenantId: string; id: string; change: TemplateReplacement },
): Steps<Template | 'too_large' | null> {
  const { content, updatedAt, changedBy, quota } = change;
  if (!(yield* readTemplate(db, tenantId, id))) return null;
  if ((yield* usage(db, toId(tenantId), toId(id))).bytes + bytesOf(content) > quota.bytes) return 'too_large';
  yield* db
    .sql(
      `UPDATE templates SET name = +?, html = +?, text = +?, subject = +?, updated_at = +?, changed_by = +?
     WHERE tenant_id = +? AND id = +?`,
    )
    .run(
      ...[content.name, content.html, content.text, content.subject ?? null, updatedAt, changedBy],
      ...[toId(tenantId), toId(id)],
    );
  return yield* readTemplate(db, tenantId, id);
}

/** What the tenant's other templates take. octet_length does not read the text, only its length. */
function* usage(db: Transaction, tenant: Buffer, except: Buffer): Steps<{ count: number; bytes: number }> {
  return (yield* db
    .sql(
      `SELECT count(*) AS count,
         coalesce(sum(coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)
           + coalesce(octet_length(subject), 0)), 0) AS bytes
       FROM templates WHERE tenant_id = +? AND id <> +?`,
    )
    .get(tenant, except)) as { count: number; bytes: number };
}

function bytesOf({ html, text, subject }: TemplateContent): number {
  return [html, text, subject].reduce((sum, part) => sum + Buffer.byteLength(part ?? ''), 0);
}

function* readTemplate(db: Transaction, tenantId: string, id: string): Steps<Template | null> {
  const row = yield* db.sql('SELECT * FROM templates WHERE tenant_id = +? AND id = +?').get(toId(tenantId), toId(id));
  return row === undefined ? null : templateFromRow(row as Row);
}

function templateFromRow(row: Row): Template {
  return {
    id: fromId(row.id),
    name: row.name as string,
    html: row.html as string | null,
    text: row.text as string | null,
    ...(row.subject !== null && { subject: row.subject as string }),
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    changedBy: row.changed_by as string | null,
  };
}
