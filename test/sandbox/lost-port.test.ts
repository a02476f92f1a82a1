// A port that was free when the sandbox chose it, and taken when it wanted it.
import { once } from 'node:events';
import fs from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { choosePorts } from '../../src/sandbox/sandbox-config.ts';
import { newDataDir } from '../support/sandbox-process.ts';

const taken = createServer().listen(0, '127.0.0.1');
t.teardown(() => taken.close());

t.test('another one is chosen, unless it was asked for', async (t) => {
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const folder = newDataDir(t);
  const configFile = path.join(folder, 'sandbox.toml');
  fs.writeFileSync(configFile, '[submission]\nport = 0\n[smtp]\nport = 0\n');
  let choices = 0;
  const start = (env: Record<string, string>) =>
    startSandbox({
      dataDir: path.join(folder, 'data'),
      json: true,
      configFile,
      env,
      commands: () => null,
      print: () => {},
      async choosePorts(wishes, host) {
        choices++;
        const ports = await choosePorts(wishes, host);
        // Not the next one after the usual: another test's sandbox may want that too.
        return { ...ports, http: choices === 1 ? port : 0 };
      },
    });
  const sandbox = await start({});
  t.equal(choices, 2);
  t.notMatch(sandbox.welcome.url, `:${port}`);
  await sandbox.close();
  choices = 0;
  await t.rejects(start({ POSTRIDER_HTTP_PORT: String(port) }), {
    message: `http.host, http.port: cannot listen on 127.0.0.1:${port}`,
  });
  t.equal(choices, 1);
});
