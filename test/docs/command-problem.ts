// Whether a command that a text names exists, with its options.
import type { Command } from '../../src/cli/command.ts';
import { COMMAND_NAMES, loadCommands } from '../../src/cli/registry.ts';

const COMMANDS = await loadCommands(COMMAND_NAMES);

/** Null for a command that exists and takes these options; `postrider help …` and the like have none. */
export function commandProblem(text: string): string | null {
  const { command, words } = parse(text);
  if (words[0] === 'help' || words[0] === '…' || words[0]!.startsWith('--')) return null;
  if (!command) return words.length === 1 && isGroup(words[0]!) ? null : 'no such command';
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
  const unknown = options.filter((name) => !Object.hasOwn(command.options, name) && !['json', 'config'].includes(name));
  return unknown.length === 0 ? null : `no option ${unknown.join(', ')}`;
}

/** The same of a text that is a command and nothing else, so that each of its words has a place. */
export function wholeCommandProblem(text: string): string | null {
  const problem = commandProblem(text);
  const { command, words } = parse(text);
  if (problem !== null || !command) return problem;
  const places = Object.values(command.options).filter(({ positional }) => positional);
  const given = argumentsInPlaces(words.slice(command.name.split(' ').length), command);
  if (places.some(({ several }) => several) || given.length <= places.length) return null;
  return `no place for ${given.slice(places.length).join(' ')}`;
}

function parse(text: string): { command: Command | undefined; words: string[] } {
  const words = (text.match(/'[^']*'|\S+/g) ?? []).slice(1);
  const called = (count: number) => COMMANDS.find(({ name }) => name === words.slice(0, count).join(' '));
  return { command: called(2) ?? called(1), words };
}

function isGroup(word: string): boolean {
  return COMMANDS.some(({ name }) => name.startsWith(`${word} `));
}

/** Without the options and their values. */
function argumentsInPlaces(words: readonly string[], { options }: Command): string[] {
  const takesValue = (word = '') => word.startsWith('--') && typeof options[word.slice(2)]?.placeholder === 'string';
  return words.filter((word, index) => !(word.startsWith('--') || takesValue(words[index - 1])));
}
