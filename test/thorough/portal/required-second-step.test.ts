// A second step that is required: until it is set up nothing else opens, by link or by form, and whatever takes it
// away leads back to it. Through a real daemon.
import t, { type Test } from 'tap';
import { decodeBase32 } from '../../../src/base/text/base32.ts';
import { hotp, stepAt } from '../../../src/tenants/accounts/totp.ts';
import type { Page } from '../../support/page-reader.ts';
import { type Login, type PortalVisitor, type PortalWorld, startPortal } from '../../support/portal.ts';

const SET_UP = '/portal/account/second-step';
const REQUIRED = /This service requires a second step for your account\. No other page opens/;
const NEXT_PASSWORD = 'horse battery lake';

/** The secret of the device, and the recovery codes. */
async function setUp(visitor: PortalVisitor, { password }: Login) {
  const shown = await visitor.submit(await visitor.get(SET_UP), `${SET_UP}/begin`, { password });
  const secret = decodeBase32(/([A-Z2-7]{4} ?){8}/.exec(shown.text)![0].replaceAll(' ', ''))!;
  const wrong = await visitor.submit(shown, `${SET_UP}/confirm`, { code: '000000' });
  const on = await visitor.submit(shown, `${SET_UP}/confirm`, { code: hotp(secret, stepAt(Date.now())) });
  return { secret, wrong, on, codes: [...new Set(on.source.match(/[a-z2-7]{4}(-[a-z2-7]{4}){3}/g))] };
}

async function leadsTo(visitor: PortalVisitor, method: string, path: string, body?: URLSearchParams) {
  const answer = await visitor.raw(method, path, body && { body });
  await answer.body?.cancel();
  return `${answer.status} ${answer.headers.get('location') ?? ''}`.trim();
}

function isSetUpPage(t: Test, page: Page, why: string) {
  t.match(page, { path: SET_UP, status: 200, text: REQUIRED }, why);
  const ways = page.links.filter(({ href }) => href.startsWith('/portal')).map(({ href }) => href);
  // The mark leads to the front door, and from there back to this page.
  t.ok(ways.length === 2 && /^\/portal(?:\/operator)?$/.test(ways[0]!) && ways[1] === SET_UP, `ways: ${ways}`);
}

t.test('operators have to have one', async (t) => {
  const world = await startPortal(t, { settings: { portal: { require_second_step: 'operators' } } });
  const login = await world.addUser('operator', 'jo@service.test');

  await t.test('signing in leads to setting it up, and nothing else opens', (t) => onlySetUp(t, world, login));
  await t.test('no form does anything before', (t) => noForm(t, world, login));
  await t.test('once it is set up all is open', (t) => allOpens(t, world, login));
  await t.test('who is not an operator is not asked', async (t) => {
    t.match(await (await world.visitor()).get('/portal/settings'), { path: '/portal/settings', status: 200 });
  });
  await t.test('a recovery code leads to where the device is replaced', (t) => recovered(t, world));
  await t.test('taking it away leads back to it, in every session', (t) => takenAway(t, world));
  await t.test('the command line says what comes', (t) => commandLine(t, world));
});

async function onlySetUp(t: Test, world: PortalWorld, login: Login) {
  const operator = world.guest();
  isSetUpPage(t, await operator.signIn(login), 'at the sign-in');
  for (const path of ['/portal/operator', '/portal/operator/tenants', '/portal/operator/audit', '/portal/account']) {
    t.equal(await leadsTo(operator, 'GET', path), `303 ${SET_UP}`, path);
  }
  for (const path of ['/portal/settings', '/portal/captured', `${SET_UP}/off`, `${SET_UP}/codes`]) {
    const answer = await leadsTo(operator, 'GET', path);
    t.ok(answer === `303 ${SET_UP}` || answer === '404', `${path}: ${answer}`);
  }
  isSetUpPage(t, await operator.get('/portal'), 'by the front door');
  t.match(await operator.get('/portal/nowhere'), { status: 404 });
  t.equal((await operator.raw('GET', '/docs/guide')).status, 200, 'what everybody reads');
  t.match(await operator.submit(await operator.get(SET_UP), '/portal/sign-out'), { title: /^Sign in/ });
  t.equal(await leadsTo(operator, 'GET', SET_UP), `303 /portal/sign-in?next=${encodeURIComponent(SET_UP)}`);
}

async function noForm(t: Test, world: PortalWorld, login: Login) {
  const [operator, other] = [await world.visitor(login), await world.visitor(login)];
  const form_token = (await operator.get(SET_UP)).form('/portal/sign-out').fields.get('form_token')!;
  const send = (path: string, fields: Record<string, string>) =>
    leadsTo(operator, 'POST', path, new URLSearchParams({ form_token, ...fields }));
  const password = { current: login.password, password: NEXT_PASSWORD };
  t.equal(await send('/portal/account/password', password), `303 ${SET_UP}`);
  t.equal(await send('/portal/account/sessions/end-others', {}), `303 ${SET_UP}`);
  const tenant = `/portal/operator/tenants/${world.sender.tenantId}`;
  t.equal(await send(`${tenant}/status`, { status: 'suspended', reason: 'x' }), `303 ${SET_UP}`);
  const [{ status }] = (await world.postrider.json('tenant', 'list')).tenants as [{ status: string }];
  t.equal(status, 'active');
  t.equal(await send(`${SET_UP}/off`, { password: login.password }), `303 ${SET_UP}`);
  t.equal(await send(`${SET_UP}/codes`, { password: login.password }), `303 ${SET_UP}`);
  t.match((await other.get(SET_UP)).text, REQUIRED, 'the other session goes on');
  t.match(await world.guest().signIn({ ...login, password: NEXT_PASSWORD }), { status: 422 }, 'nor is it a password');
  t.match(await operator.submit(await operator.get(SET_UP), `${SET_UP}/begin`, { password: 'wrong' }), {
    status: 422,
    text: REQUIRED,
  });
}

