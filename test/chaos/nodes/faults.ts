// What befalls the machines, the database and the network between them, drawn from a seed: the same seed gives the same
// faults in the same order, whatever the machine does meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { postgresMissing } from '../../support/postgres-server.ts';
import { noCompiler } from '../../support/preloaded-library.ts';
import { noSteppingClock } from '../../support/stepping-clock.ts';
import { randomFor } from '../schedule.ts';
import type { Cluster } from './cluster.ts';
import type { Machine } from './machine.ts';

/** Shares of a hundred. */
const SHARES = {
  /** SIGKILL, and a start at once. */
  kill: 14,
  /** SIGKILL, and no start before others have its work. */
  lose: 7,
  /** As systemd does it. */
  restart: 11,
  /** SIGSTOP for longer than its leases. */
  halt: 9,
  /** All connections to the database end. */
  disconnect: 11,
  /** The answer to a COMMIT does not come back. */
  cut_answer: 13,
  /** Its way to the database is there and says nothing, for longer than its leases. */
  silence: 6,
  /** Its way to the database is gone for seconds. */
  refuse: 8,
  /** The receiving server hangs up on everyone. */
  no_receiver: 5,
  /** The standby dies, and comes back after seconds. */
  lose_standby: 4,
  /** The primary dies, and the standby is promoted. */
  promote: 4,
  /** Each commit waits for the disks of both servers, for longer than leases last. */
  slow_disk: 4,
  /** Its clock jumps by a minute, and back after longer than its leases. */
  step_clock: 4,
} as const;

export type FaultName = keyof typeof SHARES;

export interface Fault {
  number: number;
  name: FaultName;
  /** Which of the machines. */
  machine: number;
  /** After it, from 0 to 1. */
  quiet: number;
}

export interface FaultKit {
  cluster: Cluster;
  receiver: { isAway: boolean };
  /** Settles when none of the slots is that machine's any more; it died at `since` of performance.now(). */
  untilTakenOver(machine: Machine, since: number): Promise<void>;
}

/** A machine's leases last ten seconds, and another one takes them two later. */
const BEYOND_LEASES_MS = 14_000;
const SECONDS_MS = 3000;
/** A commit takes two of them, one on each server; a lease is renewed every three seconds. */
const SLOW_SYNC_MS = 1500;
const STEP_SECONDS = 60;
const NAMES = Object.keys(SHARES) as FaultName[];
/** How many there are: that many faults have each of them. */
export const KINDS = NAMES.length;
const OF_ALL: ReadonlySet<FaultName> = new Set(['disconnect', 'no_receiver', 'lose_standby', 'promote', 'slow_disk']);

/** Why they cannot be carried out here, or false. */
export function missingForFaults(): string | false {
  return postgresMissing() || noCompiler || noSteppingClock;
}

/** Each once, then by their shares. */
export function* faultsOf(seed: number, machines: number): Generator<Fault> {
  const random = randomFor(seed, 'faults');
  const first = NAMES.map((name) => ({ name, at: random() })).sort((one, other) => one.at - other.at);
  for (let number = 1; ; number++) {
    const name = first[number - 1]?.name ?? nameOf(random() * 100);
    yield { number, name, machine: Math.floor(random() * machines), quiet: random() };
  }
}

/** Whether a message that is in hand may then arrive a second time, or have an attempt without a record. */
export function cutsOff({ name }: Fault): boolean {
  return name !== 'no_receiver' && name !== 'step_clock';
}

function nameOf(draw: number): FaultName {
  let upTo = 0;
  for (const name of NAMES) {
    upTo += SHARES[name];
    if (draw < upTo) return name;
  }
  return 'kill';
}

export function describeFault({ name }: Fault, { name: machine }: Machine): string {
  return OF_ALL.has(name) ? name : `${name} of ${machine}`;
}

/** Settles when it is over and healed. */
export async function carryOut(fault: Fault, machine: Machine, kit: FaultKit): Promise<void> {
  await CARRY_OUT[fault.name](machine, kit, fault);
}

const CARRY_OUT: Record<FaultName, (machine: Machine, kit: FaultKit, fault: Fault) => Promise<unknown>> = {
  async kill(machine) {
    await machine.daemon.kill();
    machine.daemon = await machine.postrider.serve();
  },
  async lose(machine, { untilTakenOver }) {
    const since = performance.now();
    await machine.daemon.kill();
    await untilTakenOver(machine, since);
    machine.daemon = await machine.postrider.serve();
  },
  async restart(machine) {
    const { code, signal } = await machine.daemon.stop();
    if (code !== 0)
      throw new Error(`${machine.name} ended with ${signal ?? code}: ${machine.daemon.output.slice(-1500)}`);
    machine.daemon = await machine.postrider.serve();
  },
  async halt(machine) {
    machine.isHalted = true;
    machine.daemon.signal('SIGSTOP');
    await pause(BEYOND_LEASES_MS);
    machine.daemon.signal('SIGCONT');
    machine.isHalted = false;
  },
  async disconnect(_machine, { cluster }) {
    await cluster.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name LIKE 'postrider-%' AND datname = current_database()`);
  },
  async cut_answer({ toDatabase }) {
    for (const proxy of toDatabase) proxy.cutAnswerTo('COMMIT');
    await pause(SECONDS_MS);
  },
  async silence({ toDatabase }) {
    for (const proxy of toDatabase) proxy.hold();
    await pause(BEYOND_LEASES_MS);
    for (const proxy of toDatabase) proxy.release();
  },
  async refuse({ toDatabase }) {
    for (const proxy of toDatabase) proxy.refuse(true);
    for (const proxy of toDatabase) proxy.cut();
    await pause(SECONDS_MS);
    for (const proxy of toDatabase) proxy.refuse(false);
  },
  async no_receiver(_machine, { receiver }) {
    receiver.isAway = true;
    await pause(SECONDS_MS);
    receiver.isAway = false;
  },
  lose_standby: (_machine, { cluster }) => cluster.replaceStandby(() => pause(SECONDS_MS)),
  promote: (_machine, { cluster }) => cluster.promote(),
  slow_disk: (_machine, { cluster }) => cluster.slowDisks(SLOW_SYNC_MS, () => pause(BEYOND_LEASES_MS)),
  async step_clock({ clock, daemon }, _kit, { number }) {
    const from = daemon.lines.length;
    clock.stepTo(number % 2 === 0 ? STEP_SECONDS : -STEP_SECONDS);
    await pause(BEYOND_LEASES_MS);
    // It compares the clocks with each renewal of its leases, and takes off what the answer may have taken.
    const isSeen = () =>
      daemon.lines.slice(from).some(({ msg }) => /^the clock of this machine is (?:59|60)\./.test(String(msg)));
    await daemon.until(isSeen, 'see that its clock has jumped');
    clock.stepTo(0);
  },
};
