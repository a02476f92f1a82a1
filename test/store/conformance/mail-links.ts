// Conformance: links in mails: each holds for one use and for its time; what it does happens with its use.
import type { Test } from 'tap';
import type { MailLink } from '../../../src/store/accounts.ts';
import type { Tenant, TenantChange, User } from '../../../src/store/tenants.ts';
import { type Bench, T0 } from './harness.ts';
import { newUser } from './members.ts';
import { newTemplate } from './templates.ts';
import { newWebhook } from './webhooks.ts';

export function linkFor(bench: Bench, change: Partial<MailLink>): MailLink {
  const id = bench.id();
  const [createdAt, expiresAt] = [T0, T0 + 100];
  const nobody = { userId: null, tenantId: null, role: null };
  return {
    id,
    tokenHash: Buffer.from(id),
    purpose: 'reset',
    email: 'a@x.test',
    ...nobody,
    createdAt,
    expiresAt,
    ...change,
  };
}

export function invitationTo(bench: Bench, tenantId: string, email: string): MailLink {
  return linkFor(bench, { purpose: 'invitation', tenantId, role: 'viewer', email });
}

export async function signedUp(bench: Bench, change: Partial<Tenant> = {}): Promise<{ tenant: Tenant; user: User }> {
  const existing = await bench.tenant();
  const tenant = { ...existing, id: bench.id(), status: 'pending_verification' as const, ...change };
  const id = bench.id();
  const user: User = {
    id,
    tenantId: tenant.id,
    email: `${id}@x.test`,
    role: 'owner',
    passwordHash: 'h',
    createdAt: T0,
  };
  if ((await bench.store.accounts.signUp({ tenant, user })) !== 'created') throw new Error('not created');
  return { tenant, user };
}

export const sessionOf = (bench: Bench, userId: string) => ({
  ...{ id: bench.id(), userId, tokenHash: Buffer.from('session'), client: null, address: '::1' },
  ...{ createdAt: T0, lastSeenAt: T0, expiresAt: T0 + 900, endsAt: T0 + 900 },
});

type Touch = (bench: Bench, tenantId: string) => Promise<unknown>;

const set = (change: TenantChange): Touch => {
  return ({ store }, tenantId) => store.tenants.updateTenant(tenantId, change);
};

/** What makes a tenant more than a sign-up: by the column of its row, or the table, that has it. */
export const TOUCHES: Record<string, Touch> = {
  status: set({ status: 'in_review' }),
  status_reason: set({ statusReason: 'asked for papers' }),
  tier_pinned: set({ tierPinned: true }),
  open_tracking: set({ openTracking: true }),
  click_tracking: set({ clickTracking: true }),
  unsubscribe: set({ unsubscribe: true }),
  bounces_domain: set({ bouncesDomain: 'b.test' }),
  content_days: ({ store }, tenantId) => store.upkeep.setContentDays(tenantId, 1),
  users: (bench, tenantId) => newUser(bench, tenantId),
  mail_links: (bench, tenantId) => bench.store.accounts.keepInvitation(invitationTo(bench, tenantId, 'b@x.test'), 9),
  api_keys: (bench, tenantId) => bench.store.keys.createApiKey(bench.apiKey(tenantId), 9),
  domains: (bench, tenantId) => bench.pendingDomain(tenantId, 'new.test'),
  templates: (bench, tenantId) =>
    bench.store.templates.createTemplate(tenantId, newTemplate(bench), { templates: 9, bytes: 1000 }),
  webhooks: (bench, tenantId) => bench.store.webhooks.createWebhook(newWebhook(bench, tenantId), 9),
  suppressions: (bench, tenantId) => {
    const entry = { address: 'a@x.test', reason: 'manual' as const, messageId: null, createdAt: T0 };
    return bench.store.suppressions.addSuppression(tenantId, entry);
  },
};

async function joinAs(bench: Bench, email: string): Promise<User | 'exists' | null> {
  const link = invitationTo(bench, (await bench.tenant()).id, email);
  await bench.store.accounts.keepMailLink(link);
  return bench.store.accounts.joinByLink(link.tokenHash, { userId: bench.id(), passwordHash: 'h', at: T0 });
}

