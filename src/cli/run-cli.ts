// From argv to an exit code: finds the command, reads its arguments, runs it where it belongs,
// and says what came of it. 0: done; 1: failed; 2: wrong usage.
// Results go to standard output, everything else to standard error.
import { systemTrouble } from '../base/system-words.ts';
import { ConfigError, loadConfig } from '../config/load.ts';
import { type Answer, type Command, failed } from './command.ts';
import { commandHelp, listHelp } from './help.ts';
import { type GlobalArguments, parseArguments, type RawArguments, readValues, suggestion } from './parse-arguments.ts';
import { COMMANDS, findCommand, findGroup } from './registry.ts';
import type { Starters } from './starters.ts';
import { printableLines } from './table.ts';
import { runWhereTheWriterIs } from './with-services.ts';

export interface CliOptions {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  starters: Starters;
  /** Whole texts, without the last line end. */
  print(text: string): void;
  complain(text: string): void;
}

export const EXIT_FAILED = 1;
export const EXIT_WRONG_USAGE = 2;

export async function runCli(cli: CliOptions): Promise<number> {
  const { command: words, args } = splitCommand(cli.argv);
  if (words.length === 0) return runWithoutCommand(cli, args);
  if (words[0] === 'help') return printHelp(cli, [...words.slice(1), ...args]);
  const command = findCommand(words.join(' ')) ?? findCommand(words[0]!);
  if (!command) return unknownCommand(cli, words, args);
  // Of a command of one word, the second word is an argument.
  const rest = command.name === words[0] ? [...words.slice(1), ...args] : args;
  return runCommand(cli, command, rest);
}

/** The first two words that are no options, and everything else in its order. */
function splitCommand(argv: readonly string[]): { command: string[]; args: string[] } {
  let start = 0;
  while (argv[start]?.startsWith('-')) start += argv[start] === '--config' ? 2 : 1;
  const end = argv.slice(start, start + 2).findIndex((word) => word.startsWith('-'));
  const words = argv.slice(start, end < 0 ? start + 2 : start + end);
  return { command: words, args: [...argv.slice(0, start), ...argv.slice(start + words.length)] };
}

function runWithoutCommand(cli: CliOptions, args: string[]): number {
  const [first] = args;
  if (first === '--version') {
    cli.print(cli.version);
    return 0;
  }
  if (first === '--help' || first === '-h') return printHelp(cli, []);
  const problem = first === undefined ? 'a command is missing' : `unknown option ${first}, or a command is missing`;
  return wrongUsage(cli, problem, listHelp(COMMANDS));
}

function printHelp(cli: CliOptions, words: string[]): number {
  const name = words.filter((word) => !word.startsWith('-')).join(' ');
  if (name === '') {
    cli.print(listHelp(COMMANDS));
    return 0;
  }
  const command = findCommand(name);
  const group = findGroup(name);
  if (!command && group.length === 0) return unknownCommand(cli, name.split(' '), []);
  cli.print(command ? commandHelp(command) : listHelp(group));
  return 0;
}

function unknownCommand(cli: CliOptions, words: string[], args: string[]): number {
  const group = findGroup(words[0]!);
  if (words.length === 1 && group.length > 0) {
    if (args.includes('--help') || args.includes('-h')) return printHelp(cli, words);
    return wrongUsage(cli, `"${words[0]}" needs one more word`, listHelp(group));
  }
  const name = words.join(' ');
  const near = suggestion(name, commandNames()) || suggestion(words[0]!, commandNames());
  const help = group.length > 0 ? `postrider help ${words[0]}` : 'postrider help';
  return wrongUsage(cli, `unknown command "${name}"${near}`, `${help} lists the commands.`);
}

function commandNames(): string[] {
  return COMMANDS.map((command) => command.name);
}

async function runCommand(cli: CliOptions, command: Command, args: string[]): Promise<number> {
  const parsed = parseArguments(command, args);
  if (parsed.kind === 'wrong_usage') return wrongUsage(cli, parsed.message, commandHelp(command));
  const { raw, global } = parsed;
  if (global.help) return printHelp(cli, [command.name]);
  return report(cli, { command, json: global.json }, await answerOf(cli, command, { raw, global }));
}

async function answerOf(
  cli: CliOptions,
  command: Command,
  { raw, global }: { raw: RawArguments; global: GlobalArguments },
): Promise<Answer> {
  const read = readValues(command, raw);
  if (read.kind === 'wrong_usage') return read;
  const configFile = global.config ?? null;
  const load = () => loadConfig({ file: configFile ?? undefined, env: cli.env });
  try {
    if (command.kind === 'store') return await runWhereTheWriterIs(command, raw, load().config);
    return await command.run({ configFile, loadConfig: load, json: global.json, starters: cli.starters }, read.values);
  } catch (error) {
    return failed(error instanceof ConfigError ? describeProblems(error.problems) : systemTrouble(error));
  }
}

function describeProblems(problems: readonly string[]): string {
  return problems.length === 1 ? problems[0]! : `${problems.length} problems:\n${problems.join('\n')}`;
}

function report(cli: CliOptions, asked: { command: Command; json: boolean }, answer: Answer): number {
  const { command, json } = asked;
  switch (answer.kind) {
    case 'done': {
      const text = json ? JSON.stringify(command.toJson(answer.result)) : command.render(answer.result);
      if (text !== null) cli.print(json ? text : printableLines(text));
      const note = json ? null : command.note(answer.result);
      if (note !== null) cli.complain(`postrider ${command.name}: ${note}`);
      return answer.exit ?? 0;
    }
    case 'failed':
      cli.complain(printableLines(`postrider ${command.name}: ${answer.message}`));
      return EXIT_FAILED;
    case 'wrong_usage':
      return wrongUsage(cli, answer.message, commandHelp(command));
    case 'ended':
      return answer.exit;
  }
}

function wrongUsage(cli: CliOptions, message: string, usage: string): number {
  cli.complain(`postrider: ${printableLines(message)}\n\n${usage}`);
  return EXIT_WRONG_USAGE;
}
