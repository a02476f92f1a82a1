// What a chaos run counts while it goes on: kills by moment, what was in flight at each, and what daemons logged.
import type { Daemon } from '../support/daemon-process.ts';
import type { Client } from './clients.ts';
import type { Executed } from './execute-kill.ts';
import type { CutResult } from './power-cut.ts';
import type { Receiver } from './receiver.ts';
import type { Reporter } from './reporter.ts';
import type { Kill } from './schedule.ts';
import type { AfterKill } from './store-under-test.ts';

export interface Losses {
  kills: number;
  byMoment: Record<string, number>;
  /** Of the kills. */
  powerCuts: number;
  /** Blocks that power cuts took back. */
  blocksLost: number;
  /** Summed over all kills. */
  inFlight: number;
  readonly promised: number;
  /** Messages that a 250 at the SMTP door promised. */
  readonly queued: number;
  readonly arrived: number;
  readonly twice: number;
  readonly repeats: number;
  readonly replays: number;
  readonly reports: number;
  /** Pieces of mails that kills cut off, at the end and before the sweep. */
  leftovers: number;
  /** Errors and warnings that daemons logged, with how often. */
  logged: Map<string, number>;
  /** Daemons that died without a kill, damaged databases. */
  problems: string[];
}

const COMPLAINTS = new Set(['warn', 'error', 'fatal']);
/** Said at each start of a daemon whose receiver is on loopback. */
const USUAL = /^delivery\.allow_private/;

export class Tally {
  readonly losses: Losses;
  isDamaged = false;
  /** How many kills fell while a message was in flight. */
  readonly inFlight = new Map<string, number>();

  constructor({ receiver, reporter }: { receiver: Receiver; reporter: Reporter }, clients: readonly Client[]) {
    const sum = (of: (client: Client) => number) => clients.reduce((total, client) => total + of(client), 0);
    this.losses = {
      kills: 0,
      byMoment: {},
      powerCuts: 0,
      blocksLost: 0,
      inFlight: 0,
      get promised() {
        return sum(({ promised }) => promised.length);
      },
      get queued() {
        return sum(({ queued }) => [...queued.values()].flat().length);
      },
      get arrived() {
        return receiver.times.size;
      },
      get twice() {
        return receiver.deliveredTwice;
      },
      get repeats() {
        return sum(({ repeats }) => repeats);
      },
      get replays() {
        return sum(({ replays }) => replays);
      },
      get reports() {
        return reporter.accepted.size;
      },
      leftovers: 0,
      logged: new Map(),
      problems: [],
    };
  }

  note(
    { kill, executed, cut }: { kill: Kill; executed: Executed; cut: CutResult | null },
    { inFlight, damage }: AfterKill,
  ): void {
    const { losses } = this;
    losses.kills++;
    const { moment } = kill;
    const name = moment === 'checkpoint' && !executed.hitCheckpoint ? 'load' : moment;
    losses.byMoment[name] = (losses.byMoment[name] ?? 0) + 1;
    if (cut !== null) {
      losses.powerCuts++;
      losses.blocksLost += cut.blocksLost;
    }
    losses.inFlight += inFlight.size;
    for (const id of inFlight) this.inFlight.set(id, (this.inFlight.get(id) ?? 0) + 1);
    const at = `kill ${kill.number} (${moment}${cut === null ? '' : ', power cut'})`;
    if (executed.diedAlone !== null) losses.problems.push(`before ${at} the daemon ${executed.diedAlone}`);
    this.isDamaged ||= damage !== null;
    if (damage !== null) losses.problems.push(`after ${at} the database is damaged: ${damage}`);
  }

  /** Keeps what a dead daemon complained of, and lets go of the rest: a thousand logs are much memory. */
  readLog(daemon: Daemon): void {
    for (const line of daemon.lines) {
      if (!COMPLAINTS.has(String(line.level)) || USUAL.test(line.msg)) continue;
      const text = `${line.level}: ${line.msg}`.slice(0, 160).replaceAll(/\d+/g, '0');
      this.losses.logged.set(text, (this.losses.logged.get(text) ?? 0) + 1);
    }
    daemon.lines.length = 0;
    daemon.output = '';
  }
}
