// Links in mails prove that their user reads the address: new passwords, invitations, the confirmation of a sign-up.
// Each link works once; opening its page does not use it up, because mail programs open links automatically.
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { networkOf } from '../../base/ip-address.ts';
import type { MailLink } from '../../store/accounts.ts';
import type { MemberRole, Tenant, User } from '../../store/tenants.ts';
import { actOf, actOfUnknownClient } from '../audit-log.ts';
import { type Refused, refused } from '../refused.ts';
import type { AccountKit, Client } from './account-kit.ts';
import {
  type AccountMail,
  confirmationMail,
  existingAccountMail,
  invitationMail,
  resetMail,
  signUpMail,
} from './account-mails.ts';
import type { Gates } from './account-throttles.ts';
import { passwordProblem } from './password-rules.ts';
import { newToken, tokenHash } from './secret-tokens.ts';
import { readEmail } from './users.ts';

const RESET_LIFE_MS = HOUR_MS;
const INVITATION_LIFE_MS = 7 * DAY_MS;
export const CONFIRMATION_LIFE_MS = 7 * DAY_MS;
/** Enough for a team; more at once is likely a bought list. */
const MAX_OPEN_INVITATIONS = 50;

export type MailRequestResult = { kind: 'sent' } | { kind: 'wait'; waitMs: number } | Refused;

export type Purpose = MailLink['purpose'];

const PAGES: Readonly<Record<Purpose, string>> = {
  reset: '/portal/reset/password',
  invitation: '/portal/join',
  confirmation: '/portal/confirm',
};

