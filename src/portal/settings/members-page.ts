// The people of a tenant: who they are, what they may do, who is invited. Owners change it; the last owner stays.
import { type Html, html } from '../../http/html.ts';
import type { MailLink } from '../../store/accounts.ts';
import type { Member, MemberRole, Tenant } from '../../store/tenants.ts';
import { invite } from '../../tenants/accounts/mail-proofs.ts';
import { badge, confirmed, emptyState, field, problemBox, select, table, time } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { settingsHead } from './settings-nav.ts';
import type { SettingsServices } from './settings-services.ts';

const PATH = '/portal/settings/members';
const ROLES: readonly MemberRole[] = ['owner', 'member', 'viewer'];
const ROLE_CHOICES = [
  { value: 'viewer', label: 'Viewer: can view everything, change nothing' },
  { value: 'member', label: 'Member: everything except members and settings' },
  { value: 'owner', label: 'Owner: everything' },
];
const LAST_OWNER = 'This is the last owner. Make another member an owner first.';

export function membersPage(services: SettingsServices): PortalRoute[] {
  return [
    page({ path: PATH, access: 'viewer', show: (visit) => show(services, visit) }),
    action({ path: `${PATH}/invite`, access: 'owner', run: (visit) => sendInvitation(services, visit) }),
    page({ path: `${PATH}/invite`, access: 'viewer', show: () => redirect(PATH) }),
    action({ path: `${PATH}/invitations/:id/cancel`, access: 'owner', run: (visit) => cancel(services, visit) }),
    action({ path: `${PATH}/:id/role`, access: 'owner', run: (visit) => changeRole(services, visit) }),
    action({ path: `${PATH}/:id/remove`, access: 'owner', run: (visit) => remove(services, visit) }),
  ];
}

function readRole(text: string | null): MemberRole | null {
  return ROLES.find((role) => role === text) ?? null;
}

async function sendInvitation(services: SettingsServices, visit: VisitOf<'owner'>): Promise<PageResult> {
  const { form, visitor } = visit;
  const role = readRole(form.get('role'));
  if (!role) return show(services, visit, { field: null, message: 'Choose a role.' });
  const email = form.get('email')?.trim() ?? '';
  const asked = await invite(services.accounts, { tenant: visitor.tenant, by: visitor.user, email, role });
  if (asked.kind === 'refused') return show(services, visit, asked);
  if (asked.kind === 'wait')
    return show(services, visit, { field: null, message: 'Too many invitations at once. Try again later.' });
  await visit.audit('member.invited', { email, role });
  return redirect(PATH, `Invitation sent to ${email}. It expires in seven days.`);
}

async function cancel({ store }: SettingsServices, visit: VisitOf<'owner'>): Promise<PageResult> {
  const { tenant } = visit.visitor;
  const id = visit.params.id ?? '';
  const invitation = (await store.accounts.listInvitations(tenant.id, visit.now)).find((one) => one.id === id);
  if (!invitation || !(await store.accounts.cancelInvitation(tenant.id, id))) {
    return missing('Invitation not found. It may have been accepted or canceled, or it has expired.');
  }
  await visit.audit('member.invitation_cancelled', { email: invitation.email });
  return redirect(PATH, `The invitation to ${invitation.email} was canceled.`);
}

async function changeRole(services: SettingsServices, visit: VisitOf<'owner'>): Promise<PageResult> {
  const { store } = services;
  const { tenant } = visit.visitor;
  const [id, role] = [visit.params.id ?? '', readRole(visit.form.get('role'))];
  if (!role) return show(services, visit, { field: null, message: 'Unknown role.' });
  const member = (await store.accounts.listMembers(tenant.id)).find((one) => one.id === id);
  const changed = member ? await store.accounts.changeRole(tenant.id, id, role) : 'unknown';
  if (!member || changed === 'unknown') return missing('Member not found.');
  if (changed === 'last_owner') return show(services, visit, { field: null, message: LAST_OWNER });
  await visit.audit('member.role', { email: member.email, from: member.role, to: role });
  return redirect(PATH, `${member.email} is now ${role === 'owner' ? 'an' : 'a'} ${role}.`);
}

