// Links by mail: resets, invitations, sign-ups; what each proves, once, and what strangers can do with them.
import t from 'tap';
import { DAY_MS, HOUR_MS } from '../../../src/base/clock.ts';
import {
  askForReset,
  confirmSignUp,
  findLink,
  invite,
  joinByInvitation,
  resetPasswordByLink,
} from '../../../src/tenants/accounts/mail-proofs.ts';
import { signUp, signUpTimer } from '../../../src/tenants/accounts/sign-up.ts';
import { CLIENT, openAccounts, PASSWORD, tokenIn } from './account-stage.ts';

const NEXT = 'another good one';

t.test('a reset: the link works once, within its hour, and ends all sessions', async (t) => {
  const { kit, user, tenant, mails, settled, time, signIn } = await openAccounts(t);
  const owner = await user(await tenant(), 'jo@acme.test');
  const entered = await signIn.enter(owner, CLIENT);
  if (entered.kind !== 'signed_in') throw new Error(entered.kind);
  t.match(await askForReset(kit, 'Jo@Acme.test', CLIENT), { kind: 'sent' });
  await settled();
  t.match(mails, [{ to: ['jo@acme.test'], subject: 'Reset your password' }]);
  t.match(mails[0]!.text, /^https:\/\/mail\.test\/portal\/reset\/password\?token=/m);
  const token = tokenIn(mails[0]!);
  const use = (password = NEXT) => resetPasswordByLink(kit, { token, password }, CLIENT);
  t.ok(await findLink(kit, token, 'reset'), 'looking uses nothing up');
  t.match(await use('short'), { kind: 'refused', field: 'password' }, 'nor does a bad password');
  t.match(await use(), { kind: 'used', user: { id: owner.id } });
  t.match(await use(), { kind: 'dead' });
  t.equal(await kit.sessions.findVisitor(entered.started.token), null);
  t.match(await signIn.withPassword({ email: 'jo@acme.test', password: NEXT }, CLIENT), { kind: 'signed_in' });
  await askForReset(kit, 'jo@acme.test', CLIENT);
  await settled();
  time.now += HOUR_MS;
  t.equal(await findLink(kit, tokenIn(mails[1]!), 'reset'), null, 'too late');
});

t.test('asking for a reset tells nothing, and cannot be made a flood', async (t) => {
  const { kit, user, tenant, mails, settled, time } = await openAccounts(t);
  await user(await tenant(), 'jo@acme.test');
  t.same(await askForReset(kit, 'nobody@acme.test', CLIENT), await askForReset(kit, 'jo@acme.test', CLIENT));
  t.match(await askForReset(kit, 'no address', CLIENT), { kind: 'refused', field: 'email' });
  for (let n = 0; n < 8; n++) t.match(await askForReset(kit, 'jo@acme.test', CLIENT), { kind: 'sent' });
  await settled();
  t.equal(mails.length, 3, 'the address gets a few');
  t.match(
    await askForReset(kit, 'other@acme.test', CLIENT),
    { kind: 'wait', waitMs: 5 * 60_000 },
    'the network has to wait',
  );
  time.now += 10 * 60_000;
  t.match(await askForReset(kit, 'jo@acme.test', CLIENT), { kind: 'sent' });
  await settled();
  t.equal(mails.length, 4, 'later it gets another');
});

t.test('a link that was replaced, spoilt or is for something else opens nothing', async (t) => {
  const { kit, user, tenant, mails, settled } = await openAccounts(t);
  const home = await tenant();
  const owner = await user(home, 'jo@acme.test');
  for (let n = 0; n < 2; n++) await askForReset(kit, 'jo@acme.test', CLIENT);
  await settled();
  const [first, second] = [tokenIn(mails[0]!), tokenIn(mails[1]!)];
  t.equal(await findLink(kit, first, 'reset'), null, 'only the latest holds');
  for (const token of ['', 'x', second.toLowerCase(), `${second}x`, 'A'.repeat(43)]) {
    t.match(await resetPasswordByLink(kit, { token, password: NEXT }, CLIENT), { kind: 'dead' }, token);
  }
  await invite(kit, { tenant: home, by: owner, email: 'new@acme.test', role: 'viewer' });
  const invitation = tokenIn(mails[2]!);
  t.match(await resetPasswordByLink(kit, { token: invitation, password: NEXT }, CLIENT), { kind: 'dead' });
  t.match(await joinByInvitation(kit, { token: second, password: NEXT }, CLIENT), { kind: 'dead' });
  t.match(await confirmSignUp(kit, second, CLIENT), { kind: 'dead' });
  t.ok(await findLink(kit, second, 'reset'), 'and it still does what it is for');
});

