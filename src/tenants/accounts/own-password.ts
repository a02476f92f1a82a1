// A new password for a signed-in user who knows the old one. All sessions end, and this browser gets a new one with a
// new token.
import type { User } from '../../store/tenants.ts';
import { type Refused, refused } from '../refused.ts';
import type { AccountKit, Client } from './account-kit.ts';
import { passwordChangedMail } from './account-mails.ts';
import type { BrowserToken } from './known-browsers.ts';
import { passwordProblem } from './password-rules.ts';
import type { StartedSession } from './sessions.ts';
import type { SignIn } from './sign-in.ts';

export type PasswordChange =
  | { kind: 'changed'; started: StartedSession; browser: BrowserToken }
  | { kind: 'wait'; waitMs: number }
  | Refused;

export async function changePassword(
  { accounts, signIn }: { accounts: AccountKit; signIn: SignIn },
  user: User,
  { current, next }: { current: string; next: string },
  client: Client,
): Promise<PasswordChange> {
  const problem = passwordProblem(next, user);
  if (problem) return refused('password', problem);
  const confirmed = await signIn.confirmPassword(user, current, client);
  if (confirmed === 'wrong') return refused('current', 'This is not your current password.');
  if (confirmed !== 'right') return { kind: 'wait', waitMs: confirmed.waitMs };
  const { store, passwords, sessions, knownBrowsers, ids, notify } = accounts;
  const passwordHash = await passwords.hash(next);
  await store.accounts.setPassword(user.id, passwordHash);
  await store.accounts.endSessionsOf(user.id);
  notify([user.email], { ...passwordChangedMail(), key: `password-changed:${ids.next()}` });
  const started = await sessions.startSession({ user, client: client.userAgent, address: client.ip });
  if (!started) return refused(null, 'Your account has just been removed.');
  // The browser was known by the old password's hash; copies of the old cookie are worthless now.
  const browser = knownBrowsers.remember({ ...user, passwordHash }, client.browser ?? null);
  return { kind: 'changed', started, browser };
}
