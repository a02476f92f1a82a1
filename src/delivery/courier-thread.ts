// One courier thread, as the main thread sees it: the sessions that it runs, by their numbers, and the
// line on which they are ordered and heard. What a dying thread has still said is heard before its
// sessions end.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type {
  CourierBirth,
  CourierCall,
  CourierHeartbeat,
  CourierNews,
  CourierReport,
  CourierSettings,
  HostNote,
  SessionPlan,
} from './courier/messages.ts';
import { WatchedLink } from './courier-link.ts';

export interface CourierThreadKit {
  settings: CourierSettings;
  entry: URL;
  elapsed(): number;
  onHostNote(note: HostNote): void;
  /** It takes no more sessions. */
  onDying(thread: CourierThread): void;
  /** It is no more, and its sessions are over. */
  onDead(thread: CourierThread): void;
}

export class CourierThread {
  readonly #kit: CourierThreadKit;
  readonly #worker: Worker;
  readonly #line: MessagePort;
  readonly #links = new Map<number, WatchedLink>();
  #lastSession = 0;
  #aliveAt: number;
  /** Why it died, as soon as it has. */
  death: unknown = undefined;

  constructor(kit: CourierThreadKit) {
    this.#kit = kit;
    this.#aliveAt = kit.elapsed();
    const { port1, port2 } = new MessageChannel();
    this.#line = port1;
    this.#worker = new Worker(kit.entry, {
      workerData: { ...kit.settings, line: port2 } satisfies CourierBirth,
      transferList: [port2],
      name: 'courier',
      // A fraction of V8's own measure: some 30 MB less at the peak of two busy threads, and as fast.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
    });
    this.#listen();
  }

  get links(): Iterable<WatchedLink> {
    return this.#links.values();
  }

  get sessions(): number {
    return this.#links.size;
  }

  get silentMs(): number {
    return this.#kit.elapsed() - this.#aliveAt;
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
    await this.#worker.terminate();
  }

  #listen(): void {
    const { onDying, onDead, onHostNote, elapsed } = this.#kit;
    this.#line.on('message', (news: CourierNews) => this.#hear(news));
    this.#line.once('close', () => onDying(this));
    this.#worker.on('message', (note: HostNote | CourierHeartbeat) => {
      this.#aliveAt = elapsed();
      if (note.kind !== 'alive') onHostNote(note);
    });
    this.#worker.on('error', (error) => {
      this.death = error;
      onDying(this);
      void this.#worker.terminate();
    });
    this.#worker.on('exit', () => {
      this.#hearAll();
      this.#line.close();
      for (const link of this.#links.values()) link.cut();
      onDead(this);
    });
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
