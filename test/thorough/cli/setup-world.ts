// A machine for `postrider setup`: a DNS server with the zones, a mail server that greets on the outbound port, and the
// program in a process of its own, with flags or on a pseudo terminal (script of util-linux).
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { startDnsServer, type TestDnsServer } from '../../support/dns-server.ts';
import { startMailSink } from '../../support/mail-sink.ts';
import { type Finished, PROGRAM, runInThisProcess } from '../../support/program.ts';
import { readZone } from '../../support/read-zone.ts';

export const IP = '198.41.0.4';

export interface SetupWorld {
  dns: TestDnsServer;
  folder: string;
  configFile: string;
  env: Record<string, string>;
  /** `setup` with these arguments, without a terminal. */
  setup(...args: string[]): Promise<Finished>;
  /** Any command, in this process. */
  run(...args: string[]): Promise<Finished>;
  onTerminal(...args: string[]): Terminal;
}

export async function setupWorld(t: Test): Promise<SetupWorld> {
  const [dns, sink] = await Promise.all([startDnsServer(), startMailSink()]);
  // Directly below the system's temporary folder: a socket's name may not be long.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-setup-'));
  t.teardown(async () => {
    await Promise.all([dns.close(), sink.close()]);
    fs.rmSync(folder, { recursive: true, force: true });
  });
  for (const zone of ['service.test', 'acme.test', 'in-addr.arpa', 'big.test']) dns.addZone(zone);
  dns.set('big.test', 'MX', [{ preference: 10, exchange: 'mx.big.test' }]);
  dns.set('mx.big.test', 'A', ['127.0.0.1']);
  const configFile = path.join(folder, 'etc', 'postrider.toml');
  const env = {
    PATH: process.env.PATH!,
    POSTRIDER_DATA_DIR: path.join(folder, 'data'),
    POSTRIDER_DNS_SERVERS: dns.endpoint,
    POSTRIDER_DNS_AUTHORITY_PORT: String(dns.port),
    POSTRIDER_DNS_ALLOW_PRIVATE: 'true',
    POSTRIDER_DELIVERY_PORT: String(sink.port),
    POSTRIDER_DELIVERY_ALLOW_PRIVATE: 'true',
    POSTRIDER_DOCTOR_MAIL_DOMAINS: 'big.test',
    POSTRIDER_DOCTOR_KNOWN_DOMAINS: 'big.test',
    POSTRIDER_DOCTOR_TIME_SOURCES: '',
    POSTRIDER_DOCTOR_BLOCKLISTS: '',
  };
  const withFile = (args: string[]) => ['setup', ...args, '--config', configFile];
  return {
    dns,
    folder,
    configFile,
    env,
    setup: (...args) => runPiped(withFile(args), env),
    run: (...args) => runInThisProcess([...args, '--config', configFile], env),
    onTerminal: (...args) => new Terminal(t, withFile(args), env),
  };
}

function runPiped(args: string[], env: Record<string, string>): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (part) => {
        said[name] += part;
      });
    child.on('close', (code) => resolve({ code: code ?? -1, ...said }));
  });
}

/** All records of a zone file, as a person would publish them. */
export function publish(dns: TestDnsServer, zone: string): void {
  for (const [name, type, value] of readZone(zone)) {
    const [preference = '', exchange = ''] = value.split(' ');
    const data = type === 'MX' ? [{ preference: Number(preference), exchange: exchange.replace(/\.$/, '') }] : [value];
    // The test's server knows no wildcards.
    const at = name.replace(/^\*/, 'postrider-doctor.invalid');
    dns.set(at, type as Parameters<TestDnsServer['set']>[1], data as Parameters<TestDnsServer['set']>[2]);
  }
  dns.set('4.0.41.198.in-addr.arpa', 'PTR', ['mail.service.test']);
}

/** A person at a terminal. */
export class Terminal {
  /** Without the marks that steer a terminal. */
  output = '';
  readonly ended: Promise<number>;
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();
  #read = 0;
  #hasEnded = false;

  constructor(t: Test, args: string[], env: Record<string, string>) {
    const command = ['exec', PROGRAM, ...args].map((word, at) => (at === 0 ? word : `'${word}'`)).join(' ');
    this.#child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      this.output += part.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '');
      for (const look of this.#watchers) look();
    });
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code ?? -1)));
    void this.ended.then(() => {
      this.#hasEnded = true;
      for (const look of this.#watchers) look();
    });
    t.teardown(() => {
      this.#child.kill('SIGKILL');
      return this.ended;
    });
  }

  /** Resolves as soon as it stands behind what was waited for before; throws when the program ends without it. */
  async sees(pattern: RegExp): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(this.output.slice(this.#read));
        if (!found && !this.#hasEnded) return;
        this.#watchers.delete(look);
        if (!found) return reject(new Error(`ended without ${pattern}:\n${this.output}`));
        this.#read += found.index + found[0].length;
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  type(text: string): void {
    this.#child.stdin!.write(text);
  }

  async answers(question: RegExp, text: string): Promise<void> {
    await this.sees(question);
    this.type(`${text}\r`);
  }
}

export function configOf({ configFile }: SetupWorld): string | null {
  return fs.existsSync(configFile) ? fs.readFileSync(configFile, 'utf8') : null;
}
