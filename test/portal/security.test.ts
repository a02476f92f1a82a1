// Attacks on the portal, tried for real against a daemon: by strangers, by a stolen session, by mail from outside,
// and by tenants who want more than is theirs. What is wrong with single services is in test/tenants/accounts/account-attacks.test.ts.
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { type PortalVisitor, type PortalWorld, startPortal } from '../support/portal.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { nextLetter } from './next-letter.ts';

const PASSWORD = 'horse battery lake';

t.test('attacks', async (t) => {
  const world = await startPortal(t, { settings: { webhooks: { allow_private: false } } });
  const member = await world.visitor(await world.addUser('member'));
  t.test('a stolen session', (t) => stolenSession(t, world));
  t.test('two at once', (t) => twoAtOnce(t, world));
  t.test('formulas in a file', (t) => formulas(t, member));
  t.test('mail from outside', (t) => mailFromOutside(t, world));
  t.test('an endpoint inside of our network', (t) => endpointInside(t, world, member));
  t.test('a flood of forms', (t) => floodOfForms(t, world));
  t.test('secrets in the log', (t) => secretsInLog(t, world));
});

async function tokenOf(visitor: PortalVisitor): Promise<string> {
  return (await visitor.get('/portal/account')).form('/portal/sign-out').fields.get('form_token')!;
}

async function stolenSession(t: Test, world: PortalWorld) {
  const login = await world.addUser('member', 'robbed@acme.test');
  const [owner, thief] = [await world.visitor(login), await world.visitor(login)];
  const at = '/portal/account/second-step';
  const shown = await owner.submit(await owner.get(at), `${at}/begin`, { password: login.password });
  const secret = /([A-Z2-7]{4} ?){8}/.exec(shown.text)![0];
  const body = new URLSearchParams({ form_token: await tokenOf(thief), code: '000000' });
  const answer = await thief.raw('POST', `${at}/confirm`, { body });
  const page = await answer.text();
  t.notOk(page.includes(secret), 'the key of a second step that was only begun is shown to nobody else');
  t.notMatch(page, /otpauth/);
  t.match(
    await owner.submit(shown, `${at}/confirm`, { code: '000000' }),
    { status: 422, text: /This code is wrong/ },
    'whoever has seen it may try again',
  );
}

async function twoAtOnce(t: Test, world: PortalWorld) {
  const login = await world.addUser('owner', 'second-owner@acme.test');
  const [one, other] = [await world.visitor(), await world.visitor(login)];
  const at = '/portal/settings/members';
  const [mine, theirs] = [await one.get(at), await other.get(at)];
  const removals = mine.forms.filter(({ action }) => action.endsWith('/remove'));
  const byButton = (name: string) => removals.find(({ buttons }) => buttons[0] === name)!;
  const removed = await Promise.all([one.submit(mine, byButton('Leave')), other.submit(theirs, byButton('Remove'))]);
  t.ok(removed.every(({ status }) => status < 500));
  const { members } = await owners(world);
  t.equal(members, 1, 'one owner is left');
  const guest = world.guest();
  const jo = await world.addUser('viewer', 'jo@receiver.test');
  await guest.submit(await guest.get('/portal/reset'), '/portal/reset', { email: jo.email });
  const { link } = await nextLetter(world.sink, jo.email, 0);
  const form = (await guest.get(link)).form('Set the password');
  const body = new URLSearchParams(form.fields);
  body.set('password', PASSWORD);
  const used = await Promise.all([1, 2, 3].map(() => guest.raw('POST', form.action, { body })));
  t.same(used.map(({ status }) => status).sort(), [303, 410, 410], 'a link works once');
}

async function owners(world: PortalWorld) {
  const operator = await world.visitor(await world.addUser('operator', 'counting@platform.test'));
  const page = await operator.get(`/portal/operator/tenants/${world.sender.tenantId}`);
  return {
    members: page
      .texts((name, { 'data-label': label }) => name === 'td' && label === 'Role')
      .filter((role) => role === 'owner').length,
  };
}

async function formulas(t: Test, visitor: PortalVisitor) {
  const at = '/portal/suppressions';
  const hostile = ["=cmd|'/c'!a0@x.test", '+1+1@x.test', '-1+1@x.test', "'=1@x.test"];
  for (const address of hostile) await visitor.submit(await visitor.get(at), `${at}/add`, { address });
  const csv = await (await visitor.raw('GET', `${at}/export`)).text();
  const cells = csv
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',')[0]!.replace(/^"/, ''));
  t.equal(cells.filter((cell) => cell.includes('@x.test')).length, hostile.length);
  t.same(
    cells.filter((cell) => /^[=+\-@\t\r]/.test(cell)),
    [],
    'nothing that a spreadsheet takes for a formula',
  );
  const before = (await visitor.get(at)).text;
  await visitor.submit(await visitor.get(`${at}/import`), 'Import', { pasted: csv });
  t.equal((await visitor.get(at)).text, before, 'what is imported again is what it was');
}

