// Signing in and out. Without a session the forms are bound to a guest; the session begins with the answer to
// the right password, or to the right code.
import { type Html, html } from '../../http/html.ts';
import type { PortalReads } from '../../store/reads.ts';
import type { AccountKit } from '../../tenants/accounts/account-kit.ts';
import { sendConfirmation } from '../../tenants/accounts/mail-proofs.ts';
import type { SignedIn, SignIn, SignInOutcome } from '../../tenants/accounts/sign-in.ts';
import { field, problemBox } from '../elements.ts';
import {
  action,
  type CookieChange,
  type PageResult,
  type PortalRoute,
  page,
  redirect,
  SECOND_STEP_PATH,
  type Visit,
  view,
} from '../page.ts';
import { returnPath } from './return-path.ts';
import { waitingTime } from './waiting-time.ts';

export interface SignInServices {
  accounts: AccountKit;
  signIn: SignIn;
  /** Most pages behind the sign-in ask: what they would wait for starts while somebody types. */
  reads: Pick<PortalReads, 'warm'>;
}

export function signInPages(services: SignInServices): PortalRoute[] {
  return [
    page({
      path: '/portal/sign-in',
      access: 'everybody',
      show(visit) {
        if (visit.visitor) return redirect(returnPath(visit.query.get('next')));
        services.reads.warm();
        return passwordForm(services, visit);
      },
    }),
    action({ path: '/portal/sign-in', access: 'everybody', run: (visit) => withPassword(services, visit) }),
    action({ path: '/portal/sign-in/code', access: 'everybody', run: (visit) => withCode(services, visit) }),
    // Where somebody lands who reloads the page of the code.
    page({ path: '/portal/sign-in/code', access: 'everybody', show: () => redirect('/portal/sign-in') }),
    action({ path: '/portal/sign-out', access: 'everybody', run: (visit) => signOut(services, visit) }),
  ];
}

async function withPassword(services: SignInServices, visit: Visit): Promise<PageResult> {
  const { form, client } = visit;
  const login = { email: form.get('email')?.trim() ?? '', password: form.get('password') ?? '' };
  const outcome = await services.signIn.withPassword(login, client);
  switch (outcome.kind) {
    case 'signed_in':
      return enter(services, visit, outcome);
    case 'second_step':
      return codeForm(visit, outcome.step);
    case 'unconfirmed':
      services.accounts.inBackground(() => sendConfirmation(services.accounts, outcome.user));
      return passwordForm(
        services,
        visit,
        'Confirm your address first, with the link in our mail. If you have had none for ten minutes, look into the spam folder, or sign in again for another one.',
      );
    default:
      return passwordForm(services, visit, problemOf(outcome, 'The address or the password is wrong.'));
  }
}

async function withCode(services: SignInServices, visit: Visit): Promise<PageResult> {
  const { form, client } = visit;
  const step = form.get('step') ?? '';
  const outcome = await services.signIn.withCode({ step, code: form.get('code')?.trim() ?? '' }, client);
  if (outcome.kind === 'signed_in') return enter(services, visit, outcome);
  if (outcome.kind === 'wrong') {
    return codeForm(visit, step, 'This code is wrong, or was used before. Wait for the next one.');
  }
  if (outcome.kind === 'wait') return codeForm(visit, step, problemOf(outcome, ''));
  return passwordForm(services, visit, 'That took too long, or there were too many wrong codes. Sign in again.');
}

function problemOf(outcome: SignInOutcome, wrong: string): string {
  return outcome.kind === 'wait' ? `Too many tries. Wait ${waitingTime(outcome.waitMs)}, then try again.` : wrong;
}

/** Whatever session the browser had ends: the new one has a token that nobody has seen before. */
async function enter({ accounts, reads }: SignInServices, visit: Visit, signedIn: SignedIn): Promise<PageResult> {
  const { visitor, form } = visit;
  reads.warm();
  if (visitor) await accounts.store.accounts.endSession(visitor.user.id, visitor.session.id);
  const left = signedIn.recoveryCodesLeft;
  const notice = left === null ? null : `You have signed in with a recovery code; ${left} are left.`;
  // Where a device that is lost is replaced by another.
  const to = left === null ? returnPath(form.get('next')) : SECOND_STEP_PATH;
  return { kind: 'redirect', to, notice, ...cookiesOf(signedIn, visit.now) };
}

export function cookiesOf({ started, browser }: Pick<SignedIn, 'started' | 'browser'>, now: number): CookieChange {
  return { session: { token: started.token, maxAgeMs: started.session.endsAt - now }, browser };
}

async function signOut({ accounts }: SignInServices, visit: Visit): Promise<PageResult> {
  const { visitor } = visit;
  if (visitor) await accounts.store.accounts.endSession(visitor.user.id, visitor.session.id);
  if (visitor) await visit.audit('user.signed_out');
  return { kind: 'redirect', to: '/portal/sign-in', notice: null, session: 'ended' };
}

function passwordForm({ accounts }: SignInServices, visit: Visit, problem: string | null = null): PageResult {
  const { form, query, formField } = visit;
  const next = form.get('next') ?? query.get('next');
  return view({
    title: 'Sign in',
    status: problem === null ? 200 : 422,
    body: html`<h1>Sign in</h1>
${problemBox(problem)}
<form method="post" action="/portal/sign-in" class="card">${formField}${nextField(next)}
${field({ name: 'email', label: 'Mail address', type: 'email', value: form.get('email') ?? '', required: true, autocomplete: 'username' })}
${field({ name: 'password', label: 'Password', type: 'password', required: true, autocomplete: 'current-password' })}
<button class="primary full">Sign in</button></form>
<p class="below"><a href="/portal/reset">Forgot the password?</a>${
      accounts.signUpOpen && html`<a href="/portal/sign-up">Sign up</a>`
    }</p>`,
  });
}

function codeForm({ form, formField }: Visit, step: string, problem: string | null = null): PageResult {
  const hint = 'Six digits from your authenticator app, or one of your recovery codes.';
  return view({
    title: 'Second step',
    status: problem === null ? 200 : 422,
    body: html`<h1>Second step</h1>
<form method="post" action="/portal/sign-in/code" class="card">${formField}${nextField(form.get('next'))}
<input type="hidden" name="step" value="${step}">
${field({ name: 'code', label: 'Code', hint, problem, required: true, autocomplete: 'one-time-code', maxLength: 40 })}
<button class="primary full">Go on</button></form>
<p class="below"><a href="/portal/sign-in">Begin anew</a></p>`,
  });
}

function nextField(next: string | null): Html | false {
  return next !== null && html`<input type="hidden" name="next" value="${returnPath(next)}">`;
}
