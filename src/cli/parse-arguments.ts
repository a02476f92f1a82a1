// From argv to a command and its values. Stricter than parseArgs itself, whose tokens it reads:
// nothing is given twice, and every refusal names the argument.
import { parseArgs } from 'node:util';
import { nearest } from '../base/suggest.ts';
import type { Command } from './command.ts';

/** As typed: flags are true. What goes over the control socket, too. */
export type RawArguments = Record<string, string | true>;

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
  help: { placeholder: null, summary: 'show this' },
} as const;

type Known = Record<string, { placeholder: string | null }>;

export function parseArguments(command: Command, args: string[]): ArgumentsResult {
  const positionals = Object.entries(command.options).filter(([, option]) => option.positional);
  const named = Object.entries(command.options).filter(([, option]) => !option.positional);
  const known: Known = { ...Object.fromEntries(named), ...GLOBAL_OPTIONS };
  const given: RawArguments = {};
  let placed = 0;
  for (const token of tokensOf(args, known)) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      const name = positionals[placed++]?.[0];
      if (name === undefined) return wrong(`unexpected argument "${token.value}"`);
      given[name] = token.value;
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
    return `${token.rawName} needs a value: ${option.placeholder} (one that starts with - is given as ${token.rawName}=…)`;
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
    if (option.placeholder === null ? text !== true : typeof text !== 'string')
      return wrong(`${label} has no such value`);
    const read = option.read(String(text));
    if (!read.ok) return wrong(`${label}: ${read.problem}`);
    values[name] = read.value;
  }
  const problem = command.check(values);
  return problem === null ? { kind: 'values', values } : wrong(problem);
}

/** ` (did you mean "…"?)`, or nothing. */
export function suggestion(given: string, known: Iterable<string>, prefix = ''): string {
  const near = nearest(given, known);
  return near === null ? '' : ` (did you mean ${prefix}${near}?)`;
}

function wrong(message: string): { kind: 'wrong_usage'; message: string } {
  return { kind: 'wrong_usage', message };
}
