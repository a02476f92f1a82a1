// What a command is. Store commands run where the writer is: in the daemon when one runs, else
// in this process. Local commands always run here. Results are data; `render` puts them in
// words for people, so that `--json` and the control socket need nothing of their own.

import type { LoadedConfig, LoadOptions } from '../config/load.ts';
import type { Answer } from '../operator/answer.ts';
import type { OperatorServices } from '../operator/operator-services.ts';
import type { Options, ValuesOf } from './option.ts';
import type { Starters } from './starters.ts';

/** Of a command that did what it was asked, and found something wrong. */
export const EXIT_SOMETHING_WRONG = 1;

export interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** What a local command may use of its surroundings. */
export interface LocalContext {
  /** What --config named, or null. */
  configFile: string | null;
  env: Readonly<Record<string, string | undefined>>;
  /** Reads file and environment; throws a Fault that lists every problem. */
  loadConfig(): Promise<LoadedConfig>;
  /** The same of a file that may not exist yet (null), with values for what neither file nor environment sets. */
  draftConfig(file: string | null, values: NonNullable<LoadOptions['defaults']>): Promise<LoadedConfig>;
  json: boolean;
  starters: Starters;
  /** Where questions can be asked; null: not on a terminal, or the output is for programs. */
  terminal: Terminal | null;
  /** Aborted by the next Ctrl-C, which then doesn't end the process. */
  interruption(): AbortSignal;
  /** A whole text on standard output, for a command whose output should not wait until all is done. */
  print(text: string): void;
  /** One sentence on standard error, behind the command's name. */
  complain(text: string): void;
}

interface Described {
  /** One word, or a group and a verb: `tenant create`. */
  name: string;
  summary: string;
  options: Options;
  /** What --json prints, where that is not exactly one JSON value. */
  jsonSummary?: string;
  /** What --config names, where the file in /etc is not the default. */
  configSummary?: string;
}

type Values = Record<string, unknown>;

interface Runnable<Surroundings> extends Described {
  /** What is wrong with the arguments together, or null. */
  check(values: Values): string | null;
  run(surroundings: Surroundings, values: Values): Promise<Answer>;
  /** For people; null: nothing to say. */
  render(result: unknown): string | null;
  /** For people, on standard error, where the result alone goes into a file; null: nothing. */
  note(result: unknown): string | null;
  /** For programs, where that is not the result itself. */
  toJson(result: unknown): unknown;
  /** What goes to standard output octet by octet, instead of `render`; null: nothing does. */
  octets(result: unknown): Buffer | null;
}

export interface StoreCommand extends Runnable<OperatorServices> {
  kind: 'store';
  /** Where there is no database yet, it makes one; others look for what is not there, most likely in the wrong folder. */
  begins: boolean;
}

export interface LocalCommand extends Runnable<LocalContext> {
  kind: 'local';
}

export type Command = StoreCommand | LocalCommand;

interface Definition<O extends Options, R, Surroundings> {
  name: string;
  summary: string;
  options: O;
  jsonSummary?: string;
  configSummary?: string;
  check?(values: ValuesOf<O>): string | null;
  run(surroundings: Surroundings, values: ValuesOf<O>): Promise<Answer<R>>;
  render(result: R): string | null;
  note?(result: R): string | null;
  toJson?(result: R): unknown;
  octets?(result: R): Buffer | null;
}

// The registry holds commands of all shapes in one list, so their types end here: parse-arguments
// hands `run` exactly the values that the options describe, and the control socket carries
// results as the JSON that they are.
function runnable<O extends Options, R, S>(definition: Definition<O, R, S>): Runnable<S> {
  return {
    check: () => null,
    note: () => null,
    toJson: (result: R) => result,
    octets: () => null,
    ...definition,
  } as unknown as Runnable<S>;
}

export function storeCommand<O extends Options, R>(
  definition: Definition<O, R, OperatorServices> & { begins?: true },
): StoreCommand {
  return { kind: 'store', begins: definition.begins ?? false, ...runnable(definition) };
}

export function localCommand<O extends Options, R>(definition: Definition<O, R, LocalContext>): LocalCommand {
  return { kind: 'local', ...runnable(definition) };
}
