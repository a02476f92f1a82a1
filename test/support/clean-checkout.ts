// A copy of the checkout without anything that is installed, and the two commands of the README in it, run with
// another npm and Node than the machine's: in a folder, or in the root of another Debian.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { pasteCurlLine } from '../sandbox/curl-line.ts';
import { until } from './until.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** npm fetches 100 MB and more. */
const INSTALL_MS = 15 * 60_000;
const DELIVERY_MS = 60_000;

export interface Checkout {
  /** Where it is, seen from the test. */
  folder: string;
  /** A shell command in its folder, as a program and its arguments. */
  inside(command: string): [string, ...string[]];
  /** All of the environment. */
  env: Record<string, string>;
}

export interface RunningSandbox {
  printed: string;
  /** Ends it as Ctrl-C in a terminal does, which reaches npm as well; resolves when all of it has ended. */
  interrupt(): Promise<void>;
}

/** Every file that git has or would add: what a clone of the next commit has. */
export function copyCheckout(to: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const name of listed.toString().split('\0')) {
    const from = path.join(ROOT, name);
    if (name === '' || !fs.existsSync(from)) continue;
    fs.mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    fs.cpSync(from, path.join(to, name), { verbatimSymlinks: true });
  }
}

/** The registry and the certificates with which this machine reaches it; nothing of that is in the checkout. */
export async function npmSettings(certificates = process.env.NODE_EXTRA_CA_CERTS): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'], { cwd: '/' });
  const proxies = Object.entries(process.env).filter(([name]) => /^(?:https?|no)_proxy$/i.test(name));
  return {
    npm_config_registry: stdout.trim(),
    ...(certificates && { NODE_EXTRA_CA_CERTS: certificates, npm_config_cafile: certificates }),
    ...(Object.fromEntries(proxies) as Record<string, string>),
  };
}

/** `npm start`, until it has printed everything. */
export async function npmStart(t: Test, { inside, env, folder }: Checkout): Promise<RunningSandbox> {
  const [program, ...args] = inside('exec npm start');
  // A group of its own, as a shell would give it.
  const child = spawn(program, args, { env, cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  t.teardown(() => signalGroup(child, 'SIGKILL'));
  await until('npm start is ready', () => isOver() || printed.includes('Ctrl-C stops it'), INSTALL_MS);
  if (isOver()) throw new Error(`npm start ended:\n${printed}${said}`);
  return {
    printed,
    async interrupt() {
      const closed = once(child, 'close');
      signalGroup(child, 'SIGINT');
      await closed;
    },
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // It has ended.
  }
}

/** Pastes the printed line into a shell of this machine, and waits for the delivery. */
export async function sendFirstMail(t: Test, printed: string, name: string): Promise<void> {
  const line = /^ *(curl .*)$/m.exec(printed)?.[1] ?? '';
  const { status, body } = await pasteCurlLine(t, line);
  t.equal(status, '202', `${name}: the printed line answers 202`);
  const { message_ids } = JSON.parse(body) as { message_ids: string[] };
  const headers = { authorization: /Bearer pr_\w+/.exec(line)?.[0] ?? '' };
  const url = `${/http:\S+\/emails/.exec(line)?.[0]}/${message_ids[0]}`;
  const isDelivered = async () => ((await (await fetch(url, { headers })).json()) as Delivered).state === 'delivered';
  t.ok(await until('the message is delivered', isDelivered, DELIVERY_MS), `${name}: the message is delivered`);
}

interface Delivered {
  state: string;
}

export interface Ended {
  code: number | null;
  output: string;
}

/** Runs to its end; what it prints goes to a file as well, line by line, for whoever waits. */
export async function runInside({ inside, env, folder }: Checkout, command: string, log?: string): Promise<Ended> {
  const [program, ...args] = inside(command);
  const child = spawn(program, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (log !== undefined) fs.appendFileSync(log, text);
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const MIB = 2 ** 20;

/** What the disk gives for it, hard links counted once, as `du` does. */
export function sizeMiB(folder: string, isLeftOut: (name: string) => boolean = () => false): number {
  const seen = new Set<number>();
  let bytes = 0;
  const add = (target: string) => {
    const { ino, blocks } = fs.lstatSync(target);
    if (!seen.has(ino)) bytes += blocks * 512;
    seen.add(ino);
  };
  const walk = (at: string) => {
    add(at);
    for (const entry of fs.readdirSync(at, { withFileTypes: true })) {
      const target = path.join(at, entry.name);
      if (entry.isDirectory() && !isLeftOut(entry.name)) walk(target);
      else if (!entry.isDirectory()) add(target);
    }
  };
  walk(folder);
  return Math.round(bytes / MIB);
}

const TOOLS = ['@biomejs', '@tapjs', '@types', '@typescript', 'axe-core', 'playwright-core', 'tap', 'typescript'];
const MOST_MIB = 150;

/** What a server may have got: the program, no tools, nothing of other platforms. */
export function checkProduction(t: Test, folder: string): void {
  const modules = path.join(folder, 'node_modules');
  const tools = TOOLS.filter((name) => fs.existsSync(path.join(modules, name)));
  t.same(tools, [], 'no development tools');
  const size = sizeMiB(modules, (name) => name.startsWith('node-linux-'));
  const all = sizeMiB(modules);
  t.ok(
    size < MOST_MIB,
    `note: a production install takes ${all} MiB; ${size} without the runtime, of at most ${MOST_MIB}`,
  );
  const binaries = fs.readdirSync(path.join(modules, 'uws-pack/dist/bin'));
  t.equal(binaries.length, 1, 'one binary of uWebSockets');
}
