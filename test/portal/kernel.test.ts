// The kernel of the portal over a real HTTP server, with pages of the test's own: who may see what, which
// forms are believed, what headers an answer has, what is shown when something fails.
import t, { type Test } from 'tap';
import { startHttp } from '../../src/http/engines/start-http.ts';
import { html } from '../../src/http/html.ts';
import { createRouter } from '../../src/http/router.ts';
import { type AuditEntry, createPortal } from '../../src/portal/create-portal.ts';
import { action, missing, page, redirect, view } from '../../src/portal/page.ts';
import type { Visitor } from '../../src/store/accounts.ts';
import type { UserRole } from '../../src/store/tenants.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';
import { PortalVisitor } from '../support/portal.ts';

const NOW = Date.UTC(2026, 0, 31);

async function open(t: Test) {
  const audited: AuditEntry[] = [];
  const log: LogLine[] = [];
  const visits: string[] = [];
  const pages = [
    page({ path: '/portal/sign-in', access: 'everybody', show: showForm }),
    page({ path: '/portal', access: 'viewer', show: (visit) => showForm(visit) }),
    page({
      path: '/portal/owners',
      access: 'owner',
      show: () => view({ title: 'Owners', body: html`<h1>Owners</h1>` }),
    }),
    page({
      path: '/portal/operator',
      access: 'operator',
      show: () => view({ title: 'All', body: html`<h1>All</h1>` }),
    }),
    page({ path: '/portal/broken', access: 'everybody', show: () => Promise.reject(new Error('secret inside')) }),
    page({ path: '/portal/gone', access: 'everybody', show: () => missing() }),
    action({
      path: '/portal/change',
      access: 'member',
      limitBytes: 1000,
      async run(visit) {
        await visit.audit('thing.changed', { thing: visit.form.get('thing') });
        return redirect('/portal', `Changed <${visit.form.get('thing')}>.`);
      },
    }),
    action({
      path: '/portal/enter',
      access: 'everybody',
      run: ({ form }) => ({ ...redirect('/portal'), session: { token: form.get('as')!, maxAgeMs: 60_000 } }),
    }),
    action({
      path: '/portal/leave',
      access: 'viewer',
      run: () => ({ ...redirect('/portal/sign-in', 'Goodbye, and come again.'), session: 'ended' }),
    }),
  ];
  const kit = {
    ...{ clock: { now: () => NOW }, log: listLogger(log), baseUrl: 'http://mail.test', sandbox: false },
    lacksSecondStep: async () => false,
    async findVisitor(token: string) {
      visits.push(token);
      return visitorNamed(token);
    },
    peekVisitor: async (token: string) => visitorNamed(token),
    recordAudit: async (entry: AuditEntry) => void audited.push(entry),
  };
  const notFound = () => ({ status: 404 });
  const handler = createRouter({ routes: createPortal(kit, pages).routes, notFound, methodNotAllowed: notFound });
  const http = await startHttp({
    ...{ engine: 'uws', host: '127.0.0.1', port: 0, trustedProxies: [], handler, onError: () => {} },
    log: { info() {}, warn() {} },
  });
  t.teardown(() => http.close(0));
  const visitor = (token?: string) => {
    const made = new PortalVisitor(`http://127.0.0.1:${http.port}`);
    if (token) made.cookies.set('postrider_session', token);
    return made;
  };
  return { visitor, audited, log, visits };
}

function showForm({ formField, visitor }: { formField: ReturnType<typeof html>; visitor: Visitor | null }) {
  const body = html`<h1>${visitor?.user.role ?? 'guest'}</h1>
<form method="post" action="/portal/change">${formField}<input name="thing" value="it"><button>Change</button></form>
<form method="post" action="/portal/leave">${formField}<button>Leave</button></form>
<form method="post" action="/portal/enter">${formField}<input name="as" value="owner"><button>Enter</button></form>`;
  return view({ title: 'Form', body });
}

