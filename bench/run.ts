// `npm run bench`: runs the sections one after the other and prints one table, in which each figure
// stands beside what the same machine could do at most, measured in the same run.
import fs from 'node:fs';
import path from 'node:path';
import { describeMachine, shortName } from './machine.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { DaemonWatch } from './profile/daemon-watch.ts';
import { profileSection } from './profile/profile-section.ts';
import { buildSampler } from './profile/sampler.ts';
import { profileRow, showProfile } from './profile/show.ts';
import type { RunContext, Section } from './run-context.ts';
import { measureAccept } from './sections/accept.ts';
import { measureAttachments } from './sections/attachments.ts';
import { measureBacklog } from './sections/backlog.ts';
import { measureBloat } from './sections/bloat.ts';
import { measureBodies } from './sections/bodies.ts';
import { measureClicks } from './sections/clicks.ts';
import { measureEndToEnd } from './sections/end-to-end.ts';
import { measureIdle } from './sections/idle.ts';
import { measureLimits } from './sections/limits.ts';
import { measureMessageSearch } from './sections/message-search.ts';
import { measureNodes } from './sections/nodes.ts';
import { measurePostfix } from './sections/postfix.ts';
import { measureReports } from './sections/reports.ts';
import { measureSlowDisk } from './sections/slow-disk.ts';
import { measureSmtpDoor } from './sections/smtp-door.ts';
import { measureTurns } from './sections/turns.ts';
import { measureWebhooks } from './sections/webhooks.ts';
import { factRow, machineLines, markdownResult, plainTable, type Row } from './table.ts';

/** In this order: the limits come first, because the others quote them. */
const SECTIONS: Record<string, Section> = {
  limits: measureLimits,
  accept: measureAccept,
  idle: measureIdle,
  postfix: measurePostfix,
  'end-to-end': measureEndToEnd,
  clicks: measureClicks,
  reports: measureReports,
  webhooks: measureWebhooks,
  bodies: measureBodies,
  attachments: measureAttachments,
  'smtp-door': measureSmtpDoor,
  backlog: measureBacklog,
  'slow-disk': measureSlowDisk,
  search: measureMessageSearch,
  nodes: measureNodes,
  bloat: measureBloat,
  turns: measureTurns,
};

/** The one takes too long to be run with all others; the other needs to be told whom to compare. */
const ONLY_IF_NAMED = ['bloat', 'turns'];

const RESULTS = path.join(import.meta.dirname, 'results');

async function run(options: BenchOptions, names: string[]): Promise<void> {
  const machine = describeMachine(options.dir);
  say([...machineLines(machine), ...(machine.fileSystem === 'tmpfs' ? [NO_DISK] : []), ''].join('\n'));

  const folder = fs.mkdtempSync(path.join(options.dir, 'postrider-bench-'));
  try {
    const { rows, profiles } = await measure(names, { options, folder });
    say(plainTable(rows));
    for (const profile of profiles) say(`\n${profile}`);
    if (options.save) {
      const file = path.join(RESULTS, `${machine.date}-${shortName(machine)}.md`);
      fs.writeFileSync(file, markdownResult(machine, commandLine(), rows));
      say(`\nsaved: ${path.relative(process.cwd(), file)}`);
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  names: string[],
  { options, folder }: Pick<RunContext, 'options' | 'folder'>,
): Promise<{ rows: Row[]; profiles: string[] }> {
  const sampler = options.profile ? buildSampler(folder) : null;
  let plain: DaemonWatch[] = [];
  const watch = (section: string) => {
    plain.push(new DaemonWatch(section, null));
    return plain.at(-1)!;
  };
  const context: RunContext = { options, folder, limits: null, postfix: null, watch };
  const rows: Row[] = [];
  const profiles: string[] = [];
  for (const name of names) {
    plain = [];
    process.stderr.write(`… ${name}\n`);
    rows.push(...(await orFailed(name, () => SECTIONS[name]!(context))));
    if (sampler === null || plain.length === 0) continue;
    process.stderr.write(`… ${name}, profiled\n`);
    const profiled = async () => {
      const found = await profileSection(SECTIONS[name]!, context, { sampler, plain });
      profiles.push(...found.map(showProfile));
      return found.map(profileRow);
    };
    rows.push(...(await orFailed(`${name}, profiled`, profiled)));
  }
  return { rows, profiles };
}

/** A section that fails takes no other along: what was measured before it took its time. */
async function orFailed(name: string, measured: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await measured();
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    process.exitCode = 1;
    return [factRow(name, 'failed', {})];
  }
}

const NO_DISK = 'NOTE: this is memory, not a disk: fsync costs nothing here, so no figure that waits for it is honest.';

function chosenSections({ only, against }: BenchOptions): string[] {
  const names = Object.keys(SECTIONS);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--only: there is no ${unknown}, but ${names.join(', ')}`);
  if (only.includes('turns') && against.length === 0)
    throw new Error('--only turns: --against says with which checkouts');
  return names.filter((name) => (only.length === 0 ? !ONLY_IF_NAMED.includes(name) : only.includes(name)));
}

function commandLine(): string {
  const args = process.argv.slice(2).filter((argument) => argument !== '--save');
  return ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

let chosen: { options: BenchOptions; names: string[] } | null = null;
try {
  const options = readOptions(process.argv.slice(2));
  if (options === null) say(USAGE);
  else chosen = { options, names: chosenSections(options) };
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}\n`);
  process.exitCode = 2;
}
if (chosen !== null) await run(chosen.options, chosen.names);
