// The real program for end-to-end tests: a folder with configuration and data, `postrider serve`
// as a process of its own that can be killed at any moment, its log, its API, and the command
// line beside it. DNS and the receiving server are the test's; nothing else is replaced.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestDnsServer } from './dns-server.ts';
import { patience } from './patience.ts';
import { type Finished, programArguments, runInThisProcess, runProgram } from './program.ts';

/**
 * A test that its runner gives up has no teardown, and its daemon must not outlive it: the daemon
 * ends when the test's end of its standard input does. Loaded in front of the program.
 */
const TETHER = `data:text/javascript,${encodeURIComponent(`
  import { isMainThread } from 'node:worker_threads';
  const end = () => process.kill(process.pid, 'SIGKILL');
  if (isMainThread) process.stdin.on('close', end).resume().unref();
`)}`;

/** On a quiet machine; whoever waits longer waits for something that does not come. */
const PATIENCE_MS = 20_000;

export type Settings = Record<string, Record<string, string | number | boolean | string[] | number[]>>;

export interface InstallationOptions {
  dns: TestDnsServer;
  /** Where every MX is called. */
  smtpPort: number;
  /** On top of the settings that make the daemon live on loopback. */
  settings?: Settings;
  launch?: Launch;
}

/** How the daemon's process is started, besides the usual way. */
export interface Launch {
  env?: Record<string, string>;
  nodeArguments?: string[];
  /** The checkout of another version. */
  root?: string;
}

/** The part of a test that an installation needs. A program that is not a test brings its own. */
export interface Owner {
  teardown(ending: () => unknown): unknown;
  passing(): boolean;
  comment(...text: unknown[]): unknown;
}

/** What an operator has on a machine. */
export interface Installation {
  folder: string;
  databaseFile: string;
  configFile: string;
  /** Every line that any of its daemons has logged, and what they said on standard error. */
  readonly everythingLogged: string;
  /** Starts the daemon; resolves when it is ready. */
  serve(): Promise<Daemon>;
  /** Starts it and does not wait. */
  spawn(): Daemon;
  /** Its daemons and commands are from now on those of another version's checkout. */
  upgrade(root: string): void;
  /** A command in a process of its own. */
  run(...args: string[]): Promise<Finished>;
  /** The same in this process, through the same socket: saves the time to start one. Not for `serve`. */
  runHere(...args: string[]): Promise<Finished>;
  /** The JSON of a command that must succeed, run here. */
  json(...args: string[]): Promise<Json>;
}

export type Json = Record<string, unknown>;

export type LogLine = Json & { msg: string; fact?: string; message_id?: string };

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ApiAnswer {
  status: number;
  body: Json;
}

export interface ApiCall {
  body?: unknown;
  headers?: Record<string, string>;
}

export function install(t: Owner, { dns, smtpPort, settings = {}, launch = {} }: InstallationOptions): Installation {
  // Directly below the system's temporary folder: a socket's name may not be long.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-flow-'));
  const configFile = path.join(folder, 'postrider.toml');
  fs.writeFileSync(configFile, toToml(merge(onLoopback(dns, smtpPort), settings)));
  const daemons: Daemon[] = [];
  t.teardown(async () => {
    await Promise.all(daemons.map((daemon) => daemon.kill()));
    if (t.passing()) fs.rmSync(folder, { recursive: true, force: true });
    else t.comment(`left for a look: ${folder}`);
  });
  let { root } = launch;
  const spawnDaemon = () => {
    const daemon = new Daemon(configFile, { ...launch, ...(root !== undefined && { root }) });
    daemons.push(daemon);
    return daemon;
  };
  return {
    folder,
    configFile,
    databaseFile: path.join(folder, 'data', 'postrider.db'),
    get everythingLogged() {
      return daemons.map(({ output }) => output).join('');
    },
    spawn: spawnDaemon,
    async serve() {
      const daemon = spawnDaemon();
      await daemon.ready;
      return daemon;
    },
    upgrade(to) {
      root = to;
    },
    run: (...args) => runProgram([...args, '--config', configFile], { ...(root !== undefined && { root }) }),
    runHere: (...args) => runInThisProcess([...args, '--config', configFile]),
    async json(...args) {
      const { code, stdout, stderr } = await runInThisProcess([...args, '--json', '--config', configFile]);
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as Json;
    },
  };
}