export const mailLinkCases = {
  'a link is found until its time is over, and the next one ends it': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const user = await newUser(bench, null, 'operator');
    const [first, second] = [linkFor(bench, { userId: user.id }), linkFor(bench, { userId: user.id })];
    await store.accounts.keepMailLink(first);
    t.strictSame(await store.accounts.findMailLink(first.tokenHash, T0 + 99), first);
    t.equal(await store.accounts.findMailLink(first.tokenHash, T0 + 100), null, 'over');
    await store.accounts.keepMailLink(linkFor(bench, { userId: user.id, purpose: 'confirmation' }));
    t.ok(await store.accounts.findMailLink(first.tokenHash, T0), 'one of another purpose beside it');
    await store.accounts.keepMailLink(second);
    t.equal(await store.accounts.findMailLink(first.tokenHash, T0), null, 'only the newest holds');
    t.ok(await store.accounts.findMailLink(second.tokenHash, T0));
    t.equal(await store.accounts.eraseMailLinks(T0 + 99, 10), 0);
    t.equal(await store.accounts.eraseMailLinks(T0 + 100, 1), 1);
    t.equal(await store.accounts.eraseMailLinks(T0 + 100, 10), 1);
  },

  'a reset sets the password, ends the sessions, and works once': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const user = await newUser(bench, null, 'operator');
    const link = linkFor(bench, { userId: user.id });
    await store.accounts.keepMailLink(link);
    await store.accounts.createSession(sessionOf(bench, user.id), 9);
    t.equal(await store.accounts.resetByLink(link.tokenHash, 'new', T0 + 100), null, 'too late');
    t.equal((await store.accounts.getUser(user.id))?.passwordHash, 'hash');
    const [one, two] = await Promise.all([
      store.accounts.resetByLink(link.tokenHash, 'new', T0),
      store.accounts.resetByLink(link.tokenHash, 'other', T0),
    ]);
    t.strictSame(one, { ...user, passwordHash: 'new' });
    t.equal(two, null, 'used');
    t.equal((await store.accounts.getUser(user.id))?.passwordHash, 'new');
    t.equal(await store.accounts.findSession(Buffer.from('session'), T0), null);
  },

  'a link does what it is for, and nothing else': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    const user = await newUser(bench, tenant.id);
    const reset = linkFor(bench, { userId: user.id });
    const confirmation = linkFor(bench, { userId: user.id, purpose: 'confirmation' });
    const invitation = invitationTo(bench, tenant.id, 'b@x.test');
    for (const link of [reset, confirmation]) await store.accounts.keepMailLink(link);
    await store.accounts.keepInvitation(invitation, 9);
    for (const { tokenHash } of [confirmation, invitation])
      t.equal(await store.accounts.resetByLink(tokenHash, 'new', T0), null);
    const joining = { userId: bench.id(), passwordHash: 'h', at: T0 };
    for (const { tokenHash } of [confirmation, reset])
      t.equal(await store.accounts.joinByLink(tokenHash, joining), null);
    for (const { tokenHash } of [invitation, reset]) t.equal(await store.accounts.confirmByLink(tokenHash, T0), null);
    for (const { tokenHash } of [reset, confirmation, invitation])
      t.ok(await store.accounts.findMailLink(tokenHash, T0));
  },

  'an invitation makes its user once': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    const link = invitationTo(bench, tenant.id, 'b@x.test');
    t.equal(await store.accounts.keepInvitation(link, 9), 'kept');
    t.strictSame(await store.accounts.listInvitations(tenant.id, T0), [link]);
    t.strictSame(await store.accounts.listInvitations(tenant.id, T0 + 100), [], 'over');
    const joining = { userId: bench.id(), passwordHash: 'h', at: T0 + 1 };
    const user = { id: joining.userId, tenantId: tenant.id, email: 'b@x.test', role: 'viewer' };
    t.match(await store.accounts.joinByLink(link.tokenHash, joining), user);
    t.match(await store.accounts.findUserByEmail('b@x.test'), user);
    t.equal(await store.accounts.joinByLink(link.tokenHash, { ...joining, userId: bench.id() }), null, 'used');
    t.strictSame(await store.accounts.listInvitations(tenant.id, T0), []);
    const again = invitationTo(bench, (await bench.tenant()).id, 'b@x.test');
    await store.accounts.keepInvitation(again, 9);
    t.equal(await store.accounts.joinByLink(again.tokenHash, { ...joining, userId: bench.id() }), 'exists');
  },

  'invitations have a limit, are renewed, and are cancelled by their tenant': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const [tenant, stranger] = [await bench.tenant(), await bench.tenant()];
    const [a, b] = [invitationTo(bench, tenant.id, 'a@x.test'), invitationTo(bench, tenant.id, 'b@x.test')];
    for (const link of [a, b]) t.equal(await store.accounts.keepInvitation(link, 2), 'kept');
    t.equal(await store.accounts.keepInvitation(invitationTo(bench, tenant.id, 'c@x.test'), 2), 'too_many');
    const renewed = invitationTo(bench, tenant.id, 'b@x.test');
    t.equal(await store.accounts.keepInvitation(renewed, 2), 'kept', 'the same address again');
    t.equal(await store.accounts.findMailLink(b.tokenHash, T0), null);
    t.equal(await store.accounts.cancelInvitation(stranger.id, a.id), false);
    t.equal(await store.accounts.cancelInvitation(tenant.id, a.id), true);
    t.equal(await store.accounts.findMailLink(a.tokenHash, T0), null);
    t.strictSame(await store.accounts.listInvitations(tenant.id, T0), [renewed]);
    t.strictSame(await store.accounts.listInvitations(stranger.id, T0), []);
  },

  'a sign-up is in review once its address is confirmed': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, user } = await signedUp(bench);
    t.equal(await store.accounts.isUnconfirmed(user.id), true);
    t.strictSame(await store.tenants.getTenant(tenant.id), tenant);
    const rival = { tenant: { ...tenant, id: bench.id() }, user: { ...user, id: bench.id() } };
    t.equal(await store.accounts.signUp(rival), 'exists');
    t.equal(await store.tenants.getTenant(rival.tenant.id), null, 'no tenant without its user');
    const link = linkFor(bench, { purpose: 'confirmation', userId: user.id });
    await store.accounts.keepMailLink(link);
    t.equal(await store.accounts.confirmByLink(link.tokenHash, T0 + 100), null, 'too late');
    const confirmed = { ...tenant, status: 'in_review' };
    t.strictSame(await store.accounts.confirmByLink(link.tokenHash, T0), { tenant: confirmed, user });
    t.equal(await store.accounts.confirmByLink(link.tokenHash, T0), null, 'used');
    t.equal(await store.accounts.isUnconfirmed(user.id), false);
  },

  "an operator's word confirms an address as its link does": async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, user } = await signedUp(bench);
    const link = linkFor(bench, { purpose: 'confirmation', userId: user.id });
    await store.accounts.keepMailLink(link);
    const confirmed = { ...tenant, status: 'in_review' };
    t.strictSame(await store.accounts.confirmAddress(user.id), { tenant: confirmed, user });
    t.equal(await store.accounts.isUnconfirmed(user.id), false);
    t.equal(await store.accounts.confirmAddress(user.id), null, 'confirmed already');
    t.equal(await store.accounts.confirmByLink(link.tokenHash, T0), null);
    const member = await newUser(bench, tenant.id);
    t.equal(await store.accounts.confirmAddress(member.id), null, 'who did not sign up');
    t.equal(await store.accounts.confirmAddress(bench.id()), null);
  },

  'whoever resets the password of a sign-up has confirmed the address': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, user } = await signedUp(bench);
    const [confirmation, reset] = [
      linkFor(bench, { purpose: 'confirmation', userId: user.id }),
      linkFor(bench, { userId: user.id }),
    ];
    for (const link of [confirmation, reset]) await store.accounts.keepMailLink(link);
    await store.accounts.resetByLink(reset.tokenHash, 'new', T0);
    t.equal(await store.accounts.isUnconfirmed(user.id), false);
    t.equal((await store.tenants.getTenant(tenant.id))?.status, 'in_review');
    t.equal(await store.accounts.confirmByLink(confirmation.tokenHash, T0), null);
  },

  'a new password ends the reset that was asked for before, and nothing else': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const [user, other] = [await newUser(bench, null, 'operator'), await newUser(bench, null, 'operator')];
    const [reset, confirmation] = [
      linkFor(bench, { userId: user.id }),
      linkFor(bench, { userId: user.id, purpose: 'confirmation' }),
    ];
    const others = linkFor(bench, { userId: other.id });
    for (const link of [reset, confirmation, others]) await store.accounts.keepMailLink(link);
    await store.accounts.setPassword(user.id, 'new');
    t.equal(await store.accounts.findMailLink(reset.tokenHash, T0), null);
    for (const { tokenHash } of [confirmation, others]) t.ok(await store.accounts.findMailLink(tokenHash, T0));
  },

  'an invitation goes before a sign-up that nobody has confirmed': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const begun = await signedUp(bench);
    t.match(await joinAs(bench, begun.user.email), { email: begun.user.email });
    t.equal(await store.tenants.getTenant(begun.tenant.id), null);
    t.equal(await store.accounts.getUser(begun.user.id), null);
  },

  "an operator's word about a tenant stands": async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, user } = await signedUp(bench);
    await store.tenants.updateTenant(tenant.id, { status: 'suspended' });
    const link = linkFor(bench, { purpose: 'confirmation', userId: user.id });
    await store.accounts.keepMailLink(link);
    t.equal((await store.accounts.confirmByLink(link.tokenHash, T0))?.tenant.status, 'suspended');
  },

  'sign-ups that nobody confirms are forgotten, touched ones are not': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const touched: { by: string; user: User }[] = [];
    for (const [by, touch] of Object.entries(TOUCHES)) {
      const { tenant, user } = await signedUp(bench);
      await touch(bench, tenant.id);
      touched.push({ by, user });
    }
    const old = await signedUp(bench, { createdAt: T0 + 1 });
    const young = await signedUp(bench, { createdAt: T0 + 50 });
    await store.accounts.keepMailLink(linkFor(bench, { purpose: 'confirmation', userId: old.user.id }));
    t.equal(await store.accounts.eraseSignUps(T0 + 50, 1), 1, 'the kept ones do not count');
    t.equal(await store.tenants.getTenant(old.tenant.id), null);
    t.equal(await store.accounts.findUserByEmail(old.user.email), null);
    for (const { by, user } of [...touched, { ...young, by: 'none' }]) {
      t.ok(await store.tenants.getTenant(user.tenantId!), by);
      t.equal(await store.accounts.isUnconfirmed(user.id), true, `${by}: nobody has proved the address`);
    }
    for (const { by, user } of touched) {
      t.equal(await joinAs(bench, user.email), 'exists', `${by}: an invitation does not erase it either`);
    }
    t.equal(await store.accounts.eraseSignUps(T0 + 50, 10), 0);
  },
};
