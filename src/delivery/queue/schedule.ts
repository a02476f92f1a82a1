// Mail for later: queues scheduled messages when their time comes, and ends those whose address has been suppressed
// meanwhile. It knows the time of the next message, and reads the rest from the store when that has come.
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { type EndWaitingKit, giveUp } from '../../events/end-waiting.ts';
import type { Logger } from '../../observe/log.ts';
import { failed } from '../../observe/mail-log.ts';
import { suppressionKeyOf } from '../../protocol/mail/addresses/address.ts';
import type { SuppressedLater, WaitingMessage } from '../../store/queue.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';

export interface ScheduleKit extends EndWaitingKit {
  store: EndWaitingKit['store'] & StoreVerbs<{ queue: 'nextScheduled' | 'dueScheduled' | 'queueScheduled' }>;
  log: Logger;
  /** In the sandbox: recipients that are sent to even after a bounce or complaint has suppressed them. */
  staysUsable?: ((address: string) => boolean) | undefined;
  onLanes(lanes: LaneNotice[]): void;
}

// Small portions, so that a hundred thousand messages of the same minute don't block other mail.
const PORTION = 500;
/** A clock may be set forward, and another process may schedule mail. */
const LOOK_EVERY_MS = MINUTE_MS;
const AFTER_FAULT_MS = SECOND_MS;

export class Schedule {
  readonly #kit: ScheduleKit;
  #alarm: NodeJS.Timeout | null = null;
  /** When the alarm rings. */
  #at = Number.POSITIVE_INFINITY;
  #running: Promise<void> | null = null;
  /** Noticed while it was looking. */
  #again = false;
  #stopped = false;

  constructor(kit: ScheduleKit) {
    this.#kit = kit;
  }

  /** Queues what is due, and waits for what comes next. */
  start(): void {
    this.#look();
  }

  /** Something has been scheduled for this time. */
  notice(sendAt: number): void {
    if (this.#running) this.#again = true;
    // What is due already: the clock may have been set forward since the alarm was set.
    else if (sendAt < this.#at || sendAt <= this.#kit.clock.now()) this.#ringAt(sendAt);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#alarm) clearTimeout(this.#alarm);
    await this.#running;
  }

  #ringAt(time: number): void {
    if (this.#stopped) return;
    if (this.#alarm) clearTimeout(this.#alarm);
    this.#at = time;
    this.#alarm = setTimeout(() => this.#look(), Math.max(0, time - this.#kit.clock.now()));
  }

  #look(): void {
    if (this.#alarm) clearTimeout(this.#alarm);
    this.#at = Number.POSITIVE_INFINITY;
    this.#again = false;
    this.#running = this.#queueDue().then((next) => {
      this.#running = null;
      this.#ringAt(this.#again ? this.#kit.clock.now() : next);
    });
  }

  /** Returns when to look again. */
  async #queueDue(): Promise<number> {
    const { store, clock, log, onLanes } = this.#kit;
    try {
      while (!this.#stopped) {
        const now = clock.now();
        const due = await store.queue.dueScheduled(now, PORTION);
        if (due.length === 0) break;
        const { lanes, suppressed } = await store.queue.queueScheduled(
          due.map((one) => this.#asDue(one)),
          now,
        );
        onLanes(lanes);
        const ended = await this.#endAll(due, suppressed);
        // A portion of which nothing can be moved would be read again and again.
        if (lanes.length === 0 && ended === 0) return now + AFTER_FAULT_MS;
      }
      const next = (await store.queue.nextScheduled()) ?? Number.POSITIVE_INFINITY;
      return Math.min(next, clock.now() + LOOK_EVERY_MS);
    } catch (error) {
      log.error({ error }, `scheduled mail could not be queued: ${describeError(error)}`);
      return clock.now() + AFTER_FAULT_MS;
    }
  }

  #asDue({ id, tenantId, recipient }: WaitingMessage) {
    const staysUsable = this.#kit.staysUsable?.(recipient) ?? false;
    return { id, tenantId, suppressionKey: suppressionKeyOf(recipient), staysUsable };
  }

  /** Concurrently, so that a portion is one commit. */
  async #endAll(due: WaitingMessage[], suppressed: SuppressedLater[]): Promise<number> {
    const byId = new Map(due.map((message) => [message.id, message]));
    const ended = await Promise.all(suppressed.map(({ id, reason }) => this.#end(byId.get(id)!, reason)));
    return ended.filter(Boolean).length;
  }

  async #end(message: WaitingMessage, suppression: SuppressedLater['reason']): Promise<boolean> {
    const reason = `on the suppression list (${suppression}) when its time came`;
    if (!(await giveUp(this.#kit, message, reason))) return false;
    failed(this.#kit.log, message, { reason, attempts: 0, attempt: null });
    return true;
  }
}