/** One process, from its start to its end. */
export class Daemon {
  /** Settles with the port of the API. */
  readonly ready: Promise<number>;
  readonly ended: Promise<Ended>;
  readonly lines: LogLine[] = [];
  /** Standard output and standard error, as they came. */
  output = '';
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();
  #httpPort = 0;

  constructor(configFile: string, { env: more = {}, nodeArguments = [], root }: Launch = {}) {
    const env = { PATH: process.env.PATH, ...more };
    const args = [...nodeArguments, '--import', TETHER, ...programArguments(root), 'serve', '--config', configFile];
    this.#child = spawn(process.execPath, args, { env });
    this.#child.stderr!.on('data', (part: Buffer) => {
      this.output += part.toString();
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#take(line));
    this.ended = new Promise((resolve) => this.#child.once('close', (code, signal) => resolve({ code, signal })));
    void this.ended.then(() => this.#look());
    this.ready = this.logged({ msg: 'ready' }).then((line) => {
      this.#httpPort = Number(line.http_port);
      return this.#httpPort;
    });
    this.ready.catch(() => {}); // whoever waits for it hears of it
  }

  get httpPort(): number {
    return this.#httpPort;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The lines so far that have these facts. */
  find(facts: Partial<LogLine>): LogLine[] {
    const wanted = Object.entries(facts);
    return this.lines.filter((line) => wanted.every(([name, value]) => line[name] === value));
  }

  /** The first line with these facts; rejects when the daemon ends without it. */
  async logged(facts: Partial<LogLine>): Promise<LogLine> {
    await this.until(() => this.find(facts).length > 0, `log ${JSON.stringify(facts)}`);
    return this.find(facts)[0]!;
  }

  /** Looks again at each line of the log, until it finds what it wants. */
  until(condition: () => boolean, what: string): Promise<void> {
    const problem = (fate: string) => new Error(`the daemon ${fate}, and did not ${what}\n${this.output.slice(-4000)}`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(problem('is slow'))), patience(PATIENCE_MS));
      const settle = (done: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        done();
      };
      const look = () => {
        if (condition()) settle(resolve);
        else if (!this.running && this.#child.stdout!.closed) settle(() => reject(problem('has ended')));
      };
      this.#watchers.add(look);
      look();
    });
  }

  call(key: string | null, route: string, call?: ApiCall): Promise<ApiAnswer> {
    return callApi(`http://127.0.0.1:${this.#httpPort}`, key, route, call);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Without a chance to say goodbye. */
  kill(): Promise<Ended> {
    this.signal('SIGKILL');
    return this.ended;
  }

  /** As systemd stops it. */
  stop(): Promise<Ended> {
    this.signal('SIGTERM');
    return this.ended;
  }

  #take(line: string): void {
    this.output += `${line}\n`;
    this.lines.push(JSON.parse(line) as LogLine);
    this.#look();
  }

  #look(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

export async function callApi(
  origin: string,
  key: string | null,
  route: string,
  { body, headers = {} }: ApiCall = {},
): Promise<ApiAnswer> {
  const [method, target] = route.split(' ') as [string, string];
  const response = await fetch(`${origin}${target}`, {
    method,
    headers: {
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Json) };
}

function onLoopback(dns: TestDnsServer, smtpPort: number): Settings {
  return {
    http: { port: 0 },
    smtp: { host: '127.0.0.1', port: 0 },
    data: { dir: 'data' },
    service: { base_url: 'https://mail.postrider.test' },
    dns: { servers: [dns.endpoint], authority_port: dns.port, allow_private: true },
    delivery: {
      port: smtpPort,
      allow_private: true,
      linger: '50ms',
      retry_steps: ['100ms', '200ms', '400ms'],
    },
    // The machine's own disk may be fuller than a mail server's should be.
    intake: { min_disk_free: 0 },
    stop: { grace: `${patience(5000)}ms` },
  };
}

function merge(base: Settings, more: Settings): Settings {
  const merged = { ...base };
  for (const [section, keys] of Object.entries(more)) merged[section] = { ...merged[section], ...keys };
  return merged;
}

/** Strings, numbers, booleans and lists of strings are written in TOML as in JSON. */
export function toToml(settings: Settings): string {
  const section = ([name, keys]: [string, Settings[string]]) =>
    [`[${name}]`, ...Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}`), ''].join('\n');
  return Object.entries(settings).map(section).join('\n');
}
