// A key that is in memory: handed to both engines, and replaced while they serve.
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import t from 'tap';
import { HOUR_MS } from '../../src/base/clock.ts';
import { folderForKeys, HeldPair } from '../../src/certificates/held-pair.ts';
import { temporaryPair } from '../../src/certificates/temporary-pair.ts';
import { startHttp } from '../../src/http/engines/start-http.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

const log = { info() {}, warn() {} };

for (const engine of ['uws', 'node'] as const) {
  t.test(`${engine} takes a pair from memory, and its successor`, async (t) => {
    const folder = testFolder(t);
    const [first, second] = [await temporaryPair(['a.test'], Date.now()), await temporaryPair(['b.test'], Date.now())];
    const held = new HeldPair(first, folder);
    const errors: unknown[] = [];
    const server = await startHttp({
      ...{ engine, host: '127.0.0.1', port: 0, tls: held, log, trustedProxies: [], limits: { tlsCheckMs: HOUR_MS } },
      handler: () => ({ status: 200 }),
      onError: (error) => errors.push(error),
    });
    t.teardown(() => server.close(0));
    t.equal(server.engine, engine);
    t.equal(await nameAt(server.port), 'DNS:a.test');
    t.same(fs.readdirSync(folder), [], 'nothing stays');
    held.replace(second);
    // uWebSockets closes its first listener with whoever waits in its queue.
    await until('the second pair', async () => (await nameAt(server.port).catch(() => null)) === 'DNS:b.test');
    t.same(fs.readdirSync(folder), []);
    t.same(errors, []);
  });
}

t.test('files are for this user alone, and go even when an engine fails', async (t) => {
  const folder = testFolder(t);
  const held = new HeldPair(await temporaryPair(['a.test'], Date.now()), folder);
  const failing = held.inFiles(async ({ keyFile }) => {
    t.equal(fs.statSync(keyFile).mode & 0o777, 0o600);
    t.equal(fs.statSync(path.dirname(keyFile)).mode & 0o777, 0o700);
    t.match(fs.readFileSync(keyFile, 'utf8'), 'PRIVATE KEY');
    throw new Error('the engine failed');
  });
  await t.rejects(failing, { message: 'the engine failed' });
  t.same(fs.readdirSync(folder), []);
  const nowhere = new HeldPair(await held.read(), path.join(folder, 'none'));
  await t.rejects(
    nowhere.inFiles(async () => {}),
    { message: /^tls\.runtime_dir: / },
  );
});

t.test('a folder that is not there is replaced, and what a killed daemon left is removed', async (t) => {
  const folder = testFolder(t, { 'tls-key-abc': { 'key.pem': 'x' }, other: 'stays' });
  t.equal(folderForKeys(path.join(folder, 'none'), folder), folder);
  t.same(fs.readdirSync(folder), ['other']);
  const preferred = path.join(folder, 'run');
  fs.mkdirSync(preferred);
  t.equal(folderForKeys(preferred, folder), preferred);
});

function nameAt(port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).subjectAltName);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
