// The daemon that is measured: `postrider serve` in a process of its own, with its data in a fresh
// folder, its defaults wherever they do not concern addresses, and a tenant with a verified domain.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Tier } from '../src/store/tenants.ts';
import { startDnsServer, type TestDnsServer } from '../test/support/dns-server.ts';
import { findFreePort } from '../test/support/free-port.ts';
import { monotonicMs } from './monotonic.ts';
import type { DaemonWatch } from './profile/daemon-watch.ts';

export interface Postrider {
  pid: number;
  watch: DaemonWatch | null;
  httpPort: number;
  /** Of the SMTP door. */
  submissionPort: number;
  token: string;
  /** Where mail of the tenant comes from. */
  from: string;
  /** Recipients' domains, each with an MX host, and so with a limit of connections, of its own. */
  domains: string[];
  dns: TestDnsServer;
  /** From its start until it says that it is ready. */
  readyAfterMs: number;
  /** What it has committed since its start; only where it was started to tell. */
  committed(): Promise<Committed>;
  /** Another tenant, with a verified domain: its key. */
  addSender(domain: string, tier: Tier): Promise<string>;
  stop(): Promise<void>;
}

/** Groups of verbs; the last three of PostgreSQL only. */
export interface Committed {
  groups: number;
  verbs: number;
  roundTrips: number;
  statements: number;
  tries: number;
}

export interface PostriderOptions {
  /** Its configuration, data and log go here. */
  folder: string;
  /** Where all mail goes. */
  smtpPort: number;
  domainCount: number;
  /** Notes its processor time, and says whether it is profiled. */
  watch: DaemonWatch | null;
  /** Whether it tells its commits. */
  tellsCommits?: boolean;
  /** The key of an earlier start in the same folder, whose data is used again. */
  token?: string;
  /** A database on PostgreSQL; left out: SQLite in the folder. */
  database?: string;
  /** The daemon that was started first on that database: this one has its DNS server, and its tenant's key. */
  beside?: Postrider;
  /** Of another checkout; left out: this one's. */
  program?: string;
}

export const PROGRAM_OF_THIS_CHECKOUT = programOf(path.join(import.meta.dirname, '..'));

export function programOf(checkout: string): string {
  return path.resolve(checkout, 'src/main.ts');
}

/** Its MX host is there, and nobody listens on it. */
export const DEAD_DOMAIN = 'dead.test';
const NOBODYS_ADDRESS = '127.0.0.99';

const SENDER_DOMAIN = 'sender.test';
const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 10;

