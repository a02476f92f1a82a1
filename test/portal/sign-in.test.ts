// Signing in and out, one's own account, and what others could try with them: through a real daemon, as people
// and their browsers do it.
import t, { type Test } from 'tap';
import { decodeBase32 } from '../../src/base/text/base32.ts';
import { hotp, stepAt } from '../../src/tenants/accounts/totp.ts';
import { pidByArgument } from '../contract/process-memory.ts';
import { type Login, type PortalVisitor, startPortal } from '../support/portal.ts';

const SESSION = 'postrider_session';
const NEW_PASSWORD = 'horse battery lake';

async function signInTo(guest: PortalVisitor, next: string, login: Login): Promise<Response> {
  const page = await guest.get(`/portal/sign-in?next=${encodeURIComponent(next)}`);
  const { fields } = page.form('/portal/sign-in');
  const body = new URLSearchParams(fields);
  body.set('email', login.email);
  body.set('password', login.password);
  return guest.raw('POST', '/portal/sign-in', { body });
}

t.test('signing in, and one’s own account', async (t) => {
  const world = await startPortal(t);
  const { owner } = world;

  t.test('what reads lists is started while somebody signs in, and not by the first page', async (t) => {
    const pid = () => pidByArgument(world.postrider.databaseFile);
    t.throws(pid, 'nobody has looked yet');
    await world.guest().get('/portal/keys');
    t.ok(pid() > 0, 'the form is open');
  });

  t.test('a new session has a token that nobody has seen before', async (t) => {
    const planted = 'P'.repeat(43);
    const guest = world.guest();
    guest.cookies.set(SESSION, planted);
    const answer = await signInTo(guest, '/portal', owner);
    const cookie = answer.headers.getSetCookie().find((line) => line.startsWith(SESSION)) ?? '';
    t.match(cookie, /; HttpOnly/);
    t.match(cookie, /; SameSite=Lax/);
    const first = guest.cookies.get(SESSION)!;
    t.match(first, /^[A-Za-z0-9_-]{43}$/);
    t.not(first, planted, 'what was planted is not taken up');
    const thief = world.guest();
    thief.cookies.set(SESSION, planted);
    t.match(await thief.get('/portal/account'), { title: /^Sign in/ });
    t.match(await guest.get('/portal/sign-in'), { path: '/portal' }, 'signed in already');
    const token = (await guest.get('/portal/account')).form('/portal/sign-out').fields.get('form_token')!;
    await guest.raw('POST', '/portal/sign-in', { body: new URLSearchParams({ ...owner, form_token: token }) });
    t.not(guest.cookies.get(SESSION), first, 'signing in once more begins another session');
    thief.cookies.set(SESSION, first);
    t.match(await thief.get('/portal/account'), { title: /^Sign in/ }, 'and ends the one before');
  });

  t.test('signing out ends the session, also for who has copied its cookie', async (t) => {
    const visitor = await world.visitor();
    const copy = world.guest();
    copy.cookies.set(SESSION, visitor.cookies.get(SESSION)!);
    t.match(await copy.get('/portal/account'), { title: /^Your account/ });
    const page = await visitor.get('/portal/account');
    t.equal((await visitor.raw('GET', '/portal/sign-out')).status, 405, 'a link cannot do it');
    t.match(await visitor.submit(page, '/portal/sign-out'), { title: /^Sign in/ });
    t.equal(visitor.cookies.has(SESSION), false);
    t.match(await copy.get('/portal/account'), { title: /^Sign in/ });
  });

  t.test('after signing in people come where they wanted, and nowhere else', async (t) => {
    const asked = await world.guest().get('/portal/settings?a=b');
    t.equal(asked.form('/portal/sign-in').fields.get('next'), '/portal/settings?a=b');
    for (const [next, to] of [
      ['/portal/settings?a=b', '/portal/settings?a=b'],
      ['//evil.test/portal', '/portal'],
    ] as const) {
      const answer = await signInTo(world.guest(), next, owner);
      t.equal(answer.status, 303);
      t.equal(answer.headers.get('location'), to, next);
      const page = await world.guest().get(`/portal/sign-in?next=${encodeURIComponent(next)}`);
      t.equal(page.form('/portal/sign-in').fields.get('next'), to, 'not even in the form');
    }
  });

  t.test('a wrong password, and too many of them', async (t) => {
    const login = await world.addUser('viewer', 'guessed@acme.test');
    const guest = world.guest();
    const wrong = (email: string) => guest.signIn({ email, password: 'wrong' });
    const page = await wrong(login.email);
    t.match(page, { status: 422, text: /The address or the password is wrong\./ });
    t.equal(page.form('/portal/sign-in').fields.get('email'), login.email);
    t.equal(page.form('/portal/sign-in').fields.get('password'), '', 'never shown again');
    for (let tries = 1; tries < 5; tries++) await wrong(login.email);
    const refused = await guest.signIn(login);
    t.match(refused.text, /Too many tries\. Wait \d+ seconds, then try again\./, 'now the right one is of no use');
    t.equal(guest.cookies.has(SESSION), false);
  });

  t.test('sessions are listed and ended', async (t) => {
    const login = await world.addUser('member', 'sessions@acme.test');
    const [one, two, three] = [await world.visitor(login), await world.visitor(login), await world.visitor(login)];
    const stranger = await world.visitor(world.owner);
    const page = await one.get('/portal/account');
    const ends = page.forms.filter(({ action }) => /\/sessions\/[0-9a-f-]{36}\/end$/.test(action));
    t.equal(ends.length, 3);
    t.match(page.text, /this one/);
    t.match(page.text, /127\.0\.0\.1/);
    const own = ends.find(({ buttons }) => buttons[0] === 'Sign out')!;
    const theirs = await stranger.get('/portal/account');
    const forged = { ...theirs.forms.find(({ action }) => /sessions\/.*\/end$/.test(action))!, action: own.action };
    t.equal((await stranger.submit(theirs, forged)).status, 404, "not somebody else's");
    await one.submit(page, ends.find((form) => form !== own)!);
    t.match((await one.get('/portal/account')).text, /End all other sessions/);
    await one.submit(await one.get('/portal/account'), `/portal/account/sessions/end-others`);
    for (const ended of [two, three]) t.match(await ended.get('/portal/account'), { title: /^Sign in/ });
    t.match(await one.submit(await one.get('/portal/account'), own), { title: /^Sign in/ }, 'the own one, too');
  });

  t.test('a new password ends the other sessions, and the own one goes on under a new token', async (t) => {
    const login = await world.addUser('member', 'password@acme.test');
    const [visitor, other] = [await world.visitor(login), await world.visitor(login)];
    const before = visitor.cookies.get(SESSION);
    const change = async (current: string, password: string) =>
      visitor.submit(await visitor.get('/portal/account'), '/portal/account/password', { current, password });
    t.match(await change('wrong', NEW_PASSWORD), { status: 422, text: /This is not your current password/ });
    t.match(await change(login.password, 'short'), { status: 422, text: /at least 12 characters/ });
    t.match((await change(login.password, NEW_PASSWORD)).text, /Your password is changed/);
    t.not(visitor.cookies.get(SESSION), before);
    t.match(await visitor.get('/portal/account'), { title: /^Your account/ });
    t.match(await other.get('/portal/account'), { title: /^Sign in/ });
    t.match((await world.guest().signIn(login)).text, /The address or the password is wrong/);
  });

  t.test('the second step', (t) => secondStep(t, world));

  t.test('where signing up is not open there is no such form', async (t) => {
    const guest = world.guest();
    t.notOk((await guest.get('/portal/sign-in')).links.some(({ href }) => href === '/portal/sign-up'));
    t.match(await guest.get('/portal/sign-up'), { status: 404, text: /Signing up is not open here/ });
    const { fields } = (await guest.get('/portal/sign-in')).form('/portal/sign-in');
    const form = { name: 'X', email: 'x@receiver.test', password: NEW_PASSWORD };
    const body = new URLSearchParams({ ...form, form_token: fields.get('form_token')! });
    t.equal((await guest.raw('POST', '/portal/sign-up', { body })).status, 404);
  });

  t.test('operators reset what is lost, and it ends the sessions', async (t) => {
    const login = await world.addUser('viewer', 'lost@acme.test');
    const visitor = await world.visitor(login);
    const reset = await world.postrider.json('user', 'reset', '--email', login.email, '--drop-second-step');
    t.match(await visitor.get('/portal/account'), { title: /^Sign in/ });
    t.match(await (await world.visitor({ ...login, password: String(reset.password) })).get('/portal/account'), {
      title: /^Your account/,
    });
  });
});

