// Builds the configuration: defaults, then the TOML file, then environment variables, then
// derived keys. All problems are collected before the configuration is rejected, so that one start reports
// all of them.
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { describeError } from '../base/errors.ts';
import { nearest } from '../base/text/suggest.ts';
import { systemWords } from '../base/text/system-words.ts';
import { ALL_KEYS, type Config, type KeyName, type NamedKey } from './keys.ts';
import { readConfigFile } from './read-config-file.ts';
import { newNameOf } from './renamed-keys.ts';
import { RULES } from './rules.ts';
import { fromVariable, readValue } from './values.ts';

export const DEFAULT_FILE = '/etc/postrider/postrider.toml';

/** The source of a value. */
type Origin = 'default' | 'derived' | 'file' | 'environment';

export interface ConfigSource {
  /** Absolute; null when no file was read. */
  file: string | null;
  origins: ReadonlyMap<KeyName, Origin>;
  /** What the file has, also where a variable overrides it; not interpreted. */
  inFile: ReadonlyMap<string, unknown>;
}

export interface LoadedConfig {
  config: Config;
  source: ConfigSource;
}

export interface LoadOptions {
  /** Named by the operator, so it must exist. */
  file?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  /** Read if it exists and no other file was named; null: none. */
  defaultFile?: string | null;
  /** Overrides the table's defaults, in the form of the file; for the sandbox. */
  defaults?: Partial<Record<KeyName, unknown>>;
}

/** The configuration cannot be used. Each problem names its key. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  /** Absolute; null when no file was read. */
  readonly file: string | null;
  /** Where the data is, as far as the valid keys say; null: the file could not be read at all. */
  readonly place: Pick<Config, 'data' | 'store'> | null;

  constructor(problems: readonly string[], file: string | null, place: Pick<Config, 'data' | 'store'> | null) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
    this.file = file;
    this.place = place;
  }
}

/** Throws a ConfigError with all problems. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const file = chooseFile(options);
  const { values, problems } =
    file === null ? { values: new Map<string, unknown>(), problems: [] } : readConfigFile(file);
  if (values === null) throw new ConfigError(problems, file, null);
  problems.push(...unknownVariables(options.env));

  const draft = new Draft(file, options);
  for (const key of ALL_KEYS) problems.push(...draft.read(key, values));
  draft.derive();
  problems.push(...draft.check());
  if (problems.length > 0) throw new ConfigError(problems, file, draft.config());
  return { config: draft.config(), source: { file, origins: draft.origins, inFile: values } };
}

function chooseFile({ file, defaultFile = DEFAULT_FILE }: LoadOptions): string | null {
  if (file !== undefined) return path.resolve(file);
  return defaultFile !== null && existsSync(defaultFile) ? defaultFile : null;
}

/** The configuration while it is being built. */
class Draft {
  readonly origins = new Map<KeyName, Origin>();
  readonly #file: string | null;
  readonly #options: LoadOptions;
  readonly #sections: Record<string, Record<string, unknown>> = {};
  readonly #broken = new Set<KeyName>();

