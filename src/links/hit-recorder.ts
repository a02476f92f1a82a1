// Records opens and clicks. Requests note them here and are answered at once. They stay in memory for a moment, and are
// then written in small slices, with room for other writers between them. A crash loses the last moments of them;
// nothing else may be lost like that.

import { setTimeout as pause } from 'node:timers/promises';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { LinkIndex, NewHits } from '../store/tracking.ts';
import type { TokenSubject } from './link-token.ts';
import { findMachineRule, type MachineRules, rulesForAgent } from './machine-rules.ts';

export interface HitRecorderKit {
  store: StoreVerbs<{ tracking: 'recordHits' }>;
  rules: MachineRules;
  clock: Clock;
  ids: IdSource;
  log: Pick<Logger, 'warn' | 'error'>;
}

/** One fetch of a pixel or a link. */
export interface Hit {
  subject: TokenSubject;
  link: LinkIndex;
  /** The link's target; empty for the pixel. */
  url: string;
  /** The number of links in the message; 0 for the pixel. */
  linkCount: number;
  ip: string;
  userAgent: string | null;
}

/** A quarter of the second that a crash may lose: further fetches of the same link are written together. */
const WRITE_AFTER_MS = 250;
/** From one transaction to the next. A steady trickle, since bursts would make mail wait. */
const WRITE_EVERY_MS = 10;
/** Messages per transaction: accepting mail waits for that long. */
const SLICE_MESSAGES = 20;
/** At least this fraction of the due messages per slice, so that thousands at once are written in time, too. */
const SHARE_OF_DUE = 10;
/** Some 50 MB, and five seconds at 10,000 clicks per second. Further ones are answered and not counted. */
const MAX_WAITING_LINKS = 50_000;
/** Longer ones are truncated: no browser's is half as long, and events are kept for months. */
const MAX_AGENT_CHARS = 512;
/** Most programs are among the same few hundred. */
const MAX_CACHED_AGENTS = 500;

interface WaitingMessage {
  subject: TokenSubject;
  /** When the first of its hits was noted. */
  sinceMs: number;
  links: NewHits[];
}

export class HitRecorder {
  readonly #kit: HitRecorderKit;
  /** By message id. */
  readonly #waiting = new Map<string, WaitingMessage>();
  /** The rules that may match, by User-Agent. */
  readonly #rulesByAgent = new BoundedMap<string | null, MachineRules>(MAX_CACHED_AGENTS);
  #waitingLinks = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  /** Pause after a failure, since the next attempt would likely fail, too. */
  #pausedUntil = 0;
  #closed = false;

  constructor(kit: HitRecorderKit) {
    this.#kit = kit;
  }

