// What attackers try with accounts: races between a thief and the owner, floods, and questions whose answers tell
// more than they should. Each of these worked once.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { DAY_MS, HOUR_MS } from '../../../src/base/clock.ts';
import {
  askForReset,
  findLink,
  invite,
  joinByInvitation,
  resetPasswordByLink,
} from '../../../src/tenants/accounts/mail-proofs.ts';
import { changePassword } from '../../../src/tenants/accounts/own-password.ts';
import type { PasswordQueue } from '../../../src/tenants/accounts/password-queue.ts';
import { SignIn } from '../../../src/tenants/accounts/sign-in.ts';
import { signUp } from '../../../src/tenants/accounts/sign-up.ts';
import { resetPassword } from '../../../src/tenants/accounts/users.ts';
import { AttemptThrottle } from '../../../src/tenants/attempt-throttle.ts';
import { CLIENT, openAccounts, PASSWORD, tokenIn } from './account-stage.ts';

const NEXT = 'another good one';
const REQUEST = { name: 'Thief & Co', email: 'neo@new.test', password: 'the password of a thief' };

t.test('a sign-in that was under way while the password was changed opens no session', async (t) => {
  const held = Promise.withResolvers<void>();
  const stage = await openAccounts(t);
  const { kit, store, user, tenant, time } = stage;
  const owner = await user(await tenant(), 'jo@acme.test');
  // The thief's password is right, and looked at for a long time.
  const slow = {
    hash: kit.passwords.hash,
    async verify(password: string, stored: string | null) {
      const holds = await kit.passwords.verify(password, stored);
      await held.promise;
      return holds;
    },
  } as PasswordQueue;
  const signIn = new SignIn({ ...kit, passwords: slow });
  const thief = signIn.withPassword({ email: owner.email, password: PASSWORD }, CLIENT);
  await resetPassword({ store }, owner.email);
  held.resolve();
  t.match(await thief, { kind: 'wrong' });
  t.same(await store.accounts.listSessions(owner.id, time.now), []);
});

t.test('a new password makes the links worthless that were asked for before', async (t) => {
  const { kit, signIn, user, tenant, mails, settled, store } = await openAccounts(t);
  const owner = await user(await tenant(), 'jo@acme.test');
  const link = async () => {
    await askForReset(kit, owner.email, CLIENT);
    await settled();
    return tokenIn(mails.findLast(({ subject }) => subject === 'Reset your password')!);
  };
  const first = await link();
  await changePassword({ accounts: kit, signIn }, owner, { current: PASSWORD, next: NEXT }, CLIENT);
  t.equal(await findLink(kit, first, 'reset'), null, 'changed by its owner');
  const second = await link();
  await resetPassword({ store }, owner.email);
  t.equal(await findLink(kit, second, 'reset'), null, 'changed by an operator');
});

t.test('whoever has a link cannot keep the line of passwords busy with it', async (t) => {
  const { kit, user, tenant, mails, settled } = await openAccounts(t);
  const owner = await user(await tenant(), 'jo@acme.test');
  await askForReset(kit, owner.email, CLIENT);
  await settled();
  await invite(kit, {
    tenant: (await kit.store.tenants.getTenant(owner.tenantId!))!,
    by: owner,
    email: 'a@x.test',
    role: 'viewer',
  });
  let hashed = 0;
  const never = { ...kit, passwords: { hash: () => new Promise(() => hashed++) } as unknown as PasswordQueue };
  const from = (n: number) => ({ ip: `2001:db8:${n.toString(16)}::1`, userAgent: '' });
  for (let n = 0; n < 50; n++) {
    void resetPasswordByLink(never, { token: tokenIn(mails[0]!), password: NEXT }, from(n));
    void joinByInvitation(never, { token: tokenIn(mails[1]!), password: NEXT }, from(n));
  }
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  t.ok(hashed <= 10, `${hashed} passwords in the line`);
  const refused = await resetPasswordByLink(kit, { token: tokenIn(mails[0]!), password: NEXT }, CLIENT);
  t.match(refused, { kind: 'wait' }, 'and the person is told to wait');
});

t.test('a tenant cannot send invitation after invitation to strangers', async (t) => {
  const { kit, user, tenant, store, time, mails } = await openAccounts(t);
  const home = await tenant();
  const owner = await user(home, 'jo@acme.test');
  let sent = 0;
  for (; sent < 300; sent++) {
    const asked = await invite(kit, { tenant: home, by: owner, email: `a${sent}@strangers.test`, role: 'viewer' });
    if (asked.kind !== 'sent') break;
    const [open] = await store.accounts.listInvitations(home.id, time.now);
    await store.accounts.cancelInvitation(home.id, open!.id);
  }
  t.ok(sent >= 50 && sent <= 100, `${sent} were sent`);
  t.equal(mails.length, sent);
  time.now += HOUR_MS;
  t.match(await invite(kit, { tenant: home, by: owner, email: 'later@x.test', role: 'viewer' }), { kind: 'sent' });
});

t.test('an inviter learns nothing about who has asked for a new password', async (t) => {
  const { kit, user, tenant, settled } = await openAccounts(t);
  const home = await tenant();
  const owner = await user(home, 'jo@acme.test');
  await user(await tenant(), 'known@other.test');
  const answers = [];
  for (const email of ['known@other.test', 'nobody@other.test']) {
    for (let n = 0; n < 3; n++) await askForReset(kit, email, CLIENT);
    await settled();
    const asked = await invite(kit, { tenant: home, by: owner, email, role: 'viewer' });
    answers.push(JSON.stringify(asked).replaceAll(email, 'X'));
  }
  t.equal(answers[0], answers[1]);
});

t.test('who has signed up with an address of somebody else does not keep them from being invited', async (t) => {
  const { kit, user, tenant, mails, settled, store, time } = await openAccounts(t);
  const home = await tenant();
  const owner = await user(home, 'jo@acme.test');
  await signUp(kit, REQUEST, CLIENT);
  await settled();
  time.now += DAY_MS;
  await invite(kit, { tenant: home, by: owner, email: REQUEST.email, role: 'member' });
  const joined = await joinByInvitation(kit, { token: tokenIn(mails.at(-1)!), password: NEXT }, CLIENT);
  t.match(joined, { kind: 'used', user: { tenantId: home.id, role: 'member' } });
  t.same(
    (await store.tenants.listTenants()).map(({ name }) => name),
    ['Acme'],
    'and what was never confirmed is gone',
  );
  t.equal(await findLink(kit, tokenIn(mails[0]!), 'confirmation'), null);
});

t.test('what is remembered of tries takes little room, however long the names are', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const throttle = new AttemptThrottle(
    { now: Date.now },
    { freeTries: 3, firstWaitMs: 1000, longestWaitMs: 1000, forgetAfterMs: HOUR_MS },
  );
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < 200; n++) throttle.count(`${n} ${Buffer.alloc(200_000, 'x').toString('latin1')}`);
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  t.ok(grown < 5_000_000, `${Math.round(grown / 1000)} kB for 200 names`);
  const long = (end: string) => `${'x'.repeat(1000)}${end}`;
  for (let tries = 0; tries < 3; tries++) throttle.count(long('a'));
  t.ok(throttle.waitMs(long('a')) > 0);
  t.equal(throttle.waitMs(long('b')), 0, 'and they are told apart to their ends');
});
