// Keeps worker threads going. HostedThread is one life of one thread: it is started, heard, and ended, and says once
// that it is over. WorkerHost keeps one thread, or one pool of them, running: what is lost is started again, after
// pauses that grow while it does not work (restart-pauses.ts), and what gives no sign of life is ended.
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { describeError, Fault } from './errors.ts';
import { RestartPauses } from './restart-pauses.ts';

type Transfers = Parameters<Worker['postMessage']>[1];

export interface ThreadListener<Message> {
  onMessage(message: Message): void;
  /** It throws, and is about to end: nothing new should be given to it. */
  onDying?(error: unknown): void;
  /** It is no more. Null: it ended without an error. */
  onEnd(error: unknown): void;
}

export interface HostedThreadOptions extends WorkerOptions {
  /** Milliseconds that only ever grow; a clock that is set must not end threads. */
  elapsed?(): number;
}

export class HostedThread<Message> {
  readonly #worker: Worker;
  readonly #elapsed: () => number;
  readonly #bornAt: number;
  #aliveAt: number;
  #error: unknown = null;
  readonly #exited = Promise.withResolvers<void>();

  constructor(
    entry: URL,
    { elapsed = () => performance.now(), ...options }: HostedThreadOptions,
    { onMessage, onDying, onEnd }: ThreadListener<Message>,
  ) {
    this.#elapsed = elapsed;
    this.#bornAt = elapsed();
    this.#aliveAt = this.#bornAt;
    this.#worker = new Worker(entry, options);
    this.#worker.on('message', (message: Message) => {
      this.#aliveAt = elapsed();
      onMessage(message);
    });
    this.#worker.on('error', (error) => {
      this.#error = error;
      onDying?.(error);
      void this.#worker.terminate();
    });
    this.#worker.once('exit', () => {
      this.#exited.resolve(); // first: whoever hears of the end may throw
      onEnd(this.#error);
    });
  }

  get livedMs(): number {
    return this.#elapsed() - this.#bornAt;
  }

  /** Since its last message. */
  get silentMs(): number {
    return this.#elapsed() - this.#aliveAt;
  }

  /** Settles when it has ended; before `onEnd` is called. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  post(message: unknown, transfers?: Transfers): void {
    this.#worker.postMessage(message, transfers);
  }

  /** Whether it keeps the process from ending. */
  hold(on: boolean): void {
    if (on) this.#worker.ref();
    else this.#worker.unref();
  }

  /** At once, whatever it is at. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** What one life of the hosted tells its host. After `lost` nothing more is heard of it. */
export interface Life {
  /** It works: should it be lost, it is started again at once. */
  works(): void;
  /** A sign of life. */
  alive(): void;
  /** It is over, or will never do what it is for. */
  lost(error: unknown): void;
}

export interface Hosted {
  end(): Promise<void>;
}

export interface WorkerHostOptions<T extends Hosted> {
  /** What it is called in faults. */
  name: string;
  start(life: Life): T;
  /** It is started again after the pause. `lost`: what is left of it; null when it could not even be started. */
  onLost(fault: Fault, lost: T | null, pauseMs: number): void;
  /** Null: no watchdog. */
  silence?: SilenceRule<T> | null;
  elapsed?(): number;
}

export interface SilenceRule<T> {
  limitMs: number;
  /** Whether it has something to do. Who has nothing to do may be silent. */
  owes(hosted: T): boolean;
}

const LOOKS_PER_LIMIT = 8;

/*
 * The host starts a life at once. While it runs, a sign of life, or having nothing to do, keeps the watchdog away. A
 * life that is lost, or silent for too long, is over: `onLost` is told, and after a pause the next one is started. The
 * pause is none when it has worked, and otherwise grows. Ending the host ends the life, and starts no other.
 */
export class WorkerHost<T extends Hosted> {
  readonly #options: WorkerHostOptions<T>;
  readonly #elapsed: () => number;
  readonly #pauses = new RestartPauses();
  readonly #watch: NodeJS.Timeout | null = null;
  #current: T | null = null;
  /** Of the present life; whatever earlier ones say is too late. */
  #number = 0;
  #hasWorked = false;
  #bornAt = 0;
  #aliveAt = 0;
  #restart: NodeJS.Timeout | null = null;
  #losses = 0;

  constructor(options: WorkerHostOptions<T>) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    const { silence } = options;
    if (silence) this.#watch = setInterval(() => this.#look(silence), silence.limitMs / LOOKS_PER_LIMIT).unref();
    this.#start();
  }

  /** Null between two lives. */
  get current(): T | null {
    return this.#current;
  }

  /** How often what it hosts was lost. */
  get losses(): number {
    return this.#losses;
  }

  async end(): Promise<void> {
    this.#number++;
    if (this.#restart) clearTimeout(this.#restart);
    if (this.#watch) clearInterval(this.#watch);
    await this.#current?.end();
  }

  #start(): void {
    const number = ++this.#number;
    const mine = (work: () => void) => {
      if (number === this.#number) work();
    };
    this.#hasWorked = false;
    this.#bornAt = this.#elapsed();
    this.#aliveAt = this.#bornAt;
    const life: Life = {
      works: () => mine(() => this.#works()),
      alive: () => mine(() => this.#alive()),
      lost: (error) => mine(() => this.#lose(error)),
    };
    try {
      const started = this.#options.start(life);
      // It may have been lost in the middle of its start.
      mine(() => {
        this.#current = started;
      });
    } catch (error) {
      life.lost(error);
    }
  }

  #alive(): void {
    this.#aliveAt = this.#elapsed();
  }

  #works(): void {
    this.#alive();
    this.#hasWorked = true;
    this.#pauses.reset();
  }

  #look({ limitMs, owes }: SilenceRule<T>): void {
    const current = this.#current;
    if (!current || !owes(current)) this.#alive();
    const silentMs = this.#elapsed() - this.#aliveAt;
    if (silentMs >= limitMs) this.#lose(new Fault(`it gave no sign of life for ${Math.round(silentMs / 1000)} s`));
  }

  #lose(error: unknown): void {
    const lost = this.#current;
    this.#current = null;
    this.#number++;
    this.#losses++;
    const pauseMs = this.#hasWorked ? 0 : this.#pauses.next(this.#elapsed() - this.#bornAt);
    this.#restart = setTimeout(() => this.#start(), pauseMs).unref();
    const reason = error === null ? '' : `: ${describeError(error)}`;
    const fault = new Fault(`${this.#options.name} has ended${reason}; it is started again in ${pauseMs / 1000} s`, {
      detail: `loss ${this.#losses} since the start`,
      cause: error ?? undefined,
    });
    this.#options.onLost(fault, lost, pauseMs);
  }
}