async function secondStep(t: Test, world: Awaited<ReturnType<typeof startPortal>>) {
  const login = await world.addUser('owner', 'second@acme.test');
  const visitor = await world.visitor(login);
  const at = '/portal/account/second-step';
  const begin = async (password: string) => visitor.submit(await visitor.get(at), `${at}/begin`, { password });
  t.match(await begin('wrong'), { status: 422, text: /This is not your password/ }, 'an open browser is not enough');
  const shown = await begin(login.password);
  t.match(shown.source, /<svg class="qr"/);
  const secret = decodeBase32(/([A-Z2-7]{4} ?){8}/.exec(shown.text)![0].replaceAll(' ', ''))!;
  t.equal(secret.length, 20);
  t.match(await visitor.submit(shown, `${at}/confirm`, { code: '000000' }), {
    status: 422,
    text: /This code is wrong/,
  });
  const used = stepAt(Date.now());
  const on = await visitor.submit(shown, `${at}/confirm`, { code: hotp(secret, used) });
  const codes = on.source.match(/[a-z2-7]{4}(-[a-z2-7]{4}){3}/g) ?? [];
  t.equal(new Set(codes).size, 10, 'recovery codes, shown with the answer');
  t.notOk((await visitor.get(at)).source.includes(codes[0]!), 'and never again');

  const guest = world.guest();
  const asked = await guest.signIn(login);
  t.match(asked.title, /^Second step/);
  t.equal(guest.cookies.has(SESSION), false, 'no session before the code');
  t.match(await guest.get('/portal/account'), { title: /^Sign in/ });
  const enter = (code: string) => guest.submit(asked, '/portal/sign-in/code', { code });
  t.match(await enter(hotp(secret, used)), { status: 422, text: /used before/ }, 'no code twice');
  const recovered = await enter(codes[0]!);
  t.match(recovered.text, /recovery code; 9 are left/);
  t.match(await guest.get('/portal/account'), { title: /^Your account/ });
  const again = world.guest();
  const second = await again.signIn(login);
  t.match(
    await again.submit(second, '/portal/sign-in/code', { code: codes[0]! }),
    { status: 422 },
    'nor a recovery code',
  );

  const off = await visitor.submit(await visitor.get(at), `${at}/off`, { password: login.password });
  t.match(off.text, /The second step is off/);
  t.match(await (await world.visitor(login)).get('/portal/account'), { title: /^Your account/ });
}
