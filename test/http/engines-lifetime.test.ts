// Conformance of both HTTP engines: starting, closing, clients that leave, TLS.
import { once } from 'node:events';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { startHttp } from '../../src/http/engines/start-http.ts';
import { within } from '../support/patience.ts';
import { RawHttp } from '../support/raw-http.ts';
import { overBothEngines, type Served, SILENT_LOG } from './both-engines.ts';
import { FIRST_PAIR, SECOND_PAIR, type TestOnlyPair } from './test-only-certificates.ts';

const GET = 'GET / HTTP/1.1\r\nHost: api.test\r\n\r\n';

/** A handler that says when it was called and answers when it is told to. */
function gate() {
  const entered = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const handler = async () => {
    entered.resolve();
    await opened.promise;
    return { status: 200, body: 'finished' };
  };
  return { handler, entered: entered.promise, open: opened.resolve };
}

overBothEngines(t, 'close lets what runs finish, and nothing new in', async ({ t, serve }) => {
  const { handler, entered, open } = gate();
  const server = await serve(handler);
  const idle = await server.connect();
  const busy = await server.connect();
  await busy.send(GET);
  await entered;
  let closed = false;
  const closing = server.close(10_000).then(() => {
    closed = true;
  });
  await t.rejects(RawHttp.connect(server.port), { code: 'ECONNREFUSED' });
  t.equal(closed, false);
  open();
  const answer = await busy.answer();
  t.equal(answer.text, 'finished');
  t.equal(answer.headers.get('connection'), 'close');
  t.equal(await busy.rest(), '');
  t.equal(await idle.rest(), '', 'idle connections end too');
  await closing;
});

overBothEngines(t, 'who asks for a tunnel ends nothing but its own connection', async ({ t, serve }) => {
  const server = await serve(() => ({ status: 200, body: 'still here' }));
  const tunnel = 'CONNECT api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n';
  for (let count = 0; count < 20; count++) {
    const connection = await server.connect();
    await connection.send(tunnel);
    connection.socket.resetAndDestroy();
  }
  const other = await server.connect();
  await other.send(GET);
  t.equal((await other.answer()).text, 'still here');

  // Its client never reads that it is over.
  const deaf = await server.connect();
  deaf.socket.pause();
  await deaf.send(tunnel);
  await t.resolves(within(10_000, 'the server is closed', server.close(0)));
});

overBothEngines(t, 'close waits for a large answer to be taken', async ({ t, serve }) => {
  const body = Buffer.alloc(16 * 1024 * 1024, 'x');
  const server = await serve(() => ({ status: 200, body }));
  const connection = await server.connect();
  await connection.send(GET);
  await once(connection.socket, 'data');
  connection.socket.pause();
  const closing = server.close(10_000);
  connection.socket.resume();
  t.equal((await connection.answer()).text.length, body.length);
  await closing;
});

overBothEngines(t, 'what is read just when it closes is answered, too', async ({ t, engine, serve }) => {
  let read = 0;
  // At the end of a turn, as clicks are.
  const server = await serve(async () => {
    read++;
    await new Promise((resolve) => setImmediate(resolve));
    return { status: 200, body: 'finished' };
  });
  const connections = await Promise.all(Array.from({ length: 30 }, () => server.connect()));
  // From a timer on, what is written is read in this very turn.
  await new Promise((resolve) => setTimeout(resolve, 1));
  const answers = connections.map(async (connection) => {
    await connection.send(GET);
    return (await connection.rest()).includes('finished');
  });
  await server.close(10_000);
  const answered = (await Promise.all(answers)).filter(Boolean).length;
  t.equal(answered, read);
  if (engine === 'uws') t.equal(read, 30, 'Node itself closes idle connections before it reads from them');
});

overBothEngines(t, 'close cuts off what takes longer than the grace time', async ({ t, serve }) => {
  const { handler, entered, open } = gate();
  const server = await serve(handler);
  const busy = await server.connect();
  await busy.send(GET);
  await entered;
  await server.close(10);
  t.equal(await busy.rest(), '');
  open();
});

overBothEngines(
  t,
  'a client that leaves while its handler runs harms nobody, and close waits',
  async ({ t, serve }) => {
    const { handler, entered, open } = gate();
    let handled = false;
    const server = await serve(async () => {
      const reply = await handler();
      handled = true;
      return reply;
    });
    const leaver = await server.connect();
    await leaver.send(GET);
    await entered;
    const left = once(leaver.socket, 'close');
    leaver.destroy();
    await left;
    const closing = server.close(10_000).then(() => handled);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    open();
    t.equal(await closing, true, 'the handler was not abandoned');
  },
);

