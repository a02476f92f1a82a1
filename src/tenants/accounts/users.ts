// Users of the portal: of a tenant, or operators of the platform, who belong to none. Their passwords are generated
// here and shown once.

import { parseAddress, policyRefusal } from '../../protocol/mail/addresses/address.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { User, UserRole } from '../../store/tenants.ts';
import { type Refused, refused } from '../refused.ts';
import { noSuchTenant, type TenantServices } from '../tenant-service.ts';
import { generatePassword, hashPassword, verifyPassword } from './passwords.ts';

export interface NewUser {
  /** Null for an operator of the platform. */
  tenantId: string | null;
  email: string;
  /** `owner` by default; operators have no other role. */
  role?: UserRole;
}

export interface UserWithPassword<Kind extends string> {
  kind: Kind;
  user: User;
  /** Shown once, never stored. */
  password: string;
}

export async function createUser(
  services: TenantServices,
  request: NewUser,
): Promise<UserWithPassword<'created'> | Refused> {
  const email = readEmail(request.email);
  if (typeof email !== 'string') return email;
  const role = request.role ?? (request.tenantId === null ? 'operator' : 'owner');
  if ((role === 'operator') !== (request.tenantId === null)) {
    return refused('role', 'an operator belongs to no tenant, and everybody else to one');
  }
  if (request.tenantId !== null && !(await services.store.tenants.getTenant(request.tenantId))) {
    return noSuchTenant(request.tenantId);
  }
  const password = generatePassword();
  const user: User = {
    id: services.ids.next(),
    tenantId: request.tenantId,
    email,
    role,
    passwordHash: await hashPassword(password),
    createdAt: services.clock.now(),
  };
  if ((await services.store.accounts.createUser(user)) === 'exists') {
    return refused(null, `there is already a user ${email}`);
  }
  return { kind: 'created', user, password };
}

/** Gives the user a new password; the old one and all sessions become invalid. */
export async function resetPassword(
  services: Pick<TenantServices, 'store'>,
  givenEmail: string,
): Promise<UserWithPassword<'reset'> | Refused> {
  const email = readEmail(givenEmail);
  if (typeof email !== 'string') return email;
  const user = await services.store.accounts.findUserByEmail(email);
  if (!user) return refused(null, `there is no user ${email}`);
  const password = generatePassword();
  const passwordHash = await hashPassword(password);
  await services.store.accounts.setPassword(user.id, passwordHash);
  await services.store.accounts.endSessionsOf(user.id);
  return { kind: 'reset', user: { ...user, passwordHash }, password };
}

/** The user with this address and password, or null. An unknown address takes as long. */
export async function verifyUser(
  login: { email: string; password: string },
  store: StoreVerbs<{ accounts: 'findUserByEmail' }>,
): Promise<User | null> {
  const email = readEmail(login.email);
  const user = typeof email === 'string' ? await store.accounts.findUserByEmail(email) : null;
  if (!user) {
    await hashPassword(login.password.slice(0, 100));
    return null;
  }
  return (await verifyPassword(login.password, user.passwordHash)) ? user : null;
}

/** Lower case in both parts: no two logins may differ in case only. */
export function readEmail(text: string): string | Refused {
  const parsed = parseAddress(text);
  if (!parsed.ok) return refused('email', parsed.reason);
  const { address } = parsed;
  const problem = policyRefusal(address);
  if (problem) return refused('email', problem);
  return `${address.local.toLowerCase()}@${address.asciiDomain}`;
}
