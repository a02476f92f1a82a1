// Large receivers as data: their MX hosts and limits. Reads and checks config/provider-limits.toml and the
// operator's own file; every problem is reported at the start.
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { describeError, Fault } from '../../base/errors.ts';
import { readTextFile } from '../../base/text/read-text.ts';

export interface Provider {
  id: string;
  /** Names that every MX host of a domain must be at or below. */
  mx: readonly string[];
  connections: number;
  messagesPerConnection: number;
  messagesPerMinute: number | null;
  /** The connections and the messages per minute are those of all daemons together; else of each of them. */
  perService: boolean;
  /** It hosts customers' domains, whose owners can write the texts of permanent refusals. */
  customerDomains: boolean;
  /** The provider's own domains: their texts are the provider's, their mailboxes belong to unrelated people. */
  ownDomains: readonly string[];
  /** A name is the same mailbox at all of the own domains. */
  sameMailboxes: boolean;
  /** Characters before the @ that are ignored at the own domains. */
  ignoredInNames: string;
  /** The mailbox's owner chooses what follows it before the @; null: only a plus sign. */
  aliasSeparator: string | null;
  reason: string;
}

const SHIPPED_PROVIDERS = fileURLToPath(new URL('../../../config/provider-limits.toml', import.meta.url));

const HOST = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;
// Without dots: no set of MX hosts can have the same group name.
const ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** No characters that distinguish people, such as letters. */
const MARKS = /^[._=-]*$/;
const MAX_CONNECTIONS = 1000;
const MAX_MESSAGES = 10_000;
const MAX_PER_MINUTE = 10_000_000;

const KEYS = new Set([
  ...['id', 'mx', 'connections', 'messages_per_connection', 'messages_per_minute', 'per'],
  ...['customer_domains', 'own_domains', 'same_mailboxes', 'ignored_in_names', 'alias_separator', 'reason'],
]);

/** The shipped providers, with the changes and additions of the operator's file. Throws a Fault that names every problem. */
export function loadProviderLimits(operatorFile: string | null, shippedFile = SHIPPED_PROVIDERS): Provider[] {
  const shipped = tablesOf(shippedFile);
  if (operatorFile === null) return readProviders(shipped, shippedFile);
  readProviders(shipped, shippedFile);
  const own = tablesOf(operatorFile);
  const known = new Map(shipped.map((table) => [table.id, table]));
  const changed = own.map((table) => ({ ...known.get(table.id), ...table }));
  const ids = new Set(own.map(({ id }) => id));
  return readProviders([...changed, ...shipped.filter(({ id }) => !ids.has(id))], operatorFile);
}

type ProviderTable = Record<string, unknown>;

function tablesOf(file: string): ProviderTable[] {
  let document: Record<string, unknown>;
  try {
    document = parse(readTextFile(file));
  } catch (error) {
    throw unusable(file, [describeError(error).split('\n')[0]!]);
  }
  const { provider = [], ...others } = document;
  const problems = Object.keys(others).map((name) => `${name}: only [[provider]] is allowed here`);
  if (!Array.isArray(provider)) problems.push('provider: must be a list of [[provider]] tables');
  if (problems.length > 0) throw unusable(file, problems);
  return provider as ProviderTable[];
}

function readProviders(tables: ProviderTable[], file: string): Provider[] {
  const problems: string[] = [];
  const providers = tables.map((table, index) => readProvider(table, index, problems));
  const names = new Map<string, string>();
  const ids = new Set<string>();
  for (const { id, mx } of providers) {
    if (ids.has(id)) problems.push(`${id}: is defined twice`);
    ids.add(id);
    for (const name of mx) {
      if (names.has(name) && names.get(name) !== id)
        problems.push(`${id}: mx ${name} also belongs to ${names.get(name)}`);
      names.set(name, id);
    }
  }
  if (problems.length > 0) throw unusable(file, problems);
  return providers;
}