  note({ subject, link, url, linkCount, ip, userAgent }: Hit): void {
    if (this.#closed) return;
    const at = this.#kit.clock.now();
    const known = this.#waiting.get(subject.messageId)?.links.find((hits) => hits.link === link);
    // Once a human fetch was seen, further fetches only count.
    if (known && known.shown.machineReason === null) {
      known.hits++;
      known.lastAt = at;
      return;
    }
    const rule = findMachineRule(this.#rulesFor(userAgent), link === null ? 'open' : 'click', { ip, userAgent });
    const agent = userAgent === null || userAgent.length <= MAX_AGENT_CHARS ? userAgent : copyOfBeginning(userAgent);
    const shown = { at, ip, userAgent: agent, machineReason: rule?.reason ?? null };
    const eventId = this.#kit.ids.next();
    this.#add(subject, { link, url, linkCount, hits: 1, firstAt: at, lastAt: at, shown, eventId });
    this.#schedule();
  }

  /** Writes everything that waits now. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#write({ atOnce: true });
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.flush();
    if (this.#waitingLinks > 0) this.#kit.log.error({ links: this.#waitingLinks }, 'opens and clicks are lost');
  }

  #rulesFor(userAgent: string | null): MachineRules {
    if (userAgent !== null && userAgent.length > MAX_AGENT_CHARS) return this.#kit.rules;
    const known = this.#rulesByAgent.use(userAgent);
    if (known) return known;
    const rules = rulesForAgent(this.#kit.rules, userAgent);
    this.#rulesByAgent.set(userAgent, rules);
    return rules;
  }

  #add(subject: TokenSubject, hits: NewHits): void {
    const message = this.#waiting.get(subject.messageId) ?? { subject, sinceMs: performance.now(), links: [] };
    const known = message.links.findIndex(({ link }) => link === hits.link);
    if (known >= 0) {
      message.links[known] = merge(message.links[known]!, hits);
      return;
    }
    if (this.#waitingLinks >= MAX_WAITING_LINKS) {
      this.#dropped++;
      return;
    }
    message.links.push(hits);
    this.#waiting.set(subject.messageId, message);
    this.#waitingLinks++;
  }

  #schedule(): void {
    const [oldest] = this.#waiting.values();
    if (this.#timer || this.#writing || this.#closed || oldest === undefined) return;
    const dueAt = Math.max(oldest.sinceMs + WRITE_AFTER_MS, this.#pausedUntil);
    // Timers fire up to a millisecond early, when it would not be due yet.
    const waitMs = Math.max(0, dueAt - performance.now()) + 1;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#write({ atOnce: false });
    }, waitMs);
  }

  #write(how: { atOnce: boolean }): Promise<void> {
    this.#writing ??= this.#writeWaiting(how).finally(() => {
      this.#writing = null;
      this.#schedule();
    });
    return this.#writing;
  }

  async #writeWaiting({ atOnce }: { atOnce: boolean }): Promise<void> {
    for (;;) {
      const isUrgent = atOnce || this.#closed;
      const slice = this.#takeDue(isUrgent ? 0 : WRITE_AFTER_MS);
      if (slice.length === 0) break;
      const nextAt = performance.now() + WRITE_EVERY_MS;
      try {
        await this.#writeSlice(slice);
      } catch (error) {
        this.#keep(slice, error);
        break;
      }
      if (!isUrgent) await pause(Math.max(0, nextAt - performance.now()));
    }
    if (this.#dropped === 0) return;
    this.#kit.log.warn({ dropped: this.#dropped }, 'too many opens and clicks; some were not counted');
    this.#dropped = 0;
  }

  /** Some of the messages that have waited for so long, the oldest first. */
  #takeDue(waitedMs: number): WaitingMessage[] {
    const latest = performance.now() - waitedMs;
    const due: WaitingMessage[] = [];
    for (const message of this.#waiting.values()) {
      if (message.sinceMs > latest) break;
      due.push(message);
    }
    const slice = due.slice(0, Math.max(SLICE_MESSAGES, Math.ceil(due.length / SHARE_OF_DUE)));
    for (const { subject, links } of slice) {
      this.#waiting.delete(subject.messageId);
      this.#waitingLinks -= links.length;
    }
    return slice;
  }

  #writeSlice(messages: readonly WaitingMessage[]): Promise<void> {
    const { store, rules } = this.#kit;
    const hits = messages.map(({ subject: { tenantId, messageId }, links }) => ({ tenantId, messageId, links }));
    return store.tracking.recordHits(hits, rules.timing);
  }

  #keep(messages: readonly WaitingMessage[], error: unknown): void {
    this.#kit.log.error(
      { error, messages: messages.length },
      `opens and clicks could not be written, and are kept: ${describeError(error)}`,
    );
    for (const { subject, links } of messages) for (const hits of links) this.#add(subject, hits);
    this.#pausedUntil = performance.now() + WRITE_AFTER_MS;
  }
}

/** A slice alone would keep the whole string in memory. */
function copyOfBeginning(userAgent: string): string {
  return Buffer.from(userAgent.slice(0, MAX_AGENT_CHARS)).toString();
}

function merge(one: NewHits, other: NewHits): NewHits {
  const [earlier, later] = one.firstAt <= other.firstAt ? [one, other] : [other, one];
  const isMachine = ({ shown }: NewHits) => shown.machineReason !== null;
  return {
    ...earlier,
    hits: one.hits + other.hits,
    lastAt: Math.max(one.lastAt, other.lastAt),
    shown: isMachine(earlier) && !isMachine(later) ? later.shown : earlier.shown,
  };
}
