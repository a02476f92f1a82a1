// Every page of the portal that links lead to, those under /docs and those that are not there, in a world full of hostile names: each is there, is small and
// quick, has a heading and its forms guarded, and nothing that somebody stored has become markup.
// And nobody gets at what is not theirs, by a page or by a form.
import t, { type Test } from 'tap';
import { patience } from '../support/patience.ts';
import type { PortalVisitor } from '../support/portal.ts';
import { crawl, formsOf, kindOf, type VisitedPage } from './crawl.ts';
import { type HostileWorld, startHostileWorld } from './hostile-world.ts';

const PAGE_LIMIT_BYTES = 100 * 1024;
/** 50 ms is wanted on a quiet machine (bench/); a test may run on a busy one. */
const SLOW_MS = 1000;

/** Each kind of page has to be met on the way: otherwise nothing here would say a word about it. */
const OF_TENANTS = [
  '/portal',
  '/portal/overview/tags',
  '/portal/messages',
  '/portal/messages/new',
  '/portal/messages/:id',
  '/portal/messages/:id/attachments/0',
  '/portal/domains',
  '/portal/domains/:id',
  '/portal/templates',
  '/portal/templates/:id',
  '/portal/suppressions',
  '/portal/webhooks',
  '/portal/webhooks/:id',
  '/portal/keys',
  '/portal/settings',
  '/portal/settings/members',
  '/portal/settings/audit',
  '/portal/account',
];
const OF_OPERATORS = [
  '/portal/operator',
  '/portal/operator/tenants',
  '/portal/operator/tenants/:id',
  '/portal/operator/queue',
  '/portal/operator/suppressions',
  '/portal/operator/inbound',
  '/portal/operator/inbound/:id',
  '/portal/operator/dmarc',
  '/portal/operator/doctor',
  '/portal/operator/audit',
];
const FOR_EVERYBODY = ['/portal/sign-in', '/portal/reset'];
/** With their status. */
const OUTSIDE_THE_PORTAL = { '/docs': 200, '/docs/guide': 200, '/docs/clients/node': 200, '/docs/nowhere': 404 };
const NOWHERE = '/portal/nowhere/at/all';

t.test('every page', async (t) => {
  const world = await startHostileWorld(t);
  const owner = await world.visitor();
  const operator = await world.visitor(world.operator);
  const ofTenant = await crawl(owner, ['/portal']);
  const ofOperator = await crawl(operator, ['/portal/operator']);
  const ofEverybody = await crawl(world.guest(), FOR_EVERYBODY);
  const kindsOf = (visited: VisitedPage[]) => new Set(visited.map(({ kind }) => kind));
  t.same(
    OF_TENANTS.filter((kind) => !kindsOf(ofTenant).has(kind)),
    [],
    "all of a tenant's pages are linked",
  );
  t.same(
    OF_OPERATORS.filter((kind) => !kindsOf(ofOperator).has(kind)),
    [],
    "all of an operator's pages are linked",
  );

  for (const visited of [...ofTenant, ...ofOperator, ...ofEverybody]) {
    await t.test(visited.page.path, async (t) => checkPage(t, visited));
  }
  for (const [path, status] of Object.entries(OUTSIDE_THE_PORTAL)) {
    await t.test(path, async (t) => checkMarkup(t, await world.guest().get(path), status));
  }
  for (const visitor of [owner, operator, world.guest()]) {
    await t.test(NOWHERE, async (t) => checkMarkup(t, await visitor.get(NOWHERE), 404));
  }
  await t.test('strangers', (t) => checkStrangers(t, world, ofTenant));
  await t.test('roles', (t) => checkRoles(t, world, ofTenant));
  await t.test('operators', (t) => checkOperatorArea(t, owner, ofOperator));
});

async function checkPage(t: Test, { page, elapsedMs }: VisitedPage): Promise<void> {
  t.ok(elapsedMs < patience(SLOW_MS), `${elapsedMs.toFixed(0)} ms`);
  t.match(page.headers.get('cache-control'), /no-store/);
  // Not a download, nor what a frame shows.
  if (isHtml(page) && page.texts((name) => name === 'main').length > 0) checkMarkup(t, page, 200);
  else t.equal(page.status, 200);
}