/** In this test the token says who somebody is. */
function visitorNamed(token: string): Visitor | null {
  if (!['viewer', 'member', 'owner', 'operator'].includes(token)) return null;
  const role = token as UserRole;
  const tenant = role === 'operator' ? null : { id: 't1', name: 'Acme & Sons' };
  return { session: { id: 's1' }, user: { id: 'u1', email: `${role}@acme.test`, role }, tenant } as unknown as Visitor;
}

t.test('who may see a page', async (t) => {
  const { visitor } = await open(t);
  const answers = async (token: string | undefined, path: string) => {
    const response = await visitor(token).raw('GET', path);
    return `${response.status} ${response.headers.get('location') ?? ''}`.trim();
  };
  t.equal(await answers(undefined, '/portal'), '303 /portal/sign-in');
  t.equal(await answers(undefined, '/portal/owners?a=b&c'), '303 /portal/sign-in?next=%2Fportal%2Fowners%3Fa%3Db%26c');
  t.equal(await answers('stranger', '/portal'), '303 /portal/sign-in', 'a token that nobody has');
  t.equal(await answers('viewer', '/portal'), '200');
  t.equal(await answers('member', '/portal/owners'), '403');
  t.equal(await answers('owner', '/portal/owners'), '200');
  t.equal(await answers('owner', '/portal/operator'), '404', 'for tenants there is no such page');
  t.equal(await answers('operator', '/portal/operator'), '200');
  t.equal(await answers('operator', '/portal/owners'), '404');
  t.equal(await answers('operator', '/portal'), '303 /portal/operator');
  const refused = await visitor('member').get('/portal/owners');
  t.match(refused.text, 'Only an owner of Acme & Sons can do this; you are signed in as a member.');
});

t.test('what an open page asks for by itself is no visit', async (t) => {
  const { visitor, visits } = await open(t);
  const owner = visitor('owner');
  const poll = { 'Postrider-Poll': '1' };
  t.equal((await owner.raw('GET', '/portal', { headers: poll })).status, 200);
  t.equal((await visitor().raw('GET', '/portal', { headers: poll })).status, 303, 'and lets nobody in');
  t.same(visits, []);
  const shown = await owner.get('/portal');
  const body = new URLSearchParams({ thing: 'x', form_token: shown.form('/portal/change').fields.get('form_token')! });
  t.equal((await owner.raw('POST', '/portal/change', { headers: poll, body })).status, 303);
  t.same(visits, ['owner', 'owner'], 'pages and forms are visits');
});

t.test('what is said at the end of a session is read after it', async (t) => {
  const { visitor } = await open(t);
  const owner = visitor('owner');
  const left = await owner.submit(await owner.get('/portal'), '/portal/leave');
  t.match(left, { path: '/portal/sign-in', text: /Goodbye, and come again\./ });
  t.equal(owner.cookies.has('postrider_session'), false);
  t.match((await owner.submit(left, '/portal/enter', { as: 'member' })).text, 'member', 'its forms are believed');
});

t.test('a form is believed from whoever it was shown to, and from nowhere else', async (t) => {
  const { visitor, audited } = await open(t);
  const member = visitor('member');
  const shown = await member.get('/portal');
  const fields = shown.form('/portal/change').fields;
  const post = async (who: PortalVisitor, body: URLSearchParams, headers: Record<string, string> = {}) =>
    (await who.raw('POST', '/portal/change', { body, headers })).status;

  t.equal(await post(member, new URLSearchParams('thing=x')), 403, 'without a token');
  t.equal(await post(visitor('owner'), fields), 403, "with somebody else's token");
  t.equal(await post(member, fields, { 'Sec-Fetch-Site': 'cross-site' }), 403);
  t.equal(await post(member, fields, { 'Sec-Fetch-Site': 'same-site' }), 403, 'from a neighbouring host');
  t.equal(await post(member, fields, { Origin: 'https://evil.test' }), 403);
  t.equal(await post(member, fields, { Origin: 'null' }), 403);
  t.equal(await post(visitor('viewer'), fields), 403, 'by a role that may not');
  t.same(audited, []);
  t.equal(await post(member, fields, { 'Sec-Fetch-Site': 'same-origin' }), 303);
  t.equal(await post(member, fields, { Origin: 'http://mail.test' }), 303, 'behind a proxy that changes Host');
  t.match(audited, [
    { action: 'thing.changed', visitor: { user: { id: 'u1' } }, at: NOW, details: { thing: 'it' } },
    {},
  ]);
  const big = new URLSearchParams(fields);
  big.set('thing', 'x'.repeat(1000));
  t.equal(await post(member, big), 413);
  t.equal((await member.raw('POST', '/portal/change', { body: '{}' })).status, 400, 'what is no form');
});

