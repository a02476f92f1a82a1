// The kinds of arguments that commands take. Each reads its own text and says in words what is
// wrong with it; the same reading is done again where a command arrives over the control socket.
import { isUuid } from '../base/ids.ts';
import { normaliseAddress } from '../base/ip-address.ts';
import { parseAddress, policyRefusal, suppressionKey } from '../protocol/mail/addresses/address.ts';
import { parseBoundDomain } from '../tenants/api-keys.ts';
import { nameProblem } from '../tenants/refused.ts';

export type Read<T> = { ok: true; value: T } | { ok: false; problem: string };

export interface Option<T> {
  /** What stands for the value in the usage; null: a flag, which has none. */
  placeholder: string | null;
  summary: string;
  required: boolean;
  /** Given by its place, not by its name. */
  positional: boolean;
  /** May be given more than once, in its place; `read` is asked for each, and the values are one list. */
  several: boolean;
  read(text: string): Read<T>;
  /** The value is how a person calls a tenant; before the command runs, the tenant's ID takes its place. */
  isTenant?: true;
  /** What stands for it when it is not given, found out where the command is typed. */
  loginName?(): string | undefined;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

/** What a command is handed: one value per option, undefined when it was not given. */
export type ValuesOf<O extends Options> = { [K in keyof O]: O[K] extends Option<infer T> ? T : never };

type Maybe<T> = Option<T | undefined>;

function option<T>(placeholder: string | null, summary: string, read: (text: string) => Read<T>): Maybe<T> {
  return { placeholder, summary, required: false, positional: false, several: false, read };
}

function good<T>(value: T): Read<T> {
  return { ok: true, value };
}

function bad(problem: string): { ok: false; problem: string } {
  return { ok: false, problem };
}

export function required<T>(given: Maybe<T>): Option<T> {
  return { ...given, required: true } as Option<T>;
}

export function positional<T>(given: Option<T>): Option<T> {
  return { ...given, positional: true };
}

/** The last of a command's positional arguments, given once or more. */
export function several<T>(given: Maybe<T>): Maybe<T[]> {
  return {
    ...given,
    several: true,
    read: (text) => {
      const read = given.read(text);
      return read.ok ? good([read.value as T]) : read;
    },
  };
}

/** Who acts: the login of whoever types the command, unless another name is given. */
export function operatorName(typist: () => string | undefined): Maybe<string> {
  return { ...remark('NAME', 'who performs this, for the audit log; default: your login name'), loginName: typist };
}

/** A name as output shows it, such as that of an MX group or a rule: it is compared with those that there are. */
export function name(placeholder: string, summary: string): Maybe<string> {
  return option(placeholder, summary, (given) =>
    /^\P{C}{1,1000}$/u.test(given) && given.trim() !== ''
      ? good(given)
      : bad(`"${given.slice(0, 100)}" is not a valid name`),
  );
}

export function flag(summary: string): Maybe<true> {
  return option(null, summary, () => good(true as const));
}

export function text(placeholder: string, summary: string): Maybe<string> {
  return option(placeholder, summary, (given) => (given.trim() === '' ? bad('must not be empty') : good(given)));
}

/** What people call something: one short line. */
export function label(placeholder: string, summary: string): Maybe<string> {
  return option(placeholder, summary, (given) => {
    const problem = nameProblem(given);
    return problem === null ? good(given) : bad(problem);
  });
}

const MAX_REMARK_CHARACTERS = 500;

/** What somebody says of what he does: it is shown in one line, to others. */
export function remark(placeholder: string, summary: string): Maybe<string> {
  return option(placeholder, summary, (given) => {
    if (given.trim() === '') return bad('must not be empty');
    if (/\p{Cc}/u.test(given)) return bad('must be one line without control characters');
    return given.length > MAX_REMARK_CHARACTERS
      ? bad(`must have at most ${MAX_REMARK_CHARACTERS} characters`)
      : good(given);
  });
}

/** Any text, empty too. */
export function verbatim(placeholder: string, summary: string): Maybe<string> {
  return option(placeholder, summary, (given) => good(given));
}

export function uuid(placeholder: string, summary: string): Maybe<string> {
  return option(placeholder, summary, (given) =>
    isUuid(given) ? good(given.toLowerCase()) : bad(`"${given}" is not a valid ID (expected a UUID)`),
  );
}

/** A tenant by its name, its ID, or the beginning of it; the command gets the ID of a tenant that exists. */
export function tenantName(summary: string): Maybe<string> {
  const named = option('TENANT', `${summary}, by its name, its ID or the beginning of it`, (given) => {
    const problem = nameProblem(given);
    return problem === null ? good(given) : bad(problem);
  });
  return { ...named, isTenant: true };
}

export function oneOf<const V extends string>(placeholder: string, values: readonly V[], summary: string): Maybe<V> {
  return option(placeholder, `${summary}: ${values.join(', ')}`, (given) => readOneOf(values, given));
}

export function listOf<const V extends string>(placeholder: string, values: readonly V[], summary: string): Maybe<V[]> {
  return option(placeholder, `${summary}, separated by commas: ${values.join(', ')}`, (given) => {
    const chosen: V[] = [];
    for (const part of given.split(',')) {
      const read = readOneOf(values, part.trim());
      if (!read.ok) return read;
      chosen.push(read.value);
    }
    return good(chosen);
  });
}

function readOneOf<V extends string>(values: readonly V[], given: string): Read<V> {
  const value = values.find((known) => known === given);
  return value === undefined ? bad(`"${given}" must be one of ${values.join(', ')}`) : good(value);
}

export function onOff(summary: string): Maybe<boolean> {
  return option('on|off', summary, (given) => {
    if (given === 'on' || given === 'off') return good(given === 'on');
    return bad(`"${given}" must be on or off`);
  });
}

export function wholeNumber(placeholder: string, range: { min: number; max: number }, summary: string): Maybe<number> {
  return option(placeholder, summary, (given) => {
    const value = Number(given);
    const fits = /^\d{1,15}$/.test(given) && value >= range.min && value <= range.max;
    return fits ? good(value) : bad(`"${given}" must be an integer from ${range.min} to ${range.max}`);
  });
}

/** A whole number, or the word `default`: then null. */
export function numberOrDefault(range: { min: number; max: number }, summary: string): Maybe<number | null> {
  const number = wholeNumber('N', range, summary);
  return option('N|default', summary, (given) => (given === 'default' ? good(null) : number.read(given)));
}

/** An address that mail can be sent to by the service's own rules, as written. */
export function mailAddress(summary: string): Maybe<string> {
  return option('ADDRESS', summary, (given) => {
    const parsed = parseAddress(given);
    const problem = parsed.ok ? policyRefusal(parsed.address) : parsed.reason;
    return problem === null ? good(given) : bad(`"${given}" is not a usable address: ${problem}`);
  });
}

/** An address as suppression lists hold it. */
export function suppressedAddress(summary: string): Maybe<string> {
  return option('ADDRESS', summary, (given) => {
    const parsed = parseAddress(given);
    return parsed.ok
      ? good(suppressionKey(parsed.address))
      : bad(`"${given}" is not an email address: ${parsed.reason}`);
  });
}

/** A domain name of at least two labels, as the store holds it. */
export function domainName(summary: string): Maybe<string> {
  return option('DOMAIN', summary, (given) => {
    const parsed = parseBoundDomain(given);
    return parsed.ok ? good(parsed.domain) : bad(`"${given}" is not a domain name: ${parsed.reason}`);
  });
}

/** IP addresses, separated by commas, in their shortest spelling. */
export function ipAddresses(placeholder: string, summary: string): Maybe<string[]> {
  return option(placeholder, summary, (given) => {
    const found: string[] = [];
    for (const part of given.split(',').map((each) => each.trim())) {
      const address = part.includes('%') ? null : normaliseAddress(part);
      if (address === null) return bad(`"${part}" is not an IP address`);
      if (!found.includes(address)) found.push(address);
    }
    return good(found);
  });
}

/** Where the URL of a PostgreSQL database is: other users of the machine see the arguments of a command. */
export type DatabaseUrl = { from: 'argument'; url: string } | { from: 'file'; file: string } | { from: 'environment' };

export function databaseUrl(summary: string): Maybe<DatabaseUrl> {
  return option<DatabaseUrl>('URL', summary, (given) => {
    if (given === 'env') return good({ from: 'environment' });
    if (/^@./.test(given)) return good({ from: 'file', file: given.slice(1) });
    if (/^postgres(ql)?:\/\//.test(given)) return good({ from: 'argument', url: given });
    // Not repeated: it may contain a password.
    return bad('must be postgres://USER:PASSWORD@HOST/DATABASE, @FILE or env');
  });
}

/** A time as all output shows it: RFC 3339. */
export function moment(placeholder: string, summary: string): Maybe<number> {
  return option(placeholder, `${summary}, such as 2026-01-31T12:00:00Z`, (given) => {
    const written = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i.exec(given);
    const ms = written && isDay(written[1]!) ? Date.parse(given) : Number.NaN;
    return Number.isNaN(ms)
      ? bad(`"${given}" is not a time (expected RFC 3339, such as 2026-01-31T12:00:00Z)`)
      : good(ms);
  });
}

/** Date.parse takes 30 February for 2 March. */
function isDay(date: string): boolean {
  const at = Date.parse(date);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
}
