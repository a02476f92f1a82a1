// From argv to a command and its values. Stricter than parseArgs itself, whose tokens it reads:
// nothing is given twice, and every refusal names the argument.
import { parseArgs } from 'node:util';
import { nearest } from '../base/text/suggest.ts';
import type { Command } from './command.ts';
import type { Option } from './option.ts';

/** As typed: flags are true. What goes over the control socket, too. */
export type RawArguments = Record<string, string | true | readonly string[]>;

export interface GlobalArguments {
  config: string | null;
  json: boolean;
  help: boolean;
}

export type ArgumentsResult =
  | { kind: 'arguments'; raw: RawArguments; global: GlobalArguments }
  | { kind: 'wrong_usage'; message: string };

/** Options that every command takes. */
export const GLOBAL_OPTIONS = {
  config: { placeholder: 'FILE', summary: 'configuration file (default: /etc/postrider/postrider.toml if it exists)' },
  json: { placeholder: null, summary: 'print exactly one JSON value' },
  help: { placeholder: null, summary: 'show this help' },
} as const;

type Known = Record<string, { placeholder: string | null }>;

export function parseArguments(command: Command, args: string[]): ArgumentsResult {
  const positionals = Object.entries(command.options).filter(([, option]) => option.positional);
  const named = Object.entries(command.options).filter(([, option]) => !option.positional);
  const known: Known = { ...Object.fromEntries(named), ...GLOBAL_OPTIONS };
  const given: Record<string, string | true | string[]> = {};
  const last = positionals.at(-1);
  let placed = 0;
  let isBehindValue = false;
  for (const token of tokensOf(args, known)) {
    const wasBehindValue = isBehindValue;
    isBehindValue = token.kind !== 'option-terminator' && token.value !== undefined;
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      const [name, option] = positionals[placed++] ?? (last?.[1].several ? last : []);
      if (name === undefined) {
        const hint = wasBehindValue ? ': quote values that contain spaces' : '';
        return wrong(`unexpected argument "${token.value}"${hint}`);
      }
      if (!option?.several) given[name] = token.value;
      else if (Array.isArray(given[name])) given[name].push(token.value);
      else given[name] = [token.value];
      continue;
    }
    const problem = optionProblem(token, known, given);
    if (problem) return wrong(problem);
    given[token.name] = token.value ?? true;
  }
  const { config, json, help, ...raw } = given;
  const global = { config: typeof config === 'string' ? config : null, json: json === true, help: help === true };
  return { kind: 'arguments', raw, global };
}

/** What is wrong with options that no command stands beside, and that ask for nothing by themselves. */
export function problemWithoutCommand(args: readonly string[]): string {
  for (let place = 0; place < args.length; place++) {
    const given = args[place]!;
    if (given === '--config' && args[++place] === undefined)
      return `--config needs a value: ${GLOBAL_OPTIONS.config.placeholder}`;
    if (['--config', '--json', '--'].includes(given) || given.startsWith('--config=')) continue;
    const near = /^-v$/i.test(given)
      ? didYouMean('--version')
      : suggestion(given.replace(/^-+/, ''), [...Object.keys(GLOBAL_OPTIONS), 'version'], '--');
    return `unknown option ${given}${near}`;
  }
  return 'a command is missing';
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];
type OptionToken = Extract<Token, { kind: 'option' }>;

function tokensOf(args: string[], known: Known): Token[] {
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { placeholder }]) => [
      name,
      {
        type: placeholder === null ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' && { short: 'h' }),
      },
    ]),
  );
  return parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function optionProblem(token: OptionToken, known: Known, given: RawArguments): string | null {
  const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
  if (!option) return `unknown option ${token.rawName}${suggestion(token.name, Object.keys(known), '--')}`;
  if (Object.hasOwn(given, token.name)) return `${token.rawName} is given twice`;
  if (option.placeholder === null) return token.value === undefined ? null : `${token.rawName} takes no value`;
  if (token.value === undefined) return `${token.rawName} needs a value: ${option.placeholder}`;
  // Far more often a forgotten value than a value that starts like an option.
  if (!token.inlineValue && token.value.startsWith('-')) {
    return `${token.rawName} needs a value: ${option.placeholder} (if it starts with -, write ${token.rawName}=…)`;
  }
  return null;
}

export type ValuesResult =
  | { kind: 'values'; values: Record<string, unknown> }
  | { kind: 'wrong_usage'; message: string };

/** The typed values of what was typed, or what came over the control socket. */
export function readValues(command: Command, raw: Record<string, unknown>): ValuesResult {
  for (const name of Object.keys(raw)) {
    if (!Object.hasOwn(command.options, name)) return wrong(`unknown option --${name}`);
  }
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(command.options)) {
    const label = option.positional ? option.placeholder : `--${name}`;
    const text = raw[name];
    if (text === undefined) {
      if (option.required) return wrong(`${label} is missing`);
      continue;
    }
    if (!hasForm(option, text)) return wrong(`${label} has an invalid value`);
    const reads = (option.several ? (text as string[]) : [String(text)]).map((each) => option.read(each));
    for (const read of reads) if (!read.ok) return wrong(`${label}: ${read.problem}`);
    const found = reads.flatMap((read) => (read.ok ? [read.value] : []));
    values[name] = option.several ? found.flat() : found[0];
  }
  const problem = command.check(values);
  return problem === null ? { kind: 'values', values } : wrong(problem);
}

function hasForm({ placeholder, several }: Option<unknown>, given: unknown): boolean {
  if (placeholder === null) return given === true;
  if (!several) return typeof given === 'string';
  return Array.isArray(given) && given.every((each) => typeof each === 'string');
}

/** A question in brackets, or nothing. */
export function suggestion(given: string, known: Iterable<string>, prefix = ''): string {
  const near = nearest(given, known);
  return near === null ? '' : didYouMean(prefix + near);
}

export function didYouMean(name: string): string {
  return ` (did you mean ${name}?)`;
}

function wrong(message: string): { kind: 'wrong_usage'; message: string } {
  return { kind: 'wrong_usage', message };
}
