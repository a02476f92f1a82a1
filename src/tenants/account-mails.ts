// The words of the mails about accounts. Links stand on lines of their own, so that mail programs find their ends.
// A mail that a stranger can cause holds nothing that the stranger has written.
import type { MemberRole, Tenant } from '../store/tenants.ts';

export interface AccountMail {
  subject: string;
  text: string;
}

export function resetMail(link: string): AccountMail {
  return mail('Set a new password', [
    'Somebody, probably you, has asked for a new password for your Postrider account. Choose it here:',
    link,
    'The link works once, for an hour. If you did not ask for it, ignore this mail: nothing changes.',
  ]);
}

export function confirmationMail(link: string): AccountMail {
  return mail('Confirm your mail address', [
    'Somebody, probably you, has signed up for Postrider with this address. Confirm it here, with the password that you chose:',
    link,
    'The link works once, for seven days. If it was not you, ignore this mail: without the confirmation no account opens.',
  ]);
}

/** In place of a confirmation, so that the page that was asked need not tell whether there is an account. */
export function alreadyThereMail(signInLink: string, resetLink: string): AccountMail {
  return mail('You already have an account', [
    'Somebody, probably you, has tried to sign up for Postrider with this address. It has an account already. Sign in here:',
    signInLink,
    'If you have forgotten the password, set a new one here:',
    resetLink,
    'If it was not you, there is nothing to do.',
  ]);
}

/** Only tenants that an operator has approved send these. */
export function invitationMail(link: string, by: { tenant: string; email: string; role: MemberRole }): AccountMail {
  return mail(`You are invited to ${by.tenant}`, [
    `${by.email} invites you to join ${by.tenant} at Postrider, as ${ROLE_WORDS[by.role]}. Choose a password here:`,
    link,
    'The link works once, for seven days. If you do not know what this is about, ignore this mail.',
  ]);
}

export const ROLE_WORDS: Readonly<Record<MemberRole, string>> = {
  owner: 'an owner, who can do everything',
  member: 'a member, who can do everything except for people and settings',
  viewer: 'a viewer, who can look at everything and change nothing',
};

export function passwordChangedMail(): AccountMail {
  return mail('Your password was changed', [
    'The password of your Postrider account was changed just now, and all other sessions were ended.',
    'If it was not you, ask for a new password on the sign-in page at once, and tell an owner of your organization.',
  ]);
}

export function secondFactorMail(on: boolean): AccountMail {
  return mail(on ? 'The second step is on' : 'The second step is off', [
    on
      ? 'Signing in to your Postrider account asks for a code of your device from now on.'
      : 'Signing in to your Postrider account does not ask for a code of your device any more.',
    'If it was not you, set a new password at once, and tell an owner of your organization.',
  ]);
}

export function signUpMail(tenant: Pick<Tenant, 'name'>, email: string, link: string): AccountMail {
  return mail('A new tenant waits for your approval', [
    `${email} has signed up as "${tenant.name}" and confirmed the address. Have a look, and approve it or not:`,
    link,
  ]);
}

function mail(subject: string, paragraphs: readonly string[]): AccountMail {
  return { subject, text: `${paragraphs.join('\n\n')}\n` };
}
