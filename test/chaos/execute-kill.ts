// Carries out one kill of the schedule: waits for its moment, ends the daemon, and says what it left.
import { setTimeout as pause } from 'node:timers/promises';
import type { Daemon, Ended } from '../support/daemon-process.ts';
import { patience } from '../support/patience.ts';
import type { Scene } from './scene.ts';
import type { Kill } from './schedule.ts';

/** A life is at least as long as a start takes: on a busy machine a shorter one gets nothing done. */
const LONGEST_LOAD_MS = 800;
const LONGEST_SHUTDOWN_MS = 300;
const BEFORE_SHUTDOWN_MS = 200;
const LONGEST_CHECKPOINT_MS = 10;
/** Whether a checkpoint comes depends on how much was written; without one, the kill is one under load. */
const CHECKPOINT_FENCE_MS = 2000;
/** A kill in the start may come a little after it, too. */
const BEYOND_START = 1.1;
const ORDERS_PER_LIFE = 120;

export interface Executed {
  /** Null: it was killed, as planned. Otherwise how it ended before that. */
  diedAlone: string | null;
  /** It had ended on request before the kill. */
  endedInTime: boolean;
  /** A checkpoint was waited for and seen. */
  hitCheckpoint: boolean;
}

export interface KillKit {
  scene: Scene;
  checkpointBegins(signal: AbortSignal): Promise<void>;
  /** How long a start takes here. */
  startMs: number;
}

export async function executeKill(kill: Kill, { scene, checkpointBegins, startMs }: KillKit): Promise<Executed> {
  const { daemon } = scene;
  let hitCheckpoint = false;
  if (kill.moment === 'start') {
    await pause(kill.fraction * startMs * BEYOND_START);
  } else {
    // Whoever waits for a daemon that ends by itself hears of it below.
    await daemon.ready.catch(() => {});
    scene.allowOrders(ORDERS_PER_LIFE);
  }
  if (kill.moment === 'load') await pause(kill.fraction * Math.max(LONGEST_LOAD_MS, startMs));
  if (kill.moment === 'shutdown') await pause(BEFORE_SHUTDOWN_MS);
  if (kill.moment === 'checkpoint') {
    const fence = AbortSignal.timeout(patience(CHECKPOINT_FENCE_MS));
    await checkpointBegins(fence);
    hitCheckpoint = !fence.aborted;
    await pause(kill.fraction * LONGEST_CHECKPOINT_MS);
  }
  const diedAlone = daemon.running ? null : describeDeath(daemon, await daemon.ended);
  if (kill.moment === 'shutdown') {
    daemon.signal('SIGTERM');
    await pause(kill.fraction * LONGEST_SHUTDOWN_MS);
  }
  const ended = await daemon.kill();
  const endedInTime = kill.moment === 'shutdown' && ended.signal === null;
  if (endedInTime && ended.code !== 0) return { diedAlone: describeDeath(daemon, ended), endedInTime, hitCheckpoint };
  return { diedAlone, endedInTime, hitCheckpoint };
}

export function describeDeath({ output }: Daemon, { code, signal }: Ended): string {
  return `ended with ${signal ?? `exit code ${code}`}: ${output.slice(-1500)}`;
}