function readProvider(table: ProviderTable, index: number, problems: string[]): Provider {
  const id = typeof table.id === 'string' && ID.test(table.id) ? table.id : `provider ${index + 1}`;
  const complain = (problem: string) => void problems.push(`${id}: ${problem}`);
  if (id !== table.id) complain('id is missing or not in kebab-case');
  for (const key of Object.keys(table)) if (!KEYS.has(key)) complain(`unknown key ${key}`);
  const number = (key: string, max: number): number => {
    const value = table[key];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value;
    complain(`${key} must be an integer from 1 to ${max}`);
    return 1;
  };
  const hosts = (key: string): string[] => {
    const list = table[key];
    const good = Array.isArray(list) && list.every((name) => typeof name === 'string' && HOST.test(name));
    if (!good) complain(`${key} must be a list of lower-case domain names`);
    return good ? (list as string[]) : [];
  };
  const flag = (key: string): boolean => {
    const value = table[key] ?? false;
    if (typeof value !== 'boolean') complain(`${key} is neither true nor false`);
    return value === true;
  };
  const marks = (key: string, max: number): string => {
    const value = table[key] ?? '';
    if (typeof value === 'string' && MARKS.test(value) && value.length <= max) return value;
    complain(`${key} must consist of ${max === 1 ? 'one character' : 'characters'} out of . _ - =`);
    return '';
  };
  const { per = 'address', messages_per_minute: perMinute } = table;
  if (per !== 'address' && per !== 'service') complain('per is neither "address" nor "service"');
  const { reason } = table;
  if (typeof reason !== 'string' || reason.trim() === '') complain('reason is missing');
  const mx = hosts('mx');
  if (mx.length === 0 && Array.isArray(table.mx)) complain('mx names no host');
  return {
    id,
    mx,
    connections: number('connections', MAX_CONNECTIONS),
    messagesPerConnection: number('messages_per_connection', MAX_MESSAGES),
    messagesPerMinute: perMinute === undefined ? null : number('messages_per_minute', MAX_PER_MINUTE),
    perService: per === 'service',
    customerDomains: flag('customer_domains'),
    ownDomains: table.own_domains === undefined ? [] : hosts('own_domains'),
    sameMailboxes: flag('same_mailboxes'),
    ignoredInNames: marks('ignored_in_names', 4),
    aliasSeparator: marks('alias_separator', 1) || null,
    reason: String(reason),
  };
}

function unusable(file: string, problems: string[]): Fault {
  const list = problems.map((text) => `  ${text}`).join('\n');
  return new Fault(`${file} cannot be used:\n${list}`, { permanence: 'permanent' });
}

/** Finds the provider that all given MX hosts belong to, or that owns a domain. */
export class Providers {
  readonly #byName = new Map<string, Provider>();
  readonly #byId = new Map<string, Provider>();
  readonly #byOwnDomain = new Map<string, Provider>();

  constructor(providers: readonly Provider[]) {
    for (const provider of providers) {
      this.#byId.set(provider.id, provider);
      for (const domain of provider.ownDomains) this.#byOwnDomain.set(domain, provider);
      for (const name of provider.mx) this.#byName.set(name, provider);
    }
  }

  byId(id: string): Provider | null {
    return this.#byId.get(id) ?? null;
  }

  ofOwnDomain(domain: string): Provider | null {
    return this.#byOwnDomain.get(domain) ?? null;
  }

  /** Null if they belong to none, or not all to the same. */
  ofHosts(hosts: readonly string[]): Provider | null {
    const [first, ...others] = hosts;
    const provider = first === undefined ? null : this.#ofHost(first);
    return provider && others.every((host) => this.#ofHost(host) === provider) ? provider : null;
  }

  /** Its own name first, then its parent domains: the longest match wins. */
  #ofHost(host: string): Provider | null {
    for (let name = host.toLowerCase(); name !== ''; ) {
      const known = this.#byName.get(name);
      if (known) return known;
      const dot = name.indexOf('.');
      name = dot < 0 ? '' : name.slice(dot + 1);
    }
    return null;
  }
}
