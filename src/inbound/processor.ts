// Acts on the mails that the store holds, in their order, a few at a time. There is one way in: what
// came a moment ago and what a dead daemon left behind are read from the same place. What a dead daemon may
// have had in work is worked on first, one mail at a time and each noted before, so that a mail that ends the
// daemon is found by itself; what comes later costs no such note. Where that takes long, the two take turns: while
// others are worked on, no suspect is noted, so a try still counts against the mail that is in work alone.

import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { InboundSuspect, WaitingInboundMail } from '../store/inbound.ts';
import type { StoreVerbs } from '../store/store.ts';
import { MailWork, type MailWorkKit } from './mail-work.ts';

export interface ProcessorKit extends MailWorkKit {
  store: MailWorkKit['store'] &
    StoreVerbs<{ inbound: 'waitingInbound' | 'noteInterruptedInbound' | 'noteInboundTrial' | 'noteInboundReach' }>;
  /** Before what failed is tried again; for tests. */
  afterFaultMs?: number;
  /** How long a suspect is worked on alone; for tests. */
  aloneMs?: number;
  /** How long suspects are worked on before it is the others' turn, and the other way round; for tests. */
  turnMs?: number;
}

/** Some wait for the DNS; a commit bears many at once. */
const MOST_AT_ONCE = 128;
/** What comes within this time is acted on together, and costs one commit. Nobody waits for it: 250 was said. */
const BREATH_MS = 10;
const AFTER_FAULT_MS = SECOND_MS;
/** A report that was faster than our own record of the delivery: that is written within moments. */
const LATER_MS = SECOND_MS;
const MOST_DELAYS = 10;
/** Beyond that, nobody waits for anything any more. */
const MOST_DELAYED = 500;
/** Each mail in hand is in memory whole: beyond this, the next one waits in the store. */
const MOST_OCTETS_AT_ONCE = 64 * 1024 * 1024;
/** There is one daemon per database; several will be told apart by this. */
const WORKER = 'daemon';
/** More than are in work or delayed at any time, and these are the first of what waits. */
const MAX_SUSPECTS = 1024;
/** What still works after this long waits for the DNS: what ends a daemon does not let go of its thread. */
const ALONE_MS = SECOND_MS;
const TURN_MS = 5 * SECOND_MS;
/** Beyond so many suspects nothing is worked on beside them: each end of the daemon could add to them. */
const MAX_REACH = 8192;

export class InboundProcessor {
  readonly #kit: ProcessorKit;
  readonly #work: MailWork;
  readonly #working = new Map<number, Promise<void>>();
  readonly #delayed = new Map<number, NodeJS.Timeout>();
  #octetsWorking = 0;
  #octetsDelayed = 0;
  #cursor = 0;
  #pumping: Promise<void> | null = null;
  #again = false;
  #retry: NodeJS.Timeout | null = null;
  /** The store takes no notes: nothing is begun, so what is in work stays among the first of what waits. */
  #storeFails = false;
  #trials: Promise<void> | null = null;
  #isOthersTurn = false;
  /** The last mail that is tried alone; 0 when none is any more. What came behind it is worked on beside. */
  #lastSuspect = 0;
  readonly #stopping = new AbortController();

  constructor(kit: ProcessorKit) {
    this.#kit = kit;
    this.#work = new MailWork(kit);
  }

