// What this node may send under limits that hold over all nodes: it takes portions of a limit from the store, 5 % each, and
// spends them without asking again. What it has not sent after a while goes back, so that others can have it.
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { Portion, PortionWish } from '../../store/limits.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { SentWithin } from './send-window.ts';

/** A store's answer may let mail be sent, or say until when it is held. */
export interface RoomListener {
  onRoom(group: string): void;
  onTenantRoom(tenantIds: ReadonlySet<string>): void;
}

interface Subject {
  kind: 'group' | 'tenant';
  name: string;
  spanMs: number;
}

export interface SharedWindowsKit {
  store: StoreVerbs<{ limits: 'takePortions' }>;
  clock: Clock;
  log: Logger;
}

const PORTION = 0.05;
/** Who waits for an answer asks again after this time. */
const ANSWER_MS = SECOND_MS;
/** A portion counts from when it was taken: the later it is sent, the more can fall into one span. Others may wait for it. */
const LONGEST_KEPT_MS = 30 * SECOND_MS;
const SPANS_PER_KEPT = 12;
const WISHES_PER_CALL = 500;

export class SharedWindows {
  readonly #kit: SharedWindowsKit;
  /** Those that count something. */
  readonly #windows = new Map<string, SharedWindow>();
  readonly #asking = new Set<SharedWindow>();
  #sending: Promise<void> | null = null;
  #listener: RoomListener | null = null;
  #isAway = false;

  constructor(kit: SharedWindowsKit) {
    this.#kit = kit;
  }

  ofGroup(name: string): SentWithin {
    return this.#window({ kind: 'group', name, spanMs: MINUTE_MS });
  }

  ofTenant(id: string): SentWithin {
    return this.#window({ kind: 'tenant', name: id, spanMs: HOUR_MS });
  }

