// What commands have changed, in the audit log beside what people do in the portal. Who typed the command
// cannot be known in the daemon.

import type { OperatorServices } from '../operator/operator-services.ts';
import type { NewAuditEntry } from '../store/audit.ts';
import { actOfCommand } from '../tenants/audit-log.ts';

export function recordAct(
  { store, clock }: Pick<OperatorServices, 'store' | 'clock'>,
  tenantId: string | null,
  action: string,
  given: Readonly<Record<string, NewAuditEntry['data'][string] | undefined>>,
): Promise<void> {
  const data = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return store.audit.recordAudit(
    actOfCommand({ tenantId, action, data: data as NewAuditEntry['data'], at: clock.now() }),
  );
}
