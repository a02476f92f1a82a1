import t from 'tap';
import type { HttpRequest } from '../../src/http/http.ts';
import { createRouter, type Route } from '../../src/http/router.ts';

function route(method: string, pattern: string): Route {
  return {
    method,
    pattern,
    handler: (_request, params) => ({ status: 200, body: `${method} ${pattern} ${JSON.stringify(params)}` }),
  };
}

function routerOf(...routes: Route[]) {
  const handler = createRouter({
    routes,
    notFound: ({ path }) => ({ status: 404, body: path }),
    methodNotAllowed: (_request, allow) => ({ status: 405, headers: { 'X-Shape': 'caller' }, body: allow }),
  });
  return async (method: string, path: string) => {
    const reply = await handler({ method, path } as HttpRequest);
    return { status: reply.status, body: reply.body, headers: reply.headers };
  };
}

t.test('literal routes, parameters and what wins', async (t) => {
  const ask = routerOf(
    route('GET', '/domains/:id'),
    route('DELETE', '/domains/:id'),
    route('GET', '/domains/new'),
    route('POST', '/domains/:id/verify'),
    route('GET', '/domains/new/:step'),
    route('GET', '/:any/new/two'),
    route('GET', '/'),
  );
  t.equal((await ask('GET', '/')).body, 'GET / {}');
  t.equal((await ask('GET', '/domains/new')).body, 'GET /domains/new {}', 'literal before parameter');
  t.equal((await ask('DELETE', '/domains/new')).body, 'DELETE /domains/:id {"id":"new"}', 'when the method fits');
  t.equal((await ask('POST', '/domains/7/verify')).body, 'POST /domains/:id/verify {"id":"7"}');
  t.equal(
    (await ask('GET', '/domains/new/two')).body,
    'GET /domains/new/:step {"step":"two"}',
    'leftmost literal wins',
  );
  t.equal((await ask('GET', '/other/new/two')).body, 'GET /:any/new/two {"any":"other"}');
});

t.test('paths are exact', async (t) => {
  const ask = routerOf(route('GET', '/domains'), route('GET', '/domains/:id'));
  for (const path of [
    '/domains/',
    '/Domains',
    '/domains//',
    '//domains',
    '/domains/1/',
    '/d%6Fmains',
    '',
    '*',
    'domains',
  ]) {
    t.equal((await ask('GET', path)).status, 404, path);
  }
});

t.test('parameters are decoded, or left as they are', async (t) => {
  const ask = routerOf(route('GET', '/templates/:id'));
  const param = async (path: string) => (await ask('GET', path)).body;
  t.equal(await param('/templates/a%2Fb%20%C3%A4'), 'GET /templates/:id {"id":"a/b ä"}');
  t.equal(await param('/templates/%'), 'GET /templates/:id {"id":"%"}');
  t.equal(await param('/templates/%FF'), 'GET /templates/:id {"id":"%FF"}');
  t.equal(await param('/templates/__proto__'), 'GET /templates/:id {"id":"__proto__"}');
});

t.test('405 names every method of the path, HEAD comes with GET', async (t) => {
  const ask = routerOf(
    route('GET', '/domains/:id'),
    route('DELETE', '/domains/:id'),
    route('PATCH', '/domains/new'),
    route('POST', '/only'),
  );
  t.same(await ask('PUT', '/domains/new'), {
    status: 405,
    headers: { 'X-Shape': 'caller', Allow: 'DELETE, GET, HEAD, PATCH' },
    body: 'DELETE, GET, HEAD, PATCH',
  });
  t.equal((await ask('HEAD', '/domains/1')).body, 'GET /domains/:id {"id":"1"}');
  t.equal((await ask('HEAD', '/only')).body, 'POST');
  t.equal((await ask('OPTIONS', '/only')).status, 405);
});

t.test('a table that contradicts itself is refused', async (t) => {
  t.throws(() => routerOf(route('GET', '/a'), route('GET', '/a')), /two handlers/);
  t.throws(() => routerOf(route('GET', '/a/:id'), route('POST', '/a/:name')), /two names/);
  t.throws(() => routerOf(route('GET', 'a')), /slash/);
});
