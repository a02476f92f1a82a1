// The main thread's side of one courier session: gives it batches, passes its results to the recorder,
// keeps it open for more mail, and accounts for its messages if it dies.
import { type Clock, MINUTE_MS } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import { noPeer } from '../../base/outcome.ts';
import type { Logger } from '../../observe/log.ts';
import { requeued } from '../../observe/mail-log.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { CourierReport, CourierResult, SessionPlan } from '../courier/messages.ts';
import type { Judgement } from '../outcome/judge.ts';
import type { AttemptResult, Recorder } from '../outcome/recorder.ts';
import { findSkipped, hostsFor, type Interfaces } from '../route/source-addresses.ts';
import type { CourierPool } from './courier-pool.ts';
import type { CourierLink } from './courier-thread.ts';

export interface SessionKit {
  pool: CourierPool;
  /** The network interfaces of this machine. */
  readInterfaces?: (() => Interfaces) | undefined;
  recorder: Pick<Recorder, 'record'>;
  clock: Clock;
  log: Logger;
  judge(result: CourierResult, message: ClaimedMessage): Judgement;
  messagesPerSession: number;
  lingerMs: number;
}

/** What a session needs from its group. */
export interface SessionPort {
  /** The next messages for this session; empty: nothing is due. */
  nextBatch(limit: number): Promise<ClaimedMessage[]>;
  /** Returns messages that were claimed but not tried to the queue; they are due then, or now. */
  giveBack(messages: readonly ClaimedMessage[], dueAt?: number): Promise<void>;
  /** Learns from an attempt about the receiver. False: it was no attempt, and the message goes back to the queue. */
  learn(finding: AttemptResult): boolean;
  /** The server accepted the connection. */
  onConnected(): void;
  /** The session lingers and can take mail (`true`), or no longer does (`false`). */
  onWaiting(host: SessionHost, waiting: boolean): void;
}

/** A message that cannot be read now: at once it would be the first again, and keep others of its lane waiting. */
const UNAVAILABLE_PAUSE_MS = MINUTE_MS;
// Large enough that asking for more costs little beside sending, small enough that turns rotate.
const BATCH_MESSAGES = 50;

export class SessionHost {
  readonly #kit: SessionKit;
  readonly #port: SessionPort;
  readonly #group: string;
  readonly #inFlight = new Map<string, ClaimedMessage>();
  /** Who waits for messages back, in the order of the orders: so they are answered. */
  readonly #withdrawals: ((messages: ClaimedMessage[]) => void)[] = [];
  #link: CourierLink | null = null;
  #given = 0;
  #lingering: NodeJS.Timeout | null = null;
  #ending = false;
  #connected = false;
  /** No host accepted a connection: what its batch has left fails with it. */
  #failed = false;
  /** Some hosts have no known address, or none that ours can reach, so their answer is unknown. */
  #skipped = false;
  #feeding: Promise<void> = Promise.resolve();
  #givingBack: Promise<unknown> = Promise.resolve();

  constructor(group: string, kit: SessionKit, port: SessionPort) {
    this.#group = group;
    this.#kit = kit;
    this.#port = port;
  }

  /** Whether its connection is open. */
  get connected(): boolean {
    return this.#connected;
  }

  /** It takes no more mail. */
  get isEnding(): boolean {
    return this.#ending;
  }