async function mailFromOutside(t: Test, world: PortalWorld) {
  const { smtp_port: port } = await world.daemon.logged({ msg: 'ready' });
  const client = await SmtpClient.hello(Number(port));
  const frames = ['iframe', 'frame', 'object', 'embed'].map(
    (name) => `<${name} src="http://spy.test" data="http://spy.test">`,
  );
  const data = [
    ...['From: a@b.test', 'Subject: Look', 'Content-Type: text/html', ''],
    ...[
      '<LINK rel=preconnect href="http://spy.test"><link\trel="dns-prefetch" href="//spy.test">',
      ...frames,
      '<b>Hello</b>',
      '',
    ],
  ].join('\r\n');
  const to = 'postmaster@bounces.mail.postrider.test';
  t.match(await client.send({ from: 'a@b.test', to, data }), /^250/);
  const operator = await world.visitor(await world.addUser('operator'));
  const list = await operator.get('/portal/operator/inbound?kind=all');
  const { href } = list.links.find((link) => /\/inbound\/[0-9a-f-]{36}$/.test(link.href))!;
  const answer = await operator.raw('GET', `${href}/html`);
  const shown = await answer.text();
  t.match(shown, /<b>Hello<\/b>/);
  t.notMatch(
    shown,
    /<(link|iframe|frame|object|embed)\b/i,
    'nothing for which a browser opens connections ahead of time',
  );
  t.equal(answer.headers.get('x-dns-prefetch-control'), 'off');
  t.equal(answer.headers.get('referrer-policy'), 'no-referrer');
}

async function endpointInside(t: Test, { dns }: PortalWorld, visitor: PortalVisitor) {
  const form = (await visitor.get('/portal/webhooks/new')).form('Add webhook');
  for (const url of [
    ...['http://127.0.0.1:1/', 'http://[::1]/', 'http://2130706433/', 'http://0x7f.1/', 'http://[::ffff:127.0.0.1]/'],
    ...[
      'http://169.254.169.254/latest',
      'http://10.0.0.1/',
      'http://localhost/',
      'file:///etc/passwd',
      'gopher://x.test/',
    ],
  ]) {
    const page = await visitor.submit(await visitor.get('/portal/webhooks/new'), form, { url });
    t.equal(page.status, 422, url);
  }
  dns.set('rebound.test', 'A', ['127.0.0.1']);
  const made = await visitor.submit(await visitor.get('/portal/webhooks/new'), form, { url: 'http://rebound.test/' });
  const tested = await visitor.get(made.links.find(({ href }) => /\/webhooks\/[0-9a-f-]{36}$/.test(href))!.href);
  t.match((await visitor.submit(tested, 'Send test event')).text, /Not called: rebound\.test resolves to/);
}

async function floodOfForms(t: Test, world: PortalWorld) {
  const [flooder, other] = [
    await world.visitor(await world.addUser('member', 'flooder@acme.test')),
    await world.visitor(await world.addUser('member', 'patient@acme.test')),
  ];
  const send = async (visitor: PortalVisitor, body: URLSearchParams) =>
    (await visitor.raw('POST', '/portal/suppressions/remove', { body })).status;
  const fieldsOf = async (visitor: PortalVisitor) =>
    new URLSearchParams({ form_token: await tokenOf(visitor), address: 'nobody@x.test' });
  const fields = await fieldsOf(flooder);
  const held = new Database(world.postrider.databaseFile);
  held.exec('BEGIN IMMEDIATE'); // so none of them is done before the others have come
  const sent = Array.from({ length: 40 }, () => send(flooder, fields));
  await Promise.race(sent);
  held.close();
  const atOnce = await Promise.all(sent);
  t.ok(atOnce.includes(303));
  t.ok(atOnce.includes(429), 'not so many at once');
  // The refused form itself says how long to wait: a moment later the next one may be accepted again.
  let refused: Response | null = null;
  for (let n = 0; n < 200 && refused === null; n++) {
    const answer = await flooder.raw('POST', '/portal/suppressions/remove', { body: fields });
    if (answer.status === 429) refused = answer;
  }
  t.match(await refused?.text(), /Wait \d+ seconds?/);
  t.equal((await flooder.get('/portal/suppressions')).status, 200, 'pages can be looked at');
  t.equal(await send(other, await fieldsOf(other)), 303, 'others are not held up');
  t.match(await flooder.submit(await flooder.get('/portal/account'), '/portal/sign-out'), { title: /^Sign in/ });
}

async function secretsInLog(t: Test, world: PortalWorld) {
  const login = await world.addUser('member', 'careless@receiver.test');
  const guest = world.guest();
  await guest.submit(await guest.get('/portal/reset'), '/portal/reset', { email: login.email });
  const { link } = await nextLetter(world.sink, login.email, 0);
  await guest.get(link);
  await guest.get(`${link}x`);
  const visitor = await world.visitor(login);
  const at = '/portal/account/second-step';
  const begun = await visitor.submit(await visitor.get(at), `${at}/begin`, { password: login.password });
  const made = await visitor.submit(await visitor.get('/portal/keys/new'), 'Create key', { name: 'log' });
  const hook = await visitor.submit(await visitor.get('/portal/webhooks/new'), 'Add webhook', {
    url: 'https://x.test/',
  });
  const secrets = {
    password: login.password,
    session: visitor.cookies.get('postrider_session'),
    guest: guest.cookies.get('postrider_guest'),
    form: await tokenOf(visitor),
    link: /token=([\w-]{43})/.exec(link)?.[1],
    'second step': begun.form(`${at}/confirm`).fields.get('key'),
    key: /pr_[0-9A-Za-z]{12}_([0-9A-Za-z]{43})/.exec(made.text)?.[1],
    webhook: /[A-Za-z0-9+/]{43}=/.exec(hook.source)?.[0],
  };
  const logged = world.postrider.everythingLogged;
  for (const [name, secret] of Object.entries(secrets)) {
    t.ok(secret && secret.length >= 16, name);
    t.notOk(logged.includes(secret!), `${name} is not in the log`);
  }
}
