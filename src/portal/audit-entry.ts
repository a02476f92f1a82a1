// What a page has written down about its visit, as the audit log keeps it. An operator's act names the tenant that
// it is about in its detail `tenant_id`; then it stands in that tenant's log as well.
import { isUuid } from '../base/ids.ts';
import type { NewAuditEntry } from '../store/audit.ts';
import { actOf } from '../tenants/audit-log.ts';
import type { AuditEntry } from './create-portal.ts';

export function auditEntry({ action, visitor, ip, at, details }: AuditEntry): NewAuditEntry {
  if (visitor === null) {
    return {
      tenantId: null,
      at,
      actor: 'system',
      userId: null,
      who: 'not signed in',
      address: ip,
      action,
      data: details,
    };
  }
  const { tenant_id: about, ...data } = details;
  const tenantId = typeof about === 'string' && isUuid(about) ? about : null;
  return actOf(visitor.user, { action, at, address: ip, data, tenantId });
}

/** `domain.check_asked` reads as it is: two words and what happened. */
export function actionInWords(action: string): string {
  return action.replace(/[._]/g, ' ');
}
