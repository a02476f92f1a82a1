// Addresses at which there is no page: people are led on, or see a page that leads on; the API's unknown paths
// stay JSON.
import t from 'tap';
import { startPortal } from '../support/portal.ts';

const world = await startPortal(t);
const guest = world.guest();
const owner = await world.visitor();
const operator = await world.visitor(await world.addUser('operator', 'jo@service.test'));
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

function ask(method: string, path: string, headers: Record<string, string> = BROWSER): Promise<Response> {
  return world.guest().raw(method, path, { headers });
}

function isPage(response: Pick<Response, 'headers'>): boolean {
  return response.headers.get('content-type')?.startsWith('text/html') ?? false;
}

t.test('/ leads to the portal, and stays an unknown path for programs', async (t) => {
  for (const headers of [BROWSER, { Accept: '*/*' }]) {
    const answer = await ask('GET', '/', headers);
    t.match([answer.status, answer.headers.get('location')], [303, '/portal']);
  }
  t.equal((await ask('HEAD', '/')).status, 303);
  t.match((await guest.get('/')).path, '/portal/sign-in', 'and from there to where a guest signs in');
  t.match(await owner.get('/'), { status: 200, path: '/portal' });
  t.match(await operator.get('/'), { status: 200, path: '/portal/operator' });
  for (const [method, headers] of [
    ['GET', { Accept: 'application/json' }],
    ['GET', { Accept: '*/*', Authorization: `Bearer ${world.sender.key}` }],
    ['POST', BROWSER],
  ] as const) {
    const answer = await ask(method, '/', headers);
    t.match(
      [answer.status, await answer.json()],
      [404, { error: 'not_found' }],
      `${method} ${JSON.stringify(headers)}`,
    );
  }
});

t.test('a slash too many leads to the page', async (t) => {
  for (const [path, location] of [
    ['/portal/', '/portal'],
    ['/portal//', '/portal'],
    ['/docs/', '/docs'],
    ['/docs/guide/', '/docs/guide'],
    ['/portal/messages/?state=bounced', '/portal/messages?state=bounced'],
  ] as const) {
    const answer = await ask('GET', path);
    t.match([answer.status, answer.headers.get('location')], [308, location], path);
  }
});

t.test('unknown pages of the portal', async (t) => {
  for (const path of ['/portal/nowhere', '/portal/messages/a/b/c', '/portal/assets/x/portal.css']) {
    const page = await guest.get(path);
    t.match(page, { status: 404, text: /Not found/ }, path);
    t.ok(isPage(page));
    t.ok(
      page.links.some(({ href }) => href === '/portal/sign-in') &&
        page.links.some(({ href }) => href === '/docs/guide'),
    );
    t.match(page.headers.get('content-security-policy'), "default-src 'none'");
  }
  const page = await owner.get('/portal/nowhere');
  t.equal(page.status, 404);
  t.ok(
    page.links.some(({ href }) => href === '/portal/messages'),
    'in the frame, with the way to everything else',
  );
  t.ok(page.links.some(({ href, text }) => href === '/portal' && text === 'Go to the overview'));
  t.match(await operator.get('/portal/operator/nowhere'), { status: 404, text: /Not found/ });
  const sent = await ask('POST', '/portal/nowhere');
  t.equal(sent.status, 404);
  t.ok(isPage(sent));
});

t.test("a form's address, looked at", async (t) => {
  const answer = await ask('GET', '/portal/sign-out');
  t.match([answer.status, answer.headers.get('allow'), isPage(answer)], [405, 'POST', true]);
  const page = await owner.get('/portal/sign-out');
  t.match(page, { status: 405, text: /only accepts submitted forms. Nothing was changed/ });
  t.ok(page.links.some(({ href }) => href === '/portal'));
});

t.test('unknown pages under /docs', async (t) => {
  const page = await guest.get('/docs/nowhere');
  t.match(page, { status: 404, text: /This page doesn’t exist/ });
  for (const path of ['/docs', '/docs/guide', '/portal'])
    t.ok(
      page.links.some(({ href }) => href === path),
      path,
    );
});

t.test('unknown paths of the API stay what they are', async (t) => {
  for (const path of ['/nowhere', '/domains/', '/portals', '/docsx', '/openapi.json/']) {
    const answer = await ask('GET', path);
    t.match([answer.status, answer.headers.get('content-type')], [404, 'application/json'], path);
    t.match(await answer.json(), { error: 'not_found' });
  }
  t.match((await ask('PUT', '/emails')).headers.get('content-type'), 'application/json');
});

t.test('the guide and the reader are linked from everywhere', async (t) => {
  for (const [visitor, path] of [
    [owner, '/portal'],
    [operator, '/portal/operator'],
  ] as const) {
    const { links } = await visitor.get(path);
    for (const target of ['/docs', '/docs/guide'])
      t.ok(
        links.some(({ href }) => href === target),
        target,
      );
  }
  t.match((await guest.get('/portal/sign-in')).source, 'src="/favicon.svg"');
});
