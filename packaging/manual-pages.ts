// postrider(1) from the commands' help, postrider.toml(5) from the table of configuration keys: roff for man(7).
import type { Command } from '../src/cli/command.ts';
import { commandUsage, label } from '../src/cli/help.ts';
import { GLOBAL_OPTIONS } from '../src/cli/parse-arguments.ts';
import { COMMAND_NAMES, loadCommands } from '../src/cli/registry.ts';
import { renderDocumentedFile } from '../src/config/print.ts';

export interface Edition {
  version: string;
  /** Of the last change, in seconds since 1970. */
  epoch: number;
}

/** What roff does not take literally: backslashes, hyphens, and a dot or quote at the start of a line. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('`', '\\`')
    .replace(/^(?=[.'])/gm, '\\&');
}

function title(name: string, section: number, { version, epoch }: Edition): string {
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  return `.TH ${name.toUpperCase()} ${section} "${date}" "Postrider ${roff(version)}" "Postrider"`;
}

function section(name: string, ...lines: string[]): string {
  return [`.SH ${name}`, ...lines].join('\n');
}

function item(term: string, text: string): string {
  return `.TP\n\\fB${roff(term)}\\fR\n${roff(text)}`;
}

function commandText(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]) => item(label(name, option), option.summary));
  const own = [command.configSummary && item('--config FILE', command.configSummary)];
  own.push(command.jsonSummary && item('--json', command.jsonSummary));
  return [
    `.SS ${roff(command.name)}`,
    roff(commandUsage(command)),
    '.PP',
    roff(command.summary),
    ...options,
    ...own.filter((line) => line !== undefined),
  ].join('\n');
}

const ENVIRONMENT = [
  item('POSTRIDER_SECTION_KEY', 'overrides a key of the configuration: POSTRIDER_HTTP_PORT=8443 sets port in [http].'),
];

const FILES = [
  item('/etc/postrider/postrider.toml', 'the configuration, see postrider.toml(5).'),
  item('/var/lib/postrider', 'the database, the master key unless it is kept elsewhere, and the control socket.'),
  item('/usr/lib/postrider', 'the program, its runtime and its libraries.'),
  item('/usr/share/doc/postrider/operate.md', 'how to operate Postrider.'),
];

const EXIT_CODES = [item('0', 'success'), item('1', 'failure'), item('2', 'wrong usage')];

export async function programPage(edition: Edition): Promise<string> {
  const commands = await loadCommands(COMMAND_NAMES);
  const globals = Object.entries(GLOBAL_OPTIONS).map(([name, option]) => item(label(name, option), option.summary));
  const parts = [
    title('postrider', 1, edition),
    section('NAME', 'postrider \\- transactional mail daemon and its command line'),
    section(
      'SYNOPSIS',
      '\\fBpostrider\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fB\\-\\-config\\fR \\fIFILE\\fR] [\\fB\\-\\-json\\fR]',
    ),
    section(
      'DESCRIPTION',
      'Postrider accepts mail over HTTP or SMTP, signs it and delivers it to the receivers\\(aq mail servers.',
      '\\fBpostrider serve\\fR is the daemon; the other commands talk to a running daemon, or open its database',
      'themselves when none is running.',
    ),
    section('OPTIONS', 'Every command takes these:', ...globals),
    section('COMMANDS', commands.map(commandText).join('\n')),
    section('EXIT STATUS', ...EXIT_CODES),
    section('ENVIRONMENT', ...ENVIRONMENT),
    section('FILES', ...FILES),
    section('SEE ALSO', '.BR postrider.toml (5)'),
  ];
  return `${parts.join('\n')}\n`;
}

/** The documented file, key by key: its comments as text, and the line with the default. */
export function configurationPage(edition: Edition): string {
  const [header = '', ...blocks] = renderDocumentedFile().trimEnd().split('\n\n');
  const parts = [
    title('postrider.toml', 5, edition),
    section('NAME', 'postrider.toml \\- configuration of Postrider'),
    section(
      'DESCRIPTION',
      'The file is in TOML. Only what differs from the defaults needs to be in it.',
      '.PP',
      prose(header),
    ),
    '.SH SECTIONS AND KEYS',
    ...blocks.map(blockText),
    section(
      'FILES',
      item('/etc/postrider/postrider.toml', 'read by every command unless \\-\\-config names another file.'),
    ),
    section('SEE ALSO', '.BR postrider (1)'),
  ];
  return `${parts.join('\n')}\n`;
}

function blockText(block: string): string {
  const lines = block.split('\n');
  const last = lines.pop() ?? '';
  const text = prose(lines.join('\n'));
  if (last.startsWith('[')) return `.SS ${roff(last)}\n${text}`;
  return `.TP\n\\fB${roff(last)}\\fR\n${text}`;
}

function prose(comments: string): string {
  return roff(comments.replace(/^# ?/gm, '')).replace(/\n(?=\n)/g, '\n.PP');
}
