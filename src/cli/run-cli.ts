// From argv to an exit code: finds the command, reads its arguments, runs it where it belongs,
// and says what came of it. 0: done; 1: failed; 2: wrong usage.
// Results go to standard output, everything else to standard error.
import { Fault } from '../base/errors.ts';
import { systemTrouble } from '../base/text/system-words.ts';
import type { ConfigError, LoadedConfig, LoadOptions } from '../config/load.ts';
import { type Answer, failed } from '../operator/answer.ts';
import type { Command, LocalContext, Terminal } from './command.ts';
import { commandHelp, listHelp } from './help.ts';
import {
  didYouMean,
  type GlobalArguments,
  parseArguments,
  problemWithoutCommand,
  type RawArguments,
  readValues,
  suggestion,
} from './parse-arguments.ts';
import { COMMAND_NAMES, findCommand, loadCommands, namesOfGroup } from './registry.ts';
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
  /** As they are, but for a terminal, which they must not steer. */
  printOctets(octets: Buffer): void;
  complain(text: string): void;
  /** Missing: there is none. */
  terminal?: Terminal;
  interruption?(): AbortSignal;
}

export const EXIT_FAILED = 1;
const EXIT_WRONG_USAGE = 2;

export async function runCli(cli: CliOptions): Promise<number> {
  const { command: words, args } = splitCommand(cli.argv);
  if (words.length === 0) return runWithoutCommand(cli, args);
  if (words[0] === 'help') return printHelp(cli, [...words.slice(1), ...args]);
  const command = (await findCommand(words.join(' '))) ?? (await findCommand(words[0]!));
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

async function runWithoutCommand(cli: CliOptions, args: string[]): Promise<number> {
  if (args.includes('--version')) {
    cli.print(cli.version);
    return 0;
  }
  if (args.includes('--help') || args.includes('-h')) return printHelp(cli, []);
  return wrongUsage(cli, problemWithoutCommand(args), await helpOf(COMMAND_NAMES));
}

async function printHelp(cli: CliOptions, words: string[]): Promise<number> {
  const isOption = (place: number) => words[place]!.startsWith('-') || words[place - 1] === '--config';
  const name = words.filter((_, place) => !isOption(place)).join(' ');
  if (name === '' || name === 'help') {
    cli.print(await helpOf(COMMAND_NAMES));
    return 0;
  }
  const command = await findCommand(name);
  const group = namesOfGroup(name);
  if (!command && group.length === 0) return unknownCommand(cli, name.split(' '), []);
  cli.print(command ? commandHelp(command) : await helpOf(group));
  return 0;
}

async function helpOf(names: readonly string[]): Promise<string> {
  return listHelp(await loadCommands(names));
}

async function unknownCommand(cli: CliOptions, words: string[], args: string[]): Promise<number> {
  const group = namesOfGroup(words[0]!);
  if (group.length > 0 && words[1] === 'help') return printHelp(cli, [words[0]!, ...args]);
  if (words.length === 1 && group.length > 0) {
    if (args.includes('--help') || args.includes('-h')) return printHelp(cli, words);
    return wrongUsage(cli, `"${words[0]}" needs a subcommand`, await helpOf(group));
  }
  const name = words.join(' ');
  if (group.length > 0) {
    return wrongUsage(
      cli,
      `unknown command "${name}"${subcommandHint(group, words)}`,
      `postrider help ${words[0]} lists the commands.`,
    );
  }
  const known = [...COMMAND_NAMES, ...new Set(COMMAND_NAMES.map((each) => each.split(' ')[0]!))];
  const near = name === 'version' ? didYouMean('--version') : suggestion(name, known) || suggestion(words[0]!, known);
  return wrongUsage(cli, `unknown command "${name}"${near}`, 'postrider help lists the commands.');
}

/** The one that was meant, or all that there are. */
function subcommandHint(commands: readonly string[], [group, given]: string[]): string {
  const verbs = commands.map((command) => command.split(' ')[1]!);
  return suggestion(given!, verbs, `${group} `) || `: ${group} has ${verbs.join(', ')}`;
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
  const load = () => readConfig({ file: configFile ?? undefined, env: cli.env });
  try {
    const say = (text: string) => complainOf(cli, command, text);
    if (command.kind === 'store') {
      return await runWhereTheWriterIs(command, raw, { config: (await load()).config, say });
    }
    const context: LocalContext = {
      configFile,
      env: cli.env,
      loadConfig: load,
      draftConfig: (file, defaults) =>
        readConfig({ file: file ?? undefined, env: cli.env, defaultFile: null, defaults }),
      json: global.json,
      starters: cli.starters,
      terminal: global.json ? null : (cli.terminal ?? null),
      interruption: cli.interruption ?? (() => new AbortController().signal),
      print: (text) => cli.print(global.json ? text : printableLines(text)),
      complain: say,
    };
    return await command.run(context, read.values);
  } catch (error) {
    return failed(systemTrouble(error));
  }
}

async function readConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { ConfigError, loadConfig } = await import('../config/load.ts');
  try {
    return loadConfig(options);
  } catch (cause) {
    throw cause instanceof ConfigError ? new Fault(describeProblems(cause), { cause }) : cause;
  }
}

/** Names the file: an operator who did not choose it may not know that it is there. */
function describeProblems({ problems, file }: ConfigError): string {
  const ofVariables = problems.filter((problem) => problem.includes('POSTRIDER_'));
  const places = [file, ofVariables.length > 0 || file === null ? 'the environment' : null];
  const where = places.filter((place) => place !== null).join(' and ');
  if (problems.length > 1) return `${problems.length} problems in ${where}:\n${problems.join('\n')}`;
  const isNamed = file === null || ofVariables.length > 0 || problems[0]!.includes(file);
  return isNamed ? problems[0]! : `${file}: ${problems[0]}`;
}

function report(cli: CliOptions, asked: { command: Command; json: boolean }, answer: Answer): number {
  const { command, json } = asked;
  switch (answer.kind) {
    case 'done': {
      const octets = json ? null : command.octets(answer.result);
      if (octets !== null) {
        cli.printOctets(octets);
        return answer.exit ?? 0;
      }
      const text = json ? JSON.stringify(command.toJson(answer.result)) : command.render(answer.result);
      if (text !== null) cli.print(json ? text : printableLines(text));
      const note = json ? null : command.note(answer.result);
      if (note !== null) complainOf(cli, command, note);
      return answer.exit ?? 0;
    }
    case 'failed':
      complainOf(cli, command, answer.message);
      return EXIT_FAILED;
    case 'wrong_usage':
      return wrongUsage(cli, answer.message, commandHelp(command));
    case 'ended':
      return answer.exit;
  }
}

function complainOf(cli: CliOptions, command: Command, text: string): void {
  cli.complain(printableLines(`postrider ${command.name}: ${text}`));
}

function wrongUsage(cli: CliOptions, message: string, usage: string): number {
  cli.complain(`postrider: ${printableLines(message)}\n\n${usage}`);
  return EXIT_WRONG_USAGE;
}
