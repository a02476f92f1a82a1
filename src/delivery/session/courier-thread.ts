// The main thread's view of one courier thread: its sessions by number, and the port for their orders and
// messages. A dying thread's last messages are processed before its sessions end.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { unreachable } from '../../base/errors.ts';
import { HostedThread } from '../../threads/worker-host.ts';
import type {
  CourierHeartbeat,
  CourierOrder,
  CourierReport,
  CourierRequest,
  CourierSettings,
  CourierWorkerData,
  HostNote,
  SessionMessage,
  SessionMessages,
  SessionPlan,
} from '../courier/messages.ts';

interface CourierThreadKit {
  settings: CourierSettings;
  entry: URL;
  /** Delays the start; sessions given to it meanwhile wait. */
  startAfterMs: number;
  elapsed(): number;
  onHostNote(note: HostNote): void;
  /** It accepts no more sessions. */
  onDying(thread: CourierThread): void;
  /** It has ended, and so have its sessions. */
  onDead(thread: CourierThread): void;
}

export class CourierThread {
  readonly #kit: CourierThreadKit;
  #thread: HostedThread<HostNote | CourierHeartbeat> | null = null;
  readonly #delay: NodeJS.Timeout | null = null;
  readonly #port: MessagePort;
  readonly #links = new Map<number, WatchedLink>();
  #lastSession = 0;
  /** Why it died. */
  death: unknown = undefined;

  constructor(kit: CourierThreadKit) {
    this.#kit = kit;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#port.on('message', (messages: SessionMessages) => this.#receive(messages));
    this.#port.once('close', () => kit.onDying(this));
    if (kit.startAfterMs > 0) this.#delay = setTimeout(() => this.#begin(port2), kit.startAfterMs);
    else this.#begin(port2);
  }

  #begin(port: MessagePort): void {
    const { entry, settings, elapsed, onDying, onHostNote } = this.#kit;
    const options = {
      workerData: { ...settings, port } satisfies CourierWorkerData,
      transferList: [port],
      name: 'courier',
      // A fraction of V8's default: saves some 30 MB at the peak of two busy threads, at the same speed.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
      elapsed,
    };
    this.#thread = new HostedThread<HostNote | CourierHeartbeat>(entry, options, {
      onMessage(note) {
        if (note.kind !== 'alive') onHostNote(note);
      },
      onDying: (error) => {
        this.death = error;
        onDying(this);
      },
      onEnd: () => this.#end(),
    });
  }

  get links(): Iterable<WatchedLink> {
    return this.#links.values();
  }

  get sessions(): number {
    return this.#links.size;
  }

  /** The time since it started; 0 while its start is delayed. */
  get livedMs(): number {
    return this.#thread?.livedMs ?? 0;
  }

  get silentMs(): number {
    return this.#thread?.silentMs ?? 0;
  }

  start(plan: SessionPlan, onReport: (report: CourierReport) => void): WatchedLink {
    const session = ++this.#lastSession;
    const post = (request: CourierRequest) => this.#port.postMessage(request);
    const link = new WatchedLink((order) => post({ session, order }), onReport, this.#kit.elapsed);
    this.#links.set(session, link);
    post({ session, plan });
    void link.over.then(() => this.#links.delete(session));
    return link;
  }

  /** Processes the session's last messages first: they are valid all the same. */
  abandon(link: WatchedLink, reason: string): void {
    this.#receiveAll();
    link.abandon(reason);
  }

  async terminate(): Promise<void> {
    if (this.#thread) await this.#thread.end();
    else {
      if (this.#delay) clearTimeout(this.#delay);
      this.#end();
    }
  }

  #end(): void {
    this.#receiveAll();
    this.#port.close();
    for (const link of this.#links.values()) link.cut();
    this.#kit.onDead(this);
  }

  #receiveAll(): void {
    for (let last = receiveMessageOnPort(this.#port); last; last = receiveMessageOnPort(this.#port)) {
      this.#receive(last.message as SessionMessages);
    }
  }

  #receive(messages: SessionMessages): void {
    for (const [session, message] of messages) this.#links.get(session)?.receive(message);
  }
}

// The main thread's end of one courier session: sends orders, receives messages, and knows when the session
// last gave a sign of life.

export interface CourierLink {
  order(order: CourierOrder): void;
  /** Resolves when the session or its thread has ended, after its last report. */
  over: Promise<void>;
  /** Why the session ended without saying so; null: it ended properly. */
  readonly failure: string | null;
  /** Messages that are certainly not on the wire, because the courier never took their batch. */
  untaken(): Set<string>;
}

export class WatchedLink implements CourierLink {
  readonly over: Promise<void>;
  readonly #end: () => void;
  readonly #post: (order: CourierOrder) => void;
  readonly #onReport: (report: CourierReport) => void;
  readonly #elapsed: () => number;
  #failure: string | null = 'the courier thread died in the middle of the session';
  readonly #untakenBatches: string[][] = [];
  #inFlight = 0;
  #endOrdered = false;
  #aborted = false;
  #abandoned = false;
  #lastSignAt: number;

  constructor(post: (order: CourierOrder) => void, onReport: (report: CourierReport) => void, elapsed: () => number) {
    this.#post = post;
    this.#onReport = onReport;
    this.#elapsed = elapsed;
    this.#lastSignAt = elapsed();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
  }

  get failure(): string | null {
    return this.#failure;
  }

  untaken(): Set<string> {
    return new Set(this.#untakenBatches.flat());
  }

  get abandoned(): boolean {
    return this.#abandoned;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** It has messages in flight, or was ordered to end; otherwise it may wait as long as it likes. */
  get isBusy(): boolean {
    return this.#inFlight > 0 || this.#endOrdered;
  }

  get silentMs(): number {
    return this.#elapsed() - this.#lastSignAt;
  }

  order(order: CourierOrder): void {
    // A new order restarts the time limit.
    this.#lastSignAt = this.#elapsed();
    if (order.kind === 'batch') {
      this.#inFlight += order.messageIds.length;
      this.#untakenBatches.push(order.messageIds);
    } else if (order.kind !== 'withdraw') this.#endOrdered = true;
    if (order.kind === 'abort') this.#aborted = true;
    this.#post(order);
  }

  /** Gives up on a session that doesn't end; its thread lives on. */
  abandon(reason: string): void {
    this.#abandoned = true;
    if (this.#failure !== null) this.#failure = reason;
    this.#end();
  }

  /** Its thread has ended, and all its messages have been processed. */
  cut(): void {
    this.#end();
  }

  receive(message: SessionMessage): void {
    this.#lastSignAt = this.#elapsed();
    switch (message.kind) {
      case 'progress':
        return;
      case 'taken':
        this.#untakenBatches.shift();
        return;
      case 'over':
        this.#failure = null;
        this.#end();
        return;
      case 'result':
        this.#inFlight--;
        break;
      case 'untried':
      case 'withdrawn':
        this.#inFlight -= message.messageIds.length;
        break;
      case 'more':
      case 'connected':
        break;
      default:
        unreachable(message);
    }
    this.#onReport(message);
  }
}