function checkMarkup(t: Test, page: VisitedPage['page'], status: number): void {
  t.equal(page.status, status);
  t.ok(Buffer.byteLength(page.source) < PAGE_LIMIT_BYTES, `${page.source.length} bytes`);
  t.ok(page.headers.get('content-security-policy'), 'a policy');
  t.same(
    page.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes),
    [],
    'no markup of others',
  );
  t.same(
    page.texts((name) => name === 'th').filter((text) => text.trim() === ''),
    [],
    'every column of a table has a name',
  );
  t.same(
    page.texts((name, attributes) => 'style' in attributes || name === 'style'),
    [],
    'no inline styles',
  );
  t.same(
    page.texts((name, attributes) => name === 'script' && !('src' in attributes)),
    [],
    'no inline scripts',
  );
  t.same(
    page.texts((_name, attributes) => Object.keys(attributes).some((key) => key.startsWith('on'))),
    [],
  );
  t.equal(page.texts((name) => name === 'h1').length, 1, 'one main heading');
  for (const form of page.forms) {
    if (form.method === 'post') t.ok(form.fields.get('form_token'), `the form to ${form.action} is guarded`);
    else t.notOk(form.fields.has('form_token'), `the form to ${form.action} does not put its token into a URL`);
  }
}

async function checkStrangers(t: Test, world: HostileWorld, visited: VisitedPage[]): Promise<void> {
  const stranger = await world.visitor(world.stranger);
  for (const { kind, page } of visited.filter(({ kind }) => kind.includes(':id'))) {
    t.equal((await stranger.get(page.path)).status, 404, `${kind} of another tenant`);
  }
  const token = (await stranger.get('/portal/account')).form('/portal/sign-out').fields.get('form_token')!;
  for (const form of formsOf(visited).filter(({ action }) => kindOf(action).includes(':id'))) {
    const body = withToken(form.fields, token);
    const { status } = await stranger.raw('POST', form.action, { body });
    t.ok([403, 404].includes(status), `POST ${kindOf(form.action)} of another tenant: ${status}`);
  }
}

/** Viewers look, and change nothing but their own account. */
async function checkRoles(t: Test, world: HostileWorld, visited: VisitedPage[]): Promise<void> {
  const viewer = await world.visitor(world.viewer);
  const shown = await crawl(viewer, ['/portal']);
  const mine = (action: string) => /^\/portal\/(account|sign-out)/.test(action);
  t.same(
    formsOf(shown)
      .map(({ action }) => action)
      .filter((action) => !mine(action)),
    [],
    'a viewer sees no forms',
  );
  const token = (await viewer.get('/portal/account')).form('/portal/sign-out').fields.get('form_token')!;
  for (const form of formsOf(visited).filter(({ action }) => !mine(action))) {
    const { status } = await viewer.raw('POST', form.action, { body: withToken(form.fields, token) });
    t.equal(status, 403, `POST ${kindOf(form.action)} by a viewer`);
  }
}

async function checkOperatorArea(t: Test, owner: PortalVisitor, visited: VisitedPage[]): Promise<void> {
  const own = (path: string) => path.startsWith('/portal/operator');
  for (const { kind, page } of visited.filter(({ page }) => own(page.path))) {
    t.equal((await owner.get(page.path)).status, 404, `${kind} for an owner`);
  }
  const token = (await owner.get('/portal/account')).form('/portal/sign-out').fields.get('form_token')!;
  for (const form of formsOf(visited).filter(({ action }) => own(action))) {
    const { status } = await owner.raw('POST', form.action, { body: withToken(form.fields, token) });
    t.equal(status, 404, `POST ${kindOf(form.action)} by an owner`);
  }
}

function withToken(fields: URLSearchParams, token: string): URLSearchParams {
  const sent = new URLSearchParams(fields);
  sent.set('form_token', token);
  return sent;
}

function isHtml({ headers }: VisitedPage['page']): boolean {
  return headers.get('content-type')?.startsWith('text/html') ?? false;
}
