// Takes down opens and clicks. A request only leaves a note in memory and is answered at once; the
// notes are written twice a second, in slices of many to a transaction, with room for other writers
// between them. What a crash loses is what came in the last moments; nothing else may be lost like that.
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { HitUpdate, LinkIndex, TrackingStore } from '../store/tracking.ts';
import { decideHits, type PendingHits } from './decide-hits.ts';
import type { TokenSubject } from './link-token.ts';
import { findMachineRule, type MachineRules } from './machine-rules.ts';

export interface HitRecorderKit {
  store: TrackingStore;
  rules: MachineRules;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  /** Events were written: somebody may wait for them. */
  onEvents?(): void;
}

/** One fetch of a pixel or a link. */
export interface Hit {
  subject: TokenSubject;
  link: LinkIndex;
  /** Where the link leads; empty for the pixel. */
  url: string;
  /** How many links the message has; 0 for the pixel. */
  linkCount: number;
  ip: string;
  userAgent: string | null;
}

/** Half of the second that a crash may cost; the other half is for the writing. */
const WRITE_AFTER_MS = 500;
/** What half a second has brought is written over most of the next half, so that sends come in between. */
const WRITE_OVER_MS = 350;
/** Messages per transaction, unless there are very many: a send waits for as long as they take. */
const SLICE_MESSAGES = 20;
/** More would not be written in time: under load the store's commits keep a distance of some milliseconds. */
const MOST_SLICES = 50;
/** Some 50 MB, and five seconds at 10,000 clicks per second. What comes beyond is answered and not counted. */
const MOST_WAITING_LINKS = 50_000;
/** Longer ones are cut: no browser's has half of it, and events are kept for months. */
const MAX_AGENT_CHARS = 512;

interface WaitingMessage {
  subject: TokenSubject;
  links: Map<LinkIndex, PendingHits>;
}

export class HitRecorder {
  readonly #kit: HitRecorderKit;
  /** By message id. */
  #waiting = new Map<string, WaitingMessage>();
  #waitingLinks = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #closed = false;

  constructor(kit: HitRecorderKit) {
    this.#kit = kit;
  }

  note({ subject, link, url, linkCount, ip, userAgent }: Hit): void {
    if (this.#closed) return;
    const known = this.#waiting.get(subject.messageId)?.links.get(link);
    // Once a person was seen, machines of the same moment change nothing.
    if (known && known.shown.machineReason === null) {
      known.hits++;
      known.lastAt = this.#kit.clock.now();
      return;
    }
    const at = this.#kit.clock.now();
    const rule = findMachineRule(this.#kit.rules, link === null ? 'open' : 'click', { ip, userAgent });
    const agent = userAgent?.slice(0, MAX_AGENT_CHARS) ?? null;
    const shown = { at, ip, userAgent: agent, machineReason: rule?.reason ?? null };
    this.#add(subject, { link, url, linkCount, hits: 1, firstAt: at, lastAt: at, shown });
    this.#schedule();
  }

  /** Writes what waits now. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#write(0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.flush();
    if (this.#waitingLinks > 0) this.#kit.log.error({ links: this.#waitingLinks }, 'opens and clicks are lost');
  }

  #add(subject: TokenSubject, hits: PendingHits): void {
    const message = this.#waiting.get(subject.messageId) ?? { subject, links: new Map() };
    const known = message.links.get(hits.link);
    if (known) {
      message.links.set(hits.link, together(known, hits));
      return;
    }
    if (this.#waitingLinks >= MOST_WAITING_LINKS) {
      this.#dropped++;
      return;
    }
    message.links.set(hits.link, hits);
    this.#waiting.set(subject.messageId, message);
    this.#waitingLinks++;
  }

  #schedule(): void {
    if (this.#timer || this.#writing || this.#closed || this.#waitingLinks === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#write(WRITE_OVER_MS);
    }, WRITE_AFTER_MS);
  }

  #write(overMs: number): Promise<void> {
    this.#writing ??= this.#writeAll(overMs).finally(() => {
      this.#writing = null;
      this.#schedule();
    });
    return this.#writing;
  }

  async #writeAll(overMs: number): Promise<void> {
    const messages = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#waitingLinks = 0;
    const startedAt = performance.now();
    const inOne = Math.max(SLICE_MESSAGES, Math.ceil(messages.length / MOST_SLICES));
    for (let from = 0; from < messages.length; from += inOne) {
      const earlyMs = startedAt + (overMs * from) / messages.length - performance.now();
      if (earlyMs >= 1 && !this.#closed) await pause(earlyMs);
      try {
        await this.#writeSlice(messages.slice(from, from + inOne));
      } catch (error) {
        this.#keep(messages.slice(from), error);
        break;
      }
    }
    if (this.#dropped === 0) return;
    this.#kit.log.warn({ dropped: this.#dropped }, 'more opens and clicks than can be counted: some were not');
    this.#dropped = 0;
  }

  async #writeSlice(messages: readonly WaitingMessage[]): Promise<void> {
    const { store, rules, ids } = this.#kit;
    const kit = { timing: rules.timing, nextId: () => ids.next() };
    const updates: HitUpdate[] = [];
    for (const { subject, links } of messages) {
      const message = await store.findTracked(subject.tenantId, subject.messageId);
      // Deleted by retention: its links go on working, and there is nobody to count them for.
      if (message) updates.push(...decideHits(message, [...links.values()], kit));
    }
    await store.recordHits(updates);
    if (updates.some(({ event }) => event !== null)) this.#kit.onEvents?.();
  }

  #keep(messages: readonly WaitingMessage[], error: unknown): void {
    this.#kit.log.error(
      { error, messages: messages.length },
      `opens and clicks could not be written, and are kept: ${describeError(error)}`,
    );
    for (const { subject, links } of messages) for (const hits of links.values()) this.#add(subject, hits);
  }
}

function together(one: PendingHits, other: PendingHits): PendingHits {
  const [earlier, later] = one.firstAt <= other.firstAt ? [one, other] : [other, one];
  const isMachine = ({ shown }: PendingHits) => shown.machineReason !== null;
  return {
    ...earlier,
    hits: one.hits + other.hits,
    lastAt: Math.max(one.lastAt, other.lastAt),
    shown: isMachine(earlier) && !isMachine(later) ? later.shown : earlier.shown,
  };
}
