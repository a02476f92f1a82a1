// A sandbox for the client libraries: the real program in a process of its own, and what an
// operator makes there so that every kind of refusal can be met.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { findFreePort } from '../support/free-port.ts';
import { runInThisProcess } from '../support/program.ts';
import { newDataDir, spawnSandbox } from '../support/sandbox-process.ts';

export interface SandboxSite {
  url: string;
  /** Takes written mail on 127.0.0.1. */
  smtpPort: number;
  /** May do everything. */
  key: string;
  /** Of the same tenant, for domains only. */
  keyForDomains: string;
  /** Of a tenant that is suspended. */
  suspendedKey: string;
  /** Of a tenant that may make one call per minute. */
  slowKey: string;
  /** Where the capture server keeps what it received, a file per mail. */
  capturedDir: string;
}

const ALL_SCOPES = 'emails:send,domains:write,webhooks:write,templates:write';

export async function startSandboxSite(t: Test): Promise<SandboxSite> {
  const folder = newDataDir(t);
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const ofSandbox = path.join(folder, 'sandbox.toml');
  const ports = `[http]\nport = 0\n[smtp]\nport = 0\n[submission]\nport = ${await findFreePort()}\n`;
  writeFileSync(ofSandbox, `${ports}[limits]\nrequests_per_minute = [1, 10000]\n`);
  const printed = await spawnSandbox(t, data, '--config', ofSandbox).ready();
  const [url = '', key = ''] = [/http:\S+/, /pr_\w+/].map((pattern) => pattern.exec(printed)?.[0]);

  const smtpPort = Number(/ SMTP +127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);

  const ofOperator = path.join(folder, 'operator.toml');
  writeFileSync(ofOperator, `[data]\ndir = ${JSON.stringify(data)}\n`);
  const operator = async (...args: string[]) => {
    const { code, stdout, stderr } = await runInThisProcess([...args, '--json', '--config', ofOperator]);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const keyFor = async (tenant: string, scopes = ALL_SCOPES) =>
    String((await operator('key', 'create', '--tenant', tenant, '--name', 'Test', '--scopes', scopes)).key);
  const { tenants } = (await operator('tenant', 'list')) as { tenants: { id: string }[] };
  const suspended = String((await operator('tenant', 'create', '--name', 'Gone', '--status', 'suspended')).id);
  const slow = String((await operator('tenant', 'create', '--name', 'Slow', '--status', 'active')).id);
  await operator('tenant', 'set', slow, '--tier', '1k');
  return {
    url,
    smtpPort,
    key,
    keyForDomains: await keyFor(tenants[0]!.id, 'domains:write'),
    suspendedKey: await keyFor(suspended),
    slowKey: await keyFor(slow),
    capturedDir: path.join(data, 'captured'),
  };
}
