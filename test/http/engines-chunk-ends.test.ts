// Conformance of both HTTP engines: what comes behind a chunked body. uWebSockets takes it for the
// next request, trailers and all, so that the connection has to end there; node reads it as the
// RFC has it. On neither may bytes of one request become another.
import path from 'node:path';
import t from 'tap';
import type { HttpEngineName, HttpHandler, HttpOptions } from '../../src/http/http.ts';
import type { RawHttp } from '../support/raw-http.ts';
import { testFolder } from '../support/test-folder.ts';
import { overBothEngines, type Served } from './both-engines.ts';
import { ARRIVALS, CHUNK_ENDS, CHUNKED_HEAD, NEXT, NEXT_REQUEST, SMUGGLED } from './chunk-ends.ts';
import { FIRST_PAIR } from './test-only-certificates.ts';

const LIMITS = { bodyIdleMs: 1_000, drainIdleMs: 20 };

const FENCE = '/fence';

interface Asked {
  engine: HttpEngineName;
  connection: RawHttp;
  server: Served;
}

/** Answers with what it was asked for, and keeps a list of it. */
function noting(seen: string[], reads: boolean): HttpHandler {
  return async (request) => {
    const { path: asked, method } = request;
    const body = reads ? await request.readBody(1000) : { kind: 'unread' };
    // A body that broke off is refused by every handler: nothing comes of its request.
    if (body.kind !== 'broken') seen.push(asked);
    return { status: method === 'DELETE' ? 204 : 200, body: `${asked} ${body.kind}` };
  };
}

/** What the server says: to the end, or, where it reads no further and leaves that to its idle timeout, at first. */
async function everything({ engine, connection, server }: Asked): Promise<string> {
  connection.end();
  if (engine === 'node') return connection.rest();
  const first = await connection.answer().then(
    ({ status, text }) => `${status} ${text}`,
    () => '',
  );
  // When a later connection is answered, the server has seen what came before.
  const fence = await server.connect();
  await fence.send(NEXT_REQUEST.replace(NEXT, FENCE));
  await fence.answer();
  return first;
}

for (const [arrival, cut] of Object.entries(ARRIVALS)) {
  for (const reads of [true, false]) {
    const about = `${arrival}, ${reads ? 'read' : 'unread'}`;
    overBothEngines(t, `nothing behind a chunked body becomes a request: ${about}`, async ({ t, engine, serve }) => {
      for (const end of CHUNK_ENDS) {
        const seen: string[] = [];
        const server = await serve(noting(seen, reads), { limits: LIMITS });
        const connection = await server.connect();
        for (const piece of cut(`${CHUNKED_HEAD}${end.bytes}${NEXT_REQUEST}`)) await connection.send(piece);
        const said = await everything({ engine, connection, server });
        t.notMatch(said, `${SMUGGLED} `, `${end.about}: not answered`);
        t.notOk(seen.includes(SMUGGLED), `${end.about}: not served`);
        if (reads && engine === 'node' && end.wellFormed)
          t.match(said, `${NEXT} `, `${end.about}: the next request is answered`);
        if (engine === 'node') continue;
        t.notOk(seen.includes(NEXT), `${end.about}: the next request is not served`);
      }
    });
  }
}

overBothEngines(t, 'a chunked request says whether another may follow', async ({ t, engine, serve }) => {
  const expected = engine === 'uws' ? 'close' : 'keep-alive';
  for (const reads of [true, false]) {
    const server = await serve(noting([], reads), { limits: LIMITS });
    for (const method of ['POST', 'HEAD', 'DELETE']) {
      const connection = await server.connect();
      await connection.send(`${CHUNKED_HEAD.replace('POST', method)}5\r\nhello\r\n0\r\n\r\n`);
      const answer = await connection.answer({ head: method === 'HEAD' });
      t.equal(answer.status, method === 'DELETE' ? 204 : 200);
      // Node's engine, too, ends a connection over a chunked body that no handler reads.
      t.equal(answer.headers.get('connection')?.toLowerCase(), reads ? expected : 'close', method);
      connection.destroy();
    }
  }
});

overBothEngines(t, 'an answer behind a chunked body is whole, whatever its size', async ({ t, serve }) => {
  for (const size of [0, 1, 16 * 1024, 4 * 1024 * 1024]) {
    const server = await serve(async (request) => {
      await request.readBody(1000);
      return { status: 200, body: 'x'.repeat(size) };
    });
    const connection = await server.connect();
    await connection.send(`${CHUNKED_HEAD}5\r\nhello\r\n0\r\n\r\n`);
    t.equal((await connection.answer()).text.length, size);
  }
});

overBothEngines(t, 'what comes behind while the call is worked on takes no answer away', async ({ t, serve }) => {
  const arrived = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const seen: string[] = [];
  const server = await serve(async (request) => {
    if (request.path === NEXT) return { status: 200, body: NEXT };
    await request.readBody(1000);
    seen.push(request.path);
    arrived.resolve();
    await goOn.promise;
    return { status: 200, body: 'first' };
  });
  const connection = await server.connect();
  await connection.send(`${CHUNKED_HEAD}5\r\nhello\r\n0\r\n\r\n`);
  await arrived.promise;
  await connection.send(NEXT_REQUEST);
  // When a later connection is answered, the server has seen what came before.
  const other = await server.connect();
  await other.send(NEXT_REQUEST);
  t.equal((await other.answer()).text, NEXT);
  goOn.resolve();
  t.equal((await connection.answer()).text, 'first');
  t.same(seen, ['/chunked']);
});

overBothEngines(t, 'over TLS as well', async ({ t, engine, serve }) => {
  const folder = testFolder(t, { 'cert.pem': FIRST_PAIR.cert, 'key.pem': FIRST_PAIR.key });
  const tls: HttpOptions['tls'] = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  for (const end of CHUNK_ENDS) {
    const seen: string[] = [];
    const server = await serve(noting(seen, true), { tls, limits: LIMITS });
    const connection = await server.connect();
    await connection.send(`${CHUNKED_HEAD}${end.bytes}${NEXT_REQUEST}`);
    await everything({ engine, connection, server });
    t.notOk(seen.includes(SMUGGLED), `${end.about}: not served`);
    if (engine === 'uws') t.notOk(seen.includes(NEXT), `${end.about}: nor the next request`);
  }
});
