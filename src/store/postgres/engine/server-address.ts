// Reads store.url: postgres://user:password@host1:5432,host2:5432/database?sslmode=verify-full&sslrootcert=/path
// As libpq reads it, as far as it goes: several hosts, Unix sockets by `host=/folder`, TLS by `sslmode`. A parameter that
// would be ignored is refused: a misspelled `sslmode` must not mean clear text.
import fs from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Fault } from '../../../base/errors.ts';
import { hostInUrl } from '../../../base/ip-address.ts';
import { readTextFile } from '../../../base/text/read-text.ts';
import { systemTrouble, systemWords } from '../../../base/text/system-words.ts';

export interface ServerAddress {
  /** Asked at the same time (primary.ts). */
  hosts: HostAddress[];
  user: string;
  /** Read for each connection from its file, which can change meanwhile. Empty: there is none. */
  password(): string;
  database: string;
  /** Null: in clear text. `optional`: in clear text if the server has no TLS. */
  tls: { options: ConnectionOptions; optional: boolean } | null;
  /** Where it is noted which server was used last (server-note.ts); null: nowhere. */
  noteFile: string | null;
}

export interface HostAddress {
  /** A name, an IP address, or the folder of a Unix socket. */
  host: string;
  port: number;
}

const DEFAULT_PORT = 5432;
const SHAPE = /^postgres(?:ql)?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?]*)\/([^/?]*)(?:\?(.*))?$/;
/** libpq's, then `store.password_file` and a file in the data folder. */
const PARAMETERS = [
  ...(['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const),
  ...(['password_file', 'server_note'] as const),
] as const;
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

export function parseServerAddress(url: string): ServerAddress {
  const found = SHAPE.exec(url);
  if (!found) {
    const escapes = 'in user and password, signs such as / # @ : are written as %2F %23 %40 %3A';
    throw refusal(`it must look like postgres://user:password@host:5432/database; ${escapes}`);
  }
  const [, user, password, hosts, database, query] = found;
  if (!user) throw refusal('it has no user name: postgres://USER:password@host:5432/database');
  if (!database) throw refusal('it has no database name: postgres://user:password@host:5432/DATABASE');
  const parameters = parseParameters(query ?? '');
  return {
    hosts: parseHosts(hosts!, parameters),
    user: decode(user),
    password: passwordOf(password, parameters.password_file),
    database: decode(database),
    tls: parseTls(parameters),
    noteFile: parameters.server_note ?? null,
  };
}

/** For messages: without the password. */
export function describeServer({ hosts, database }: ServerAddress): string {
  return `${database} at ${hosts.map(describeHost).join(', ')}`;
}

/** For people, who write their password there. */
export function withoutPassword(url: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@/]*@/, '$1:PASSWORD@');
}

export function describeHost({ host, port }: HostAddress): string {
  return `${hostInUrl(host)}:${port}`;
}

export function isSocketFolder(host: string): boolean {
  return host.startsWith('/');
}

function parseParameters(query: string): Parameters {
  const parameters: Parameters = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const known = PARAMETERS.find((one) => one === name);
    if (!known) throw refusal(`it has the parameter "${name}"; known are ${PARAMETERS.join(', ')}`);
    parameters[known] = value;
  }
  return parameters;
}

function parseHosts(authority: string, parameters: Parameters): HostAddress[] {
  const texts = (authority || parameters.host || '').split(',').filter((text) => text !== '');
  if (texts.length === 0) throw refusal('it has no host: postgres://user:password@HOST:5432/database');
  return texts.map((text) => parseHost(decode(text), parameters.port));
}

function parseHost(text: string, portOfAll: string | undefined): HostAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (!host) throw refusal(`"${text}" is not a host`);
  const number = Number(port ?? portOfAll ?? DEFAULT_PORT);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) throw refusal(`"${text}" has no valid port`);
  return { host, port: number };
}

/**
 * `require` without `sslrootcert` encrypts, but believes any certificate, as in libpq: against eavesdropping, not against
 * an attacker in the middle.
 */
function passwordOf(written: string | undefined, file: string | undefined): () => string {
  const known = decode(written ?? '');
  return file === undefined ? () => known : () => passwordIn(file);
}

function passwordIn(file: string): string {
  try {
    return readTextFile(file).split(/\r?\n/, 1)[0]!;
  } catch (cause) {
    throw new Fault(`store.password_file can't be read: ${systemTrouble(cause)}`, { cause });
  }
}

function parseTls(parameters: Parameters): ServerAddress['tls'] {
  const given = parameters.sslmode ?? 'prefer';
  const mode = SSL_MODES.find((one) => one === given);
  if (!mode) throw refusal(`sslmode "${given}" must be one of ${SSL_MODES.join(', ')}`);
  if (mode === 'disable') return null;
  const ca = fileOf(parameters, 'sslrootcert');
  const [cert, key] = [fileOf(parameters, 'sslcert'), fileOf(parameters, 'sslkey')];
  const isVerified = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && ca !== undefined);
  const options: ConnectionOptions = { rejectUnauthorized: isVerified };
  if (ca) options.ca = ca;
  if (cert) options.cert = cert;
  if (key) options.key = key;
  if (mode !== 'verify-full') options.checkServerIdentity = () => undefined;
  return { options, optional: mode === 'prefer' };
}

function fileOf(parameters: Parameters, name: 'sslrootcert' | 'sslcert' | 'sslkey'): Buffer | undefined {
  const file = parameters[name];
  if (file === undefined) return undefined;
  try {
    return fs.readFileSync(file);
  } catch (cause) {
    throw refusal(`${name} ${file} can't be read: ${systemWords(cause)}`, cause);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw refusal('it has a percent sign that is not part of an escape such as %40', cause);
  }
}

function refusal(problem: string, cause?: unknown): Fault {
  return new Fault(`store.url can't be used: ${problem}`, { permanence: 'permanent', cause });
}