t.test('an invitation makes a member of the invited role, once', async (t) => {
  const { kit, store, user, tenant, mails, time } = await openAccounts(t);
  const home = await tenant();
  const owner = await user(home, 'jo@acme.test');
  const by = { tenant: home, by: owner };
  t.match(await invite(kit, { ...by, email: 'New@Acme.test', role: 'viewer' }), { kind: 'sent' });
  t.match(mails[0], { to: ['new@acme.test'], subject: 'Invitation to join Acme', text: /jo@acme\.test invites you/ });
  const token = tokenIn(mails[0]!);
  t.match(await joinByInvitation(kit, { token, password: 'new@acme.test' }, CLIENT), {
    kind: 'refused',
    field: 'password',
  });
  const used = await joinByInvitation(kit, { token, password: NEXT }, CLIENT);
  t.match(used, { kind: 'used', user: { email: 'new@acme.test', role: 'viewer', tenantId: home.id } });
  t.match(await joinByInvitation(kit, { token, password: NEXT }, CLIENT), { kind: 'dead' });
  t.match(await invite(kit, { ...by, email: 'new@acme.test', role: 'owner' }), {
    kind: 'refused',
    message: /already a member/,
  });
  t.match((await store.audit.listAudit(home.id, { before: null, limit: 1 }))[0], {
    action: 'member.joined',
    data: { role: 'viewer' },
  });
  await invite(kit, { ...by, email: 'late@acme.test', role: 'member' });
  time.now += 7 * DAY_MS;
  t.equal(await findLink(kit, tokenIn(mails[1]!), 'invitation'), null);
});

t.test('inviting somebody who has an account elsewhere tells the inviter nothing', async (t) => {
  const { kit, user, tenant, mails } = await openAccounts(t);
  const [home, elsewhere] = [await tenant(), await tenant()];
  const owner = await user(home, 'jo@acme.test');
  await user(elsewhere, 'taken@other.test');
  const by = { tenant: home, by: owner, role: 'member' as const };
  t.same(
    await invite(kit, { ...by, email: 'taken@other.test' }),
    await invite(kit, { ...by, email: 'free@other.test' }),
  );
  const joined = await joinByInvitation(kit, { token: tokenIn(mails[0]!), password: NEXT }, CLIENT);
  t.match(joined, { kind: 'refused', message: /already has an account/ }, 'who reads the address is told');
});

t.test('only active tenants invite', async (t) => {
  const { kit, user, tenant, mails } = await openAccounts(t);
  for (const status of ['pending_verification', 'in_review', 'suspended'] as const) {
    const home = await tenant(status);
    const owner = await user(home, `${status}@acme.test`);
    t.match(
      await invite(kit, { tenant: home, by: owner, email: 'a@x.test', role: 'viewer' }),
      { kind: 'refused' },
      status,
    );
  }
  t.same(mails, []);
});

const REQUEST = { name: 'Rockets', email: 'Neo@New.test', password: PASSWORD };

