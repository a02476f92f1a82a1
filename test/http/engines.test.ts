// Conformance of both HTTP engines: requests, answers, keep-alive, addresses. Bodies, limits,
// closing and TLS have files of their own beside this one.
import t from 'tap';
import type { HttpHandler, HttpReply } from '../../src/http/http.ts';
import { createRouter } from '../../src/http/router.ts';
import { overBothEngines } from './both-engines.ts';

const HOST = 'Host: api.test\r\n';
const echo: HttpHandler = (request) => ({ status: 200, body: `${request.method} ${request.path}` });

overBothEngines(t, 'answers request after request on one connection', async ({ t, serve }) => {
  const connection = await (await serve(echo)).connect();
  for (const path of ['/one', '/two', '/three']) {
    await connection.send(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`);
    const answer = await connection.answer();
    t.equal(answer.status, 200);
    t.equal(answer.text, `GET ${path}`);
    t.equal(answer.headers.get('content-length'), String(answer.text.length));
    t.match(answer.headers.get('date'), /GMT$/, 'RFC 9110 section 6.6.1: an origin server with a clock says the time');
    t.equal(answer.headers.get('connection')?.toLowerCase() === 'close', false);
  }
});

overBothEngines(t, 'closes when the client asks for it', async ({ t, serve }) => {
  const connection = await (await serve(echo)).connect();
  await connection.send(`GET /last HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
  t.equal((await connection.answer()).text, 'GET /last');
  t.equal(await connection.rest(), '');
});

overBothEngines(t, 'HEAD, 204 and 304 have no body and leave the connection usable', async ({ t, serve }) => {
  const handler: HttpHandler = ({ path }) => {
    if (path === '/gone') return { status: 204 };
    if (path === '/same') return { status: 304, headers: { ETag: '"1"' } };
    return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'twelve bytes' };
  };
  const connection = await (await serve(handler)).connect();
  await connection.send(`HEAD /page HTTP/1.1\r\n${HOST}\r\n`);
  const head = await connection.answer({ head: true });
  t.equal(head.status, 200);
  t.equal(head.headers.get('content-length'), '12', 'what GET would have');
  t.equal(head.headers.get('content-type'), 'text/plain');
  await connection.send(`DELETE /gone HTTP/1.1\r\n${HOST}\r\n`);
  const gone = await connection.answer();
  t.equal(gone.status, 204);
  t.equal(gone.headers.get('content-length'), undefined);
  t.equal(gone.headers.get('transfer-encoding'), undefined);
  await connection.send(`GET /same HTTP/1.1\r\n${HOST}\r\n`);
  const same = await connection.answer();
  t.equal(same.status, 304);
  t.equal(same.headers.get('etag'), '"1"');
  t.equal(same.headers.get('content-length'), undefined);
  await connection.send(`GET /page HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).text, 'twelve bytes');
});

overBothEngines(t, 'routes: HEAD as GET, 404, 405 with Allow', async ({ t, serve }) => {
  const handler = createRouter({
    routes: [
      { method: 'GET', pattern: '/things/:id', handler: (_request, { id }) => ({ status: 200, body: `thing ${id}` }) },
      { method: 'DELETE', pattern: '/things/:id', handler: () => ({ status: 204 }) },
    ],
    notFound: () => ({ status: 404, body: 'nowhere' }),
    methodNotAllowed: (_request, allow) => ({ status: 405, body: `only ${allow}` }),
  });
  const connection = await (await serve(handler)).connect();
  await connection.send(`HEAD /things/a%20b HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer({ head: true })).headers.get('content-length'), '9');
  await connection.send(`GET /things/a%20b?x=%zz HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).text, 'thing a b');
  await connection.send(`GET /things/%zz HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).text, 'thing %zz', 'bad percent-encoding stays as it is');
  await connection.send(`GET /things/1/ HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).status, 404, 'a trailing slash is another path');
  await connection.send(`GET //things/1 HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).status, 404);
  await connection.send(`PUT /things/1 HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`);
  const refused = await connection.answer();
  t.equal(refused.status, 405);
  t.equal(refused.headers.get('allow'), 'DELETE, GET, HEAD');
  t.equal(refused.text, 'only DELETE, GET, HEAD');
});

overBothEngines(t, 'hands over path, query and headers', async ({ t, serve }) => {
  const handler: HttpHandler = (request) => ({
    status: 200,
    body: JSON.stringify({
      path: request.path,
      queryText: request.queryText,
      a: request.query.getAll('a'),
      mixed: request.header('X-Mixed'),
      repeated: request.header('x-repeated'),
      authorization: request.header('authorization'),
      cookie: request.header('cookie'),
      absent: request.header('constructor') ?? null,
    }),
  });
  const connection = await (await serve(handler)).connect();
  await connection.send(
    `GET /p%2Fq/%C3%A4?a=1&a=%20&b HTTP/1.1\r\n${HOST}x-MIXED:  spaced value  \r\nX-Repeated: one\r\nX-Repeated: two\r\n` +
      'Authorization: Bearer one\r\nAuthorization: Bearer two\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n',
  );
  t.same(JSON.parse((await connection.answer()).text), {
    path: '/p%2Fq/%C3%A4',
    queryText: 'a=1&a=%20&b',
    a: ['1', ' '],
    mixed: 'spaced value',
    repeated: 'one, two',
    authorization: 'Bearer one, Bearer two',
    cookie: 'a=1; b=2',
    absent: null,
  });
});

