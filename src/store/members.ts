// Contract: the people of a tenant, and the operators of the platform.
import type { User, UserRole } from './tenants.ts';

export type MemberRole = Exclude<UserRole, 'operator'>;

export interface Member extends Omit<User, 'passwordHash'> {
  /** Null: not within the sessions that are kept. */
  lastSeenAt: number | null;
  /** Signs in with a second factor. */
  hasSecondFactor: boolean;
}

/** A tenant without an owner could be helped by operators only, so the last one stays. */
export type MemberChange = 'changed' | 'unknown' | 'last_owner';

export interface MemberStore {
  getUser(id: string): Promise<User | null>;
  /** Oldest first. */
  listMembers(tenantId: string): Promise<Member[]>;
  /** Oldest first. */
  listOperators(): Promise<Member[]>;
  changeRole(tenantId: string, userId: string, role: MemberRole): Promise<MemberChange>;
  /** With sessions, second factor and everything. */
  removeMember(tenantId: string, userId: string): Promise<MemberChange>;
}
