// Bodies that come slowly, or not at all: our limits count and are answered, whatever limit an engine has of its own.
// uWebSockets closes 8 to 12 s after a body has begun, as its clock of 4 s just happens to stand.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startHttp } from '../../../src/http/engines/start-http.ts';
import type { HttpHandler } from '../../../src/http/http.ts';
import { overBothEngines, type Served, SILENT_LOG } from '../../http/both-engines.ts';
import { within } from '../../support/patience.ts';
import { RawHttp } from '../../support/raw-http.ts';

const ENGINES_LONGEST_MS = 13_000;
const CLOCK_MS = 4_000;
const CONNECTIONS = 20;
/** 10 KiB a second: more than is asked of a body, and less than uWebSockets asks. */
const [PIECE_BYTES, EVERY_MS] = [5 * 1024, 500];
const PIECES = Math.ceil(ENGINES_LONGEST_MS / EVERY_MS);

const tellKind: HttpHandler = async (request) => {
  const { kind } = await request.readBody(1024 * 1024);
  return { status: kind === 'body' ? 200 : 400, body: kind };
};

overBothEngines(t, 'bodies that stall are answered, and those that come slowly arrive', async ({ t, serve }) => {
  const served = await serve(tellKind);
  const slow = sendSlowly(served);
  const stalled: Promise<number>[] = [];
  // At many points of the clock's time.
  for (let count = 0; count < CONNECTIONS; count++) {
    stalled.push(stall(served));
    await sleep(CLOCK_MS / CONNECTIONS);
  }
  t.same(await Promise.all(stalled), Array(CONNECTIONS).fill(400));
  t.equal(await slow, 200);
});

t.test('uWebSockets still ends what drips on behind its answer', async (t) => {
  const handler = async () => ({ status: 401, body: 'no' });
  const basics = {
    host: '127.0.0.1',
    port: 0,
    trustedProxies: [],
    onError: (error: unknown) => t.fail(String(error)),
    log: SILENT_LOG,
  };
  const server = await startHttp({ engine: 'uws', handler, ...basics });
  t.teardown(() => server.close(0));
  const connection = await RawHttp.connect(server.port);
  t.teardown(() => connection.destroy());
  await connection.send('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n');
  const drip = setInterval(() => connection.socket.write('x'), 700);
  t.teardown(() => clearInterval(drip));
  await within(30_000, 'the end of the connection', once(connection.socket, 'close'));
  t.match(await connection.rest(), /^HTTP\/1\.1 401 /);
});

async function begin(served: Served, bytes: number) {
  const connection = await served.connect();
  await connection.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
  return connection;
}

async function stall(served: Served): Promise<number> {
  const connection = await begin(served, 100);
  await connection.send('{"from": ');
  return (await connection.answer()).status;
}

async function sendSlowly(served: Served): Promise<number> {
  const connection = await begin(served, PIECES * PIECE_BYTES);
  for (let count = 0; count < PIECES; count++) {
    await sleep(EVERY_MS);
    await connection.send(Buffer.alloc(PIECE_BYTES));
  }
  return (await connection.answer()).status;
}
