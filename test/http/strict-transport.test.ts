// Strict-Transport-Security on both engines: with every answer that left over TLS, and with no other.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { createRouter } from '../../src/http/router.ts';
import { strictTransport } from '../../src/http/strict-transport.ts';
import type { RawHttp } from '../support/raw-http.ts';
import { testFolder } from '../support/test-folder.ts';
import { overBothEngines } from './both-engines.ts';
import { FIRST_PAIR } from './test-only-certificates.ts';

const POLICY = 'max-age=31536000';

const handler = createRouter(
  strictTransport({
    routes: [
      { method: 'GET', pattern: '/now', handler: () => ({ status: 200, headers: { ETag: '"1"' }, body: 'now' }) },
      { method: 'GET', pattern: '/later', handler: async () => ({ status: 304, headers: { ETag: '"1"' } }) },
      { method: 'GET', pattern: '/moved', handler: () => ({ status: 303, headers: { Location: '/now' } }) },
      { method: 'DELETE', pattern: '/now', handler: () => ({ status: 204 }) },
    ],
    notFound: () => ({ status: 404, body: 'nowhere' }),
    methodNotAllowed: async () => ({ status: 405, body: 'not like that' }),
  }),
);

const ASKED = [
  ['GET /now', 200],
  ['HEAD /now', 200],
  ['GET /later', 304],
  ['GET /moved', 303],
  ['DELETE /now', 204],
  ['GET /nowhere', 404],
  ['PUT /moved', 405],
] as const;

async function policyOf(connection: RawHttp, asked: string, lines: readonly string[] = ['Host: api.test']) {
  await connection.send(`${asked} HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`);
  const answer = await connection.answer({ head: asked.startsWith('HEAD') });
  return { status: answer.status, policy: answer.headers.get('strict-transport-security') };
}

overBothEngines(t, 'over TLS of our own', async ({ t, serve }) => {
  const connection = await (await serve(handler, { tls: certificateFiles(t) })).connect();
  for (const [asked, status] of ASKED) t.same(await policyOf(connection, asked), { status, policy: POLICY }, asked);
  const onPlain = ['Host: api.test', 'X-Forwarded-Proto: http'];
  t.equal((await policyOf(connection, 'GET /now', onPlain)).policy, POLICY, 'whatever the client says');
  for (const host of ['localhost', 'LOCALHOST:8443', 'app.localhost', 'localhost.']) {
    t.equal((await policyOf(connection, 'GET /now', [`Host: ${host}`])).policy, undefined, host);
  }
  t.equal((await policyOf(connection, 'GET /now', ['Host: notlocalhost'])).policy, POLICY);
});

overBothEngines(t, 'behind a trusted proxy that speaks TLS', async ({ t, serve }) => {
  const connection = await (await serve(handler, { trustedProxies: ['127.0.0.1'] })).connect();
  const behind = (proto: string) => ['Host: api.test', `X-Forwarded-Proto: ${proto}`];
  for (const [asked, status] of ASKED) {
    t.same(await policyOf(connection, asked, behind('https')), { status, policy: POLICY }, asked);
    t.same(await policyOf(connection, asked, behind('http')), { status, policy: undefined }, `${asked}, plain`);
  }
  t.equal((await policyOf(connection, 'GET /now')).policy, undefined, 'a proxy that says nothing');
  for (const proto of ['https, http', 'https2', '"https"', '', 'ws']) {
    t.equal((await policyOf(connection, 'GET /now', behind(proto))).policy, undefined, proto);
  }
  t.equal((await policyOf(connection, 'GET /now', behind('http, HTTPS'))).policy, POLICY, 'the nearest proxy counts');
});

overBothEngines(t, 'never over plain HTTP, whatever a stranger says', async ({ t, serve }) => {
  const connection = await (await serve(handler, { trustedProxies: ['192.0.2.1'] })).connect();
  const forged = ['Host: api.test', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 192.0.2.1'];
  for (const [asked, status] of ASKED) {
    t.same(await policyOf(connection, asked, forged), { status, policy: undefined }, asked);
  }
});

function certificateFiles(t: Test) {
  const folder = testFolder(t);
  const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  writeFileSync(files.certFile, FIRST_PAIR.cert);
  writeFileSync(files.keyFile, FIRST_PAIR.key);
  return files;
}
