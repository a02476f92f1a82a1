// Processes the mails in the store, in order, a few at a time. New mail and mail left by a crashed daemon are
// read from the same place. Mails that a crashed daemon may have been processing (suspects) come first, one at a
// time and each recorded before, so that a mail that crashes the daemon is identified; other mail needs no such
// record. When that takes long, suspects and other mail take turns: during the others' turn no suspect is recorded,
// so a try counts only against a mail that was processed alone.

import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { ContentQuota, InboundSuspect, WaitingInboundMail } from '../store/inbound.ts';
import type { Owner } from '../store/owners.ts';
import type { StoreVerbs } from '../store/store.ts';
import { MailWork, type MailWorkKit } from './mail-work.ts';

export interface ProcessorKit extends MailWorkKit {
  store: MailWorkKit['store'] &
    StoreVerbs<{ inbound: 'waitingInbound' | 'noteInterruptedInbound' | 'noteInboundTrial' | 'noteInboundReach' }>;
  /** The pause before a retry after a failure; for tests. */
  afterFaultMs?: number;
  /** How long a suspect is processed alone; for tests. */
  aloneMs?: number;
  /** The length of a turn of the suspects, and of the others; for tests. */
  turnMs?: number;
}

/** Some wait for DNS; one commit can record many. */
const MAX_AT_ONCE = 128;
/** Mails received within this time are processed together, in one commit. Their senders already have their 250. */
const BATCH_DELAY_MS = 10;
const AFTER_FAULT_MS = SECOND_MS;
/** A report can arrive before its delivery is recorded, which happens within moments. */
const LATER_MS = SECOND_MS;
const MAX_DELAYS = 10;
/** With more delayed mails, none is delayed any more. */
const MAX_DELAYED = 500;
/** Mails in progress are in memory in full: beyond this, the next one waits in the store. */
const MAX_BYTES_AT_ONCE = 64 * 1024 * 1024;
/** Mails are processed in order, so returned mail waits for these, whose writers choose how long their DNS takes. */
const MAX_UNASKED_WAITING = 500;
/** Of each slot. More than are ever in progress or delayed, and those are the oldest waiting mails. */
const MAX_SUSPECTS = 1024;
/** A mail in progress for longer is waiting for DNS: one that crashes the daemon doesn't yield its thread. */
const ALONE_MS = SECOND_MS;
const TURN_MS = 5 * SECOND_MS;
/** With more suspects, no other mail is processed in between: each crash could add to them. */
const MAX_REACH = 8192;

export class InboundProcessor {
  readonly #kit: ProcessorKit;
  readonly #work: MailWork;
  readonly #working = new Map<number, Promise<void>>();
  readonly #delayed = new Map<number, NodeJS.Timeout>();
  #bytesWorking = 0;
  #bytesDelayed = 0;
  #cursor = 0;
  /** Mails of no message that were kept since the last time that none waited. */
  #unasked = 0;
  #pumping: Promise<void> | null = null;
  #again = false;
  #retry: NodeJS.Timeout | null = null;
  /** The store fails: nothing new is begun, so the mails in progress stay the oldest that wait. */
  #storeFails = false;
  #trials: Promise<void> | null = null;
  /** Slots that were gained are taken up one after the other. */
  #takingUp: Promise<void> = Promise.resolve();
  #isOthersTurn = false;
  /** The last suspect's seq; 0: there is none any more. Later mail is processed in the others' turns. */
  #lastSuspect = 0;
  readonly #stopping = new AbortController();

  constructor(kit: ProcessorKit) {
    this.#kit = kit;
    this.#work = new MailWork(kit);
  }

  /** Begins with mail left by the last run, and later with mail of owners that have died. */
  async start(): Promise<void> {
    const { ownership } = this.#kit;
    ownership.listen({
      gained: (slots) => {
        const gained = slots.flatMap((slot) => ownership.of(slot) ?? []);
        this.#takingUp = this.#takingUp.then(() => this.#takeUp(gained)).catch((error) => this.#retryLater(error));
      },
    });
    this.#takingUp = this.#takeUp(ownership.all);
    await this.#takingUp;
  }

