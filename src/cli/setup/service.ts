// The machine's part of set-up, as root and for the usual configuration file alone: user, folders, unit, daemon. From
// then on, this process has the rights of the service's user, so that what it creates belongs to it.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../base/errors.ts';
import { systemTrouble } from '../../base/text/system-words.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { dataFolder } from '../../operator/data-folder.ts';
import type { MachineKit, PreparedMachine, ServiceUser } from '../../operator/prepare-machine.ts';
import type { LocalContext } from '../command.ts';
import type { Written } from './config-file.ts';

export interface Service {
  /** Null: it is as it should be, or it is somebody else's business. */
  problem: string | null;
  notes: string[];
}

interface ServiceAsk {
  loaded: LoadedConfig;
  written: Written;
}

const COMMAND_MS = 90_000;
const MAX_OUTPUT_BYTES = 1_000_000;

function isForThisMachine({ configFile }: Pick<LocalContext, 'configFile'>): boolean {
  return configFile === null && process.getuid?.() === 0;
}

/** Why the service could not be run in the end, before anything is asked or written; null: nothing is known. */
export async function serviceBarrier(context: Pick<LocalContext, 'configFile'>): Promise<string | null> {
  if (!isForThisMachine(context)) return null;
  const { placeProblem } = await import('../../operator/prepare-machine.ts');
  return placeProblem({ root: '/', checkout: checkout() });
}

export async function runAsService(context: LocalContext, ask: ServiceAsk): Promise<Service> {
  const folder = dataFolder(ask.loaded.config);
  const { isAnswering, prepareMachine, startService } = await import('../../operator/prepare-machine.ts');
  const isChanged = ask.written !== 'unchanged';
  if (!isForThisMachine(context)) {
    const stale = isChanged ? ['The configuration has changed: restart the daemon.'] : [];
    const isRunning = await isAnswering(folder);
    return { problem: null, notes: isRunning ? stale : ['The daemon does not run: postrider serve starts it.'] };
  }
  const kit: MachineKit = { root: '/', checkout: checkout(), run };
  let prepared: PreparedMachine;
  try {
    prepared = await prepareMachine(kit, folder);
  } catch (error) {
    return { problem: `user and folders of the service: ${systemTrouble(error)}`, notes: [] };
  }
  if (!context.json && prepared.created.length > 0) context.print(`Created: ${prepared.created.join(', ')}.`);
  const notes: string[] = [];
  if (prepared.unit.kind === 'none') {
    notes.push(
      `The daemon was not started, because ${prepared.unit.reason}. Run it as ${prepared.user.name}: postrider serve`,
    );
  } else {
    const problem = await startService(kit, { folder, isChanged });
    if (problem !== null) return { problem, notes };
    if (!context.json) context.print('The daemon runs: systemctl status postrider');
  }
  become(prepared.user);
  return { problem: null, notes };
}

function become({ name, uid, gid }: ServiceUser): void {
  // Missing in the types of Node.
  (process as { initgroups?(user: string, group: number): void }).initgroups?.(name, gid);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

function checkout(): string {
  return path.resolve(fileURLToPath(new URL('../../..', import.meta.url)));
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { timeout: COMMAND_MS, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (!error) return resolve();
      const said = `${stderr}${stdout}`.trim().split('\n').slice(-3).join(' ').slice(0, 500);
      reject(new Fault(`${[command, ...args].join(' ')}: ${said || error.message}`, { cause: error }));
    });
  });
}
