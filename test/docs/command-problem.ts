// Whether a command that a text names exists, with its options.
import { COMMAND_NAMES, loadCommands } from '../../src/cli/registry.ts';

const COMMANDS = await loadCommands(COMMAND_NAMES);

/** Null for a command that exists and takes these options; `postrider help …` and the like have none. */
export function commandProblem(text: string): string | null {
  const words = text.split(' ').slice(1);
  if (words[0] === 'help' || words[0] === '…' || words[0]!.startsWith('--')) return null;
  const command = COMMANDS.find(({ name }) => name === words[0] || name === words.slice(0, 2).join(' '));
  if (!command)
    return COMMANDS.some(({ name }) => name.startsWith(`${words[0]} `)) && words.length === 1
      ? null
      : 'no such command';
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
  const unknown = options.filter((name) => !Object.hasOwn(command.options, name) && !['json', 'config'].includes(name));
  return unknown.length === 0 ? null : `no option ${unknown.join(', ')}`;
}
