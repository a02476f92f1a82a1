// A browser that has signed in before gets in while strangers at the same address guess: through a real daemon.
import t from 'tap';
import { type Login, type PortalVisitor, startPortal } from '../support/portal.ts';

const KNOWN = 'postrider_browser';
const HALF_A_YEAR = 180 * 24 * 60 * 60;

t.test('signing in leaves a cookie, by which guesses at the address keep nobody out', async (t) => {
  const world = await startPortal(t);
  const login = await world.addUser('member', 'known@acme.test');
  const other = await world.addUser('viewer', 'other@acme.test');
  const own = await world.visitor(login);

  const signOut = async (visitor: PortalVisitor) =>
    visitor.submit(await visitor.get('/portal/account'), '/portal/sign-out');
  const guessedAt = async ({ email }: Login) => {
    const stranger = world.guest();
    for (let n = 0; n < 6; n++) await stranger.signIn({ email, password: 'wrong' });
  };
  const isLockedOut = async (guest: PortalVisitor, of: Login) =>
    /Too many tries\. Wait/.test((await guest.signIn(of)).text);
  const withCookie = (value: string) => {
    const guest = world.guest();
    guest.cookies.set(KNOWN, value);
    return guest;
  };

  await t.test('the cookie', async (t) => {
    const page = await world.guest().get('/portal/sign-in');
    const guest = world.guest();
    guest.cookies.set('postrider_guest', /postrider_guest=([^;]+)/.exec(String(page.headers.getSetCookie()))![1]!);
    const body = new URLSearchParams({ ...login, form_token: page.form('/portal/sign-in').fields.get('form_token')! });
    const answer = await guest.raw('POST', '/portal/sign-in', { body });
    const line = answer.headers.getSetCookie().find((each) => each.startsWith(KNOWN));
    t.match(line, new RegExp(`^${KNOWN}=[a-z0-9][\\w-]{46}; Path=/; Max-Age=${HALF_A_YEAR}; HttpOnly; SameSite=Lax$`));
    const wrong = world.guest();
    await wrong.signIn({ ...login, password: 'wrong' });
    t.equal(wrong.cookies.has(KNOWN), false, 'a wrong password leaves none');
  });

  await t.test('it is no session, and outlives one', async (t) => {
    t.match(await withCookie(own.cookies.get(KNOWN)!).get('/portal/account'), { title: /^Sign in/ });
    await signOut(own);
    t.ok(own.cookies.has(KNOWN));
  });

  await t.test('with it the gates of the address are passed, and by nobody else', async (t) => {
    await guessedAt(login);
    t.ok(await isLockedOut(world.guest(), login), 'a stranger here waits');
    const { value } = { value: own.cookies.get(KNOWN)! };
    const forged = `${value.slice(0, -2)}${value.endsWith('AA') ? 'BA' : 'AA'}`;
    const foreign = (await world.visitor(other)).cookies.get(KNOWN)!;
    for (const each of [forged, foreign, 'x', '"', 'x'.repeat(5000), '%00', `${value}${value}`]) {
      t.ok(await isLockedOut(withCookie(each), login), each.slice(0, 60));
    }
    t.match(await own.signIn({ ...login, password: 'wrong' }), { status: 422, text: /or the password is wrong/ });
    t.match(await own.signIn(login), { path: '/portal' });
  });

  await t.test('two people who share a browser are both known to it', async (t) => {
    await signOut(own);
    await own.signIn(other);
    await signOut(own);
    for (const each of [login, other]) {
      await guessedAt(each);
      t.ok(await isLockedOut(world.guest(), each));
      t.match(await own.signIn(each), { path: '/portal' });
      await signOut(own);
    }
  });

  await t.test('a new password ends it everywhere but here, a reset everywhere', async (t) => {
    await own.signIn(login);
    const stolen = own.cookies.get(KNOWN)!;
    const next = { current: login.password, password: 'horse battery lake' };
    await own.submit(await own.get('/portal/account'), '/portal/account/password', next);
    const changed = { ...login, password: next.password };
    await signOut(own);
    await guessedAt(changed);
    t.ok(await isLockedOut(withCookie(stolen), changed));
    t.match(await own.signIn(changed), { path: '/portal' });
    const { password } = await world.postrider.json('user', 'reset', '--email', login.email);
    await guessedAt(changed);
    t.ok(await isLockedOut(withCookie(own.cookies.get(KNOWN)!), { ...login, password: String(password) }));
  });

  t.notMatch(world.postrider.everythingLogged, own.cookies.get(KNOWN)!, 'no cookie is in the log');
});
