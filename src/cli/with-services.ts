// Runs a store command where the writer is. Beside a daemon that is the daemon, asked over its
// control socket; without one it is this process (operator/own-store.ts), which then holds the data folder's lock.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../config/keys.ts';
import { type Answer, failed } from '../operator/answer.ts';
import { askDaemon } from '../operator/control/control-client.ts';
import { type DataFolder, databaseProblem, dataFolder } from '../operator/data-folder.ts';
import type { StoreCommand } from './command.ts';
import type { RawArguments } from './parse-arguments.ts';
import { runStoreCommand } from './run-command.ts';

// A daemon that is just starting or stopping, or another command, holds the lock for a moment: seconds on a busy machine.
const LOCK_PATIENCE_MS = 10_000;
const LOCK_RETRY_MS = 50;

interface OwnProcess {
  config: Config;
  folder: DataFolder;
  lock: { release(): void };
  /** One sentence on standard error: what this process does besides, such as creating the master key. */
  say(text: string): void;
}

export async function runWhereTheWriterIs(
  command: StoreCommand,
  raw: RawArguments,
  { config, say }: Pick<OwnProcess, 'config' | 'say'>,
): Promise<Answer> {
  const options = withTypist(command, raw);
  const folder = dataFolder(config);
  for (let deadline = Number.POSITIVE_INFINITY; ; await sleep(LOCK_RETRY_MS)) {
    const answer = await askDaemon(folder.controlSocket, { command: command.name, options });
    if (answer) return answer;
    const problem = command.begins ? null : databaseProblem(folder);
    if (problem !== null) return failed(problem);
    // Without a daemon everything is needed: the store, and what decides about the queue.
    const { tryLock } = await import('../operator/own-store.ts');
    const lock = tryLock(folder);
    if (lock) return runHere(command, options, { config, folder, lock, say });
    // Counted from the first refusal: loading all that takes long on a busy machine.
    const now = systemClock.now();
    deadline = Math.min(deadline, now + LOCK_PATIENCE_MS);
    if (now >= deadline) return failed(nobodyAnswersIn(folder));
  }
}

async function runHere(command: StoreCommand, options: RawArguments, place: OwnProcess): Promise<Answer> {
  try {
    const { withOwnServices } = await import('../operator/own-services.ts');
    return await withOwnServices(place, (services) => runStoreCommand(command, options, services));
  } finally {
    place.lock.release();
  }
}

/** The daemon cannot see who asks it. */
function withTypist(command: StoreCommand, raw: RawArguments): RawArguments {
  const known = Object.entries(command.options).flatMap(([name, { loginName: typist }]) => {
    const found = raw[name] === undefined ? typist?.() : undefined;
    return found === undefined ? [] : [[name, found] as const];
  });
  return { ...Object.fromEntries(known), ...raw };
}

function nobodyAnswersIn({ dir, controlSocket }: DataFolder): string {
  return `another Postrider process uses ${dir}, but none answers at ${controlSocket}. If a daemon is starting or stopping, or another command is running, try again in a moment. If its control.sock was removed, restart the daemon`;
}