async function allOpens(t: Test, world: PortalWorld, login: Login) {
  const operator = await world.visitor(login);
  const { wrong, on, codes } = await setUp(operator, login);
  t.match(wrong, { status: 422, text: /This code is wrong/ });
  t.match(on, { status: 200, title: /The second step is on/ });
  t.equal(codes.length, 10);
  t.match(await operator.get('/portal/operator'), { path: '/portal/operator', status: 200 });
  t.match(await operator.get('/portal/account'), { path: '/portal/account', status: 200 });
  const page = await operator.get(SET_UP);
  t.notMatch(page.text, REQUIRED);
  t.ok(
    page.links.some(({ href }) => href === '/portal/operator/queue'),
    'with all ways',
  );
}

/** Signed in with the password and a code. */
async function enter(world: PortalWorld, login: Login, code: string) {
  const visitor = world.guest();
  const asked = await visitor.signIn(login);
  return { visitor, page: await visitor.submit(asked, '/portal/sign-in/code', { code }) };
}

async function recovered(t: Test, world: PortalWorld) {
  const login = await world.addUser('operator', 'lost@service.test');
  const { codes } = await setUp(await world.visitor(login), login);
  const { visitor, page } = await enter(world, login, codes[0]!);
  t.match(page, { path: SET_UP, text: /You have signed in with a recovery code; 9 are left\..*Is the device lost\?/s });
  t.match(await visitor.get('/portal/operator'), { path: '/portal/operator', status: 200 }, 'the second step is there');
  const off = await visitor.submit(page, `${SET_UP}/off`, { password: login.password });
  isSetUpPage(t, off, 'the lost device is given up');
  const { on } = await setUp(visitor, login);
  t.match(on, { status: 200 });
  t.match(await visitor.get('/portal/operator'), { path: '/portal/operator', status: 200 });
  t.match((await enter(world, login, codes[1]!)).page, { status: 422 }, 'codes of the old device are dead');
}

async function takenAway(t: Test, world: PortalWorld) {
  const login = await world.addUser('operator', 'again@service.test');
  const first = await world.visitor(login);
  const { codes } = await setUp(first, login);
  const { visitor: second } = await enter(world, login, codes[0]!);
  t.match(await second.get('/portal/operator'), { path: '/portal/operator' });
  const off = await first.submit(await first.get(SET_UP), `${SET_UP}/off`, { password: login.password });
  t.match(off.text, /The second step is off\./);
  isSetUpPage(t, off, 'here');
  isSetUpPage(t, await second.get('/portal/operator/audit'), 'and where somebody was signed in');
  await setUp(first, login);
  const { password } = await world.postrider.json('user', 'reset', '--email', login.email, '--drop-second-step');
  t.match(await first.get('/portal/operator'), { title: /^Sign in/ });
  isSetUpPage(t, await world.guest().signIn({ ...login, password: String(password) }), 'after the command line');
}

async function commandLine(t: Test, { postrider, sender }: PortalWorld) {
  const says =
    /The password is shown only once\.\nThe first sign-in asks to set up a second step.*\(portal\.require_second_step\)\.\n/;
  const create = (...args: string[]) => postrider.runHere('user', 'create', ...args);
  t.match(await create('--operator', '--email', 'cli@service.test'), { code: 0, stdout: says });
  const ofTenant = await create('--tenant', sender.tenantId, '--email', 'cli@acme.test');
  t.match(ofTenant.stdout, /The password is shown only once\.\n$/);
  const reset = await postrider.runHere('user', 'reset', '--email', 'cli@service.test');
  t.match(reset, { code: 0, stdout: says });
  const json = await postrider.json('user', 'create', '--operator', '--email', 'json@service.test');
  t.same(Object.keys(json), ['id', 'password']);
}

t.test('everybody has to have one: people of tenants as well, and no API key', async (t) => {
  const world = await startPortal(t, { settings: { portal: { require_second_step: 'everybody' } } });
  for (const login of [world.owner, await world.addUser('viewer'), await world.addUser('operator')]) {
    isSetUpPage(t, await world.guest().signIn(login), login.email);
  }
  const owner = await world.visitor();
  t.equal(await leadsTo(owner, 'GET', '/portal/keys'), `303 ${SET_UP}`);
  const { status } = await world.daemon.call(world.sender.key, 'GET /domains');
  t.equal(status, 200, 'programs go on');
  await setUp(owner, world.owner);
  t.match(await owner.get('/portal/keys'), { path: '/portal/keys', status: 200 });
});

t.test('nobody has to, and may', async (t) => {
  const world = await startPortal(t, { settings: { portal: { require_second_step: 'nobody' } } });
  const login = await world.addUser('operator');
  const operator = await world.visitor(login);
  t.match(await operator.get('/portal/operator'), { path: '/portal/operator', status: 200 });
  t.notMatch((await operator.get(SET_UP)).text, REQUIRED);
});
