// The texts of mails about accounts. Each link is on a line of its own, so that mail programs find its end.
// A mail that a stranger can trigger contains nothing that the stranger has written.
import type { MemberRole, Tenant } from '../../store/tenants.ts';

export interface AccountMail {
  subject: string;
  text: string;
}

export function resetMail(link: string): AccountMail {
  return mail('Reset your password', [
    'We received a request to reset the password of your Postrider account. Choose a new one here:',
    link,
    'The link works once and expires in an hour. If you did not request it, ignore this mail; nothing changes.',
  ]);
}

export function confirmationMail(link: string): AccountMail {
  return mail('Confirm your email address', [
    'We received a sign-up for Postrider with this address. Confirm it here, with the password you chose:',
    link,
    'The link works once and expires in seven days. If it was not you, ignore this mail; no account opens without the confirmation.',
  ]);
}

/** Sent instead of a confirmation, so that the sign-up page need not reveal whether there is an account. */
export function existingAccountMail(signInLink: string, resetLink: string): AccountMail {
  return mail('You already have an account', [
    'We received a sign-up for Postrider with this address, but it already has an account. Sign in here:',
    signInLink,
    'If you forgot the password, reset it here:',
    resetLink,
    'If it was not you, you do not need to do anything.',
  ]);
}

/** Only tenants that an operator has approved can send these. */
export function invitationMail(link: string, by: { tenant: string; email: string; role: MemberRole }): AccountMail {
  return mail(`Invitation to join ${by.tenant}`, [
    `${by.email} invites you to join ${by.tenant} on Postrider as ${ROLE_WORDS[by.role]}. Choose a password here:`,
    link,
    'The link works once and expires in seven days. If you were not expecting this invitation, ignore this mail.',
  ]);
}

export const ROLE_WORDS: Readonly<Record<MemberRole, string>> = {
  owner: 'an owner, who can do everything',
  member: 'a member, who can do everything except manage members and settings',
  viewer: 'a viewer, who can view everything and change nothing',
};

export function passwordChangedMail(): AccountMail {
  return mail('Your password was changed', [
    'The password of your Postrider account was just changed, and all other sessions were ended.',
    'If it was not you, reset the password on the sign-in page at once and tell an owner of your organization.',
  ]);
}

export function secondFactorMail(on: boolean): AccountMail {
  return mail(on ? 'The second step is on' : 'The second step is off', [
    on
      ? 'Signing in to your Postrider account now requires a code from your device.'
      : 'Signing in to your Postrider account no longer requires a code from your device.',
    'If it was not you, reset the password at once and tell an owner of your organization.',
  ]);
}

export function signUpMail(tenant: Pick<Tenant, 'name'>, email: string, link: string): AccountMail {
  return mail('A new tenant is waiting for approval', [
    `${email} has signed up as "${tenant.name}" and confirmed the address. Review the tenant here:`,
    link,
  ]);
}

function mail(subject: string, paragraphs: readonly string[]): AccountMail {
  return { subject, text: `${paragraphs.join('\n\n')}\n` };
}