overBothEngines(t, 'takes requests in pieces', async ({ t, serve }) => {
  const connection = await (await serve(echo)).connect();
  for (const piece of ['GE', 'T /slow', 'ly HTTP/1.1\r\nHo', 'st: x\r\n\r', '\n']) await connection.send(piece);
  t.equal((await connection.answer()).text, 'GET /slowly');
});

overBothEngines(t, 'answers pipelined requests in order', async ({ t, serve }) => {
  const connection = await (await serve(echo)).connect();
  await connection.send(`GET /1 HTTP/1.1\r\n${HOST}\r\nGET /2 HTTP/1.1\r\n${HOST}\r\nGET /3 HTTP/1.1\r\n${HOST}\r\n`);
  for (const path of ['/1', '/2', '/3']) t.equal((await connection.answer()).text, `GET ${path}`);
});

overBothEngines(t, 'sends large answers whole to a client that reads slowly', async ({ t, serve }) => {
  const body = Buffer.alloc(8 * 1024 * 1024, 'postrider ');
  const connection = await (await serve(() => ({ status: 200, body }))).connect();
  connection.socket.on('data', () => {
    connection.socket.pause();
    setImmediate(() => connection.socket.resume());
  });
  await connection.send(`GET /large HTTP/1.1\r\n${HOST}\r\n`);
  t.ok((await connection.answer()).text === body.toString());
  await connection.send(`GET /again HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).text.length, body.length);
});

overBothEngines(t, 'sends repeated headers and an empty body', async ({ t, serve }) => {
  const handler: HttpHandler = () => ({ status: 303, headers: { 'Set-Cookie': ['a=1', 'b=2'], Location: '/portal' } });
  const connection = await (await serve(handler)).connect();
  await connection.send(`POST /login HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`);
  const answer = await connection.answer();
  t.equal(answer.status, 303);
  t.equal(answer.headers.get('set-cookie'), 'a=1\nb=2');
  t.equal(answer.headers.get('content-length'), '0');
});

overBothEngines(t, 'a failing handler is reported, and answered without its words', async ({ t, serve }) => {
  const server = await serve(async ({ path }) => {
    if (path === '/fine') return { status: 200, body: 'fine' };
    throw new Error('secret detail');
  });
  const connection = await server.connect();
  await connection.send(`GET /fails HTTP/1.1\r\n${HOST}\r\n`);
  const answer = await connection.answer();
  t.equal(answer.status, 500);
  t.equal(answer.headers.get('content-type'), 'application/json');
  t.same(Object.keys(JSON.parse(answer.text)), ['error', 'message']);
  t.equal(JSON.parse(answer.text).error, 'internal_error');
  t.notMatch(answer.text, /secret/);
  t.match(server.errors.splice(0), [{ message: 'secret detail' }]);
  await connection.send(`GET /fine HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).text, 'fine');
});

overBothEngines(t, 'refuses reply headers that would forge the answer', async ({ t, serve }) => {
  const forged: HttpReply['headers'][] = [
    { 'X-Name': 'a\r\nSet-Cookie: stolen=1' },
    { 'X-Name': 'a\nb' },
    { 'X-Name': 'a\0b' },
    { 'X-Name': 'caf\u00e9' },
    { 'X Name': 'a' },
    { 'X-Name\r\nSet-Cookie': 'stolen=1' },
    { 'Content-Length': '3' },
    { Connection: 'close' },
  ];
  const server = await serve(({ path }) => ({ status: 200, headers: forged[Number(path.slice(1))], body: 'x' }));
  const connection = await server.connect();
  for (const at of forged.keys()) {
    await connection.send(`GET /${at} HTTP/1.1\r\n${HOST}\r\n`);
    const answer = await connection.answer();
    t.equal(answer.status, 500);
    t.equal(answer.headers.has('set-cookie'), false);
  }
  t.equal(server.errors.splice(0).length, forged.length);
});

overBothEngines(t, 'refuses a status that no answer can have', async ({ t, serve }) => {
  const server = await serve(() => ({ status: 101 }));
  const connection = await server.connect();
  await connection.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).status, 500);
  t.equal(server.errors.splice(0).length, 1);
});

overBothEngines(t, 'believes X-Forwarded-* from trusted proxies only', async ({ t, serve }) => {
  const handler: HttpHandler = (request) => ({
    status: 200,
    body: JSON.stringify([request.peerAddress, request.clientAddress, request.secure]),
  });
  const forwarded =
    'X-Forwarded-For: 6.6.6.6, 203.0.113.7\r\nX-Forwarded-For: 10.1.2.3\r\nX-Forwarded-Proto: https\r\n';
  const ask = async (trustedProxies: string[]) => {
    const connection = await (await serve(handler, { trustedProxies })).connect();
    await connection.send(`GET / HTTP/1.1\r\n${HOST}${forwarded}\r\n`);
    return JSON.parse((await connection.answer()).text);
  };
  t.same(await ask([]), ['127.0.0.1', '127.0.0.1', false]);
  t.same(await ask(['192.0.2.1']), ['127.0.0.1', '127.0.0.1', false]);
  t.same(await ask(['127.0.0.1']), ['127.0.0.1', '10.1.2.3', true], 'the hop next to us');
  t.same(await ask(['127.0.0.0/8', '10.0.0.0/8']), ['127.0.0.1', '203.0.113.7', true], 'not what the client claims');
});

overBothEngines(t, 'spells IPv4 peers of an IPv6 listener as IPv4', async ({ t, serve }) => {
  const server = await serve((request) => ({ status: 200, body: request.peerAddress }), { host: '::' });
  const connection = await server.connect();
  await connection.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).text, '127.0.0.1');
});
