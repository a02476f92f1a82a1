// One's own account: password, second step, and the sessions that are open.
import { type Html, html } from '../../http/html.ts';
import type { SecondFactor, Session, Visitor } from '../../store/accounts.ts';
import { changePassword } from '../../tenants/accounts/own-password.ts';
import { PASSWORD_MIN_CHARS } from '../../tenants/accounts/password-rules.ts';
import { badge, emptyState, facts, field, heading, problemBox, table, time } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type Visit, view } from '../page.ts';
import { browserName } from './browser-name.ts';
import { cookiesOf, type SignInServices } from './sign-in-pages.ts';
import { waitingTime } from './waiting-time.ts';

const PATH = '/portal/account';
type OwnVisit = Visit<Visitor>;

export function ownAccountPages(services: SignInServices): PortalRoute[] {
  const { store } = services.accounts;
  return [
    page({ path: PATH, access: 'user', show: (visit) => show(services, visit) }),
    action({ path: `${PATH}/password`, access: 'user', run: (visit) => newPassword(services, visit) }),
    page({ path: `${PATH}/password`, access: 'user', show: () => redirect(PATH) }),
    action({
      path: `${PATH}/sessions/end-others`,
      access: 'user',
      async run(visit) {
        const { user, session } = visit.visitor;
        const ended = await store.accounts.endSessionsOf(user.id, session.id);
        await visit.audit('user.sessions_ended', { sessions: ended });
        return redirect(PATH, ended === 1 ? 'One other session has ended.' : `${ended} other sessions have ended.`);
      },
    }),
    action({
      path: `${PATH}/sessions/:id/end`,
      access: 'user',
      async run(visit) {
        const { user, session } = visit.visitor;
        const id = visit.params.id ?? '';
        if (!(await store.accounts.endSession(user.id, id)))
          return missing('This session is over already, or is not yours.');
        await visit.audit('user.sessions_ended', { sessions: 1 });
        if (id !== session.id) return redirect(PATH, 'The session has ended.');
        return { kind: 'redirect', to: '/portal/sign-in', notice: null, session: 'ended' };
      },
    }),
  ];
}

async function newPassword(services: SignInServices, visit: OwnVisit): Promise<PageResult> {
  const { form, visitor, client, now } = visit;
  const passwords = { current: form.get('current') ?? '', next: form.get('password') ?? '' };
  const changed = await changePassword(services, visitor.user, passwords, client);
  if (changed.kind === 'wait') {
    return show(services, visit, {
      field: null,
      message: `Too many tries. Wait ${waitingTime(changed.waitMs)}, then try again.`,
    });
  }
  if (changed.kind === 'refused') return show(services, visit, changed);
  await visit.audit('user.password_changed');
  const notice = 'Your password is changed, and all other sessions have ended.';
  return { kind: 'redirect', to: PATH, notice, ...cookiesOf(changed, now) };
}

interface Problem {
  field: string | null;
  message: string;
}

async function show(services: SignInServices, visit: OwnVisit, problem: Problem | null = null): Promise<PageResult> {
  const { store, secondFactors } = services.accounts;
  const { user, tenant, session } = visit.visitor;
  const sessions = await store.accounts.listSessions(user.id, visit.now);
  const factor = await secondFactors.findConfirmed(user.id);
  return view({
    title: 'Your account',
    status: problem === null ? 200 : 422,
    body: html`${heading('Your account')}
${facts([
  ['Login', user.email],
  ['Role', tenant ? html`${user.role} of ${tenant.name}` : 'operator of the platform'],
])}
<h2 id="password">Password</h2>
${passwordForm(visit, problem)}
<h2 id="second-step">Second step</h2>
${secondStep(factor)}
<h2 id="sessions">Sessions</h2>
<p class="hint">Where you are signed in. A session ends by itself ${
      user.role === 'operator' ? 'after a day' : 'after two weeks'
    } without a visit.</p>
${sessionTable(sessions, session.id, visit)}
${othersForm(sessions, visit)}`,
  });
}

function passwordForm({ formField, visitor }: OwnVisit, problem: Problem | null): Html {
  const at = (name: string) => (problem?.field === name ? problem.message : null);
  const hint = `At least ${PASSWORD_MIN_CHARS} characters. All other sessions end.`;
  return html`${problemBox(problem?.field === null ? problem.message : null)}<form method="post" action="${PATH}/password" class="card">${formField}
<input type="text" name="username" value="${visitor.user.email}" autocomplete="username" hidden>
${field({ name: 'current', label: 'Current password', type: 'password', problem: at('current'), required: true, autocomplete: 'current-password' })}
${field({ name: 'password', label: 'New password', type: 'password', hint, problem: at('password'), required: true, autocomplete: 'new-password' })}
<button>Change the password</button></form>`;
}

function secondStep(factor: SecondFactor | null): Html {
  const manage = html`<a class="button" href="${PATH}/second-step">`;
  if (!factor) {
    return html`<div class="card"><p>${badge('off', 'warn')} Whoever learns your password can sign in. With a second step, a code of your phone is needed as well.</p>
${manage}Set it up</a></div>`;
  }
  const few = factor.recoveryCodes <= 3;
  return html`<div class="card"><p>${badge('on', 'good')} Signing in asks for a code of your device, since ${time(factor.confirmedAt)}.</p>
<p${few && html` class="problem"`}>${factor.recoveryCodes} recovery codes are left${few && ': make new ones before you run out'}.</p>
${manage}Change</a></div>`;
}

function sessionTable(sessions: readonly Session[], own: string, { formField }: OwnVisit): Html {
  if (sessions.length === 0) return emptyState('There are no sessions.', 'Sign in again.');
  const rows = sessions.map(({ id, client, address, lastSeenAt, createdAt }) => [
    html`<span>${browserName(client)} ${id === own && badge('this one', 'good')}</span>`,
    html`<code>${address}</code>`,
    time(lastSeenAt),
    time(createdAt),
    html`<form method="post" action="${PATH}/sessions/${id}/end">${formField}<button class="plain" aria-label="${id === own ? 'Sign out' : 'End'}: ${browserName(client)} at ${address}">${id === own ? 'Sign out' : 'End'}</button></form>`,
  ]);
  const heads = ['Browser', 'Address', 'Last seen', 'Signed in', 'End it'];
  return table({ caption: 'Sessions', heads }, rows);
}

function othersForm(sessions: readonly Session[], { formField }: OwnVisit): Html | null {
  if (sessions.length < 2) return null;
  return html`<form method="post" action="${PATH}/sessions/end-others">${formField}<button>End all other sessions</button></form>`;
}
