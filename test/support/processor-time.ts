// The processor time of programs, user and system with all their child processes: it says what something costs beside
// whatever else runs. Each is measured several times, in turns, and the least counts, because others only ever add.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { patience } from './patience.ts';

const ROUNDS = 7;

/** Of one run that must succeed, in ms, as bash's `time` says. */
export async function processorTime(command: readonly string[]): Promise<number> {
  const script = 'exec 3>/dev/null; TIMEFORMAT="%3U %3S"; time "$@" >&3';
  const options = { env: { PATH: process.env.PATH, LC_ALL: 'C' }, timeout: patience(60_000) };
  const { stderr } = await promisify(execFile)('bash', ['--norc', '-ec', script, 'bash', ...command], options);
  const [user, system] = stderr.trim().split(' ').map(Number);
  return (user! + system!) * 1000;
}

export async function leastOf<Name extends string>(
  commands: Readonly<Record<Name, readonly string[]>>,
): Promise<Record<Name, number>> {
  const least = {} as Record<Name, number>;
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of Object.keys(commands) as Name[]) {
      least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, await processorTime(commands[name]));
    }
  }
  return least;
}
