// What the sandbox lets a visitor configure, and what it keeps for itself.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { reservePort } from '../../src/http/reserve-port.ts';
import { choosePorts, placeServers, readOptions } from '../../src/sandbox/sandbox-config.ts';
import { testFolder } from '../support/test-folder.ts';

const LOOPBACK = '127.0.0.1';

const PLACES = {
  dataDir: '/tmp/own',
  host: '127.0.0.1',
  dns: 5301,
  capture: 2526,
  http: 8081,
  smtp: 2525,
  submission: 2587,
  busyHttp: null,
};

function configOf(env: Record<string, string>, file?: string) {
  return placeServers({ env, file }, PLACES);
}

async function occupy(t: Test, port: number): Promise<number> {
  const server = createServer();
  t.teardown(() => server.close());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

t.test('everything stays on this machine', async (t) => {
  const config = configOf({});
  t.match(config, {
    http: { host: '127.0.0.1', port: 8081 },
    smtp: { host: '127.0.0.1', port: 2525 },
    submission: { host: '127.0.0.1', port: 2587, tls_port: 0 },
    data: { dir: '/tmp/own' },
    dns: { servers: ['127.0.0.1:5301'], authority_port: 5301, allow_private: true },
    delivery: { port: 2526, allow_private: true },
    webhooks: { allow_private: ['127.0.0.0/8', '::1'] },
    service: { base_url: 'http://127.0.0.1:8081', bounces_domain: 'bounces.postrider.test' },
  });
});

t.test('what would lead out of it cannot be changed, the rest can', async (t) => {
  const file = path.join(
    testFolder(t, { 'given.toml': 'data.dir = "/srv"\n[http]\nhost = "0.0.0.0"\n' }),
    'given.toml',
  );
  const env = {
    POSTRIDER_DELIVERY_PORT: '25',
    POSTRIDER_DELIVERY_ALLOW_PRIVATE: 'false',
    POSTRIDER_DNS_SERVERS: '192.0.2.1',
    POSTRIDER_SMTP_HOST: '0.0.0.0',
    POSTRIDER_SUBMISSION_HOST: '0.0.0.0',
    POSTRIDER_DELIVERY_RETRY_STEPS: '2s,3s',
    POSTRIDER_SERVICE_BOUNCES_DOMAIN: 'bounces.example.test',
  };
  const config = configOf(env, file);
  t.match(config, {
    http: { host: '127.0.0.1' },
    smtp: { host: '127.0.0.1' },
    submission: { host: '127.0.0.1' },
    data: { dir: '/tmp/own' },
    dns: { servers: ['127.0.0.1:5301'] },
    delivery: { port: 2526, allow_private: true, retry_steps: [2000, 3000] },
    service: { bounces_domain: 'bounces.example.test', dkim_domain: 'bounces.example.test' },
  });
});

t.test('whoever asks for it gets all addresses, but for what nobody else needs', async (t) => {
  const env = { POSTRIDER_HTTP_HOST: '0.0.0.0' };
  t.match(configOf(env), { http: { host: '127.0.0.1' } }, 'the environment may be that of a server');
  t.match(placeServers({ env: {}, file: undefined }, { ...PLACES, host: '0.0.0.0' }), {
    http: { host: '0.0.0.0' },
    smtp: { host: '0.0.0.0' },
    dns: { servers: ['127.0.0.1:5301'] },
  });
});

t.test('mistakes are told as by the daemon', async (t) => {
  const read = () => readOptions({ env: { POSTRIDER_HTTP_PORT: 'eighty' }, file: undefined });
  t.throws(read, { message: /^http\.port \(from POSTRIDER_HTTP_PORT\): must be an integer/ });
});

t.test('a port that was asked for is the port', async (t) => {
  const port = await reservePort('127.0.0.1', 0);
  const env = { POSTRIDER_HTTP_PORT: String(port), POSTRIDER_SMTP_PORT: '0' };
  const chosen = await choosePorts(readOptions({ env, file: undefined }), LOOPBACK);
  t.match(chosen, { http: port, busyHttp: null });
  t.ok(chosen.smtp < 32_768, `${chosen.smtp} is none that the system gives to outgoing calls`);
  t.ok(chosen.smtp > 0, '0 is any free one, which is known before the daemon starts');
});

t.test('submission by SMTP can be turned off', async (t) => {
  const chosen = async (env: Record<string, string>) => choosePorts(readOptions({ env, file: undefined }), LOOPBACK);
  t.equal((await chosen({ POSTRIDER_SUBMISSION_PORT: '0' })).submission, 0);
  t.ok((await chosen({})).submission >= 2587);
});

t.test('the usual port gives way when something else has it', async (t) => {
  const wishes = readOptions({ env: {}, file: undefined });
  // Stands for 8080, which may be in use on the machine that runs this test.
  const usual = await occupy(t, 0);
  const { config, source } = wishes;
  const moved = { source, config: { ...config, http: { ...config.http, port: usual } } };
  const chosen = await choosePorts(moved, LOOPBACK);
  t.equal(chosen.busyHttp, usual);
  t.ok(chosen.http !== usual && (await reservePort('127.0.0.1', chosen.http)) === chosen.http);
});

t.test('no listener gives way to the place of another one', async (t) => {
  const usual = await occupy(t, 0);
  const next = String(usual + 1);
  for (const variable of ['POSTRIDER_HTTP_PORT', 'POSTRIDER_SUBMISSION_PORT', 'POSTRIDER_METRICS_PORT']) {
    const { config, source } = readOptions({ env: { [variable]: next }, file: undefined });
    const moved = { source, config: { ...config, smtp: { ...config.smtp, port: usual } } };
    const { smtp } = await choosePorts(moved, LOOPBACK);
    t.ok(smtp !== usual && smtp !== usual + 1, `${smtp}: ${variable} asks for ${next}, though nobody listens yet`);
  }
  const { config, source } = readOptions({ env: {}, file: undefined });
  const alike = { ...config, http: { ...config.http, port: usual }, smtp: { ...config.smtp, port: usual } };
  const { http, smtp } = await choosePorts({ source, config: alike }, LOOPBACK);
  t.not(http, smtp, 'nor to what was chosen a moment ago');
});
