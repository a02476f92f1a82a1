// Builds the configuration: defaults, then the TOML file, then environment variables, then what
// follows from other keys. All problems are collected before anything is refused, so that one
// start tells everything that is wrong.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { DERIVATIONS } from './derive.ts';
import { fileProblem, tlsProblem } from './files.ts';
import { ALL_KEYS, type Config, type KeyName, type NamedKey } from './keys.ts';
import { readConfigFile } from './read-config-file.ts';
import { RULES } from './rules.ts';
import { fromVariable, readValue } from './values.ts';
import { unknownVariables } from './variables.ts';

const DEFAULT_FILE = '/etc/postrider/postrider.toml';

/** Where a value comes from. */
export type Origin = 'default' | 'derived' | 'file' | 'environment';

export interface ConfigSource {
  /** Absolute; null when no file was read. */
  file: string | null;
  origins: ReadonlyMap<KeyName, Origin>;
}

export interface LoadedConfig {
  config: Config;
  source: ConfigSource;
}

export interface LoadOptions {
  /** Named by the operator, so it must exist. */
  file?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  /** Read when it exists and no other was named; null: none. */
  defaultFile?: string | null;
  /** Other defaults than the table's, written as in the file; for the sandbox. */
  defaults?: Partial<Record<KeyName, unknown>>;
}

/** The configuration cannot be used. Each problem names its key. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  /** Absolute; null when no file was read. */
  readonly file: string | null;

  constructor(problems: readonly string[], file: string | null) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
    this.file = file;
  }
}

/** Throws a ConfigError with every problem that was found. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const file = chooseFile(options);
  const { values, problems } =
    file === null ? { values: new Map<string, unknown>(), problems: [] } : readConfigFile(file);
  if (values === null) throw new ConfigError(problems, file);
  problems.push(...unknownVariables(options.env));

  const draft = new Draft(file, options);
  for (const key of ALL_KEYS) problems.push(...draft.read(key, values));
  draft.derive();
  problems.push(...draft.check());
  if (problems.length > 0) throw new ConfigError(problems, file);
  return { config: draft.config(), source: { file, origins: draft.origins } };
}

function chooseFile({ file, defaultFile = DEFAULT_FILE }: LoadOptions): string | null {
  if (file !== undefined) return path.resolve(file);
  return defaultFile !== null && existsSync(defaultFile) ? defaultFile : null;
}

/** The configuration while it is being put together. */
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

  /** Takes the key from where it is given last; the problems say so when that is the environment. */
  read(key: NamedKey, fromFile: ReadonlyMap<string, unknown>): string[] {
    const { name, spec, variable } = key;
    const text = this.#options.env[variable];
    const fallback = this.#options.defaults?.[name] ?? spec.default;
    const problems: string[] = [];
    // A wrong line in the file is reported even when a variable hides it today.
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
    for (const section of ['http', 'smtp'] as const) {
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

  /** The default stands in for what is wrong, so that the other keys can still be looked at. */
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

  /** A path in the file is meant from where the file lies, any other from where we were started. */
  #resolve(file: string, origin: Origin): string {
    return origin === 'file' && this.#file !== null ? path.resolve(path.dirname(this.#file), file) : path.resolve(file);
  }
}
