// Completion for bash, from the registry of commands: names of commands, their options, and files where one is expected.
import type { Command } from '../src/cli/command.ts';
import { GLOBAL_OPTIONS } from '../src/cli/parse-arguments.ts';
import { COMMAND_NAMES, loadCommands } from '../src/cli/registry.ts';

const FILES = /^(?:FILE|DIR|FOLDER|PATH)$/;

const HEAD = `# bash completion for postrider, made from its registry of commands.
_postrider() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local command=\${COMP_WORDS[1]} offset=1 words='' files=''
  COMPREPLY=()
  [[ $command == help ]] && offset=2 && command=\${COMP_WORDS[2]}
  if ((COMP_CWORD == offset)); then
    words=FIRST_WORDS
    ((offset == 2)) || words+=' help --help --version'
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  case $command in
GROUPS
  esac
  if [[ -n $words ]]; then
    if ((COMP_CWORD == offset + 1)); then
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
      [[ -z \${COMPREPLY[*]} ]] || return
    fi
    [[ " $words " == *" \${COMP_WORDS[offset + 1]} "* ]] && command+=" \${COMP_WORDS[offset + 1]}"
  fi
  ((offset == 1)) || return
  words=''
  case $command in
COMMANDS
  esac
  if [[ $previous == -* && " $files " == *" $previous "* || $current != -* && " $files " == *' . '* ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _postrider postrider
`;

function quoted(words: Iterable<string>): string {
  return `'${[...words].join(' ')}'`;
}

function commandCase(command: Command): string {
  const options = { ...command.options, ...GLOBAL_OPTIONS };
  const words: string[] = [];
  const files: string[] = [];
  for (const [name, option] of Object.entries(options)) {
    const isPositional = 'positional' in option && option.positional;
    if (!isPositional) words.push(`--${name}`);
    if (FILES.test(option.placeholder ?? '')) files.push(isPositional ? '.' : `--${name}`);
  }
  return `    '${command.name}') words=${quoted(words)} files=${quoted(files)} ;;`;
}

export async function bashCompletion(): Promise<string> {
  const groups = Map.groupBy(COMMAND_NAMES, (name) => name.split(' ')[0]!);
  const verbs = [...groups].flatMap(([group, names]) => {
    const found = names.map((name) => name.split(' ')[1]).filter((verb) => verb !== undefined);
    return found.length === 0 ? [] : [`    ${group}) words=${quoted(found)} ;;`];
  });
  const commands = await loadCommands(COMMAND_NAMES);
  return HEAD.replace('FIRST_WORDS', () => quoted(groups.keys()))
    .replace('GROUPS', () => verbs.join('\n'))
    .replace('COMMANDS', () => commands.map(commandCase).join('\n'));
}
