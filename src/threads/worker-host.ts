// Supervises worker threads. HostedThread is one life of one thread: it can be started, posted to and ended, and
// reports its end once. WorkerHost keeps one thread, or one pool, running: it restarts what was lost, with back-off
// while it does not work (restart-pauses.ts), and ends what no longer responds.
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { describeError, Fault } from '../base/errors.ts';
import { RestartPauses } from './restart-pauses.ts';

type Transfers = Parameters<Worker['postMessage']>[1];

export interface ThreadListener<Message> {
  onMessage(message: Message): void;
  /** It has thrown and is about to end: give it nothing new. */
  onDying?(error: unknown): void;
  /** It has ended. Null: without an error. */
  onEnd(error: unknown): void;
}

export interface HostedThreadOptions extends WorkerOptions {
  /** Monotonic milliseconds: setting the clock must not end threads. */
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
      this.#exited.resolve(); // before onEnd, which may throw
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

  /** Whether it keeps the process alive. */
  hold(on: boolean): void {
    if (on) this.#worker.ref();
    else this.#worker.unref();
  }

  /** Ends it at once, whatever it is doing. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** How one life reports to its host. After `lost`, its reports are ignored. */
export interface Life {
  /** It works: if it is lost later, it is restarted at once. */
  works(): void;
  /** It is responding. */
  alive(): void;
  /** It has ended, or will never work. */
  lost(error: unknown): void;
}

export interface Hosted {
  end(): Promise<void>;
}

export interface WorkerHostOptions<T extends Hosted> {
  /** Its name in faults. */
  name: string;
  start(life: Life): T;
  /** It is restarted after the pause. `lost`: the lost life; null when it could not even be started. */
  onLost(fault: Fault, lost: T | null, pauseMs: number): void;
  /** Null: no watchdog. */
  silence?: SilenceRule<T> | null;
  elapsed?(): number;
}

export interface SilenceRule<T> {
  limitMs: number;
  /** Whether it has work. An idle one may be silent. */
  hasWork(hosted: T): boolean;
}

const CHECKS_PER_LIMIT = 8;

/*
 * The host starts a life at once. While it runs, a response, or having no work, keeps the watchdog from acting. A life
 * that is lost, or silent for too long, is over: `onLost` is called, and after a pause the next one starts. There is
 * no pause when it has worked; otherwise pauses grow. Ending the host ends the life and starts no other.
 */
export class WorkerHost<T extends Hosted> {
  readonly #options: WorkerHostOptions<T>;
  readonly #elapsed: () => number;
  readonly #pauses = new RestartPauses();
  readonly #watch: NodeJS.Timeout | null = null;
  #current: T | null = null;
  /** Of the current life; reports of earlier ones are ignored. */
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
    if (silence) this.#watch = setInterval(() => this.#check(silence), silence.limitMs / CHECKS_PER_LIMIT).unref();
    this.#start();
  }

  /** Null between two lives. */
  get current(): T | null {
    return this.#current;
  }

  /** How often a life was lost. */
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
      // It may have been lost while it was starting.
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

  #check({ limitMs, hasWork }: SilenceRule<T>): void {
    const current = this.#current;
    if (!current || !hasWork(current)) this.#alive();
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