  /** Begins with what waits since before the start. */
  async start(): Promise<void> {
    const suspects = await this.#kit.store.inbound.noteInterruptedInbound(WORKER, MAX_SUSPECTS);
    if (suspects.length > 0) {
      this.#kit.log.info({ mails: suspects.length }, 'processing inbound mail left from the last run');
      this.#again = true;
      this.#lastSuspect = Math.max(...suspects.map(({ seq }) => seq));
      this.#cursor = this.#lastSuspect;
      this.#trials = this.#tryAlone(suspects).finally(() => {
        this.#trials = null;
        this.#lastSuspect = 0;
        this.lookAgain();
      });
    } else this.notice();
  }

  /** There is something new in the store. */
  notice(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (this.#isSuspectsTurn || this.#storeFails) return;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = null;
      if (this.#again && this.#hasRoom) this.notice();
    });
  }

  /** A mail waits again that had been acted on: it has come before all that is looked for now. */
  lookAgain(): void {
    this.#cursor = this.#lastSuspect;
    this.notice();
  }

  get #isSuspectsTurn(): boolean {
    return this.#trials !== null && !this.#isOthersTurn;
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  get #hasRoom(): boolean {
    return !this.#storeFails && !this.#isLaden;
  }

  get #isLaden(): boolean {
    return this.#working.size >= MOST_AT_ONCE || this.#octetsWorking >= MOST_OCTETS_AT_ONCE;
  }

  /** Finishes what it has begun; what waits is the next daemon's. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#retry) clearTimeout(this.#retry);
    for (const timer of this.#delayed.values()) clearTimeout(timer);
    this.#delayed.clear();
    await this.#trials;
    await this.#pumping;
    await Promise.all(this.#working.values());
  }

  async #tryAlone(suspects: readonly InboundSuspect[]): Promise<void> {
    const { store, clock, afterFaultMs = AFTER_FAULT_MS, turnMs = TURN_MS } = this.#kit;
    const reach = suspects.length + MOST_AT_ONCE + MOST_DELAYED;
    let turnBegan = clock.now();
    for (const { seq } of suspects) {
      if (this.#stopped) break;
      while (!this.#stopped && this.#isLaden) await Promise.race(this.#working.values());
      while (!this.#stopped && !(await this.#isTriedAlone(seq))) await this.#pause(afterFaultMs);
      if (clock.now() - turnBegan < turnMs || reach > MAX_REACH) continue;
      await this.#letOthersWork(reach, turnMs);
      turnBegan = clock.now();
    }
    await store.inbound.noteInboundTrial(WORKER, null).catch((error: unknown) => this.#startOver(error));
    // What a stopping daemon still has in work may end it.
    if (!this.#stopped)
      await store.inbound.noteInboundReach(WORKER, null).catch((error: unknown) => this.#startOver(error));
  }

  /** When the daemon ends in here, no mail is blamed: what was in work is among the suspects of the next one. */
  async #letOthersWork(reach: number, turnMs: number): Promise<void> {
    const { store, aloneMs = ALONE_MS } = this.#kit;
    try {
      await store.inbound.noteInboundReach(WORKER, reach);
      await store.inbound.noteInboundTrial(WORKER, null);
    } catch (error) {
      this.#startOver(error);
      return;
    }
    let isOver = false;
    const over = this.#pause(turnMs).then(() => {
      isOver = true;
    });
    this.#isOthersTurn = true;
    while (!isOver && this.#again && !this.#stopped) {
      this.notice();
      await Promise.race([over, this.#pumping ?? over, ...this.#working.values()]);
    }
    this.#isOthersTurn = false;
    await this.#pumping;
    // As with a suspect: what still works then waits for the DNS, and has let go of the thread.
    await Promise.race([Promise.all(this.#working.values()), this.#pause(aloneMs)]);
  }

  #pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  /** False: the store failed. When the daemon ends in here, the next one counts a try against this mail. */
  async #isTriedAlone(seq: number): Promise<boolean> {
    const { store, aloneMs = ALONE_MS } = this.#kit;
    const over = new AbortController();
    try {
      await store.inbound.noteInboundTrial(WORKER, seq);
      const [mail] = await store.inbound.waitingInbound(seq - 1, 1);
      if (mail?.seq !== seq) return true;
      this.#begin(mail, 0);
      await Promise.race([this.#working.get(seq), pause(aloneMs, null, { signal: over.signal }).catch(() => {})]);
      return true;
    } catch (error) {
      this.#startOver(error);
      return false;
    } finally {
      over.abort();
    }
  }

  async #pump(): Promise<void> {
    await pause(BREATH_MS);
    try {
      while (this.#again && !this.#stopped && this.#hasRoom && !this.#isSuspectsTurn) {
        this.#again = false;
        const mails = await this.#kit.store.inbound.waitingInbound(this.#cursor, MOST_AT_ONCE - this.#working.size);
        for (const mail of mails) {
          this.#cursor = Math.max(this.#cursor, mail.seq);
          if (!this.#working.has(mail.seq) && !this.#delayed.has(mail.seq)) this.#begin(mail, 0);
        }
        if (mails.length > 0) this.#again = true;
      }
    } catch (error) {
      this.#storeFails = true;
      this.#startOver(error);
    }
  }

  #begin(mail: WaitingInboundMail, delays: number): void {
    this.#octetsWorking += mail.content.length;
    const work = this.#workOn(mail, delays)
      .catch((error: unknown) => this.#startOver(error))
      .finally(() => {
        this.#working.delete(mail.seq);
        this.#octetsWorking -= mail.content.length;
        if (this.#again) this.notice();
      });
    this.#working.set(mail.seq, work);
  }

  async #workOn(mail: WaitingInboundMail, delays: number): Promise<void> {
    const canWait = this.#delayed.size < MOST_DELAYED && this.#octetsDelayed < MOST_OCTETS_AT_ONCE;
    const worked = await this.#work.workOn(mail, delays < MOST_DELAYS && canWait);
    if (worked.kind === 'later') this.#delay(mail, delays + 1);
    if (worked.kind !== 'failed') return;
    if (worked.storeFails) this.#storeFails = true;
    this.#startOver(worked.error);
  }

  #delay(mail: WaitingInboundMail, delays: number): void {
    if (this.#stopped) return;
    this.#octetsDelayed += mail.content.length;
    const timer = setTimeout(() => {
      this.#delayed.delete(mail.seq);
      this.#octetsDelayed -= mail.content.length;
      this.#begin(mail, delays);
    }, LATER_MS);
    this.#delayed.set(mail.seq, timer);
  }

  /** Nothing is lost: what could not be read or written is still in the store, and is read again. */
  #startOver(error: unknown): void {
    if (this.#stopped || this.#retry) return;
    this.#kit.log.error({ error }, `inbound mail could not be processed and stays queued: ${describeError(error)}`);
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#storeFails = false;
      this.#cursor = this.#lastSuspect;
      this.notice();
    }, this.#kit.afterFaultMs ?? AFTER_FAULT_MS);
  }
}