  async #takeUp(owners: readonly Owner[]): Promise<void> {
    await this.#trials;
    if (this.#stopped) return;
    const suspects = await this.#kit.store.inbound.noteInterruptedInbound(owners, MAX_SUSPECTS);
    if (suspects.length > 0) {
      this.#kit.log.info({ mails: suspects.length }, 'processing inbound mail left from the last run');
      this.#again = true;
      this.#lastSuspect = Math.max(...suspects.map(({ seq }) => seq));
      this.#cursor = this.#lastSuspect;
      this.#trials = this.#trySuspects(suspects).finally(() => {
        this.#trials = null;
        this.#lastSuspect = 0;
        this.rescan();
      });
    } else this.rescan();
  }

  /** There is new mail in the store. */
  notice(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (this.#isSuspectsTurn || this.#storeFails) return;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = null;
      if (this.#again && this.#hasRoom) this.notice();
    });
  }

  noticeKept(of: ContentQuota['of']): void {
    if (of === 'unasked') this.#unasked++;
    this.notice();
  }

  /** No more mail of no message should be accepted for now. */
  get isBehind(): boolean {
    return this.#unasked >= MAX_UNASKED_WAITING;
  }

  /** A processed mail was put back: its seq is below the cursor, so the search starts again. */
  rescan(): void {
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
    return !this.#storeFails && !this.#isSaturated;
  }

  get #isSaturated(): boolean {
    return this.#working.size >= MAX_AT_ONCE || this.#bytesWorking >= MAX_BYTES_AT_ONCE;
  }

  /** Finishes the mails in progress; waiting mail is left to the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#retry) clearTimeout(this.#retry);
    for (const timer of this.#delayed.values()) clearTimeout(timer);
    this.#delayed.clear();
    await this.#trials;
    await this.#pumping;
    await Promise.all(this.#working.values());
  }

  async #trySuspects(suspects: readonly InboundSuspect[]): Promise<void> {
    const { store, ownership, clock, afterFaultMs = AFTER_FAULT_MS, turnMs = TURN_MS } = this.#kit;
    const reach = suspects.length + MAX_AT_ONCE + MAX_DELAYED;
    let turnBegan = clock.now();
    for (const { seq } of suspects) {
      if (this.#stopped) break;
      while (!this.#stopped && this.#isSaturated) await Promise.race(this.#working.values());
      while (!this.#stopped && !(await this.#tryOne(seq))) await this.#pause(afterFaultMs);
      if (clock.now() - turnBegan < turnMs || reach > MAX_REACH) continue;
      await this.#letOthersWork(reach, turnMs);
      turnBegan = clock.now();
    }
    const onError = (error: unknown) => this.#retryLater(error);
    await store.inbound.noteInboundTrial(ownership.all, null).catch(onError);
    // A mail still in progress at the stop may crash the daemon.
    if (!this.#stopped) await store.inbound.noteInboundReach(ownership.all, null).catch(onError);
  }

  /** A crash in here is blamed on no mail: the mails in progress are among the next start's suspects. */
  async #letOthersWork(reach: number, turnMs: number): Promise<void> {
    const { store, ownership, aloneMs = ALONE_MS } = this.#kit;
    try {
      await store.inbound.noteInboundReach(ownership.all, reach);
      await store.inbound.noteInboundTrial(ownership.all, null);
    } catch (error) {
      this.#retryLater(error);
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
    // As with a suspect: a mail still in progress then waits for DNS, and has yielded the thread.
    await Promise.race([Promise.all(this.#working.values()), this.#pause(aloneMs)]);
  }

  #pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  /** False: the store failed. A crash in here counts as a try against this mail. */
  async #tryOne(seq: number): Promise<boolean> {
    const { store, ownership, aloneMs = ALONE_MS } = this.#kit;
    const over = new AbortController();
    try {
      if (!(await store.inbound.noteInboundTrial(ownership.all, seq))) return true;
      const [mail] = await store.inbound.waitingInbound(ownership.slots, seq - 1, 1);
      if (mail?.seq !== seq) return true;
      this.#begin(mail, 0);
      await Promise.race([this.#working.get(seq), pause(aloneMs, null, { signal: over.signal }).catch(() => {})]);
      return true;
    } catch (error) {
      this.#retryLater(error);
      return false;
    } finally {
      over.abort();
    }
  }

  async #pump(): Promise<void> {
    await pause(BATCH_DELAY_MS);
    try {
      while (this.#again && !this.#stopped && this.#hasRoom && !this.#isSuspectsTurn) {
        this.#again = false;
        const { store, ownership } = this.#kit;
        const limit = MAX_AT_ONCE - this.#working.size;
        const mails = await store.inbound.waitingInbound(ownership.slots, this.#cursor, limit);
        for (const mail of mails) {
          this.#cursor = Math.max(this.#cursor, mail.seq);
          if (!this.#working.has(mail.seq) && !this.#delayed.has(mail.seq)) this.#begin(mail, 0);
        }
        if (mails.length > 0) this.#again = true;
        else this.#unasked = 0;
      }
    } catch (error) {
      this.#storeFails = true;
      this.#retryLater(error);
    }
  }

  #begin(mail: WaitingInboundMail, delays: number): void {
    this.#bytesWorking += mail.content.length;
    const work = this.#workOn(mail, delays)
      .catch((error: unknown) => this.#retryLater(error))
      .finally(() => {
        this.#working.delete(mail.seq);
        this.#bytesWorking -= mail.content.length;
        if (this.#again) this.notice();
      });
    this.#working.set(mail.seq, work);
  }

  async #workOn(mail: WaitingInboundMail, delays: number): Promise<void> {
    const canWait = this.#delayed.size < MAX_DELAYED && this.#bytesDelayed < MAX_BYTES_AT_ONCE;
    const worked = await this.#work.workOn(mail, delays < MAX_DELAYS && canWait);
    if (worked.kind === 'later') this.#delay(mail, delays + 1);
    if (worked.kind !== 'failed') return;
    if (worked.storeFails) this.#storeFails = true;
    this.#retryLater(worked.error);
  }

  #delay(mail: WaitingInboundMail, delays: number): void {
    if (this.#stopped) return;
    this.#bytesDelayed += mail.content.length;
    const timer = setTimeout(() => {
      this.#delayed.delete(mail.seq);
      this.#bytesDelayed -= mail.content.length;
      this.#begin(mail, delays);
    }, LATER_MS);
    this.#delayed.set(mail.seq, timer);
  }

  /** Nothing is lost: a mail that could not be read or recorded is still in the store and is read again. */
  #retryLater(error: unknown): void {
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
