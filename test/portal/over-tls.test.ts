// What a browser is told over TLS, and what it is not told over plain HTTP: through a real daemon on either engine,
// behind a proxy that says which of the two it was.
import t, { type Test } from 'tap';
import { ENGINES } from '../http/both-engines.ts';
import { type Login, type PortalVisitor, type PortalWorld, startPortal } from '../support/portal.ts';

const OVER_TLS = { 'X-Forwarded-Proto': 'https' };
const POLICY = 'max-age=31536000';

/** The lines of the cookies that the browser gets. */
async function signIn(guest: PortalVisitor, { email, password }: Login, headers: Record<string, string>) {
  const page = await guest.raw('GET', '/portal/sign-in', { headers });
  const token = /name="form_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const body = new URLSearchParams({ form_token: token, email, password });
  const answer = await guest.raw('POST', '/portal/sign-in', { headers, body });
  return [page, answer].flatMap((each) => each.headers.getSetCookie());
}

async function titleOf(visitor: PortalVisitor, headers: Record<string, string>) {
  const answer = await visitor.raw('GET', '/portal/account', { headers });
  return answer.status === 200 ? /<title>([^<]+)</.exec(await answer.text())?.[1] : answer.headers.get('location');
}

for (const engine of ENGINES) {
  t.test(`behind a trusted proxy (${engine})`, async (t) => {
    const world = await startPortal(t, { settings: { http: { engine, trusted_proxies: ['127.0.0.1'] } } });
    await t.test('portal, docs and API ask for TLS when they were reached by it', (t) => asksForTls(t, world));
    await t.test('cookies are Secure when the request came over TLS', (t) => cookiesByRequest(t, world));
  });
}

async function asksForTls(t: Test, world: PortalWorld) {
  const guest = world.guest();
  const policy = async (path: string, headers = {}) =>
    (await guest.raw('GET', path, { headers })).headers.get('strict-transport-security');
  const paths = ['/', '/portal', '/portal/sign-in', '/portal/nothing', '/docs', '/docs/guide', '/docs/nothing'];
  for (const path of [...paths, '/healthz', '/domains', '/nothing', '/favicon.svg']) {
    t.equal(await policy(path, OVER_TLS), POLICY, path);
    t.equal(await policy(path), null, `${path}, over plain HTTP`);
    t.equal(await policy(path, { 'X-Forwarded-Proto': 'http' }), null, `${path}, over plain HTTP to the proxy`);
  }
  t.equal((await guest.raw('POST', '/emails', { headers: OVER_TLS })).headers.get('strict-transport-security'), POLICY);
  t.equal(await policy('/o/nothing', OVER_TLS), null, 'links may be at the host of a tenant');
}

async function cookiesByRequest(t: Test, world: PortalWorld) {
  const guest = world.guest();
  const secure = await signIn(guest, world.owner, OVER_TLS);
  t.ok(secure.length > 1);
  for (const line of secure) t.match(line, /^__Host-postrider_\w+=.*; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/);
  t.match(await titleOf(guest, OVER_TLS), /^Your account/);
  t.match(await titleOf(guest, {}), /^\/portal\/sign-in/, 'what a network can read is not believed to be the session');

  const plain = await signIn(guest, world.owner, {});
  t.ok(plain.length > 1);
  for (const line of plain) t.match(line, /^postrider_\w+=(?!.*Secure)/, 'a browser would not keep them otherwise');
  t.match(await titleOf(guest, {}), /^Your account/);
}

t.test('a stranger that claims TLS gets what anybody gets over plain HTTP', async (t) => {
  const world = await startPortal(t);
  const lines = await signIn(world.guest(), world.owner, OVER_TLS);
  t.ok(lines.length > 1);
  for (const line of lines) t.match(line, /^postrider_\w+=(?!.*Secure)/);
});

t.test('with an https base_url cookies are Secure, also behind a proxy that nobody has named', async (t) => {
  const world = await startPortal(t, { settings: { service: { base_url: 'https://mail.postrider.test' } } });
  const answer = await world.guest().raw('GET', '/portal/sign-in');
  t.match(answer.headers.getSetCookie(), [/^__Host-postrider_guest=.*; Secure$/]);
  t.equal(answer.headers.get('strict-transport-security'), null, 'but this request came over plain HTTP');
});
