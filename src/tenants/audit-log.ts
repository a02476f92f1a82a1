// Entries of the audit log. They name the actor in a way that can still be read when user and tenant are gone.
import type { NewAuditEntry } from '../store/audit.ts';
import type { ApiKey, User } from '../store/tenants.ts';
import { publicPart } from './api-keys.ts';

export interface Act {
  action: string;
  at: number;
  /** Of the client. */
  address: string;
  data?: NewAuditEntry['data'];
  /** The tenant that an operator's act is about. */
  tenantId?: string | null;
}

/** An act of a signed-in user. */
export function actOf(user: User, { action, at, address, data = {}, tenantId }: Act): NewAuditEntry {
  const isOperator = user.role === 'operator';
  return {
    tenantId: isOperator ? (tenantId ?? null) : user.tenantId,
    at,
    address,
    action,
    data,
    actor: isOperator ? 'operator' : 'user',
    userId: user.id,
    who: user.email,
  };
}

/** An act about an account by a client that has not proved to be its user. */
export function actOfUnknownClient(
  user: User,
  { action, at, address, data = {} }: Omit<Act, 'tenantId'>,
): NewAuditEntry {
  return {
    tenantId: user.tenantId,
    at,
    address,
    action,
    data: { account: user.email, ...data },
    actor: 'system',
    userId: user.id,
    who: 'not signed in',
  };
}

/** An act of a program with an API key. */
export function actOfKey(key: ApiKey, { action, at, address, data = {} }: Omit<Act, 'tenantId'>): NewAuditEntry {
  return {
    tenantId: key.tenantId,
    at,
    address,
    action,
    data,
    actor: 'key',
    userId: null,
    keyId: key.id,
    who: `${key.name} (${publicPart(key.publicId)})`,
  };
}

/** An act on the command line. */
export function actOfCommand(act: Pick<NewAuditEntry, 'tenantId' | 'at' | 'action' | 'data'>): NewAuditEntry {
  return { ...act, actor: 'command', userId: null, who: 'command line', address: null };
}
