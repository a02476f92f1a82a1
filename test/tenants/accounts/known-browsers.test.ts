// Browsers that have signed in before: what their cookie proves, and that nobody can keep them out by guessing.
import t from 'tap';
import { DAY_MS, SECOND_MS } from '../../../src/base/clock.ts';
import type { User } from '../../../src/store/tenants.ts';
import type { Client } from '../../../src/tenants/accounts/account-kit.ts';
import { KnownBrowsers } from '../../../src/tenants/accounts/known-browsers.ts';
import { changePassword } from '../../../src/tenants/accounts/own-password.ts';
import { PasswordQueue } from '../../../src/tenants/accounts/password-queue.ts';
import { hotp, STEP_MS, stepAt } from '../../../src/tenants/accounts/totp.ts';
import { resetPassword } from '../../../src/tenants/accounts/users.ts';
import { CLIENT, openAccounts, PASSWORD, T0 } from './account-stage.ts';

const LIFE_MS = 180 * DAY_MS;
const [KEY, OLD_KEY] = [1, 2].map((fill) => ({ id: 'xab'[fill]!, key: Buffer.alloc(32, fill) })) as [Key, Key];
const JO = { id: '019a9b70-0000-7000-8000-000000000001', passwordHash: '$scrypt$jo' };
const ANN = { id: '019a9b70-0000-7000-8000-000000000002', passwordHash: '$scrypt$ann' };

interface Key {
  id: string;
  key: Buffer;
}

function stage(of: { key?: Key; all?: Key[] } = {}) {
  const { key = KEY, all = [KEY, OLD_KEY] } = of;
  const time = { now: T0 };
  const keys = (id: string) => all.find((each) => each.id === id)?.key;
  return { time, browsers: new KnownBrowsers({ clock: { now: () => time.now }, key, keys }) };
}

t.test('a token proves one account, until the password is another one or half a year is over', async (t) => {
  const { browsers, time } = stage();
  const { value, maxAgeMs } = browsers.remember(JO, null);
  t.equal(maxAgeMs, LIFE_MS);
  t.match(value, /^[\w.-]{47}$/, 'for a cookie');
  t.notMatch(Buffer.from(value, 'base64url').toString('latin1'), /scrypt|019a9b70/, 'it says nothing of the account');
  const id = browsers.recognize(JO, value);
  t.match(id, /^[\w-]{16}$/);
  t.not(browsers.recognize(JO, browsers.remember(JO, null).value), id, 'each has its own');
  t.equal(browsers.recognize(ANN, value), null, 'of somebody else');
  t.equal(browsers.recognize(null, value), null, 'of nobody');
  t.equal(browsers.recognize({ ...JO, passwordHash: '$scrypt$other' }, value), null, 'after a new password');
  time.now += LIFE_MS - 1;
  t.equal(browsers.recognize(JO, value), id);
  time.now += 1;
  t.equal(browsers.recognize(JO, value), null, 'too old');
});

t.test('what is forged, cut, stretched or of another key is as nothing', async (t) => {
  const { browsers } = stage();
  const { value } = browsers.remember(JO, null);
  const other = stage({ key: { id: 'a', key: Buffer.alloc(32, 9) } }).browsers.remember(JO, null).value;
  const unknown = stage({ key: { id: 'z', key: KEY.key } }).browsers.remember(JO, null).value;
  const wrong = ['', '.', '...', value.slice(0, -1), `${value}A`, `${value}==`, value.toUpperCase(), other, unknown];
  for (let at = 0; at < value.length; at++) {
    const letter = value[at] === 'A' ? 'B' : 'A';
    wrong.push(value.slice(0, at) + letter + value.slice(at + 1));
  }
  wrong.push(`${`${other}.`.repeat(5)}${value}`, 'x'.repeat(100_000), '\u0000'.repeat(47), 'ü'.repeat(47));
  for (const text of wrong) t.equal(browsers.recognize(JO, text), null, text.slice(0, 60));
  t.ok(browsers.recognize(JO, `${other}.${value}`), 'beside another one the right one holds');
});

t.test('tokens of older keys still hold, and a key that is gone takes its tokens along', async (t) => {
  const { value } = stage({ key: OLD_KEY }).browsers.remember(JO, null);
  t.ok(stage().browsers.recognize(JO, value));
  t.equal(stage({ all: [KEY] }).browsers.recognize(JO, value), null);
});

t.test('a browser is known to several accounts, the latest four', async (t) => {
  const { browsers } = stage();
  const accounts = Array.from({ length: 6 }, (_, n) => ({ id: `user ${n}`, passwordHash: `hash ${n}` }));
  let cookie: string | null = null;
  for (const account of accounts) cookie = browsers.remember(account, cookie).value;
  const known = () => accounts.map((account) => browsers.recognize(account, cookie) !== null);
  t.same(known(), [false, false, true, true, true, true]);
  for (let n = 0; n < 9; n++) cookie = browsers.remember(accounts[5]!, cookie).value;
  t.same(known(), [false, false, true, true, true, true], 'signing in again takes no room from the others');
  t.ok(browsers.remember(accounts[0]!, 'x'.repeat(100_000)).value.length < 200, 'what was forged is not kept');
});

