// The configuration of the sandbox: other defaults than the daemon's, and a few keys that
// nobody may change, because they keep every byte on this machine. Other keys can be set as
// usual, by environment or --config; the file in /etc is none of the sandbox's business.
import { randomInt } from 'node:crypto';
import { ALL_KEYS, type Config, type KeyName } from '../config/keys.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { reservePort } from '../http/reserve-port.ts';

export interface ConfigInput {
  env: Readonly<Record<string, string | undefined>>;
  /** Of --config. */
  file: string | undefined;
}

export interface ListenerPorts {
  http: number;
  smtp: number;
  /** 0: off. */
  submission: number;
  /** The usual port of HTTP, when another one had to be taken. */
  busyHttp: number | null;
}

/** Where everything is. */
export interface Places extends ListenerPorts {
  dataDir: string;
  /** Where the listeners are. */
  host: string;
  dns: number;
  capture: number;
}

const LOOPBACK = '127.0.0.1';
// Neither exists outside: .test is reserved (RFC 6761 section 6.2).
const BOUNCES_DOMAIN = 'bounces.postrider.test';
const DEFAULTS: Partial<Record<KeyName, unknown>> = {
  'http.port': 8080,
  'smtp.port': 2525,
  'submission.port': 2587,
  'service.bounces_domain': BOUNCES_DOMAIN,
  'service.ehlo_name': 'postrider.test',
  'webhooks.allow_private': ['127.0.0.0/8', '::1'],
  // Each message to `slow` holds a connection for seconds; the capture server takes 500.
  'delivery.connections_per_destination': 100,
  // The printed login of the operator has to open the portal as it is.
  'portal.require_second_step': 'nobody',
  // The disk of whoever tries it out may be as full as it likes.
  'intake.min_disk_free': 0,
  // Nobody waits long after Ctrl-C; a session with `slow` takes this long.
  'stop.grace': '5s',
};
/** How many ports after the usual one are tried before any free one is taken. */
const PORTS_TRIED = 20;

/** What does not depend on where the servers are: names, log level. */
export function readOptions(input: ConfigInput): LoadedConfig {
  return load(input, { 'submission.host': LOOPBACK });
}

/** Everywhere, for a container, whose loopback nobody else reaches; only if that is asked for. */
export function listenHostOf(isOpen: boolean): string {
  return isOpen ? '0.0.0.0' : LOOPBACK;
}

/** Of the environment; a file's is a server's, more likely than not. */
export function dataDirOf({ config, source }: LoadedConfig): string | null {
  return source.origins.get('data.dir') === 'environment' ? config.data.dir : null;
}

export async function choosePorts(wishes: LoadedConfig, host: string): Promise<ListenerPorts> {
  // Nobody listens yet, so what is meant for one listener still looks free to the next.
  const notFree = new Set(askedPorts(wishes));
  const choose = async (section: Section) => {
    const port = await choosePort(wishes, section, { host, notFree });
    notFree.add(port);
    return port;
  };
  const http = await choose('http');
  const smtp = await choose('smtp');
  const submission = wishes.config.submission.port === 0 ? 0 : await choose('submission');
  const wished = wishes.config.http.port;
  return { http, smtp, submission, busyHttp: wished === 0 || wished === http ? null : wished };
}

export function placeServers(input: ConfigInput, places: Places): Config {
  const { config } = load(input, {
    'data.dir': places.dataDir,
    'http.host': places.host,
    'http.port': places.http,
    'smtp.host': places.host,
    'smtp.port': places.smtp,
    // Elsewhere a certificate is required; the sandbox's door is opened without (`SandboxParts.host`).
    'submission.host': LOOPBACK,
    'submission.port': places.submission,
    'dns.servers': `${LOOPBACK}:${places.dns}`,
    'dns.authority_port': places.dns,
    'dns.allow_private': true,
    'delivery.port': places.capture,
    'delivery.allow_private': true,
  });
  return config;
}

/** The environment has the last word, so what must not be changed is said there. */
function load({ env, file }: ConfigInput, fixed: Partial<Record<KeyName, string | number | boolean>>): LoadedConfig {
  const variables = Object.entries(fixed).map(([name, value]) => [variableOf(name as KeyName), String(value)]);
  return loadConfig({
    file,
    env: { ...env, ...Object.fromEntries(variables) },
    defaultFile: null,
    defaults: DEFAULTS,
  });
}

function variableOf(name: KeyName): string {
  return ALL_KEYS.find((key) => key.name === name)!.variable;
}

/** Those that somebody wants to have and no other. */
export function askedPorts({ config, source }: LoadedConfig): number[] {
  return ALL_KEYS.filter(({ key, name }) => key.endsWith('port') && source.origins.get(name) !== 'default').map(
    ({ section, key }) => (config as unknown as Record<string, Record<string, number>>)[section]![key]!,
  );
}

type Section = 'http' | 'smtp' | 'submission';

interface Choice {
  host: string;
  notFree: ReadonlySet<number>;
}

/** A port that was asked for is taken or fails; the usual one gives way to the next free one. */
async function choosePort({ config, source }: LoadedConfig, section: Section, choice: Choice): Promise<number> {
  const wished = config[section].port;
  if (source.origins.get(`${section}.port`) !== 'default') return wished === 0 ? anyPort(choice) : wished;
  for (let port = wished; port < wished + PORTS_TRIED; port++) {
    if (await isFree(port, choice)) return port;
  }
  return anyPort(choice);
}

/** Systems choose ports above these, for their outgoing calls too: one of theirs could be taken before it is listened on. */
const CHOSEN_PORTS = { from: 20_000, to: 32_000 };

async function anyPort(choice: Choice): Promise<number> {
  for (let tries = 0; tries < PORTS_TRIED; tries++) {
    const port = randomInt(CHOSEN_PORTS.from, CHOSEN_PORTS.to);
    if (await isFree(port, choice)) return port;
  }
  return reservePort(choice.host, 0);
}

async function isFree(port: number, { host, notFree }: Choice): Promise<boolean> {
  if (notFree.has(port)) return false;
  try {
    await reservePort(host, port);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
