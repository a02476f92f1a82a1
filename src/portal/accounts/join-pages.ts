// Accepting an invitation: a password, and the new member is signed in.
import { html } from '../../http/html.ts';
import type { MailLink } from '../../store/accounts.ts';
import { ROLE_WORDS } from '../../tenants/accounts/account-mails.ts';
import { findLink, joinByInvitation } from '../../tenants/accounts/mail-proofs.ts';
import { PASSWORD_MIN_CHARS } from '../../tenants/accounts/password-rules.ts';
import { field, problemBox } from '../elements.ts';
import { action, type PageResult, type PortalRoute, page, type Visit, view } from '../page.ts';
import { deadLink, problemWith } from './dead-link.ts';
import { cookiesOf, type SignInServices } from './sign-in-pages.ts';

const PATH = '/portal/join';

export function joinPages(services: SignInServices): PortalRoute[] {
  return [
    page({ path: PATH, access: 'everybody', show: (visit) => show(services, visit, visit.query.get('token')) }),
    action({ path: PATH, access: 'everybody', run: (visit) => join(services, visit) }),
  ];
}

async function show(
  { accounts }: SignInServices,
  { formField, visitor }: Visit,
  token: string | null,
  problem: string | null = null,
): Promise<PageResult> {
  const link = await findLink(accounts, token ?? '', 'invitation');
  const tenant = link && (await accounts.store.tenants.getTenant(link.tenantId!));
  if (!link || !tenant) {
    return deadLink('Ask whoever invited you to send another invitation.', {
      path: '/portal/sign-in',
      label: 'Sign in',
    });
  }
  const hint = `At least ${PASSWORD_MIN_CHARS} characters; four random words are good.`;
  return view({
    title: `Join ${tenant.name}`,
    status: problem === null ? 200 : 422,
    body: html`<h1>Join ${tenant.name}</h1>
${problemBox(problem)}${visitor && html`<p class="notice warn">You are signed in as ${visitor.user.email}; joining signs you out there.</p>`}
<form method="post" action="${PATH}" class="card">${formField}<input type="hidden" name="token" value="${token}">
<p>You will be ${ROLE_WORDS[roleOf(link)]}. Your login is <strong>${link.email}</strong>.</p>
<input type="text" name="username" value="${link.email}" autocomplete="username" hidden>
${field({ name: 'password', label: 'Choose a password', hint, type: 'password', required: true, autocomplete: 'new-password' })}
<button class="primary full">Join</button></form>`,
  });
}

function roleOf({ role }: MailLink) {
  return role ?? 'viewer';
}

async function join(services: SignInServices, visit: Visit): Promise<PageResult> {
  const { accounts, signIn } = services;
  const { form, client, visitor, now } = visit;
  const token = form.get('token') ?? '';
  const used = await joinByInvitation(accounts, { token, password: form.get('password') ?? '' }, client);
  if (used.kind !== 'used') return show(services, visit, token, problemWith(used));
  if (visitor) await accounts.store.accounts.endSession(visitor.user.id, visitor.session.id);
  const entered = await signIn.enter(used.user, client);
  if (entered.kind !== 'signed_in') return { kind: 'redirect', to: '/portal/sign-in', notice: null };
  return { kind: 'redirect', to: '/portal', notice: 'Welcome!', ...cookiesOf(entered, now) };
}
