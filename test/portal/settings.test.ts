// Settings, members and the audit log through a real daemon; what roles may and may not do.
import t from 'tap';
import { type PortalVisitor, type PortalWorld, startPortal } from '../support/portal.ts';

const AT = '/portal/settings';
const MEMBERS = `${AT}/members`;

/** What somebody gets who sends a form that was never shown to them, with a token of their own. */
async function forge(visitor: PortalVisitor, action: string, fields: Record<string, string> = {}): Promise<number> {
  const page = await visitor.get('/portal/account');
  const token = page.form('/portal/sign-out').fields.get('form_token')!;
  return (await visitor.raw('POST', action, { body: new URLSearchParams({ ...fields, form_token: token }) })).status;
}

/** The form of a member's role knows the id, and its select is labelled with the address. */
async function idOf(owner: PortalVisitor, email: string): Promise<string> {
  const { source } = await owner.get(MEMBERS);
  const before = source.slice(0, source.indexOf(`aria-label="Role of ${email}"`));
  return /members\/([0-9a-f-]{36})\/role(?!.*members\/)/s.exec(before)?.[1] ?? '';
}

t.test('settings and members', async (t) => {
  const world = await startPortal(t);
  const owner = await world.visitor();

  t.test('switches change what is added to mail', async (t) => {
    const page = await owner.get(AT);
    t.match(page.text, /active You can send\./);
    t.match(page.text, /1 of 50/, 'keys');
    t.match(page.text, /Hard bounces: 0 % of the way to a review.*both limits need at least 5 domains/);
    t.notMatch(page.text, /suspended/, 'limits are named with what else they need, or not at all');
    const saved = await owner.submit(page, `${AT}/mail`, { openTracking: 'on', unsubscribe: 'on' });
    t.match(saved.text, /Saved/);
    const { fields } = saved.form(`${AT}/mail`);
    t.same([fields.get('openTracking'), fields.get('clickTracking'), fields.get('unsubscribe')], ['on', null, 'on']);
    const shown = await world.postrider.json('tenant', 'list');
    t.match(shown.tenants, [{ name: 'Acme', open_tracking: true, click_tracking: false, unsubscribe: true }]);
    const off = await owner.submit(saved, `${AT}/mail`, { openTracking: null });
    t.equal(off.form(`${AT}/mail`).fields.get('openTracking'), null);
  });

  t.test('a new name, escaped wherever it is shown', async (t) => {
    const name = `<b>Acme</b> "& Sons'`;
    const page = await owner.submit(await owner.get(AT), `${AT}/name`, { name });
    t.equal(page.form(`${AT}/name`).fields.get('name'), name);
    t.notOk(page.source.includes('<b>Acme'));
    t.match(await owner.submit(page, `${AT}/name`, { name: ' ' }), { status: 422, text: /must not be empty/ });
    await owner.submit(page, `${AT}/name`, { name: 'Acme' });
  });

  t.test('why sending is blocked stands there in words', async (t) => {
    const tenant = world.sender.tenantId;
    for (const [status, words] of [
      ['in_review', /Your account is in review: API calls are refused/],
      ['suspended', /Your account is suspended: API calls are refused. Queued messages wait, and fail when/],
    ] as const) {
      await world.postrider.json('tenant', 'set', tenant, '--status', status);
      t.match((await owner.get(AT)).text, words);
      t.match((await owner.get(MEMBERS)).text, /You can invite members once your account is active/);
    }
    await world.postrider.json('tenant', 'set', tenant, '--status', 'active');
  });

  t.test('what roles may', (t) => roles(t, world, owner));

  t.test('every change stands in the audit log, newest first, page by page', async (t) => {
    const page = await owner.get(`${AT}/audit`);
    for (const words of ['settings mail', 'settings name', 'member role', 'member removed', 'key created']) {
      t.match(page.text, words);
    }
    t.match(page.text, /the operator tenant changed status active/, 'commands, without saying who typed them');
    t.match(page.text, /member removed email leaver@acme\.test role viewer/);
    for (let n = 0; n < 52; n++) await forge(owner, `${AT}/name`, { name: `Acme ${n}` });
    const newest = await owner.get(`${AT}/audit`);
    t.match(newest.text, /to Acme 51/);
    const older = newest.links.find(({ text }) => text === 'Older')!;
    const next = await owner.get(older.href);
    t.match(next.text, /to Acme 1\b/);
    t.notMatch(next.text, /to Acme 51/);
    t.ok(next.links.some(({ text, href }) => text === 'Newest' && href === `${AT}/audit`));
    t.equal((await owner.get(`${AT}/audit?before=x%27--`)).status, 200);
  });
});