function portalUrl({ baseUrl }: Pick<AccountKit, 'baseUrl'>, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}${path}`;
}

/** Always the same answer; only the mail reveals whether the address has an account. */
export async function askForReset(kit: AccountKit, givenEmail: string, client: Client): Promise<MailRequestResult> {
  const email = readEmail(givenEmail);
  if (typeof email !== 'string') return email;
  const waitMs = await kit.throttles.take(mailGates(client));
  if (waitMs > 0) return { kind: 'wait', waitMs };
  kit.inBackground(async () => {
    // Counted for an address without an account as well: a later invitation to it could reveal the difference.
    const isAllowed = await mayMail(kit, email);
    const user = await kit.store.accounts.findUserByEmail(email);
    if (!user || !isAllowed) return;
    await sendLink(kit, { purpose: 'reset', user }, resetMail);
    await kit.store.audit.recordAudit(
      actOfUnknownClient(user, { action: 'user.reset_asked', at: kit.clock.now(), address: client.ip }),
    );
  });
  return { kind: 'sent' };
}

export function mailGates({ ip }: Client): Gates {
  return [
    ['mailsFrom', networkOf(ip)],
    ['mails', 'all'],
  ];
}

/** Only a few mails to one address, whoever triggers them. */
async function mayMail({ throttles }: AccountKit, email: string): Promise<boolean> {
  return (await throttles.take([['mailsTo', email]])) === 0;
}

export async function sendConfirmation(kit: AccountKit, user: User): Promise<void> {
  if (await mayMail(kit, user.email)) await sendLink(kit, { purpose: 'confirmation', user }, confirmationMail);
}

export async function notifyExistingAccount(kit: AccountKit, { id, email }: User): Promise<void> {
  if (!(await mayMail(kit, email))) return;
  const mail = existingAccountMail(portalUrl(kit, '/portal/sign-in'), portalUrl(kit, '/portal/reset'));
  kit.notify([email], { ...mail, key: `already-there:${id}:${kit.ids.next()}` });
}

async function sendLink(
  kit: AccountKit,
  { purpose, user }: { purpose: 'reset' | 'confirmation'; user: User },
  words: (link: string) => AccountMail,
): Promise<void> {
  const lifeMs = purpose === 'reset' ? RESET_LIFE_MS : CONFIRMATION_LIFE_MS;
  const { link, url } = newLink(kit, { purpose, email: user.email, userId: user.id }, lifeMs);
  await kit.store.accounts.keepMailLink(link);
  kit.notify([user.email], { ...words(url), key: `link:${link.id}` });
}

function newLink(
  kit: AccountKit,
  of: Pick<MailLink, 'purpose' | 'email'> & Partial<MailLink>,
  lifeMs: number,
): { link: MailLink; url: string } {
  const token = newToken();
  const createdAt = kit.clock.now();
  const link: MailLink = {
    id: kit.ids.next(),
    tokenHash: tokenHash(token)!,
    userId: null,
    tenantId: null,
    role: null,
    createdAt,
    expiresAt: createdAt + lifeMs,
    ...of,
  };
  return { link, url: portalUrl(kit, `${PAGES[of.purpose]}?token=${token}`) };
}

/** Reads a link without using it up; null when it is not valid, or has another purpose. */
export async function findLink(kit: AccountKit, token: string, purpose: Purpose): Promise<MailLink | null> {
  const hash = tokenHash(token);
  const link = hash && (await kit.store.accounts.findMailLink(hash, kit.clock.now()));
  return link?.purpose === purpose ? link : null;
}

export type Used = { kind: 'used'; user: User } | { kind: 'dead' } | { kind: 'wait'; waitMs: number } | Refused;

/** Called before a password is hashed for a link. */
function takeTryFor({ throttles }: AccountKit, link: MailLink): Promise<number> {
  return throttles.take([['links', link.id]]);
}

export async function resetPasswordByLink(
  kit: AccountKit,
  { token, password }: { token: string; password: string },
  client: Client,
): Promise<Used> {
  const link = await findLink(kit, token, 'reset');
  if (!link) return { kind: 'dead' };
  const problem = passwordProblem(password, link);
  if (problem) return refused('password', problem);
  const waitMs = await takeTryFor(kit, link);
  if (waitMs > 0) return { kind: 'wait', waitMs };
  const wasUnconfirmed = await kit.store.accounts.isUnconfirmed(link.userId!);
  const passwordHash = await kit.passwords.hash(password);
  const user = await kit.store.accounts.resetByLink(link.tokenHash, passwordHash, kit.clock.now());
  if (!user) return { kind: 'dead' };
  const forgiven: Gates = [
    ['address', user.email],
    ['pair', `${networkOf(client.ip)} ${user.email}`],
  ];
  await kit.throttles.settle({ forgiven });
  const act = { at: kit.clock.now(), address: client.ip };
  await kit.store.audit.recordAudit(actOf(user, { ...act, action: 'user.password_reset' }));
  const tenant = wasUnconfirmed && user.tenantId ? await kit.store.tenants.getTenant(user.tenantId) : null;
  if (tenant) await notifyOfSignUp(kit, tenant, user);
  return { kind: 'used', user };
}

export interface Invitation {
  tenant: Tenant;
  by: User;
  email: string;
  role: MemberRole;
}

export async function invite(kit: AccountKit, { tenant, by, ...request }: Invitation): Promise<MailRequestResult> {
  const email = readEmail(request.email);
  if (typeof email !== 'string') return email;
  if (tenant.status !== 'active') {
    return refused(null, 'Invitations can be sent once the account is active; the settings page says why it is not.');
  }
  const existing = await kit.store.accounts.findUserByEmail(email);
  // The tenant's own members are visible to it anyway; nothing is revealed about other tenants' users.
  if (existing?.tenantId === tenant.id) return refused('email', `${email} is already a member.`);
  const waitMs = await kit.throttles.take([['invitations', tenant.id]]);
  if (waitMs > 0) return { kind: 'wait', waitMs };
  if (!(await mayMail(kit, email))) {
    return refused('email', `We have just sent several mails to ${email}. Try again in a few hours.`);
  }
  const of = { purpose: 'invitation' as const, email, tenantId: tenant.id, role: request.role };
  const { link, url } = newLink(kit, of, INVITATION_LIFE_MS);
  if ((await kit.store.accounts.keepInvitation(link, MAX_OPEN_INVITATIONS)) === 'too_many') {
    return refused(null, `${MAX_OPEN_INVITATIONS} invitations are already open. Cancel some of them first.`);
  }
  const mail = invitationMail(url, { tenant: tenant.name, email: by.email, role: request.role });
  kit.notify([email], { ...mail, key: `link:${link.id}` });
  return { kind: 'sent' };
}

export async function joinByInvitation(
  kit: AccountKit,
  { token, password }: { token: string; password: string },
  client: Client,
): Promise<Used> {
  const link = await findLink(kit, token, 'invitation');
  if (!link) return { kind: 'dead' };
  const problem = passwordProblem(password, link);
  if (problem) return refused('password', problem);
  const waitMs = await takeTryFor(kit, link);
  if (waitMs > 0) return { kind: 'wait', waitMs };
  const joining = { userId: kit.ids.next(), passwordHash: await kit.passwords.hash(password), at: kit.clock.now() };
  const user = await kit.store.accounts.joinByLink(link.tokenHash, joining);
  if (user === 'exists') {
    return refused(
      null,
      `${link.email} already has an account, and an account belongs to one organization. Ask for an invitation to another address.`,
    );
  }
  if (!user) return { kind: 'dead' };
  const act = { action: 'member.joined', at: joining.at, address: client.ip, data: { role: user.role } };
  await kit.store.audit.recordAudit(actOf(user, act));
  return { kind: 'used', user };
}

/** The caller checks the sign-up's password first, since another person may have signed up with this address. */
export async function confirmSignUp(kit: AccountKit, token: string, client: Client): Promise<Used> {
  const hash = tokenHash(token);
  const signUp = hash && (await kit.store.accounts.confirmByLink(hash, kit.clock.now()));
  if (!signUp) return { kind: 'dead' };
  const { tenant, user } = signUp;
  const act = { action: 'tenant.address_confirmed', at: kit.clock.now(), address: client.ip };
  await kit.store.audit.recordAudit(actOf(user, act));
  await notifyOfSignUp(kit, tenant, user);
  return { kind: 'used', user };
}

async function notifyOfSignUp(kit: AccountKit, tenant: Tenant, user: User): Promise<void> {
  const { operatorAddress, store } = kit;
  const to = operatorAddress ? [operatorAddress] : (await store.accounts.listOperators()).map(({ email }) => email);
  const link = portalUrl(kit, `/portal/operator/tenants`);
  kit.notify(to, { ...signUpMail(tenant, user.email, link), key: `sign-up:${tenant.id}` });
}