  /**
   * Runs the session to its end. Its results are with the recorder by then, but need not be on disk: a row that
   * can't be written must not block a connection slot.
   */
  async run({ hosts, source }: Omit<SessionPlan, 'skipped'>, first: ClaimedMessage[]): Promise<void> {
    const reachable = hostsFor(source, hosts);
    this.#skipped = reachable.length < hosts.length;
    // With a source address, hosts of the other family are left out already.
    const skipped = source === null ? findSkipped(reachable, this.#kit.readInterfaces) : null;
    const link = await this.#open({ hosts: reachable, source, skipped }, first);
    this.#give(first);
    await link.over;
    this.#ending = true;
    this.#stopLingering();
    await this.#feeding;
    // A session that ends properly has reported every message.
    const failure = link.failure ?? 'the courier ended the session without a result for this message';
    const judgement: Judgement = {
      kind: 'temporary',
      peer: noPeer('prepare', failure),
      reason: failure,
      ambiguous: true,
      retryAfterMs: null,
    };
    // A courier sends messages in the order of its batches: only the first one of those it took can have been on
    // the wire.
    const untaken = link.untaken();
    const onTheWire = [...this.#inFlight.values()].find(({ id }) => !untaken.has(id));
    if (onTheWire) this.#record({ message: onTheWire, startedAt: this.#kit.clock.now(), judgement });
    this.#onUntried([...this.#inFlight.values()].filter((message) => message !== onTheWire));
    await this.#givingBack;
  }

  /** There is mail for the lingering session: the next in line, or what is on its way here already. */
  wake(coming?: Promise<ClaimedMessage[]>): void {
    if (this.#stopLingering()) this.#feeding = this.#feed(coming);
  }

  /** Gives up those of the messages of which no command has been sent; they are the caller's then. */
  async withdraw(messageIds: readonly string[]): Promise<ClaimedMessage[]> {
    const asked = messageIds.filter((id) => this.#inFlight.has(id));
    if (asked.length === 0 || !this.#link) return [];
    const { promise, resolve } = Promise.withResolvers<ClaimedMessage[]>();
    this.#withdrawals.push(resolve);
    this.#link.order({ kind: 'withdraw', messageIds: asked });
    void this.#link.over.then(() => resolve([]));
    return await promise;
  }

  /** Finishes what is on the wire, and what was announced after it; the others go back to the queue. */
  stop(): void {
    this.#ending = true;
    this.#stopLingering();
    this.#link?.order({ kind: 'stop' });
  }

  /** If no thread can run it, its messages go back to the queue. */
  async #open(plan: SessionPlan, first: ClaimedMessage[]): Promise<CourierLink> {
    try {
      this.#link = this.#kit.pool.start(plan, (report) => this.#onReport(report));
      return this.#link;
    } catch (error) {
      await this.#port.giveBack(first);
      throw error;
    }
  }

  #give(messages: ClaimedMessage[]): void {
    for (const message of messages) this.#inFlight.set(message.id, message);
    this.#given += messages.length;
    const messageIds = messages.map(({ id }) => id);
    const contents = messages.flatMap(({ content }) => content ?? []);
    this.#link!.order(contents.length > 0 ? { kind: 'batch', messageIds, contents } : { kind: 'batch', messageIds });
    for (const message of messages) message.content = undefined;
  }

  #onReport(report: CourierReport): void {
    switch (report.kind) {
      case 'result':
        this.#onResult(report);
        break;
      case 'untried':
        this.#onUntried(
          report.messageIds.flatMap((id) => this.#inFlight.get(id) ?? []),
          report.reason,
        );
        break;
      case 'withdrawn':
        this.#onWithdrawn(report);
        break;
      case 'connected':
        this.#connected = true;
        this.#port.onConnected();
        break;
      case 'more':
        this.#feeding = this.#feed();
        break;
      default:
        unreachable(report);
    }
  }

  #onResult({ messageId, startedAt, result, stages }: Extract<CourierReport, { kind: 'result' }>): void {
    const message = this.#inFlight.get(messageId);
    if (!message) return;
    this.#inFlight.delete(messageId);
    const sameFailure = this.#failed;
    // Other mail of this group should not try again at once.
    if (result.kind === 'no_connection') {
      this.#failed = true;
      this.#ending = true;
      this.#connected = false;
    }
    const some = result.kind === 'no_connection' && this.#skipped;
    const judgement = this.#kit.judge(some ? { ...result, asked: 'some' } : result, message);
    this.#record({ message, startedAt, judgement, sameFailure, ...(stages && { stages }) });
  }

  #onWithdrawn({ messageIds }: Extract<CourierReport, { kind: 'withdrawn' }>): void {
    const messages = messageIds.flatMap((id) => this.#inFlight.get(id) ?? []);
    for (const { id } of messages) this.#inFlight.delete(id);
    this.#withdrawals.shift()?.(messages);
  }

  #onUntried(messages: readonly ClaimedMessage[], reason?: string): void {
    const { clock, log } = this.#kit;
    const dueAt = clock.now() + (reason === undefined ? 0 : UNAVAILABLE_PAUSE_MS);
    for (const message of messages) {
      this.#inFlight.delete(message.id);
      if (reason !== undefined) requeued(log, message, { reason, dueAt });
    }
    if (messages.length === 0) return;
    this.#givingBack = Promise.all([this.#givingBack, this.#port.giveBack(messages, dueAt)]);
  }

  #record(result: Omit<AttemptResult, 'mxGroup'>): void {
    const finding = { ...result, mxGroup: this.#group };
    if (this.#port.learn(finding)) void this.#kit.recorder.record(finding);
    else this.#onUntried([result.message]);
  }

  async #feed(coming?: Promise<ClaimedMessage[]>): Promise<void> {
    const room = Math.min(BATCH_MESSAGES, this.#kit.messagesPerSession - this.#given);
    if (this.#ending || room <= 0) {
      this.#end();
      return;
    }
    const messages = await (coming ?? this.#port.nextBatch(room));
    // The session may have been stopped while the store was claiming.
    if (this.#ending) {
      this.#onUntried(messages);
      this.#end();
    } else if (messages.length > 0) this.#give(messages);
    else this.#linger();
  }

  #linger(): void {
    this.#lingering = setTimeout(() => {
      if (this.#stopLingering()) this.#end();
    }, this.#kit.lingerMs);
    this.#port.onWaiting(this, true);
  }

  #end(): void {
    this.#ending = true;
    this.#link?.order({ kind: 'end' });
  }

  /** Whether it was lingering. */
  #stopLingering(): boolean {
    if (this.#lingering === null) return false;
    clearTimeout(this.#lingering);
    this.#lingering = null;
    this.#port.onWaiting(this, false);
    return true;
  }
}
