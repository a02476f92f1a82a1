// One MX group: the line of lanes in front of it, and the sessions that are open to it. The
// number of open sessions is the limit of connections, whatever thread they run in.
import { describeError } from '../base/errors.ts';
import type { MailHost } from '../protocol/dns/mail-route.ts';
import type { ClaimedMessage } from '../store/queue.ts';
import type { Lane } from './lane.ts';
import { SessionHost, type SessionHostKit } from './session-host.ts';
import { Turns } from './turns.ts';

export interface GroupKit extends Omit<SessionHostKit, 'nextBatch' | 'onWaiting'> {
  maxSessions: number;
  /** Takes one of the sessions that may be open in all; false when none is left: the group will be pumped later. */
  takeSlot(group: Group): boolean;
  releaseSlot(): void;
  /** Marks what is due in the lane as being sent, and lets the lane rest until it is due again. */
  claim(lane: Lane, limit: number): Promise<ClaimedMessage[]>;
  random: () => number;
  onSessionEnd(group: Group): void;
  onError(message: string): void;
}

// A session starts with this many; the rest is asked for while it runs.
const FIRST_BATCH = 20;

export class Group {
  readonly name: string;
  readonly #kit: GroupKit;
  readonly #turns = new Turns();
  readonly #sessions = new Set<SessionHost>();
  readonly #waiting = new Set<SessionHost>();
  #starting = 0;
  #stopped = false;
  #hosts: MailHost[] = [];

  constructor(name: string, kit: GroupKit) {
    this.name = name;
    this.#kit = kit;
  }

  get idle(): boolean {
    return this.#turns.empty && this.#sessions.size === 0 && this.#starting === 0;
  }

  add(lane: Lane, hosts: MailHost[]): void {
    this.#hosts = hosts;
    lane.state = 'ready';
    this.#turns.add(lane);
    this.pump();
  }

  /** Hands the line to sessions that wait, then to new ones. */
  pump(): void {
    if (this.#turns.empty) return;
    const [waiting] = this.#waiting;
    if (waiting) {
      waiting.wake();
      return;
    }
    if (this.#sessions.size + this.#starting >= this.#kit.maxSessions || !this.#kit.takeSlot(this)) return;
    this.#starting++;
    void this.#startSession();
  }

  stop(): void {
    this.#stopped = true;
    for (const host of this.#sessions) host.stop();
  }

  async #startSession(): Promise<void> {
    try {
      const first = await this.#nextBatch(Math.min(FIRST_BATCH, this.#kit.messagesPerSession));
      this.#starting--;
      if (this.#stopped) await this.#kit.giveBack(first.map(({ id }) => id));
      else if (first.length > 0) await this.#runSession(first);
    } catch (error) {
      this.#kit.onError(`a session with ${this.name} failed: ${describeError(error)}`);
    } finally {
      this.#kit.releaseSlot();
      this.pump();
      this.#kit.onSessionEnd(this);
    }
  }

  async #runSession(first: ClaimedMessage[]): Promise<void> {
    const host = new SessionHost(this.name, {
      ...this.#kit,
      nextBatch: (limit) => this.#nextBatch(limit),
      onWaiting: (waitingHost, waiting) => this.#onWaiting(waitingHost, waiting),
    });
    this.#sessions.add(host);
    // More may be in line than one session takes.
    this.pump();
    try {
      await host.run(shuffleEquals(this.#hosts, this.#kit.random), first);
    } finally {
      this.#sessions.delete(host);
    }
  }

  #onWaiting(host: SessionHost, waiting: boolean): void {
    if (!waiting) this.#waiting.delete(host);
    else {
      this.#waiting.add(host);
      this.pump();
    }
  }

  async #nextBatch(limit: number): Promise<ClaimedMessage[]> {
    for (let lane = this.#turns.next(); lane; lane = this.#turns.next()) {
      const messages = await this.#kit.claim(lane, limit);
      if (messages.length > 0) return messages;
    }
    return [];
  }
}

/** RFC 5321 section 5.1: hosts of equal preference in random order, anew for each session. */
function shuffleEquals(hosts: MailHost[], random: () => number): MailHost[] {
  return hosts
    .map((host) => ({ host, lot: random() }))
    .sort((a, b) => a.host.preference - b.host.preference || a.lot - b.lot)
    .map(({ host }) => host);
}
