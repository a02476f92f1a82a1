// Signing up by oneself, and confirming the address. The confirmation asks for the password that was chosen: the
// owner of an address who confirms by mistake what a stranger has begun opens nothing for the stranger.
import { html } from '../../http/html.ts';
import type { AccountKit } from '../../tenants/accounts/account-kit.ts';
import { confirmSignUp, findLink } from '../../tenants/accounts/mail-proofs.ts';
import { PASSWORD_MIN_CHARS } from '../../tenants/accounts/password-rules.ts';
import { signUp } from '../../tenants/accounts/sign-up.ts';
import { field, problemBox } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, page, type Visit, view } from '../page.ts';
import { deadLink } from './dead-link.ts';
import { cookiesOf, type SignInServices } from './sign-in-pages.ts';
import { waitingTime } from './waiting-time.ts';

const SIGN_UP = '/portal/sign-up';
const CONFIRM = '/portal/confirm';

export function signUpPages(services: SignInServices): PortalRoute[] {
  const { accounts } = services;
  const closed = () => missing('Signing up is not open here. Ask the operator of this service for an account.');
  const open = accounts.signUpOpen;
  return [
    page({ path: SIGN_UP, access: 'everybody', show: (visit) => (open ? signUpForm(visit) : closed()) }),
    action({ path: SIGN_UP, access: 'everybody', run: (visit) => (open ? begin(accounts, visit) : closed()) }),
    page({
      path: CONFIRM,
      access: 'everybody',
      show: (visit) => confirmForm(accounts, visit, visit.query.get('token')),
    }),
    action({ path: CONFIRM, access: 'everybody', run: (visit) => confirm(services, visit) }),
  ];
}

async function begin(accounts: AccountKit, visit: Visit): Promise<PageResult> {
  const { form, client } = visit;
  const request = {
    name: form.get('name') ?? '',
    email: form.get('email')?.trim() ?? '',
    password: form.get('password') ?? '',
  };
  const asked = await signUp(accounts, request, client);
  if (asked.kind === 'refused') return signUpForm(visit, { field: asked.field, message: asked.message });
  if (asked.kind === 'wait') {
    return signUpForm(visit, {
      field: null,
      message: `Too many tries. Wait ${waitingTime(asked.waitMs)}, then try again.`,
    });
  }
  return view({
    title: 'Look into your mail',
    body: html`<h1>Look into your mail</h1>
<div class="card"><p>A mail is on its way to <strong>${request.email}</strong>. Follow its link to confirm the address; it works for seven days.</p>
<p class="last">After that we have a look at your account before it can send. We tell you by mail.</p></div>`,
  });
}

interface Problem {
  field: string | null;
  message: string;
}

function signUpForm({ form, formField }: Visit, problem: Problem | null = null): PageResult {
  const at = (name: string) => (problem?.field === name ? problem.message : null);
  const hint = `At least ${PASSWORD_MIN_CHARS} characters; four random words are good.`;
  return view({
    title: 'Sign up',
    status: problem === null ? 200 : 422,
    body: html`<h1>Sign up</h1>
${problemBox(problem?.field === null ? problem.message : null)}
<form method="post" action="${SIGN_UP}" class="card">${formField}
${field({ name: 'name', label: 'Your organization', value: form.get('name') ?? '', problem: at('name'), required: true, maxLength: 200, autocomplete: 'organization' })}
${field({ name: 'email', label: 'Mail address', type: 'email', value: form.get('email') ?? '', problem: at('email'), required: true, autocomplete: 'username' })}
${field({ name: 'password', label: 'Password', hint, type: 'password', problem: at('password'), required: true, autocomplete: 'new-password' })}
<button class="primary full">Sign up</button></form>
<p class="below"><a href="/portal/sign-in">I have an account</a></p>`,
  });
}

async function confirmForm(
  accounts: AccountKit,
  { formField }: Visit,
  token: string | null,
  problem: string | null = null,
): Promise<PageResult> {
  const link = await findLink(accounts, token ?? '', 'confirmation');
  if (!link) {
    const next = { path: '/portal/sign-in', label: 'Sign in' };
    return deadLink('If you have confirmed it before, sign in; if not, signing in sends a new link.', next);
  }
  return view({
    title: 'Confirm your address',
    status: problem === null ? 200 : 422,
    body: html`<h1>Confirm your address</h1>
<form method="post" action="${CONFIRM}" class="card">${formField}<input type="hidden" name="token" value="${token}">
<p><strong>${link.email}</strong> is yours? Type the password that you chose when you signed up.</p>
<input type="text" name="username" value="${link.email}" autocomplete="username" hidden>
${field({ name: 'password', label: 'Password', type: 'password', problem, required: true, autocomplete: 'current-password' })}
<button class="primary full">Confirm</button></form>
<p class="below"><a href="/portal/reset">Forgot the password, or chose none?</a></p>`,
  });
}

async function confirm(services: SignInServices, visit: Visit): Promise<PageResult> {
  const { accounts, signIn } = services;
  const { form, client, now, visitor } = visit;
  const token = form.get('token') ?? '';
  const link = await findLink(accounts, token, 'confirmation');
  const user = link && (await accounts.store.accounts.getUser(link.userId!));
  if (!user) return confirmForm(accounts, visit, token);
  const asked = await signIn.confirmPassword(user, form.get('password') ?? '', client);
  if (asked === 'wrong') return confirmForm(accounts, visit, token, 'This is not the password of the sign-up.');
  if (asked !== 'right') {
    return confirmForm(accounts, visit, token, `Too many tries. Wait ${waitingTime(asked.waitMs)}, then try again.`);
  }
  const used = await confirmSignUp(accounts, token, client);
  if (used.kind !== 'used') return confirmForm(accounts, visit, token);
  if (visitor) await accounts.store.accounts.endSession(visitor.user.id, visitor.session.id);
  const entered = await signIn.enter(used.user, client);
  if (entered.kind !== 'signed_in') return { kind: 'redirect', to: '/portal/sign-in', notice: null };
  const notice = 'Your address is confirmed. We have a look at your account now, and tell you by mail.';
  return { kind: 'redirect', to: '/portal', notice, ...cookiesOf(entered, now) };
}
