// Conformance of both HTTP engines: bodies that are read, too large, unread, late or cut off.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { BodyResult, HttpHandler } from '../../src/http/http.ts';
import { patience } from '../support/patience.ts';
import { overBothEngines } from './both-engines.ts';

const HOST = 'Host: api.test\r\n';
const LIMIT = 5 * 1024 * 1024;
const STATUS: Record<BodyResult['kind'], number> = { body: 200, too_large: 413, no_room: 500, broken: 400 };

/** Answers with what became of the body. */
function reader(limitBytes = LIMIT): HttpHandler {
  return async (request) => {
    const result = await request.readBody(limitBytes);
    const text = result.kind === 'body' ? result.bytes.toString() : '';
    return { status: STATUS[result.kind], body: `${result.kind} ${text.length} ${text.slice(0, 20)}` };
  };
}

function post(path: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`;
}

function chunk(body: string): string {
  return `${body.length.toString(16)}\r\n${body}\r\n`;
}

/** So that only what a case is about can settle a body. */
const NO_IDLE_TIME = { bodyIdleMs: 600_000 };

const CHUNKED_HEAD = `POST /chunked HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;

overBothEngines(t, 'reads declared and chunked bodies, whole and in pieces', async ({ t, serve }) => {
  const server = await serve(reader());
  const connection = await server.connect();
  await connection.send(post('/', 'hello'));
  t.equal((await connection.answer()).text, 'body 5 hello');
  await connection.send(post('/', ''));
  t.equal((await connection.answer()).text, 'body 0 ');
  await connection.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
  t.equal((await connection.answer()).text, 'body 0 ', 'a request without a body has an empty one');
  for (const piece of post('/', 'slow').split(/(?<=\n|l)/)) await connection.send(piece);
  t.equal((await connection.answer()).text, 'body 4 slow');
  const large = 'x'.repeat(LIMIT);
  await connection.send(post('/', large));
  t.equal((await connection.answer()).text, `body ${LIMIT} ${large.slice(0, 20)}`);
  await connection.send(`${CHUNKED_HEAD}${chunk('one ')}${chunk('two')}0\r\n\r\n`);
  t.equal((await connection.answer()).text, 'body 7 one two');
  const other = await server.connect();
  await other.send(CHUNKED_HEAD.replace('chunked\r\n\r\n', 'Chunked\r\n\r\n'));
  await other.send(chunk('late'));
  await other.send('0\r\n\r\n');
  t.equal((await other.answer()).text, 'body 4 late');
});

overBothEngines(t, 'refuses a declared length over the limit before a byte of it', async ({ t, serve }) => {
  const connection = await (await serve(reader(10))).connect();
  await connection.send(post('/', '0123456789'));
  t.equal((await connection.answer()).status, 200, 'the limit itself is allowed');
  await connection.send(`POST / HTTP/1.1\r\n${HOST}Content-Length: 11\r\n\r\n`);
  t.equal((await connection.answer()).status, 413);
  await connection.send('01234567890');
  await connection.send(post('/', 'next'));
  t.equal((await connection.answer()).text, 'body 4 next', 'the refused body was not taken for a request');
});

overBothEngines(t, 'refuses a chunked body when it passes the limit', async ({ t, serve }) => {
  const server = await serve(reader(10));
  for (const [last, status] of [
    ['56789', 200],
    ['567890', 413],
  ] as const) {
    const connection = await server.connect();
    await connection.send(`${CHUNKED_HEAD}${chunk('01234')}${chunk(last)}0\r\n\r\n`);
    t.equal((await connection.answer()).status, status);
  }
});

overBothEngines(t, 'a client that sends everything before it reads still gets its 413', async ({ t, serve }) => {
  const server = await serve(reader(LIMIT));
  const body = 'x'.repeat(32 * 1024 * 1024);
  const requests = [post('/', body), `${CHUNKED_HEAD}${chunk(body)}0\r\n\r\n`];
  // Many clients open a connection for a single call, and say so.
  const closing = requests.map((request) => request.replace(HOST, `${HOST}Connection: close\r\n`));
  for (const request of [...requests, ...closing]) {
    const connection = await server.connect();
    connection.socket.pause();
    t.equal(await connection.send(request), true, 'everything was taken in');
    connection.socket.resume();
    const answer = await connection.answer();
    t.equal(answer.status, 413);
    t.equal(answer.text, 'too_large 0 ');
  }
});

overBothEngines(t, 'an endless body gets a whole answer and an end', async ({ t, engine, serve }) => {
  const limits = { drainBytes: 1024 * 1024, drainIdleMs: 5_000 };
  const connection = await (await serve(reader(10), { limits })).connect();
  let sending = true;
  const flood = (async () => {
    await connection.send(CHUNKED_HEAD);
    while (sending && (await connection.send(chunk('x'.repeat(65_536)))));
  })();
  const answer = await connection.answer();
  t.equal(answer.status, 413);
  t.equal(answer.text, 'too_large 0 ');
  t.equal(answer.headers.get('connection'), 'close');
  // uWebSockets stops reading and leaves the closing to its idle timeout of 11 s.
  if (engine === 'node') await flood;
  sending = false;
  connection.destroy();
  await flood;
});

overBothEngines(t, 'a client that stops sending an endless body gets the end of the answer', async ({ t, serve }) => {
  const connection = await (await serve(reader(10), { limits: { drainIdleMs: 20 } })).connect();
  await connection.send(`${CHUNKED_HEAD}${chunk('x'.repeat(100))}`);
  const answer = await connection.answer();
  t.equal(answer.status, 413);
  t.equal(answer.text, 'too_large 0 ');
});

overBothEngines(t, 'a body that no handler reads does not disturb what follows', async ({ t, serve }) => {
  const connection = await (await serve(({ path }) => ({ status: 401, body: path }))).connect();
  const body = 'GET /smuggled HTTP/1.1\r\n\r\n'.repeat(10_000);
  await connection.send(post('/declared', body));
  t.equal((await connection.answer()).text, '/declared');
  await connection.send(`${CHUNKED_HEAD}${chunk(body)}0\r\n\r\n`);
  const chunked = await connection.answer();
  t.equal(chunked.text, '/chunked');
  if (chunked.headers.get('connection') === 'close') return;
  await connection.send(post('/next', '{}'));
  t.equal((await connection.answer()).text, '/next');
});

overBothEngines(t, 'holds a body back until the handler asks for it', async ({ t, serve }) => {
  const arrived = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const size = 48 * 1024 * 1024;
  const server = await serve(async (request) => {
    if (request.method === 'GET') return { status: 200 };
    arrived.resolve();
    await asked.promise;
    return reader(size)(request);
  });
  const connection = await server.connect();
  let taken = false;
  const sent = connection.send(post('/', 'y'.repeat(size))).then(() => {
    taken = true;
  });
  await arrived.promise;
  const other = await server.connect();
  for (let round = 0; round < 300; round++) {
    await other.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    await other.answer();
  }
  t.equal(taken, false, 'it waits on the way, not in memory');
  asked.resolve();
  t.equal((await connection.answer()).text, `body ${size} ${'y'.repeat(20)}`);
  await sent;
});

overBothEngines(t, 'a body can be asked for twice, and need not be waited for', async ({ t, serve }) => {
  const server = await serve(async (request) => {
    if (request.path === '/hasty') {
      void request.readBody(LIMIT);
      return { status: 202, body: 'hasty' };
    }
    const [first, second] = [await request.readBody(LIMIT), await request.readBody(1)];
    return { status: 200, body: String(first === second) };
  });
  const connection = await server.connect();
  await connection.send(post('/twice', 'hello'));
  t.equal((await connection.answer()).text, 'true');
  await connection.send(`POST /hasty HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\n`);
  t.equal((await connection.answer()).text, 'hasty');
  await connection.send(`hello${post('/twice', 'again')}`);
  t.equal((await connection.answer()).text, 'true');
});

overBothEngines(t, 'a body that breaks off settles as broken', async ({ t, serve }) => {
  const results: BodyResult[] = [];
  const settled = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handler: HttpHandler = async (request) => {
    results.push(await request.readBody(LIMIT));
    settled[results.length - 1]?.resolve();
    return { status: 400 };
  };
  const server = await serve(handler, { limits: NO_IDLE_TIME });
  for (const [at, start] of [
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\n12345`,
    `${CHUNKED_HEAD}5\r\n123`,
  ].entries()) {
    const connection = await server.connect();
    await connection.send(start);
    connection.destroy();
    await settled[at]!.promise;
  }
  t.same(results, [{ kind: 'broken' }, { kind: 'broken' }]);
});

overBothEngines(t, 'a body that had broken off before it was asked for is broken', async ({ t, serve }) => {
  const arrived = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const result = Promise.withResolvers<BodyResult>();
  const handler: HttpHandler = async (request) => {
    if (request.method === 'GET') return { status: 200 };
    arrived.resolve();
    await asked.promise;
    result.resolve(await request.readBody(LIMIT));
    return { status: 400 };
  };
  const server = await serve(handler, { limits: NO_IDLE_TIME });
  const connection = await server.connect();
  await connection.send(`POST / HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\n12345`);
  await arrived.promise;
  const closed = once(connection.socket, 'close');
  connection.destroy();
  await closed;
  // When a later connection is answered, the server knows of the end of the earlier one.
  const other = await server.connect();
  await other.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
  await other.answer();
  asked.resolve();
  t.same(await result.promise, { kind: 'broken' });
});

overBothEngines(t, 'a body that stalls is broken, and the answer arrives', async ({ t, serve }) => {
  const server = await serve(reader(), { limits: { bodyIdleMs: 40 } });
  for (const start of [`POST / HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\n12345`, `${CHUNKED_HEAD}5\r\n123`]) {
    const connection = await server.connect();
    await connection.send(start);
    const answer = await connection.answer();
    t.equal(answer.status, 400);
    t.equal(answer.text, 'broken 0 ');
    t.equal(answer.headers.get('connection')?.toLowerCase(), 'close');
    t.equal(await connection.rest(), '', 'and the connection ends');
  }
});

overBothEngines(t, 'a body that keeps coming may take longer than the idle time', async ({ t, serve }) => {
  const bodyIdleMs = patience(300);
  const connection = await (await serve(reader(), { limits: { bodyIdleMs } })).connect();
  await connection.send(`POST / HTTP/1.1\r\n${HOST}Content-Length: 6\r\n\r\n`);
  for (const letter of 'steady') {
    await pause(bodyIdleMs / 4);
    await connection.send(letter);
  }
  t.equal((await connection.answer()).text, 'body 6 steady');
});

overBothEngines(t, 'a body that trickles is broken, and the answer arrives', async ({ t, serve }) => {
  // Below what uWebSockets itself waits for, and only the trickling can settle the body.
  const server = await serve(reader(), { limits: { ...NO_IDLE_TIME, bodyPaceMs: 400 } });
  for (const start of [`POST / HTTP/1.1\r\n${HOST}Content-Length: 100000\r\n\r\n`, `${CHUNKED_HEAD}186A0\r\n`]) {
    const connection = await server.connect();
    await connection.send(`${start}${'x'.repeat(1000)}`);
    const trickle = setInterval(() => connection.socket.write('x'), 20);
    const answer = await connection.answer();
    clearInterval(trickle);
    t.equal(answer.text, 'broken 0 ');
    t.equal(answer.headers.get('connection')?.toLowerCase(), 'close');
  }
});

overBothEngines(t, 'room for a body is taken before it is kept', async ({ t, serve }) => {
  const asked: number[] = [];
  let left = 0;
  const room = {
    take(bytes: number) {
      asked.push(bytes);
      left -= bytes;
      return left >= 0;
    },
  };
  const server = await serve(async (request) => {
    const { kind } = await request.readBody(LIMIT, room);
    return { status: STATUS[kind], body: `${kind} ${request.declaredBodyBytes}` };
  });
  const answerTo = async (request: string, bytes: number) => {
    left = bytes;
    asked.length = 0;
    const connection = await server.connect();
    await connection.send(request);
    return (await connection.answer()).text;
  };
  const KIB = 1024;
  const declared = (bytes: number) => post('/', 'x'.repeat(bytes));
  const chunked = (bytes: number) => `${CHUNKED_HEAD}${chunk('x'.repeat(bytes))}0\r\n\r\n`;
  t.equal(await answerTo(declared(64 * KIB), 0), `body ${64 * KIB}`);
  t.equal(await answerTo(chunked(64 * KIB), 0), 'body null');
  t.same(asked, [], 'so much is kept of any body');
  t.equal(await answerTo(declared(1000 * KIB), 936 * KIB), `body ${1000 * KIB}`);
  t.same(asked, [936 * KIB], 'all of it at once');
  t.equal(await answerTo(declared(1000 * KIB), 936 * KIB - 1), `no_room ${1000 * KIB}`);
  t.equal(
    await answerTo(`POST / HTTP/1.1\r\n${HOST}Content-Length: ${1000 * KIB}\r\n\r\n`, 0),
    `no_room ${1000 * KIB}`,
    'before a byte has come',
  );
  t.equal(await answerTo(declared(LIMIT + 1), 2 * LIMIT), `too_large ${LIMIT + 1}`);
  t.same(asked, [], 'what is too large takes none');
  t.equal(await answerTo(chunked(3000 * KIB), LIMIT), 'body null');
  t.ok(asked.length >= 2 || asked[0]! >= 2936 * KIB, 'as it comes');
  t.equal(await answerTo(chunked(3000 * KIB), 600 * KIB), 'no_room null');
});

overBothEngines(t, 'Expect: 100-continue', async ({ t, engine, serve }) => {
  const server = await serve(reader(10));
  const connection = await server.connect();
  const head = (length: number) =>
    `POST / HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;
  await connection.send(head(5));
  t.equal((await connection.answer()).status, 100);
  await connection.send('hello');
  t.equal((await connection.answer()).text, 'body 5 hello');
  await connection.send(head(11));
  // uWebSockets says 100 by itself, before anybody has looked at the request.
  if (engine === 'uws') t.equal((await connection.answer()).status, 100);
  const refused = await connection.answer();
  t.equal(refused.status, 413);
  if (engine === 'node') t.equal(await connection.rest(), '', 'nobody knows whether the body still comes');
});