export async function startPostrider(options: PostriderOptions): Promise<Postrider> {
  const { folder, smtpPort, domainCount, watch, tellsCommits = false, database, beside, program } = options;
  const dns = beside?.dns ?? (await startDnsServer());
  const domains = Array.from({ length: domainCount }, (_, index) => `in${index + 1}.test`);
  for (const domain of domains) {
    dns.set(domain, 'MX', [{ exchange: `mx.${domain}`, preference: 10 }]);
    dns.set(`mx.${domain}`, 'A', ['127.0.0.1']);
  }
  dns.set(DEAD_DOMAIN, 'MX', [{ exchange: `mx.${DEAD_DOMAIN}`, preference: 10 }]);
  dns.set(`mx.${DEAD_DOMAIN}`, 'A', [NOBODYS_ADDRESS]);
  fs.mkdirSync(folder, { recursive: true });
  const configFile = path.join(folder, 'postrider.toml');
  const metricsPort = tellsCommits ? await findFreePort() : 0;
  const ports = { smtpPort, submissionPort: await findFreePort(), metricsPort };
  const shared = database === undefined ? '' : sharedStore(database, path.basename(folder));
  fs.writeFileSync(configFile, configuration(dns, ports) + shared);
  const startedAtMs = monotonicMs();
  const daemon = serve(configFile, options);
  const stop = async (signal: NodeJS.Signals) => {
    watch?.stopping();
    daemon.child.kill(signal);
    await daemon.exited;
    if (!beside) await dns.close();
  };
  try {
    const { http_port: httpPort, submission_port: submissionPort } = await readPorts(daemon);
    const readyAfterMs = monotonicMs() - startedAtMs;
    watch?.started(daemon.child.pid!);
    const addSender: Postrider['addSender'] = async (domain, tier) => {
      const token = await makeTenant(operatorOf(configFile, program), tier);
      await verifyDomain({ dns, httpPort, token }, domain);
      return token;
    };
    const token = beside?.token ?? options.token ?? (await addSender(SENDER_DOMAIN, 'uncapped'));
    const from = `Example Shop <orders@${SENDER_DOMAIN}>`;
    const facts = { pid: daemon.child.pid!, watch, httpPort, submissionPort, token, from, domains, dns, readyAfterMs };
    return { ...facts, addSender, committed: () => readCommitted(metricsPort), stop: () => stop('SIGTERM') };
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
}

function configuration(
  dns: TestDnsServer,
  { smtpPort, submissionPort, metricsPort }: { smtpPort: number; submissionPort: number; metricsPort: number },
): string {
  return `
[http]
port = 0
[smtp]
host = "127.0.0.1"
port = 0
[submission]
host = "127.0.0.1"
port = ${submissionPort}
[metrics]
port = ${metricsPort}
[data]
dir = "data"
[service]
base_url = "https://mail.postrider.test"
[dns]
servers = ["${dns.endpoint}"]
authority_port = ${dns.port}
allow_private = true
[delivery]
port = ${smtpPort}
allow_private = true
[webhooks]
allow_private = ["127.0.0.0/8"]
[intake]
min_disk_free = 0
[stop]
grace = "5s"
`;
}

/** Daemons that share a database open what the others have sealed. */
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

function sharedStore(database: string, node: string): string {
  return `
[store]
url = "${database}"
node = "${node}"
[secrets]
master_key = "${MASTER_KEY}"
`;
}

async function readCommitted(metricsPort: number): Promise<Committed> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const text = await response.text();
  // There are none about a database server with SQLite.
  const figure = (name: string) => Number(new RegExp(`^postrider_${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return {
    groups: figure('commit_group_size_count'),
    verbs: figure('commit_group_size_sum'),
    roundTrips: figure('database_round_trips_total'),
    statements: figure('database_statements_total'),
    tries: figure('database_tries_total'),
  };
}

interface Daemon {
  child: ChildProcess;
  exited: Promise<unknown>;
  logFile: string;
}

/** Its log goes to a file, as under a service manager it would go to another process. */
function serve(configFile: string, { folder, watch, program = PROGRAM_OF_THIS_CHECKOUT }: PostriderOptions): Daemon {
  const logFile = path.join(folder, 'postrider.log');
  const log = fs.openSync(logFile, 'w');
  const profiled = watch?.profiled();
  const child = spawn(process.execPath, [...(profiled?.nodeOptions ?? []), program, 'serve', '--config', configFile], {
    stdio: ['ignore', log, 'inherit'],
    // The second one chooses how OpenSSL calculates (docs/operate.md): whoever sets it wants to see what it does.
    env: { PATH: process.env.PATH, OPENSSL_ia32cap: process.env.OPENSSL_ia32cap, ...profiled?.environment },
  });
  fs.closeSync(log);
  return { child, exited: once(child, 'exit'), logFile };
}

interface Ports {
  http_port: number;
  submission_port: number;
}

async function readPorts({ child, logFile }: Daemon): Promise<Ports> {
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; await pause(LOOK_EVERY_MS)) {
    const ready = /^.*"msg":"ready".*$/m.exec(fs.readFileSync(logFile, 'utf8'))?.[0];
    if (ready !== undefined) return JSON.parse(ready) as Ports;
    if (child.exitCode !== null) break;
  }
  throw new Error(`the daemon did not start: ${fs.readFileSync(logFile, 'utf8').slice(-2000)}`);
}

/** The command line beside the daemon: answers what a command prints. */
type Operator = (...args: string[]) => Promise<Record<string, string>>;

export function operatorOf(configFile: string, program = PROGRAM_OF_THIS_CHECKOUT): Operator {
  return async (...args) => {
    const all = [program, ...args, '--json', '--config', configFile];
    const { stdout } = await promisify(execFile)(process.execPath, all, { env: { PATH: process.env.PATH } });
    return JSON.parse(stdout) as Record<string, string>;
  };
}

/** An active tenant, and a key that may do what a run needs. */
async function makeTenant(operator: Operator, tier: Tier): Promise<string> {
  const { id } = await operator('tenant', 'create', '--name', 'Bench', '--status', 'active');
  await operator('tenant', 'set', id!, '--tier', tier);
  return makeKey(operator, id!);
}

export async function makeKey(operator: Operator, tenantId: string): Promise<string> {
  const scopes = ['--scopes', 'emails:send,domains:write,webhooks:write'];
  const { key } = await operator('key', 'create', '--tenant', tenantId, '--name', 'bench', ...scopes);
  return key!;
}

interface DomainRecord {
  id: string;
  records: { name: string; value: string }[];
}

interface Registrant {
  dns: TestDnsServer;
  httpPort: number;
  token: string;
}

async function verifyDomain({ dns, httpPort, token }: Registrant, name: string): Promise<void> {
  const call = async (path: string, body?: object) => {
    const reply = await fetch(`http://127.0.0.1:${httpPort}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await reply.json();
    if (!reply.ok) throw new Error(`POST ${path} was answered ${reply.status}: ${JSON.stringify(answer)}`);
    return answer as DomainRecord;
  };
  dns.addZone(name);
  const domain = await call('/domains', { domain: name });
  for (const record of domain.records) dns.set(record.name, 'TXT', [record.value]);
  await call(`/domains/${domain.id}/verify`);
}