t.test('a guest signs in: the form is guarded, and the session has another token than the guest', async (t) => {
  const { visitor } = await open(t);
  const guest = visitor();
  const shown = await guest.get('/portal/sign-in');
  const before = guest.cookies.get('postrider_guest');
  const { fields } = shown.form('/portal/enter');
  t.equal((await visitor().raw('POST', '/portal/enter', { body: fields })).status, 403, 'for a guest without cookies');
  const entered = await guest.submit(shown, '/portal/enter', { as: 'member' });
  t.equal(entered.texts((name) => name === 'h1')[0], 'member');
  t.equal(guest.cookies.get('postrider_session'), 'member');
  t.not(before, undefined);
});

t.test('a notice is shown once, as text, and only the one that was left for this visitor', async (t) => {
  const { visitor } = await open(t);
  const member = visitor('member');
  const changed = await member.submit(await member.get('/portal'), '/portal/change', { thing: 'b' });
  t.match(changed.source, '<p class="notice" role="status">Changed &lt;b&gt;.</p>');
  t.notMatch((await member.get('/portal')).source, 'class="notice"');
  const response = await member.raw('POST', '/portal/change', {
    body: (await member.get('/portal')).form('Change').fields,
  });
  t.equal(response.status, 303);
  const other = visitor('owner');
  other.cookies.set('postrider_notice', member.cookies.get('postrider_notice')!);
  t.notMatch((await other.get('/portal')).source, 'class="notice"', 'of somebody else');
  t.equal(other.cookies.has('postrider_notice'), false, 'and it is taken away');
});

t.test('pages are private, allow no script but ours, and load nothing from elsewhere', async (t) => {
  const { visitor } = await open(t);
  const shown = await visitor('owner').get('/portal');
  t.match(Object.fromEntries(shown.headers), {
    'cache-control': 'no-store, private',
    'content-security-policy': /default-src 'none'; script-src 'self'; style-src 'self'/,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  });
  const loaded = [...shown.source.matchAll(/(?:src|href)="([^"#]*)"/g)].map(([, url]) => url!);
  const assets = loaded.filter((url) => url.startsWith('/portal/assets/'));
  t.equal(assets.length, 2, 'a style and a script');
  t.same(
    loaded.filter((url) => !/^(\/|data:,)/.test(url)),
    [],
  );
  for (const asset of assets) {
    const response = await visitor().raw('GET', asset);
    t.equal(response.status, 200);
    t.match(response.headers.get('cache-control'), 'immutable');
  }
});

t.test('a page that fails says so and no more; the log knows why', async (t) => {
  const { visitor, log } = await open(t);
  const broken = await visitor('owner').get('/portal/broken');
  t.equal(broken.status, 500);
  t.match(broken.text, 'An error occurred on our side');
  t.notMatch(broken.source, 'secret inside');
  t.match(log, [{ facts: { route: '/portal/broken', reason: 'secret inside' }, message: 'a portal page failed' }]);
  t.equal((await visitor('owner').get('/portal/gone')).status, 404);
});
