// Behind a real nginx that speaks TLS: what depends on how bytes come in, and who the daemon
// takes for its client when X-Forwarded-For is believed from the proxy alone.
import t from 'tap';
import { testContract, WHERE_BYTES_MATTER } from '../../contract/all-tables.ts';
import { ContractClient } from '../../contract/contract-client.ts';
import { type ContractWorld, startContractWorld } from '../../contract/contract-world.ts';
import { nginxMissing } from '../../support/nginx.ts';
import { RawHttp } from '../../support/raw-http.ts';

const skip = nginxMissing();
if (skip) {
  t.test('behind nginx', { skip }, async () => {});
} else {
  testContract(t, { engine: 'uws', way: 'nginx', only: WHERE_BYTES_MATTER });
  for (const engine of ['uws', 'node'] as const) {
    testClients(engine);
    testTrailers(engine);
  }
}

/** Networks in which documentation lives (RFC 5737): nobody's. */
const FORGED = '203.0.113.9';
const BEHIND = '198.51.100.1';
const CHUNKED_CALL = 'GET /healthz HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n';

function testClients(engine: 'uws' | 'node'): void {
  t.test(`who the client is (${engine})`, async (t) => {
    const world = await startContractWorld(t, { engine, way: 'nginx', settings: { log: { level: 'debug' } } });
    const throughNginx = new ContractClient({ port: world.port, tls: true, localAddress: '127.0.0.7' });
    const direct = new ContractClient({ port: world.daemon.httpPort, localAddress: '127.0.0.8' });
    const likeAProxy = new ContractClient({ port: world.daemon.httpPort });
    t.teardown(() => [throughNginx, direct, likeAProxy].map((client) => client.close()));
    const cases: [about: string, client: ContractClient, forwardedFor: string | undefined, expected: string][] = [
      ['what nginx says is believed', throughNginx, undefined, '127.0.0.7'],
      ['what a client says to nginx is not', throughNginx, FORGED, '127.0.0.7'],
      ['not a whole chain of it', throughNginx, `${FORGED}, ${BEHIND}`, '127.0.0.7'],
      ['not nonsense', throughNginx, 'unknown, "quoted"', '127.0.0.7'],
      ['nor that it is the proxy', throughNginx, '127.0.0.1', '127.0.0.7'],
      ['a client that is no proxy is not believed', direct, FORGED, '127.0.0.8'],
      ['a chain is read from the right', likeAProxy, `${FORGED}, ${BEHIND}`, BEHIND],
      ['through trusted hops', likeAProxy, `${FORGED}, ${BEHIND}, 127.0.0.1`, BEHIND],
      ['up to what is no address', likeAProxy, `${FORGED}, nonsense, 127.0.0.1`, '127.0.0.1'],
      ['with a port', likeAProxy, `${FORGED}, ${BEHIND}:4711`, BEHIND],
      ['in IPv6', likeAProxy, `${FORGED}, 2001:DB8:0::1`, '2001:db8::1'],
      ['without a chain', likeAProxy, undefined, '127.0.0.1'],
    ];
    for (const [about, client, forwardedFor, expected] of cases) {
      t.equal(await seenAs(world, client, forwardedFor), expected, about);
    }
  });
}

/** nginx drops trailers: what it hands on, both engines understand. */
function testTrailers(engine: 'uws' | 'node'): void {
  t.test(`chunked calls with trailers get their own answers (${engine})`, async (t) => {
    const world = await startContractWorld(t, { engine, way: 'nginx' });
    const connection = await RawHttp.connectTls(world.port);
    t.teardown(() => connection.destroy());
    for (let round = 0; round < 3; round++) {
      await connection.send(`${CHUNKED_CALL}5\r\nhello\r\n0\r\nX-Checksum: GET /smuggled HTTP/1.1\r\n\r\n`);
      t.equal((await connection.answer()).status, 200, 'the chunked call is answered');
      await connection.send('GET /nowhere HTTP/1.1\r\nHost: api.test\r\n\r\n');
      t.equal((await connection.answer()).status, 404, 'and the next one, with its own answer');
    }
  });
}

/** The client's address in the line that the daemon logs of a call. */
async function seenAs(world: ContractWorld, client: ContractClient, forwardedFor?: string): Promise<unknown> {
  const { headers } = await client.call('GET /healthz', { headers: { 'X-Forwarded-For': forwardedFor } });
  const facts = { msg: 'API call answered', request_id: headers['x-request-id'] };
  return (await world.daemon.logged(facts)).client;
}
