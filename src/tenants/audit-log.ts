// Entries of the audit log: who did it, as a line that can still be read when user and tenant are gone.
import type { NewAuditEntry } from '../store/audit.ts';
import type { User } from '../store/tenants.ts';

export interface Act {
  action: string;
  at: number;
  /** Of the client. */
  address: string;
  data?: NewAuditEntry['data'];
  /** The tenant that it is about, when an operator did it. */
  tenantId?: string | null;
}

/** What a person did. */
export function actOf(user: User, { action, at, address, data = {}, tenantId }: Act): NewAuditEntry {
  const isOperator = user.role === 'operator';
  return {
    tenantId: isOperator ? (tenantId ?? null) : user.tenantId,
    ...{ at, address, action, data },
    actor: isOperator ? 'operator' : 'user',
    userId: user.id,
    who: user.email,
  };
}

/** What a command of the command line did. */
export function actOfCommand(act: Pick<NewAuditEntry, 'tenantId' | 'at' | 'action' | 'data'>): NewAuditEntry {
  return { ...act, actor: 'command', userId: null, who: 'command line', address: null };
}
