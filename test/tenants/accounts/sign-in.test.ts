// Signing in, step by step, with a clock of the test's own.
import t, { type Test } from 'tap';
import { HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts';
import { changePassword } from '../../../src/tenants/accounts/own-password.ts';
import type { SignIn } from '../../../src/tenants/accounts/sign-in.ts';
import { hotp, STEP_MS, stepAt } from '../../../src/tenants/accounts/totp.ts';
import { type LogLine, listLogger } from '../../support/api-harness.ts';
import { CLIENT, openAccounts, PASSWORD } from './account-stage.ts';

const OTHER_CLIENT = { ip: '198.51.100.7', userAgent: 'Elsewhere' };

t.test('the right password begins a session', async (t) => {
  const { kit, signIn, user, tenant, store } = await openAccounts(t);
  const owner = await user(await tenant(), 'jo@acme.test');
  const outcome = await signIn.withPassword({ email: 'JO@Acme.Test', password: PASSWORD }, CLIENT);
  if (outcome.kind !== 'signed_in') throw new Error(outcome.kind);
  const visitor = await kit.sessions.findVisitor(outcome.started.token);
  t.match(visitor, { user: { id: owner.id }, session: { client: 'Browser/1.0', address: CLIENT.ip } });
  const entries = await store.audit.listAudit(owner.tenantId!, { before: null, limit: 9 });
  t.match(entries, [{ action: 'user.signed_in', who: 'jo@acme.test', address: CLIENT.ip }]);
});

t.test('known and unknown addresses are told apart by nothing', async (t) => {
  const { signIn, user, tenant, time } = await openAccounts(t);
  await user(await tenant(), 'jo@acme.test');
  const tries = async (email: string, ip: string) => {
    const outcomes = [];
    for (let count = 0; count < 7; count++) {
      outcomes.push(await signIn.withPassword({ email, password: 'wrong' }, { ip, userAgent: '' }));
    }
    time.now += HOUR_MS;
    return outcomes;
  };
  const known = await tries('jo@acme.test', '192.0.2.10');
  const wait = { kind: 'wait', waitMs: 30_000 };
  t.same(known, [...Array(5).fill({ kind: 'wrong' }), wait, wait]);
  t.same(await tries('nobody@acme.test', '192.0.2.11'), known);
  t.same(await tries('not an address', '192.0.2.12'), known);
});

t.test('the log says from where somebody tries, and not what they typed', async (t) => {
  const lines: LogLine[] = [];
  const { signIn, user, tenant } = await openAccounts(t, { log: listLogger(lines) });
  await user(await tenant(), 'jo@acme.test');
  for (let count = 0; count < 6; count++)
    await signIn.withPassword({ email: 'jo@acme.test', password: 'hunter2' }, CLIENT);
  t.match(lines[0], {
    facts: { client: CLIENT.ip, reason: 'wrong address, password or code' },
    message: 'sign-in refused',
  });
  t.match(lines.at(-1), { facts: { client: CLIENT.ip, reason: 'too many tries' } });
  t.notMatch(JSON.stringify(lines), /hunter2|jo@/);
});

t.test('failed sign-ins are summed in the audit log of the account, or of the platform', async (t) => {
  const { signIn, user, tenant, store } = await openAccounts(t);
  const { tenantId } = await user(await tenant(), 'jo@acme.test');
  const tryAt = (email: string) => signIn.withPassword({ email, password: 'hunter2' }, CLIENT);
  for (let count = 0; count < 3; count++) await tryAt('jo@acme.test');
  for (let count = 0; count < 2; count++) await tryAt(`nobody${count}@acme.test`);
  const page = { before: null, limit: 9 };
  const failed = { action: 'user.sign_in_failed', who: 'not signed in', address: CLIENT.ip };
  const ofTenant = await store.audit.listAudit(tenantId!, page);
  t.match(ofTenant, [{ ...failed, data: { account: 'jo@acme.test', count: 3, network: CLIENT.ip } }]);
  const all = await store.audit.listAllAudit(page);
  t.match(all, [{ ...failed, tenantId: null, data: { account: null, count: 2 } }, { tenantId }]);
  t.equal(all.length, 2);
  t.notMatch(JSON.stringify(all), /hunter2|nobody/, 'what was typed may be a password');
});

t.test('an address that nobody has costs as much work', async (t) => {
  const checked: (string | null)[] = [];
  const passwords = { verify: async (_: string, stored: string | null) => checked.push(stored) < 0 } as never;
  const { signIn, user, tenant } = await openAccounts(t, { passwords });
  const owner = await user(await tenant(), 'jo@acme.test');
  for (const email of ['jo@acme.test', 'nobody@acme.test', 'not an address']) {
    t.match(await signIn.withPassword({ email, password: 'x' }, CLIENT), { kind: 'wrong' });
  }
  t.same(checked, [owner.passwordHash, null, null]);
});

t.test('a guesser waits; the owner elsewhere does not, and is forgiven', async (t) => {
  const { signIn, user, tenant, time } = await openAccounts(t);
  await user(await tenant(), 'jo@acme.test');
  const login = { email: 'jo@acme.test', password: PASSWORD };
  for (let count = 0; count < 5; count++) await signIn.withPassword({ ...login, password: 'x' }, CLIENT);
  t.match(await signIn.withPassword(login, CLIENT), { kind: 'wait' }, 'even with the right password');
  t.match(await signIn.withPassword(login, OTHER_CLIENT), { kind: 'signed_in' });
  time.now += 30_000;
  t.match(await signIn.withPassword(login, CLIENT), { kind: 'signed_in' });
  t.match(await signIn.withPassword({ ...login, password: 'x' }, CLIENT), { kind: 'wrong' }, 'as if nothing had been');
});

t.test('one address is guessed at from many networks: it waits everywhere, for minutes', async (t) => {
  const { signIn, user, tenant } = await openAccounts(t);
  await user(await tenant(), 'jo@acme.test');
  const from = (n: number) =>
    signIn.withPassword({ email: 'jo@acme.test', password: 'x' }, { ip: `192.0.2.${n}`, userAgent: '' });
  for (let n = 0; n < 50; n++) await from(n);
  t.match(await from(51), { kind: 'wait', waitMs: MINUTE_MS });
});

t.test('one network tries many addresses', async (t) => {
  const { signIn } = await openAccounts(t, { passwords: { verify: async () => false } as never });
  const at = (n: number) =>
    signIn.withPassword({ email: `a${n}@x.test`, password: 'x' }, { ip: `2001:db8::${n}`, userAgent: '' });
  for (let n = 0; n < 40; n++) t.match(await at(n), { kind: 'wrong' });
  t.match(await at(41), { kind: 'wait' });
});

t.test('a site that hops from network to network waits as well', async (t) => {
  const { signIn } = await openAccounts(t, { passwords: { verify: async () => false } as never });
  const at = (n: number, site = 'abcd') =>
    signIn.withPassword({ email: `a${n}@x.test`, password: 'x' }, { ip: `2001:db8:${site}:${n}::1`, userAgent: '' });
  for (let n = 0; n < 160; n++) t.match(await at(n), { kind: 'wrong' });
  t.match(await at(161), { kind: 'wait' });
  t.match(await at(161, 'abce'), { kind: 'wrong' }, 'the next site does not');
});

t.test('a busy answer is no wrong try', async (t) => {
  let isBusy = true;
  const passwords = { verify: async () => (isBusy ? 'busy' : false) } as never;
  const { signIn, store } = await openAccounts(t, { passwords });
  const attempt = () => signIn.withPassword({ email: 'jo@x.test', password: 'x' }, CLIENT);
  for (let count = 0; count < 60; count++) t.match(await attempt(), { kind: 'wait', waitMs: 5000 });
  t.same(await store.audit.listAllAudit({ before: null, limit: 5 }), [], 'nor in the audit log');
  isBusy = false;
  t.match(await attempt(), { kind: 'wrong' }, 'not locked out');
});

t.test('while the line of passwords is long, people are asked to wait', async (t) => {
  const { signIn } = await openAccounts(t, { passwords: { verify: async () => 'busy' } as never });
  t.match(await signIn.withPassword({ email: 'a@x.test', password: 'x' }, CLIENT), { kind: 'wait' });
});

async function withSecondStep(t: Test) {
  const stage = await openAccounts(t);
  const { kit, user, tenant, time, signIn } = stage;
  const owner = await user(await tenant(), 'jo@acme.test');
  const secret = await kit.secondFactors.begin(owner.id);
  if (!secret) throw new Error('no secret');
  const code = (steps = 0) => hotp(secret, stepAt(time.now) + steps);
  const recovery = await kit.secondFactors.confirm(owner.id, code());
  if (!recovery) throw new Error('not confirmed');
  time.now += STEP_MS;
  const begin = async () => {
    const outcome = await signIn.withPassword({ email: 'jo@acme.test', password: PASSWORD }, CLIENT);
    if (outcome.kind !== 'second_step') throw new Error(outcome.kind);
    return outcome.step;
  };
  return { ...stage, owner, secret, code, recovery, begin };
}

t.test('the second step: a code, once', async (t) => {
  const { signIn, begin, code, time, owner, store } = await withSecondStep(t);
  const step = await begin();
  t.equal((await store.accounts.listSessions(owner.id, time.now)).length, 0, 'the password alone begins no session');
  t.match(
    await signIn.withCode({ step: 'x'.repeat(43), code: code() }, CLIENT),
    { kind: 'expired' },
    'without the first',
  );
  t.match(await signIn.withCode({ step, code: '000000' }, CLIENT), { kind: 'wrong' });
  t.match(await signIn.withCode({ step, code: code() }, CLIENT), { kind: 'signed_in', recoveryCodesLeft: null });
  t.match(
    await signIn.withCode({ step, code: code(1) }, CLIENT),
    { kind: 'expired' },
    'a step is good for one sign-in',
  );
  t.match(await signIn.withCode({ step: await begin(), code: code() }, CLIENT), { kind: 'wrong' }, 'a code as well');
  time.now += STEP_MS;
  t.match(await signIn.withCode({ step: await begin(), code: code() }, CLIENT), { kind: 'signed_in' });
});

t.test('two browsers with the same code at once: one gets in', async (t) => {
  const { signIn, begin, code } = await withSecondStep(t);
  const steps = [await begin(), await begin()];
  const outcomes = await Promise.all(steps.map((step) => signIn.withCode({ step, code: code() }, CLIENT)));
  t.same(outcomes.map(({ kind }) => kind).sort(), ['signed_in', 'wrong']);
});

t.test('a recovery code in place of the code, once', async (t) => {
  const { signIn, begin, recovery } = await withSecondStep(t);
  t.equal(recovery.length, 10);
  t.match(recovery[0], /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  const typed = recovery[0]!.toUpperCase().replaceAll('-', ' ');
  t.match(await signIn.withCode({ step: await begin(), code: typed }, CLIENT), {
    kind: 'signed_in',
    recoveryCodesLeft: 9,
  });
  t.match(await signIn.withCode({ step: await begin(), code: recovery[0]! }, CLIENT), { kind: 'wrong' });
});

t.test('the second step ends after five codes and after five minutes', async (t) => {
  const { signIn, begin, code, time } = await withSecondStep(t);
  const slow = await begin();
  time.now += 5 * MINUTE_MS;
  t.match(await signIn.withCode({ step: slow, code: code() }, CLIENT), { kind: 'expired' });
  const step = await begin();
  for (let count = 0; count < 5; count++) {
    t.match(await signIn.withCode({ step, code: '000000' }, { ip: `192.0.2.${20 + count}`, userAgent: '' }), {
      kind: 'wrong',
    });
  }
  t.match(await signIn.withCode({ step, code: code() }, { ip: '192.0.2.30', userAgent: '' }), { kind: 'expired' });
});

t.test('codes are throttled like passwords, over all steps', async (t) => {
  const { signIn, begin, time } = await withSecondStep(t);
  const kinds = [];
  for (let count = 0; count < 3; count++) {
    const step = await begin();
    kinds.push((await signIn.withCode({ step, code: '000000' }, CLIENT)).kind);
    time.now += 1000;
    if (kinds.at(-1) === 'wait') break;
  }
  t.same(kinds, ['wrong', 'wrong', 'wait'], 'five tries in all: three passwords and two codes');
});

t.test('the code may come to another node than the password', async (t) => {
  const { signInElsewhere, begin, code, recovery } = await withSecondStep(t);
  const step = await begin();
  const [b, c] = [signInElsewhere(), signInElsewhere()];
  t.match(await b.withCode({ step, code: '000000' }, CLIENT), { kind: 'wrong' });
  t.match(await b.withCode({ step, code: code() }, CLIENT), { kind: 'signed_in' });
  t.match(await b.withCode({ step, code: recovery[0]! }, CLIENT), { kind: 'expired' }, 'good for one sign-in');
  t.match(await c.withCode({ step, code: code() }, CLIENT), { kind: 'wrong' }, 'and a code is good once at all nodes');
});

t.test('no other token is a step, and no step that was changed', async (t) => {
  const { kit, signIn, begin, code, owner } = await withSecondStep(t);
  const step = await begin();
  const longLived = kit.knownBrowsers.remember(owner, null).value;
  const changed = [...step].map((letter, at) => step.slice(0, at) + (letter === 'A' ? 'B' : 'A') + step.slice(at + 1));
  const ofOtherPassword = kit.secondSteps.begin({ ...owner, passwordHash: '$scrypt$other' });
  const wrong = [
    longLived,
    ofOtherPassword,
    step.slice(0, -1),
    `${step}A`,
    `${step}=`,
    '',
    'ü'.repeat(step.length),
    ...changed,
  ];
  for (const text of wrong) {
    t.match(await signIn.withCode({ step: text, code: code() }, CLIENT), { kind: 'expired' }, text.slice(0, 70));
  }
  t.notMatch(Buffer.from(step.slice(1), 'base64url').toString('latin1'), /scrypt/);
  t.equal(kit.knownBrowsers.recognize(owner, step), null, 'nor is a step a known browser');
  t.match(await signIn.withCode({ step, code: code() }, CLIENT), { kind: 'signed_in' }, 'none of them was an attempt');
});

t.test('attempts count at all nodes, and a restart forgets none', async (t) => {
  const { signInElsewhere, user, tenant, time } = await openAccounts(t);
  await user(await tenant(), 'jo@acme.test');
  const tryAt = (node: SignIn, password: string) => node.withPassword({ email: 'jo@acme.test', password }, CLIENT);
  const nodes = [signInElsewhere(), signInElsewhere()];
  const kinds = await Promise.all(Array.from({ length: 8 }, (_, at) => tryAt(nodes[at % 2]!, 'x')));
  t.same(kinds.map(({ kind }) => kind).sort(), [...Array(3).fill('wait'), ...Array(5).fill('wrong')]);
  t.match(await tryAt(signInElsewhere(), PASSWORD), { kind: 'wait', waitMs: 30_000 });
  time.now += 30_000;
  t.match(await tryAt(nodes[0]!, PASSWORD), { kind: 'signed_in' });
  t.match(await tryAt(nodes[1]!, 'x'), { kind: 'wrong' }, 'the right password has forgiven them everywhere');
});

t.test('a password that was changed between the steps ends them', async (t) => {
  const { kit, signIn, begin, code, owner } = await withSecondStep(t);
  const step = await begin();
  const passwords = { current: PASSWORD, next: 'another good one' };
  t.match(await changePassword({ accounts: kit, signIn }, owner, passwords, CLIENT), { kind: 'changed' });
  t.match(await signIn.withCode({ step, code: code() }, CLIENT), { kind: 'expired' });
});

t.test('changing the password: all sessions end, and the own one goes on under another token', async (t) => {
  const { kit, signIn, user, tenant, mails, time } = await openAccounts(t);
  const owner = await user(await tenant(), 'jo@acme.test');
  const enter = async () => {
    const outcome = await signIn.enter(owner, CLIENT);
    if (outcome.kind !== 'signed_in') throw new Error(outcome.kind);
    return outcome.started.token;
  };
  const [own, other] = [await enter(), await enter()];
  const change = (current: string, next: string) =>
    changePassword({ accounts: kit, signIn }, owner, { current, next }, CLIENT);
  t.match(await change('wrong', 'another good one'), { kind: 'refused', field: 'current' });
  t.match(await change(PASSWORD, 'short'), { kind: 'refused', field: 'password' });
  t.ok(await kit.sessions.findVisitor(own), 'nothing has happened yet');
  const changed = await change(PASSWORD, 'another good one');
  if (changed.kind !== 'changed') throw new Error(changed.kind);
  for (const token of [own, other]) t.equal(await kit.sessions.findVisitor(token), null);
  t.ok(await kit.sessions.findVisitor(changed.started.token));
  t.match(mails, [{ to: ['jo@acme.test'], subject: 'Your password was changed' }]);
  time.now += HOUR_MS;
  t.match(await signIn.withPassword({ email: 'jo@acme.test', password: PASSWORD }, CLIENT), { kind: 'wrong' });
  t.match(await signIn.withPassword({ email: 'jo@acme.test', password: 'another good one' }, CLIENT), {
    kind: 'signed_in',
  });
});
