// The README of a client library as a reader follows it: every code block in its language is run
// with the installed package against the sandbox. How blocks are marked: clients/conformance/README.md.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { Test } from 'tap';
import { compareOutput } from '../docs/compare-output.ts';
import { Examples } from '../docs/examples.ts';
import { findFreePort } from '../support/free-port.ts';
import { patience } from '../support/patience.ts';
import { until } from '../support/until.ts';
import { type Installed, type Language, type Program, plainEnvironment } from './language.ts';
import { type CodeBlock, readBlocks } from './read-blocks.ts';
import type { SandboxSite } from './sandbox-site.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FIRST_SEND_LINES = 15;
const SNIPPET_TIMEOUT_MS = 60_000;

export async function readmeTests(t: Test, language: Language, installed: Installed, site: SandboxSite): Promise<void> {
  const blocks = readBlocks(
    readFileSync(path.join(ROOT, 'clients', language.name, 'README.md'), 'utf8'),
    language.fence,
  );
  const [first] = blocks;
  if (first === undefined) return void t.fail(`README.md has no block of ${language.fence}`);
  t.ok(first.code.trimEnd().split('\n').length <= FIRST_SEND_LINES, 'the first send is short');
  const page = readFileSync(path.join(ROOT, 'docs/api.md'), 'utf8').split(/^## /m);
  const section = page.find((part) => part.startsWith('Client libraries')) ?? '';
  t.equal(readBlocks(section, language.fence)[0]?.code, first.code, 'docs/api.md shows the same first send');
  for (const [index, block] of blocks.entries()) {
    const name = `line ${block.line}: ${block.code.split('\n', 1)[0]}`;
    if (block.marker.startsWith('not run: ')) t.comment(`${block.marker}: ${name}`);
    else t.equal(await follow(block, await installed.snippet(block.code, `snippet${index + 1}`), site), null, name);
  }
}

function follow(block: CodeBlock, program: Program, site: SandboxSite): Promise<string | null> {
  if (block.marker === 'serves') return serveAndDeliver(program, site);
  return runToEnd(block, program, site);
}

const environment = (program: Program, { url, key }: SandboxSite, more: Record<string, string> = {}) =>
  plainEnvironment({ ...program.env, POSTRIDER_BASE_URL: url, POSTRIDER_API_KEY: key, ...more });

/** What is wrong, or null. */
function runToEnd({ marker, expected }: CodeBlock, program: Program, site: SandboxSite): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { cwd: program.cwd, env: environment(program, site), timeout: patience(SNIPPET_TIMEOUT_MS) };
    execFile(program.command, program.args, options, (error, stdout, stderr) => {
      if ((error !== null) !== (marker === 'fails'))
        return resolve(`${error ?? 'it did not fail'}\n${stdout}${stderr}`);
      if (expected === null) return resolve(null);
      const difference = compareOutput({ line: 0, format: 'text', text: expected }, stdout, new Examples());
      resolve(difference && `${difference}. Printed was:\n${stdout}`);
    });
  });
}

/** Registers the program as a webhook, sends a message, and waits until it says that it was told. */
async function serveAndDeliver(program: Program, site: SandboxSite): Promise<string | null> {
  const port = await findFreePort();
  const { id, secret } = await post(site, '/webhooks', { url: `http://127.0.0.1:${port}/hook` });
  const env = environment(program, site, { PORT: String(port), POSTRIDER_WEBHOOK_SECRET: String(secret) });
  const child = spawn(program.command, program.args, { cwd: program.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  child.stdout.on('data', (part: Buffer) => (printed += part));
  child.stderr.on('data', (part: Buffer) => (printed += part));
  try {
    const running = () => child.exitCode === null && child.signalCode === null;
    await until('the program listens', async () => !running() || (await isOpen(port)), SNIPPET_TIMEOUT_MS);
    const mail = { from: 'shop@hello.verified.test', to: 'jo@example.org', subject: 'Grüße 🎉', text: 'Hello' };
    await post(site, '/emails', mail);
    await until('it prints the event', () => !running() || printed.includes('email.delivered'));
    return printed.includes('email.delivered') ? null : `it ended: ${printed}`;
  } catch (error) {
    return `${(error as Error).message}: ${printed}`;
  } finally {
    await end(child);
    await fetch(`${site.url}/webhooks/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${site.key}` } });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}

async function post(site: SandboxSite, where: string, body: object): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' };
  const answer = await fetch(site.url + where, { method: 'POST', headers, body: JSON.stringify(body) });
  const said = (await answer.json()) as Record<string, unknown>;
  if (!answer.ok) throw new Error(`${where} answered ${answer.status}: ${said.message}`);
  return said;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => settle(true));
    socket.on('error', () => settle(false));
  });
}
