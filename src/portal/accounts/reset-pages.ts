// A new password by mail. The first page answers the same whatever it is asked; the link's page shows its form
// as often as it is looked at, and only sending it uses the link up.
import { html } from '../../http/html.ts';
import type { AccountKit } from '../../tenants/accounts/account-kit.ts';
import { askForReset, findLink, resetPasswordByLink } from '../../tenants/accounts/mail-proofs.ts';
import { PASSWORD_MIN_CHARS } from '../../tenants/accounts/password-rules.ts';
import { field, problemBox } from '../elements.ts';
import { action, type PageResult, type PortalRoute, page, type Visit, view } from '../page.ts';
import { deadLink, problemWith } from './dead-link.ts';
import { waitingTime } from './waiting-time.ts';

const ASK = '/portal/reset';
const SET = '/portal/reset/password';

export function resetPages(accounts: AccountKit): PortalRoute[] {
  return [
    page({ path: ASK, access: 'everybody', show: (visit) => askForm(visit) }),
    action({ path: ASK, access: 'everybody', run: (visit) => ask(accounts, visit) }),
    page({ path: SET, access: 'everybody', show: (visit) => passwordForm(accounts, visit, visit.query.get('token')) }),
    action({ path: SET, access: 'everybody', run: (visit) => setPassword(accounts, visit) }),
  ];
}

async function ask(accounts: AccountKit, visit: Visit): Promise<PageResult> {
  const email = visit.form.get('email')?.trim() ?? '';
  const asked = await askForReset(accounts, email, visit.client);
  if (asked.kind === 'refused') return askForm(visit, asked.message);
  if (asked.kind === 'wait')
    return askForm(visit, `Too many tries. Wait ${waitingTime(asked.waitMs)}, then try again.`);
  return view({
    title: 'Look into your mail',
    body: html`<h1>Look into your mail</h1>
<div class="card"><p>If <strong>${email}</strong> has an account, a link to set a new password is on its way there. It works for an hour.</p>
<p class="last">Nothing there after some minutes? Look into the spam folder, and check the address.</p></div>
<p class="below"><a href="/portal/sign-in">Back to signing in</a></p>`,
  });
}

function askForm({ form, formField }: Visit, problem: string | null = null): PageResult {
  return view({
    title: 'New password',
    status: problem === null ? 200 : 422,
    body: html`<h1>New password</h1>
<form method="post" action="${ASK}" class="card">${formField}
<p>Tell us your address, and we send you a link to set a new password.</p>
${field({ name: 'email', label: 'Mail address', type: 'email', value: form.get('email') ?? '', problem, required: true, autocomplete: 'username' })}
<button class="primary full">Send the link</button></form>
<p class="below"><a href="/portal/sign-in">Back to signing in</a></p>`,
  });
}

async function passwordForm(
  accounts: AccountKit,
  { formField }: Visit,
  token: string | null,
  problem: string | null = null,
): Promise<PageResult> {
  const link = await findLink(accounts, token ?? '', 'reset');
  if (!link) return deadLink('Ask for a new one; only the latest works.', { path: ASK, label: 'Send a new link' });
  const hint = `At least ${PASSWORD_MIN_CHARS} characters. All sessions end, here and elsewhere.`;
  return view({
    title: 'Set a new password',
    status: problem === null ? 200 : 422,
    body: html`<h1>Set a new password</h1>
${problemBox(problem)}
<form method="post" action="${SET}" class="card">${formField}<input type="hidden" name="token" value="${token}">
<p>For <strong>${link.email}</strong>.</p>
<input type="text" name="username" value="${link.email}" autocomplete="username" hidden>
${field({ name: 'password', label: 'New password', hint, type: 'password', required: true, autocomplete: 'new-password' })}
<button class="primary full">Set the password</button></form>`,
  });
}

async function setPassword(accounts: AccountKit, visit: Visit): Promise<PageResult> {
  const { form, client } = visit;
  const token = form.get('token') ?? '';
  const used = await resetPasswordByLink(accounts, { token, password: form.get('password') ?? '' }, client);
  if (used.kind !== 'used') return passwordForm(accounts, visit, token, problemWith(used));
  const notice = 'Your new password is set. Sign in with it.';
  // Known from now on: whoever guesses at the account must not keep out who has just got it back.
  const browser = accounts.knownBrowsers.remember(used.user, client.browser ?? null);
  const next = { kind: 'redirect', to: '/portal/sign-in', notice, browser } as const;
  // Whoever was signed in here in the meantime is not any more.
  if (!visit.visitor) return next;
  await accounts.store.accounts.endSession(visit.visitor.user.id, visit.visitor.session.id);
  return { ...next, session: 'ended' };
}
