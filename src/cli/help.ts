// Usage texts, all from the registry.
import type { Command } from './command.ts';
import type { Option } from './option.ts';
import { GLOBAL_OPTIONS } from './parse-arguments.ts';

const PROGRAM = 'postrider';

/** One command: its form, what it does, each argument. */
export function commandHelp(command: Command): string {
  const options = Object.entries(command.options);
  const arguments_: [string, string][] = [
    ...options.map(([name, option]) => [label(name, option), option.summary] as [string, string]),
    ...Object.entries(GLOBAL_OPTIONS).map(([name, option]) => {
      const own = name === 'json' ? command.jsonSummary : name === 'config' ? command.configSummary : undefined;
      const summary = own ?? option.summary;
      return [label(name, option), summary] as [string, string];
    }),
  ];
  return `Usage: ${commandUsage(command)}\n${command.summary}\n\n${twoColumns(arguments_)}`;
}

/** A list of commands: all, or those of a group. */
export function listHelp(commands: readonly Command[]): string {
  const lines = commands.map((command) => [command.name, command.summary] as [string, string]);
  return [
    `Usage: ${PROGRAM} COMMAND [ARGUMENTS] [--config FILE] [--json]`,
    '',
    twoColumns(lines),
    '',
    `${PROGRAM} help COMMAND shows details. Exit codes: 0 success, 1 failure, 2 wrong usage.`,
  ].join('\n');
}

export function commandUsage(command: Command): string {
  const parts = Object.entries(command.options).map(([name, option]) => {
    const shown = label(name, option);
    return option.required ? shown : `[${shown}]`;
  });
  return [PROGRAM, command.name, ...parts].join(' ');
}

type Labelled = Pick<Option<unknown>, 'placeholder'> & Partial<Pick<Option<unknown>, 'positional' | 'several'>>;

export function label(name: string, option: Labelled): string {
  if (option.positional) return `${option.placeholder ?? name}${option.several ? '…' : ''}`;
  return option.placeholder === null ? `--${name}` : `--${name} ${option.placeholder}`;
}

function twoColumns(lines: readonly [string, string][]): string {
  const width = Math.max(...lines.map(([left]) => left.length));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