async function remove(services: SettingsServices, visit: VisitOf<'owner'>): Promise<PageResult> {
  const { store } = services;
  const { tenant, user } = visit.visitor;
  const id = visit.params.id ?? '';
  const member = (await store.accounts.listMembers(tenant.id)).find((one) => one.id === id);
  const removed = member ? await store.accounts.removeMember(tenant.id, id) : 'unknown';
  if (!member || removed === 'unknown') return missing('Member not found.');
  if (removed === 'last_owner') return show(services, visit, { field: null, message: LAST_OWNER });
  await visit.audit('member.removed', { email: member.email, role: member.role });
  if (id === user.id) return { kind: 'redirect', to: '/portal/sign-in', notice: null, session: 'ended' };
  return redirect(PATH, `${member.email} was removed and signed out everywhere.`);
}

interface Problem {
  field: string | null;
  message: string;
}

async function show(
  { store }: SettingsServices,
  visit: VisitOf<'viewer'>,
  problem: Problem | null = null,
): Promise<PageResult> {
  const { tenant } = visit.visitor;
  const members = await store.accounts.listMembers(tenant.id);
  const invitations = await store.accounts.listInvitations(tenant.id, visit.now);
  const mayChange = visit.may('owner');
  return view({
    title: 'Members',
    status: problem === null ? 200 : 422,
    body: html`${settingsHead('Members', PATH)}
${problemBox(problem?.field === null ? problem.message : null)}
${memberTable(members, visit)}
<h2>Invitations</h2>
${
  invitations.length === 0
    ? emptyState('No open invitations', mayChange ? 'Invite a member below.' : 'Owners can invite members.')
    : invitationTable(invitations, visit)
}
${mayChange && inviteForm(tenant, visit, problem)}`,
  });
}

function memberTable(members: readonly Member[], visit: VisitOf<'viewer'>): Html {
  const mayChange = visit.may('owner');
  const heads = ['Login', 'Role', 'Second step', 'Last seen', ...(mayChange ? ['Change'] : [])];
  const rows = members.map((member) => [
    html`<span class="roomy">${member.email} ${member.id === visit.visitor.user.id && badge('you', 'quiet')}</span>`,
    member.role,
    member.hasSecondFactor ? badge('on', 'good') : badge('off', 'quiet'),
    time(member.lastSeenAt, 'not recently'),
    ...(mayChange ? [memberForms(member, visit)] : []),
  ]);
  return table({ caption: 'Members', heads }, rows);
}

function memberForms({ id, email, role }: Member, { formField, visitor }: VisitOf<'viewer'>): Html {
  const self = id === visitor.user.id;
  const options = ROLES.map((one) => html`<option value="${one}"${one === role && html` selected`}>${one}</option>`);
  return html`<div class="row-actions"><form method="post" action="${PATH}/${id}/role">${formField}<select name="role" aria-label="Role of ${email}">${options}</select> <button>Set</button></form>
${confirmed({
  label: self ? 'Leave' : 'Remove',
  question: self
    ? 'You lose access at once, and only an owner can invite you again.'
    : html`<strong>${email}</strong> loses access at once. API keys that they created keep working.`,
  action: `${PATH}/${id}/remove`,
  formField,
  button: self ? 'Leave' : 'Remove',
})}</div>`;
}

function invitationTable(invitations: readonly MailLink[], visit: VisitOf<'viewer'>): Html {
  const mayChange = visit.may('owner');
  const heads = ['Address', 'Role', 'Sent', 'Expires', ...(mayChange ? ['Change'] : [])];
  const rows = invitations.map(({ id, email, role, createdAt, expiresAt }) => [
    email,
    role ?? '',
    time(createdAt),
    time(expiresAt),
    ...(mayChange
      ? [
          html`<form method="post" action="${PATH}/invitations/${id}/cancel">${visit.formField}<button class="plain" aria-label="Cancel the invitation to ${email}">Cancel</button></form>`,
        ]
      : []),
  ]);
  return table({ caption: 'Invitations', heads }, rows);
}

function inviteForm(tenant: Tenant, { formField, form }: VisitOf<'viewer'>, problem: Problem | null): Html {
  if (tenant.status !== 'active') {
    return html`<p class="quiet">You can invite members once your account is active.</p>`;
  }
  const at = problem?.field === 'email' ? problem.message : null;
  return html`<h2>Invite a member</h2>
<form method="post" action="${PATH}/invite" class="card">${formField}
${field({ name: 'email', label: 'Email address', type: 'email', value: form.get('email') ?? '', problem: at, required: true, autocomplete: 'off' })}
${select({ name: 'role', label: 'Role' }, ROLE_CHOICES, readRole(form.get('role')) ?? 'member')}
<button class="primary">Send invitation</button></form>`;
}
