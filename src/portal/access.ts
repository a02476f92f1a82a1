// Who may see a page: decided from its access and the visitor alone. What is not for a person is not
// there for them, except that a tenant's people are told which role a page needs.
import type { Visitor } from '../store/accounts.ts';
import type { Access } from './page.ts';

export type Admission =
  | { kind: 'admitted' }
  | { kind: 'sign_in' }
  | { kind: 'missing' }
  | { kind: 'role'; message: string };

const RANK = { viewer: 0, member: 1, owner: 2 } as const;

export type TenantRole = keyof typeof RANK;

export function admit(access: Access, visitor: Visitor | null): Admission {
  if (access === 'everybody') return { kind: 'admitted' };
  if (visitor === null) return { kind: 'sign_in' };
  if (access === 'user') return { kind: 'admitted' };
  const isOperator = visitor.user.role === 'operator';
  if (access === 'operator') return isOperator ? { kind: 'admitted' } : { kind: 'missing' };
  if (isOperator || visitor.tenant === null) return { kind: 'missing' };
  if (hasRole(visitor, access)) return { kind: 'admitted' };
  return { kind: 'role', message: roleMessage(access, visitor) };
}

export function hasRole({ user, tenant }: Visitor, role: TenantRole): boolean {
  return tenant !== null && user.role !== 'operator' && RANK[user.role] >= RANK[role];
}

function roleMessage(needed: TenantRole, { user, tenant }: Visitor): string {
  const who = needed === 'owner' ? 'an owner' : 'a member or an owner';
  return `Only ${who} of ${tenant!.name} can do this; you are signed in as a ${user.role}. Ask an owner to do it or to change your role.`;
}
