// One courier thread, as the main thread sees it: the sessions that it runs, by their numbers, and the
// line on which they are ordered and heard. What a dying thread has still said is heard before its
// sessions end.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { unreachable } from '../../base/errors.ts';
import { HostedThread } from '../../base/worker-host.ts';
import type {
  CourierBirth,
  CourierCall,
  CourierHeartbeat,
  CourierNews,
  CourierOrder,
  CourierReport,
  CourierSettings,
  HostNote,
  SessionPlan,
  SessionWord,
} from '../courier/messages.ts';

interface CourierThreadKit {
  settings: CourierSettings;
  entry: URL;
  /** Sessions that it is given meanwhile wait. */
  startAfterMs: number;
  elapsed(): number;
  onHostNote(note: HostNote): void;
  /** It takes no more sessions. */
  onDying(thread: CourierThread): void;
  /** It is no more, and its sessions are over. */
  onDead(thread: CourierThread): void;
}

export class CourierThread {
  readonly #kit: CourierThreadKit;
  #thread: HostedThread<HostNote | CourierHeartbeat> | null = null;
  readonly #delay: NodeJS.Timeout | null = null;
  readonly #line: MessagePort;
  readonly #links = new Map<number, WatchedLink>();
  #lastSession = 0;
  /** Why it died, as soon as it has. */
  death: unknown = undefined;

  constructor(kit: CourierThreadKit) {
    this.#kit = kit;
    const { port1, port2 } = new MessageChannel();
    this.#line = port1;
    this.#line.on('message', (news: CourierNews) => this.#hear(news));
    this.#line.once('close', () => kit.onDying(this));
    if (kit.startAfterMs > 0) this.#delay = setTimeout(() => this.#begin(port2), kit.startAfterMs);
    else this.#begin(port2);
  }

  #begin(line: MessagePort): void {
    const { entry, settings, elapsed, onDying, onHostNote } = this.#kit;
    const options = {
      workerData: { ...settings, line } satisfies CourierBirth,
      transferList: [line],
      name: 'courier',
      // A fraction of V8's own measure: some 30 MB less at the peak of two busy threads, and as fast.
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

  /** Since its start; it has not begun while it waits for that. */
  get livedMs(): number {
    return this.#thread?.livedMs ?? 0;
  }

  get silentMs(): number {
    return this.#thread?.silentMs ?? 0;
  }

  start(plan: SessionPlan, onReport: (report: CourierReport) => void): WatchedLink {
    const session = ++this.#lastSession;
    const call = (said: CourierCall) => this.#line.postMessage(said);
    const link = new WatchedLink((order) => call({ session, order }), onReport, this.#kit.elapsed);
    this.#links.set(session, link);
    call({ session, plan });
    void link.over.then(() => this.#links.delete(session));
    return link;
  }

  /** What the session said with its last breath is true all the same. */
  abandon(link: WatchedLink, reason: string): void {
    this.#hearAll();
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
    this.#hearAll();
    this.#line.close();
    for (const link of this.#links.values()) link.cut();
    this.#kit.onDead(this);
  }

  #hearAll(): void {
    for (let last = receiveMessageOnPort(this.#line); last; last = receiveMessageOnPort(this.#line)) {
      this.#hear(last.message as CourierNews);
    }
  }

  #hear(news: CourierNews): void {
    for (const [session, word] of news) this.#links.get(session)?.hear(word);
  }
}

// The main thread's end of one courier session: orders out, reports in, and how long ago the
// session last gave a sign of life.

export interface CourierLink {
  order(order: CourierOrder): void;
  /** Settles when the session is over, or its thread is: after its last report. */
  over: Promise<void>;
  /** Why it ended without a goodbye; null when it said one. */
  readonly fate: string | null;
  /** Of what was ordered: surely not on the wire, because the courier never took it. */
  untaken(): Set<string>;
}

export class WatchedLink implements CourierLink {
  readonly over: Promise<void>;
  readonly #end: () => void;
  readonly #post: (order: CourierOrder) => void;
  readonly #onReport: (report: CourierReport) => void;
  readonly #elapsed: () => number;
  #fate: string | null = 'the courier thread died in the middle of the session';
  readonly #untakenBatches: string[][] = [];
  #inHand = 0;
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

  get fate(): string | null {
    return this.#fate;
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

  /** Messages in hand, or a goodbye: without either, a session may wait for as long as it likes. */
  get owesSomething(): boolean {
    return this.#inHand > 0 || this.#endOrdered;
  }

  get silentMs(): number {
    return this.#elapsed() - this.#lastSignAt;
  }

  order(order: CourierOrder): void {
    // What was asked of it just now starts its time anew.
    this.#lastSignAt = this.#elapsed();
    if (order.kind === 'batch') {
      this.#inHand += order.messageIds.length;
      this.#untakenBatches.push(order.messageIds);
    } else this.#endOrdered = true;
    if (order.kind === 'abort') this.#aborted = true;
    this.#post(order);
  }

  /** Leaves a session behind that does not end by itself; its thread lives on. */
  abandon(reason: string): void {
    this.#abandoned = true;
    if (this.#fate !== null) this.#fate = reason;
    this.#end();
  }

  /** Its thread is no more, and all that it had said has been heard. */
  cut(): void {
    this.#end();
  }

  hear(word: SessionWord): void {
    this.#lastSignAt = this.#elapsed();
    switch (word.kind) {
      case 'progress':
        return;
      case 'taken':
        this.#untakenBatches.shift();
        return;
      case 'over':
        this.#fate = null;
        this.#end();
        return;
      case 'result':
        this.#inHand--;
        break;
      case 'untried':
        this.#inHand -= word.messageIds.length;
        break;
      case 'more':
      case 'connected':
        break;
      default:
        unreachable(word);
    }
    this.#onReport(word);
  }
}