async function openKnown(t: Parameters<typeof openAccounts>[0], change: Parameters<typeof openAccounts>[1] = {}) {
  const stage = await openAccounts(t, change);
  const { signIn, user, tenant } = stage;
  const jo = await user(await tenant(), 'jo@acme.test');
  const attempt = (password: string, client: Client, email = jo.email) =>
    signIn.withPassword({ email, password }, client);
  const known = async (of: User = jo): Promise<Client> => {
    const entered = await signIn.enter(of, CLIENT);
    if (entered.kind !== 'signed_in') throw new Error(entered.kind);
    return { ...CLIENT, browser: entered.browser.value };
  };
  /** Until every gate of a stranger is closed: here, in the same network and site, and everywhere. */
  const hammer = async (email = jo.email) => {
    for (let n = 0; n < 60; n++) await attempt('x', CLIENT, email);
    for (let n = 0; n < 60; n++) await attempt('x', CLIENT, `other${n}@acme.test`);
    for (let n = 0; n < 60; n++) await attempt('x', { ip: `198.51.100.${n}`, userAgent: '' }, email);
  };
  return { ...stage, jo, attempt, known, hammer };
}

t.test('guesses from the same address and from everywhere do not keep a known browser out', async (t) => {
  const { attempt, known, hammer } = await openKnown(t);
  const own = await known();
  await hammer();
  t.match(await attempt(PASSWORD, CLIENT), { kind: 'wait' }, 'a stranger at this address waits');
  t.match(await attempt(PASSWORD, { ip: '203.0.113.9', userAgent: '' }), { kind: 'wait' }, 'and elsewhere');
  t.match(await attempt('mistyped', own), { kind: 'wrong' });
  const entered = await attempt(PASSWORD, own);
  if (entered.kind !== 'signed_in') throw new Error(entered.kind);
  t.not(entered.browser.value, own.browser, 'with a new token');
  t.match(await attempt(PASSWORD, { ...CLIENT, browser: entered.browser.value }), { kind: 'signed_in' });
  t.match(await attempt(PASSWORD, CLIENT), { kind: 'wait' }, 'which opens nothing for those who guess');
});

t.test('a known IPv6 browser passes while its site and network are closed', async (t) => {
  const { attempt, known, hammer } = await openKnown(t, {});
  const own = { ...(await known()), ip: '2001:db8:abcd:1::1' };
  for (let n = 0; n < 200; n++) {
    await attempt('x', { ip: `2001:db8:abcd:${(n % 7) + 1}::1`, userAgent: '' }, `n${n}@x.test`);
  }
  await hammer();
  t.match(await attempt(PASSWORD, { ip: '2001:db8:abcd:ff::1', userAgent: '' }, 'a@x.test'), { kind: 'wait' });
  t.match(await attempt(PASSWORD, own), { kind: 'signed_in' });
});

t.test('forged, foreign, old and dead cookies are as none', async (t) => {
  const { kit, signIn, store, time, user, tenant, jo, attempt, known, hammer } = await openKnown(t);
  const other = await user(await tenant(), 'ann@other.test');
  const own = await known();
  const foreign = await known(other);
  await hammer();
  const forged = `${own.browser!.slice(0, -1)}${own.browser!.endsWith('A') ? 'B' : 'A'}`;
  for (const browser of [forged, foreign.browser, '', 'x', 'x'.repeat(10_000), null]) {
    t.match(await attempt(PASSWORD, { ...own, browser: browser! }), { kind: 'wait' }, String(browser).slice(0, 60));
  }
  t.match(await attempt(PASSWORD, own, 'nobody@acme.test'), { kind: 'wait' }, 'for an address that nobody has');
  t.match(await attempt(PASSWORD, own, 'not an address'), { kind: 'wait' });
  time.now += LIFE_MS;
  await hammer();
  t.match(await attempt(PASSWORD, own), { kind: 'wait' }, 'after half a year');

  const young = await known();
  await hammer();
  await resetPassword({ store }, jo.email);
  t.match(await attempt('x', young), { kind: 'wait' }, 'a stolen one dies with a reset');
  const now = (await store.accounts.getUser(jo.id))!;
  const next = await known(now);
  const stolen = { ...next };
  await store.accounts.setPassword(jo.id, jo.passwordHash);
  const back = await known({ ...now, passwordHash: jo.passwordHash });
  const changed = await changePassword(
    { accounts: kit, signIn },
    { ...now, passwordHash: jo.passwordHash },
    { current: PASSWORD, next: 'another good one' },
    back,
  );
  if (changed.kind !== 'changed') throw new Error(changed.kind);
  await hammer();
  for (const dead of [stolen, back]) t.match(await attempt('another good one', dead), { kind: 'wait' });
  t.match(await attempt('another good one', { ...back, browser: changed.browser.value }), { kind: 'signed_in' });
});