  constructor(file: string | null, options: LoadOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Uses the last source that sets the key; problems name the environment variable if it is that. */
  read(key: NamedKey, fromFile: ReadonlyMap<string, unknown>): string[] {
    const { name, spec, variable } = key;
    const text = this.#options.env[variable];
    const fallback = this.#options.defaults?.[name] ?? spec.default;
    const problems: string[] = [];
    // An invalid value in the file is reported even when a variable overrides it.
    if (fromFile.has(name)) problems.push(...this.#set(key, fromFile.get(name), 'file'));
    if (text === '' && spec.default === null) this.#setUnset(key);
    else if (text !== undefined) problems.push(...this.#set(key, fromVariable(spec, text), 'environment'));
    else if (fromFile.has(name)) return problems;
    else if (fallback === null) this.#setUnset(key);
    else problems.push(...this.#set(key, fallback, 'default'));
    return problems;
  }

  derive(): void {
    for (const [name, derivation] of DERIVATIONS) {
      const [section, key] = name.split('.') as [string, string];
      if (this.#sections[section]![key] !== null) continue;
      this.#sections[section]![key] = derivation(this.config());
      this.origins.set(name, 'derived');
    }
  }

  check(): string[] {
    const rules = RULES.filter(({ keys }) => !keys.some((key) => this.#broken.has(key)));
    const found = rules.map((rule) => rule.problem(this.config()));
    for (const section of ['http', 'smtp', 'submission'] as const) {
      if (!this.#broken.has(`${section}.tls_cert`) && !this.#broken.has(`${section}.tls_key`)) {
        found.push(tlsProblem(this.config(), section));
      }
    }
    return found.filter((problem) => problem !== null);
  }

  config(): Config {
    return this.#sections as Config;
  }

  #set(named: NamedKey, raw: unknown, origin: Origin): string[] {
    const { name, section, key, spec, variable } = named;
    const where = origin === 'environment' ? `${name} (from ${variable})` : name;
    const reading = readValue(spec, raw);
    if (reading.problem !== undefined) return this.#refuse(named, `${where}: ${reading.problem}`);
    const value = spec.type === 'path' ? this.#resolve(reading.value as string, origin) : reading.value;
    const missing = spec.type === 'path' && spec.mustExist ? fileProblem(value as string) : null;
    if (missing !== null) return this.#refuse(named, `${where}: ${missing}`);
    this.#put(section, key, value);
    this.origins.set(name, origin);
    return [];
  }

  /** The default replaces an invalid value, so that the other keys can still be checked. */
  #refuse({ name, section, key, spec }: NamedKey, problem: string): string[] {
    this.#broken.add(name);
    const standIn = spec.default === null ? { value: null } : readValue(spec, spec.default);
    if (standIn.problem === undefined) this.#put(section, key, standIn.value);
    return [problem];
  }

  #setUnset({ name, section, key }: NamedKey): void {
    this.#put(section, key, null);
    this.origins.set(name, 'default');
  }

  #put(section: string, key: string, value: unknown): void {
    this.#sections[section] = { ...this.#sections[section], [key]: value };
  }

  /** A path in the file is relative to the file's folder, any other to the working folder. */
  #resolve(file: string, origin: Origin): string {
    return origin === 'file' && this.#file !== null ? path.resolve(path.dirname(this.#file), file) : path.resolve(file);
  }
}

// Unset keys that are derived from others. The key's `derived` describes it for people; a test keeps both
// in step.

type Derivation = (config: Config) => string;

/** In this order: later ones build on earlier ones. */
export const DERIVATIONS: ReadonlyMap<KeyName, Derivation> = new Map<KeyName, Derivation>([
  ['service.base_url', ({ http }) => listenerUrl(http)],
  ['service.links_url', ({ service }) => service.base_url],
  ['service.bounces_domain', ({ service }) => `bounces.${hostName(service.base_url)}`],
  ['service.spf_domain', ({ service }) => service.bounces_domain],
  ['service.dmarc_report_address', ({ service }) => `dmarc@${service.bounces_domain}`],
  ['service.ehlo_name', ({ service }) => hostName(service.base_url)],
  ['service.dkim_domain', ({ service }) => service.bounces_domain],
]);

/** With port 0 the URL has port 0: the real one is known only once the listener is open. */
function listenerUrl(http: Config['http']): string {
  const anywhere = http.host === '0.0.0.0' || http.host === '::';
  const host = anywhere ? 'localhost' : isIP(http.host) === 6 ? `[${http.host}]` : http.host;
  return new URL(`${http.tls_cert ? 'https' : 'http'}://${host}:${http.port}`).origin;
}

/** An IP address is not a domain, so mail names fall back to the one name that needs no DNS. */
function hostName(url: string): string {
  const host = new URL(url).hostname;
  return host.startsWith('[') || isIP(host) ? 'localhost' : host;
}

// Files that the configuration names: whether they can be read, and whether certificate and
// key belong together. A problem fails the start instead of the first handshake.

/** Null when the daemon can read the file. */
function fileProblem(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile() ? null : `${file} is not a file`;
  } catch (error) {
    return `cannot read ${file}: ${systemWords(error)}`;
  }
}

/** Null when the section has no TLS, or a pair that OpenSSL accepts. */
function tlsProblem(config: Config, section: 'http' | 'smtp' | 'submission'): string | null {
  const { tls_cert, tls_key } = config[section];
  if (!tls_cert || !tls_key) return null;
  // Loaded only here: it takes as long as Node's whole start, and few configurations name certificates.
  const { createSecureContext } = process.getBuiltinModule('node:tls');
  try {
    createSecureContext({ cert: readFileSync(tls_cert), key: readFileSync(tls_key) });
    return null;
  } catch (error) {
    return `${section}.tls_cert: cannot be used with ${section}.tls_key: ${describeError(error)}`;
  }
}

// Environment variables that look like ours but are not. POSTRIDER_BASE_URL, POSTRIDER_API_KEY
// and the like belong to the client libraries and are left alone, and so are the addresses of Services
// called postrider or postrider-…, which Kubernetes gives to every pod beside them.

const PREFIX = 'POSTRIDER_';
const SECTIONS = new Set(ALL_KEYS.map(({ section }) => section.toUpperCase()));
const VARIABLES = new Set(ALL_KEYS.map(({ variable }) => variable));
const SERVICE_LINK =
  /^POSTRIDER_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
/** The value of the one whose name alone is too much like a key of ours: POSTRIDER_PORT. */
const LINKED_PORT = /^(?:tcp|udp|sctp):\/\//;

/** A known section with an unknown key is an error, and so is a variable within two letters of a known one. */
function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith(PREFIX) || VARIABLES.has(name) || isServiceLink(name, env[name]!)) continue;
    const [section = '', ...rest] = name.slice(PREFIX.length).split('_');
    const newName = newNameOf(`${section}.${rest.join('_')}`.toLowerCase());
    if (newName !== null) {
      problems.push(`${name}: this key is now called ${PREFIX}${newName.replace('.', '_').toUpperCase()}`);
      continue;
    }
    const sectionKnown = SECTIONS.has(section);
    const suggestion = nearest(name, VARIABLES, sectionKnown ? 4 : 2);
    if (suggestion !== null) problems.push(`${name}: unknown key; did you mean ${suggestion}?`);
    else if (sectionKnown) problems.push(`${name}: unknown key of section ${section.toLowerCase()}`);
  }
  return problems;
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && LINKED_PORT.test(value));
}