  #window(subject: Subject): SharedWindow {
    const known = this.#windows.get(nameOf(subject));
    if (known) return known;
    const window = new SharedWindow(subject, {
      counts: () => void this.#windows.set(nameOf(subject), window),
      ask: () => {
        this.#asking.add(window);
        void this.#startSending();
      },
    });
    return window;
  }

  listen(listener: RoomListener): void {
    this.#listener = listener;
  }

  /** Gives back what was kept for too long, and asks for what others may have given back. */
  async tidy(): Promise<void> {
    const now = this.#kit.clock.now();
    for (const [name, window] of this.#windows) {
      if (!window.isOld(now)) continue;
      if (window.hasRest) this.#asking.add(window);
      else if (window.isAwaited) window.ask();
      else if (window.used(now) === 0) this.#windows.delete(name);
    }
    if (this.#asking.size > 0) await this.#startSending();
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    await this.#sending;
    for (const window of this.#windows.values()) {
      window.giveUp();
      if (window.hasRest) this.#asking.add(window);
    }
    if (this.#asking.size > 0) await this.#startSending();
  }

  #startSending(): Promise<void> {
    this.#sending ??= this.#sendAll();
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    // What is asked for within one turn goes together.
    await Promise.resolve();
    while (this.#asking.size > 0) {
      const windows = [...this.#asking].slice(0, WISHES_PER_CALL);
      for (const window of windows) this.#asking.delete(window);
      await this.#send(windows);
    }
    this.#sending = null;
  }

  /** Without an answer nobody knows what was taken or given back: it counts as taken. */
  async #send(windows: readonly SharedWindow[]): Promise<void> {
    const { store, clock, log } = this.#kit;
    const wishes = windows.map((window) => window.wish(clock.now()));
    try {
      const portions = await store.limits.takePortions(wishes);
      const now = clock.now();
      const awaited = windows.filter(({ isAwaited }) => isAwaited);
      windows.forEach((window, at) => void window.take(portions[at]!, now));
      if (this.#isAway) log.info({}, 'limits on sending: the daemons share them again');
      this.#isAway = false;
      this.#tell(awaited.map(({ subject }) => subject));
    } catch (error) {
      const reason = describeError(error);
      if (!this.#isAway) log.warn({ error, reason }, 'limits on sending: mail under a limit for all daemons waits');
      this.#isAway = true;
      for (const window of windows) window.answered();
    }
  }

  #tell(subjects: readonly Subject[]): void {
    const tenants = new Set<string>();
    for (const { kind, name } of subjects) {
      if (kind === 'group') this.#listener?.onRoom(name);
      else tenants.add(name);
    }
    if (tenants.size > 0) this.#listener?.onTenantRoom(tenants);
  }
}

function nameOf({ kind, name }: Subject): string {
  return `${kind} ${name}`;
}

interface WindowPort {
  ask(): void;
  /** It has something to count. */
  counts(): void;
}

class SharedWindow implements SentWithin {
  readonly subject: Subject;
  readonly #port: WindowPort;
  /** Of its portions. */
  #rest = 0;
  #limit = 1;
  /** Mail waits because all was used up. */
  isAwaited = false;
  #request: 'none' | 'waits' | 'sent' = 'none';
  /** What the store said last, and when. */
  #known: Portion & { at: number } = { granted: 0, taken: 0, freeInMs: 0, at: Number.NEGATIVE_INFINITY };

  constructor(subject: Subject, port: WindowPort) {
    this.subject = subject;
    this.#port = port;
  }

  get hasRest(): boolean {
    return this.#rest > 0;
  }

  add(count: number): void {
    this.#rest -= count;
  }

  takeBack(count: number): void {
    this.#rest += count;
    this.#port.counts();
  }

  /** By all nodes, as far as this one knows. */
  used(now: number): number {
    const { taken, at } = this.#known;
    return now - at > this.subject.spanMs + MINUTE_MS ? 0 : Math.max(0, taken - Math.max(0, this.#rest));
  }

  /** Asks for more ahead of need. */
  left(limit: number, now: number): number {
    this.#limit = limit;
    if (this.#rest < this.#portion / 2 && this.#freeAt <= now) this.ask();
    return this.#rest;
  }

  freeAt(limit: number, now: number): number {
    this.#limit = limit;
    if (this.#rest > 0) return now;
    this.isAwaited = true;
    if (this.#freeAt > now) return this.#freeAt;
    this.ask();
    return now + ANSWER_MS;
  }

  ask(): void {
    if (this.#request !== 'none') return;
    this.#request = 'waits';
    this.#port.ask();
  }

  /** The store keeps them. */
  toSlots(): [slot: number, count: number][] {
    return [];
  }

  isOld(now: number): boolean {
    return now - this.#known.at >= Math.min(LONGEST_KEPT_MS, this.subject.spanMs / SPANS_PER_KEPT);
  }

  giveUp(): void {
    this.#known.at = Number.NEGATIVE_INFINITY;
    this.#request = 'none';
  }

  wish(now: number): PortionWish {
    const returned = this.isOld(now) ? Math.max(0, this.#rest) : 0;
    this.#rest -= returned;
    const wanted = this.#request === 'waits' ? Math.max(0, this.#portion - Math.max(0, this.#rest)) : 0;
    if (this.#request === 'waits') this.#request = 'sent';
    return { subject: nameOf(this.subject), limit: this.#limit, spanMs: this.subject.spanMs, wanted, returned };
  }

  take(portion: Portion, now: number): void {
    this.#rest += portion.granted;
    this.#known = Object.assign({ at: now }, portion);
    this.isAwaited = false;
    this.answered();
    this.#port.counts();
  }

  answered(): void {
    if (this.#request === 'sent') this.#request = 'none';
  }

  get #portion(): number {
    return Math.max(1, Math.floor(this.#limit * PORTION));
  }

  get #freeAt(): number {
    return this.#known.at + this.#known.freeInMs;
  }
}
