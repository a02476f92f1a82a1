// `postrider serve` in a process of its own: commands take effect in it at once, and signals
// stop it as promised.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { newProgram, PROGRAM, type Program } from '../support/program.ts';

interface Served {
  program: Program;
  child: ChildProcess;
  httpPort: number;
  /** Resolves when the log has a line with this message. */
  logged(message: string): Promise<Record<string, unknown>>;
  /** The exit code, or the signal that ended it. */
  exited: Promise<number | string>;
}

async function startServe(t: Test): Promise<Served> {
  const program = newProgram();
  const config = '[http]\nport = 0\nengine = "node"\n[smtp]\nhost = "127.0.0.1"\nport = 0\n[data]\ndir = "data"\n';
  fs.writeFileSync(program.configFile, config);
  const env = { PATH: process.env.PATH };
  const child = spawn(PROGRAM, ['serve', '--config', program.configFile], { env });
  const exited = once(child, 'exit').then(([code, signal]): number | string => code ?? signal);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
    program.remove();
  });
  const logged = followLog(child, exited);
  const { http_port } = await logged('ready');
  return { program, child, httpPort: Number(http_port), logged, exited };
}

function followLog(child: ChildProcess, exited: Promise<unknown>) {
  const seen: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  let errors = '';
  child.stderr!.on('data', (part) => {
    errors += part;
  });
  createInterface({ input: child.stdout! }).on('line', (line) => {
    seen.push(JSON.parse(line));
    for (const look of waiting) look();
  });
  return (message: string) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const look = () => {
        const line = seen.find(({ msg }) => typeof msg === 'string' && msg.startsWith(message));
        if (!line) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      exited.then(() => reject(new Error(`ended without logging "${message}": ${errors}`)));
      look();
    });
}

async function newKey(program: Program): Promise<{ id: string; key: string; tenant: string }> {
  const { id: tenant } = await program.json('tenant', 'create', '--name', 'Acme', '--status', 'active');
  const scopes = ['--scopes', 'emails:send,domains:write'];
  const { id, key } = await program.json('key', 'create', '--tenant', String(tenant), '--name', 'app', ...scopes);
  return { id: String(id), key: String(key), tenant: String(tenant) };
}

t.test('commands beside a daemon take effect in it at once', async (t) => {
  const { program, httpPort, child, exited } = await startServe(t);
  const { id, key, tenant } = await newKey(program);
  const status = async () => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`http://127.0.0.1:${httpPort}/domains`, { headers })).status;
  };
  t.equal(await status(), 200);
  await program.json('tenant', 'set', tenant, '--status', 'suspended');
  t.equal(await status(), 403);
  await program.json('tenant', 'set', tenant, '--status', 'active');
  t.equal(await status(), 200);
  await program.json('key', 'revoke', id);
  t.equal(await status(), 401);

  t.match(await program.json('backup', `${program.folder}/copy.db`), { file: `${program.folder}/copy.db` });
  t.match(await program.run('restore', `${program.folder}/copy.db`, '--force'), {
    code: 1,
    stderr: /another Postrider/,
  });
  t.match(await program.run('serve'), { code: 1, stderr: /another Postrider process uses/ });
  child.kill('SIGTERM');
  t.equal(await exited, 0);
  t.match(await program.json('tenant', 'list'), { tenants: [{ id: tenant }] }, 'and without it afterwards');
});

t.test('SIGINT stops it, too', async (t) => {
  const { child, exited } = await startServe(t);
  child.kill('SIGINT');
  t.equal(await exited, 0);
});

t.test('a second signal ends it at once, whatever it still waits for', async (t) => {
  const { program, child, httpPort, logged, exited } = await startServe(t);
  const { key } = await newKey(program);
  const call = net.connect(httpPort, '127.0.0.1');
  call.on('error', () => {});
  const head = `POST /domains HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  call.write(`${head}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n`);
  await once(call, 'data'); // 100 Continue: the daemon has the call, and waits for a body that never comes
  child.kill('SIGTERM');
  await logged('stopping');
  child.kill('SIGTERM');
  t.equal(await exited, 1);
  call.destroy();
});
