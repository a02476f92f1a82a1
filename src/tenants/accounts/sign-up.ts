// Sign-ups, where the configuration allows them: the tenant is pending until the address is confirmed, then in review
// until an operator approves it. The answer does not reveal whether the address has an account.
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import type { TimerSpec } from '../../base/timers.ts';
import type { Tenant, User } from '../../store/tenants.ts';
import { actOf } from '../audit-log.ts';
import { nameProblem, refused } from '../refused.ts';
import { newTenant } from '../tenant-service.ts';
import type { AccountKit, Client } from './account-kit.ts';
import {
  CONFIRMATION_LIFE_MS,
  type MailRequestResult,
  mailGates,
  notifyExistingAccount,
  sendConfirmation,
} from './mail-proofs.ts';
import { passwordProblem } from './password-rules.ts';
import { readEmail } from './users.ts';

export interface SignUpRequest {
  /** Of the organization. */
  name: string;
  email: string;
  password: string;
}

export async function signUp(kit: AccountKit, request: SignUpRequest, client: Client): Promise<MailRequestResult> {
  const problem = nameProblem(request.name);
  if (problem) return refused('name', `The name ${problem}.`);
  const email = readEmail(request.email);
  if (typeof email !== 'string') return email;
  const weakness = passwordProblem(request.password, { email, name: request.name });
  if (weakness) return refused('password', weakness);
  const waitMs = await kit.throttles.take(mailGates(client));
  if (waitMs > 0) return { kind: 'wait', waitMs };
  // Takes as long for an address that has an account.
  const passwordHash = await kit.passwords.hash(request.password);
  kit.inBackground(() => open(kit, { ...request, email, passwordHash }, client));
  return { kind: 'sent' };
}

async function open(
  kit: AccountKit,
  { name, email, passwordHash }: { name: string; email: string; passwordHash: string },
  client: Client,
): Promise<void> {
  const { store, ids, clock } = kit;
  const createdAt = clock.now();
  const tenant: Tenant = newTenant({ id: ids.next(), name, status: 'pending_verification', createdAt });
  const user: User = { id: ids.next(), tenantId: tenant.id, email, role: 'owner', passwordHash, createdAt };
  if ((await store.accounts.signUp({ tenant, user })) === 'created') {
    await store.audit.recordAudit(actOf(user, { action: 'tenant.signed_up', at: createdAt, address: client.ip }));
    return sendConfirmation(kit, user);
  }
  const existing = await store.accounts.findUserByEmail(email);
  if (!existing) return;
  // The password of the first sign-up stays: the second may come from another person.
  if (await store.accounts.isUnconfirmed(existing.id)) await sendConfirmation(kit, existing);
  else await notifyExistingAccount(kit, existing);
}

const ERASE_BATCH = 200;

/** Erases expired links, and sign-ups that were never confirmed. */
export function signUpTimer({ store, clock }: Pick<AccountKit, 'store' | 'clock'>): TimerSpec {
  return {
    name: 'links and sign-ups',
    periodMs: HOUR_MS,
    async run() {
      const now = clock.now();
      const links = await store.accounts.eraseMailLinks(now, ERASE_BATCH);
      const signUps = await store.accounts.eraseSignUps(now - CONFIRMATION_LIFE_MS - DAY_MS, ERASE_BATCH);
      return `${links} links and ${signUps} sign-ups erased`;
    },
  };
}