async function roles(t: import('tap').Test, world: PortalWorld, owner: PortalVisitor) {
  const [viewerLogin, memberLogin] = [await world.addUser('viewer'), await world.addUser('member')];
  const leaver = await world.addUser('viewer', 'leaver@acme.test');
  const [viewer, member] = [await world.visitor(viewerLogin), await world.visitor(memberLogin)];
  const [ownerId, viewerId, leaverId] = [
    await idOf(owner, world.owner.email),
    await idOf(owner, viewerLogin.email),
    await idOf(owner, leaver.email),
  ];

  for (const [name, visitor] of [
    ['viewer', viewer],
    ['member', member],
  ] as const) {
    for (const path of [AT, MEMBERS, `${AT}/audit`]) {
      const page = await visitor.get(path);
      t.equal(page.status, 200, `${name} sees ${path}`);
      t.same(
        page.forms.map(({ action }) => action),
        ['/portal/sign-out'],
        'without forms',
      );
    }
    const forged = [
      forge(visitor, `${MEMBERS}/${viewerId}/role`, { role: 'owner' }),
      forge(visitor, `${MEMBERS}/${ownerId}/remove`),
      forge(visitor, `${MEMBERS}/invite`, { email: 'x@receiver.test', role: 'owner' }),
      forge(visitor, `${AT}/name`, { name: 'Mine' }),
      forge(visitor, `${AT}/mail`, { openTracking: 'on' }),
    ];
    t.same(await Promise.all(forged), [403, 403, 403, 403, 403], `${name} changes nothing`);
  }
  t.match((await viewer.get('/portal/account')).text, /viewer of Acme/);

  t.equal(
    await forge(owner, `${MEMBERS}/${viewerId}/role`, { role: 'operator' }),
    422,
    'not even owners make operators',
  );
  t.equal(await forge(owner, `${MEMBERS}/${ownerId}/role`, { role: 'viewer' }), 422, 'the last owner stays one');
  t.match(await owner.submit(await owner.get(MEMBERS), `${MEMBERS}/${ownerId}/remove`), {
    text: /This is the last owner/,
  });

  const changed = await owner.submit(await owner.get(MEMBERS), `${MEMBERS}/${viewerId}/role`, { role: 'owner' });
  t.match(changed.text, /viewer@acme\.test is now an owner/);
  t.match((await viewer.get(MEMBERS)).form(`${MEMBERS}/invite`), {}, 'it holds at once, in the session that is open');
  await owner.submit(await owner.get(MEMBERS), `${MEMBERS}/${viewerId}/role`, { role: 'viewer' });

  const leaving = await world.visitor(leaver);
  t.match((await owner.submit(await owner.get(MEMBERS), `${MEMBERS}/${leaverId}/remove`)).text, /was removed/);
  t.match(await leaving.get('/portal/account'), { title: /^Sign in/ }, 'signed out at once');
  t.match((await world.guest().signIn(leaver)).text, /wrong/);

  const { id: elsewhere } = await world.postrider.json('tenant', 'create', '--name', 'Other', '--status', 'active');
  const created = await world.postrider.json(
    'user',
    'create',
    '--tenant',
    String(elsewhere),
    '--email',
    'o@other.test',
  );
  const stranger = await world.visitor({ email: 'o@other.test', password: String(created.password) });
  t.equal(await forge(stranger, `${MEMBERS}/${viewerId}/role`, { role: 'owner' }), 404, "not another tenant's people");
  t.equal(await forge(stranger, `${MEMBERS}/${viewerId}/remove`), 404);
  t.notMatch((await stranger.get(`${AT}/audit`)).text, /acme/i);
  t.notMatch((await stranger.get(MEMBERS)).text, /acme/i);
}