t.test('a stolen cookie has few tries, and its owner is not kept out by them', async (t) => {
  const { attempt, known, time } = await openKnown(t);
  const [stolen, own] = [await known(), await known()];
  const from = (n: number) => ({ ...stolen, ip: `198.51.100.${n}` });
  for (let n = 0; n < 5; n++) t.match(await attempt('x', from(n)), { kind: 'wrong' });
  t.same(await attempt(PASSWORD, from(6)), { kind: 'wait', waitMs: 30 * SECOND_MS }, 'from wherever it is used');
  t.match(await attempt(PASSWORD, own), { kind: 'signed_in' });
  t.match(await attempt(PASSWORD, from(7)), { kind: 'wait' }, 'the owner’s success forgives the thief nothing');
  let tries = 5;
  const endsAt = time.now + DAY_MS;
  while (time.now < endsAt) {
    const outcome = await attempt('x', stolen);
    if (outcome.kind === 'wrong') tries++;
    time.now += outcome.kind === 'wait' ? outcome.waitMs : 0;
  }
  t.ok(tries < 120, `${tries} in a day`);
  t.match(await attempt(PASSWORD, own), { kind: 'signed_in' });
});

t.test('many stolen cookies of one account share what the account has', async (t) => {
  const { attempt, known } = await openKnown(t);
  const all = [];
  for (let n = 0; n < 15; n++) all.push(await known());
  let wrong = 0;
  for (const each of all) for (let n = 0; n < 5; n++) if ((await attempt('x', each)).kind === 'wrong') wrong++;
  t.equal(wrong, 50);
  t.match(await attempt(PASSWORD, CLIENT), { kind: 'signed_in' }, 'strangers have a share of their own');
});

t.test('the second step, and the question for the password once more, are open to a known browser', async (t) => {
  const { kit, signIn, jo, time, attempt, known, hammer } = await openKnown(t);
  const own = await known();
  const secret = (await kit.secondFactors.begin(jo.id))!;
  await kit.secondFactors.confirm(jo.id, hotp(secret, stepAt(time.now)));
  time.now += STEP_MS;
  await hammer();
  const asked = await attempt(PASSWORD, own);
  if (asked.kind !== 'second_step') throw new Error(asked.kind);
  const enter = (client: Client, code: string) => signIn.withCode({ step: asked.step, code }, client);
  const code = hotp(secret, stepAt(time.now));
  t.match(await enter(CLIENT, code), { kind: 'wait' }, 'for a stranger they are closed');
  t.match(await enter(own, '000000'), { kind: 'wrong' });
  t.match(await enter(own, code), { kind: 'signed_in' });
  t.match(await signIn.confirmPassword(jo, PASSWORD, CLIENT), { waitMs: /\d/ });
  t.equal(await signIn.confirmPassword(jo, PASSWORD, own), 'right');
});

t.test('codes are guessed by a stolen cookie as slowly as passwords', async (t) => {
  const { kit, signIn, jo, time, attempt, known } = await openKnown(t);
  const stolen = await known();
  const secret = (await kit.secondFactors.begin(jo.id))!;
  await kit.secondFactors.confirm(jo.id, hotp(secret, stepAt(time.now)));
  const kinds: string[] = [];
  while (kinds.at(-1) !== 'wait' && kinds.length < 20) {
    const asked = await attempt(PASSWORD, stolen);
    kinds.push(asked.kind);
    if (asked.kind === 'second_step')
      kinds.push((await signIn.withCode({ step: asked.step, code: '000000' }, stolen)).kind);
  }
  t.same(kinds, ['second_step', 'wrong', 'second_step', 'wrong', 'second_step', 'wait']);
});

t.test('while strangers fill the line of passwords a known browser is checked', async (t) => {
  const passwords = new PasswordQueue();
  const { attempt, known, jo } = await openKnown(t, { passwords });
  const own = await known();
  const crowd = Array.from({ length: 60 }, (_, n) =>
    attempt('x', { ip: `203.0.113.${n}`, userAgent: '' }, n % 2 === 0 ? jo.email : `n${n}@x.test`),
  );
  const asked = attempt(PASSWORD, own);
  const late = attempt('x', { ip: '192.0.2.99', userAgent: '' }, 'late@x.test');
  t.match(await late, { kind: 'wait', waitMs: 5000 }, 'there is no room left');
  t.match(await asked, { kind: 'signed_in' });
  await Promise.all(crowd);
});