t.test('signing up: pending, confirmed by mail, in review, and the operator hears of it', async (t) => {
  const { kit, store, mails, settled, signIn } = await openAccounts(t);
  t.match(await signUp(kit, REQUEST, CLIENT), { kind: 'sent' });
  await settled();
  const user = await store.accounts.findUserByEmail('neo@new.test');
  t.match(await store.tenants.getTenant(user!.tenantId!), { name: 'Rockets', status: 'pending_verification' });
  t.match(await signIn.withPassword(REQUEST, CLIENT), { kind: 'unconfirmed' }, 'nobody gets in before');
  t.match(await signIn.withPassword({ ...REQUEST, password: 'x' }, CLIENT), { kind: 'wrong' });
  t.match(mails, [{ to: ['neo@new.test'], subject: 'Confirm your email address' }]);
  t.notMatch(mails[0]!.text, /Rockets/, 'nothing of what a stranger has written');
  const token = tokenIn(mails[0]!);
  t.match(await confirmSignUp(kit, token, CLIENT), { kind: 'used', user: { email: 'neo@new.test' } });
  t.match(await confirmSignUp(kit, token, CLIENT), { kind: 'dead' });
  t.match(await store.tenants.getTenant(user!.tenantId!), { status: 'in_review' });
  t.match(mails[1], { to: ['ops@platform.test'], text: /neo@new\.test has signed up as "Rockets"/ });
  t.match(await signIn.withPassword(REQUEST, CLIENT), { kind: 'signed_in' });
});

t.test(
  'signing up with an address that has an account answers the same, and the owner of the address is told',
  async (t) => {
    const { kit, store, user, tenant, mails, settled } = await openAccounts(t);
    await user(await tenant(), 'jo@acme.test');
    const before = (await store.tenants.listTenants()).length;
    t.same(await signUp(kit, { ...REQUEST, email: 'jo@acme.test' }, CLIENT), await signUp(kit, REQUEST, CLIENT));
    await settled();
    t.equal((await store.tenants.listTenants()).length, before + 1);
    t.match(
      mails.find(({ to }) => to[0] === 'jo@acme.test'),
      { subject: 'You already have an account' },
    );
  },
);

t.test('who signs up a second time with an unconfirmed address takes nothing over', async (t) => {
  const { kit, store, mails, settled, signIn } = await openAccounts(t);
  await signUp(kit, REQUEST, CLIENT);
  await settled();
  await signUp(kit, { name: 'Thief', email: 'neo@new.test', password: 'the password of a thief' }, CLIENT);
  await settled();
  t.equal(mails.length, 2, 'the link comes once more');
  await confirmSignUp(kit, tokenIn(mails[1]!), CLIENT);
  t.match(await signIn.withPassword({ email: 'neo@new.test', password: 'the password of a thief' }, CLIENT), {
    kind: 'wrong',
  });
  const entered = await signIn.withPassword(REQUEST, CLIENT);
  t.match(entered, { kind: 'signed_in' });
  t.equal((await store.tenants.listTenants()).length, 1);
});

t.test('what is wrong with a sign-up is said at its field', async (t) => {
  const { kit } = await openAccounts(t);
  t.match(await signUp(kit, { ...REQUEST, name: ' ' }, CLIENT), { field: 'name' });
  t.match(await signUp(kit, { ...REQUEST, email: 'x' }, CLIENT), { field: 'email' });
  t.match(await signUp(kit, { ...REQUEST, password: 'password1234' }, CLIENT), { field: 'password' });
  t.match(await signUp(kit, { ...REQUEST, password: 'neo@new.test' }, CLIENT), { field: 'password' });
});

t.test('sign-ups that nobody confirms are forgotten after some days', async (t) => {
  const { kit, store, settled, time } = await openAccounts(t);
  await signUp(kit, REQUEST, CLIENT);
  await settled();
  const run = () => signUpTimer(kit).run(new AbortController().signal);
  t.equal(await run(), '0 links and 0 sign-ups erased');
  time.now += 8 * DAY_MS + 1;
  t.equal(await run(), '1 links and 1 sign-ups erased');
  t.same(await store.tenants.listTenants(), []);
  t.match(await signUp(kit, REQUEST, CLIENT), { kind: 'sent' }, 'and the address is free again');
});

t.test('an operator who approves the tenant proves nobody’s address: it stays unconfirmed', async (t) => {
  const { kit, store, settled, signIn, time } = await openAccounts(t);
  await signUp(kit, REQUEST, CLIENT);
  await settled();
  const user = await store.accounts.findUserByEmail('neo@new.test');
  await store.tenants.updateTenant(user!.tenantId!, { status: 'active' });
  time.now += 8 * DAY_MS + 1;
  await signUpTimer(kit).run(new AbortController().signal);
  t.match(await signIn.withPassword(REQUEST, CLIENT), { kind: 'unconfirmed' });
});
