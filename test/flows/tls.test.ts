// The API over TLS, on both HTTP engines: the certificate of the configuration, a message sent
// over it, and the health check.
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import type { ApiAnswer } from '../support/daemon-process.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_HOST, TEST_ONLY_KEY } from '../support/smtp-peer-tls.ts';
import { type DnsRecord, publish, RECEIVER, startWorld } from '../support/world.ts';

for (const engine of ['uws', 'node']) {
  t.test(`over TLS on ${engine}`, async (t) => {
    const settings = { http: { engine, tls_cert: 'http.crt', tls_key: 'http.key' } };
    const { postrider, dns, sink } = await startWorld(t, { settings });
    fs.writeFileSync(path.join(postrider.folder, 'http.crt'), TEST_ONLY_CERTIFICATE);
    fs.writeFileSync(path.join(postrider.folder, 'http.key'), TEST_ONLY_KEY, { mode: 0o600 });
    const daemon = await postrider.serve();
    t.match(await daemon.logged({ msg: 'HTTP server started' }), { engine });
    const call = (key: string, route: string, body?: unknown) => callOverTls(daemon.httpPort, { key, route, body });

    t.match(await call('', 'GET /healthz'), { status: 200, body: { status: 'ok' } });
    await t.rejects(daemon.call(null, 'GET /healthz'), 'nobody answers in clear text');

    const tenant = await postrider.json('tenant', 'create', '--name', 'Acme', '--status', 'active');
    const rights = ['--name', 'app', '--scopes', 'emails:send,domains:write'];
    const made = await postrider.json('key', 'create', '--tenant', String(tenant.id), ...rights);
    const key = String(made.key);
    const registered = await call(key, 'POST /domains', { domain: 'acme.test' });
    dns.addZone('acme.test');
    publish(dns, registered.body.records as DnsRecord[]);
    t.match(await call(key, `POST /domains/${registered.body.id}/verify`), { status: 200 });
    const mail = { from: 'app@acme.test', to: `joe@${RECEIVER}`, subject: 'Hello', text: 'Hello.' };
    t.match(await call(key, 'POST /emails', mail), { status: 202 });
    t.match(await sink.received(1), [{ to: `joe@${RECEIVER}` }]);
    t.match(await call('nonsense', 'GET /domains'), { status: 401, body: { error: 'invalid_api_key' } });
    t.same(await daemon.stop(), { code: 0, signal: null });
  });
}

t.test('a certificate that does not belong to its key stops the start', async (t) => {
  const { postrider } = await startWorld(t, { settings: { http: { tls_cert: 'http.crt', tls_key: 'http.key' } } });
  fs.writeFileSync(path.join(postrider.folder, 'http.crt'), TEST_ONLY_CERTIFICATE);
  fs.writeFileSync(path.join(postrider.folder, 'http.key'), 'no key');
  t.match(await postrider.run('serve'), { code: 1, stderr: /http\.tls_key/ });
});

async function callOverTls(
  port: number,
  { key, route, body }: { key: string; route: string; body?: unknown },
): Promise<ApiAnswer> {
  const [method, target] = route.split(' ') as [string, string];
  const headers = { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) };
  const trust = { ca: TEST_ONLY_CERTIFICATE, servername: TEST_ONLY_HOST };
  const request = https.request({ host: '127.0.0.1', port, path: target, method, headers, agent: false, ...trust });
  const answered = new Promise<ApiAnswer>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', async (response) => {
      resolve({ status: response.statusCode!, body: JSON.parse(await text(response)) });
    });
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return answered;
}