overBothEngines(t, 'says why it cannot listen', async ({ t, serve }) => {
  const occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  const { port } = occupant.address() as { port: number };
  await t.rejects(
    serve(() => ({ status: 200 }), { port }),
    { code: 'EADDRINUSE' },
  );
  occupant.close();
  const server = await serve(() => ({ status: 200 }));
  await t.rejects(
    serve(() => ({ status: 200 }), { port: server.port }),
    { code: 'EADDRINUSE' },
    'another server of ours included',
  );
});

overBothEngines(t, 'serves TLS, and takes up a renewed certificate', async ({ t, engine, serve }) => {
  const tls = tlsFiles(t, FIRST_PAIR);
  const server = await serve((request) => ({ status: 200, body: `secure ${request.secure}` }), {
    tls,
    limits: { tlsCheckMs: 5 },
  });
  const earlier = await server.connect();
  t.equal(subject(earlier), FIRST_PAIR.name);
  await earlier.send(GET);
  t.equal((await earlier.answer()).text, 'secure true');

  replaceFile(tls.certFile, SECOND_PAIR.cert);
  await until(() => server.errors.length > 0);
  t.match(server.errors.splice(0), [{ message: /no usable certificate and key/ }], 'reported once');
  const between = await server.connect();
  t.equal(subject(between), FIRST_PAIR.name, 'half a pair is not taken');

  replaceFile(tls.keyFile, SECOND_PAIR.key);
  const later = await firstWith(SECOND_PAIR.name, server);
  t.equal(subject(later), SECOND_PAIR.name);
  for (const connection of [earlier, between, later]) {
    await connection.send(GET);
    t.equal((await connection.answer()).text, 'secure true', 'old connections go on');
  }
  t.equal(server.engine, engine);
});

overBothEngines(t, 'does not start on an unusable pair', async ({ t, serve }) => {
  const tls = tlsFiles(t, { ...FIRST_PAIR, key: SECOND_PAIR.key });
  await t.rejects(
    serve(() => ({ status: 200 }), { tls }),
    { message: /no usable certificate and key/ },
  );
});

t.test('falls back to node:http where the addon does not load', async (t) => {
  const warnings: unknown[] = [];
  const options = {
    engine: 'uws' as const,
    host: '127.0.0.1',
    port: 0,
    trustedProxies: [],
    handler: () => ({ status: 200, body: 'still there' }),
    onError: (error: unknown) => t.fail(String(error)),
    log: { ...SILENT_LOG, warn: (fields: unknown, message: string) => warnings.push([fields, message]) },
  };
  const server = await startHttp(options, () => Promise.reject(new Error('no uws_plan9_sparc_200.node')));
  t.equal(server.engine, 'node');
  t.match(warnings, [[{ reason: 'no uws_plan9_sparc_200.node' }, /node:http/]]);
  const connection = await RawHttp.connect(server.port);
  await connection.send(GET);
  t.equal((await connection.answer()).text, 'still there');
  connection.destroy();
  await server.close(0);
});

t.test('refuses a trusted proxy that is no address', async (t) => {
  const handler = () => ({ status: 200 });
  const options = { engine: 'node' as const, host: '127.0.0.1', port: 0, handler, onError() {}, log: SILENT_LOG };
  await t.rejects(startHttp({ ...options, trustedProxies: ['10.0.0.0/33'] }), { message: /10\.0\.0\.0\/33/ });
});

function tlsFiles(t: Test, pair: TestOnlyPair): { certFile: string; keyFile: string } {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-http-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  writeFileSync(files.certFile, pair.cert);
  writeFileSync(files.keyFile, pair.key);
  chmodSync(files.keyFile, 0o600);
  return files;
}

function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

function subject(connection: RawHttp): string {
  return String((connection.socket as TLSSocket).getPeerCertificate().subject.CN);
}

/** Connects until the certificate is the wanted one. */
async function firstWith(name: string, server: Served): Promise<RawHttp> {
  for (;;) {
    // While uWebSockets changes listeners, a connection that waits to be accepted is reset.
    const connection = await server.connect().catch(() => null);
    if (connection && subject(connection) === name) return connection;
    connection?.destroy();
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
