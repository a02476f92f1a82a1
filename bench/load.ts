// A process that sends through POST /emails: N keep-alive connections, each with one call at a time.
// With a window it is a closed loop: it watches how many messages have reached the sink and keeps
// that many on their way. With a rate it is an open loop, which calls so often whatever the answers do.
// With neither, the next call starts when the last one is answered.
import fs from 'node:fs';
import { connect } from 'node:net';
import { type HttpAnswer, HttpCaller } from './http-caller.ts';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';
import { type RequestPlan, SendRequests } from './send-requests.ts';

export interface LoadJob extends RequestPlan {
  /** Of each daemon; connections are spread over them. */
  httpPorts: readonly number[];
  connections: number;
  /** How many messages may be on their way to the sink; null: no matter. */
  inFlight: number | null;
  /** How many calls are due per second; null: no matter. */
  perSecond: number | null;
  progressPort: number;
  /** Silence between an arrival and the next call. */
  pauseMs: number;
  durationMs: number;
  /** Gets a line `<message id> <monotonic ms of the call> <of its 202>` per message. */
  timesFile: string;
}

export interface LoadReport {
  startedAtMs: number;
  accepted: number;
  /** Calls that were not answered 202. */
  refused: number;
  firstRefusal: string | null;
}

const TICK_MS = 2;
const MESSAGE_IDS = '"message_ids":["';
const UUID_CHARS = 36;

class Load {
  readonly #job: LoadJob;
  readonly #requests: SendRequests;
  readonly #callers: HttpCaller[];
  readonly #free: HttpCaller[];
  readonly #times: string[] = [];
  readonly #report: LoadReport = { startedAtMs: monotonicMs(), accepted: 0, refused: 0, firstRefusal: null };
  readonly #endsAtMs: number;
  #started = 0;
  #arrived = 0;
  #over = Promise.withResolvers<void>();

  constructor(job: LoadJob) {
    this.#job = job;
    this.#requests = new SendRequests(job);
    const lose = (why: string) => this.#over.reject(new Error(why));
    const portOf = (index: number) => job.httpPorts[index % job.httpPorts.length]!;
    this.#callers = Array.from({ length: job.connections }, (_, index) => new HttpCaller(portOf(index), lose));
    this.#free = [...this.#callers];
    this.#endsAtMs = this.#report.startedAtMs + job.durationMs;
  }

  async run(): Promise<LoadReport> {
    const { inFlight, perSecond, progressPort, durationMs, pauseMs } = this.#job;
    const stopWatching = inFlight === null ? () => {} : watch(progressPort, (count) => this.#onArrived(count, pauseMs));
    const ticking = perSecond === null ? undefined : setInterval(() => this.#pump(), TICK_MS);
    const atEnd = setTimeout(() => this.#pump(), durationMs);
    this.#pump();
    try {
      await this.#over.promise;
    } finally {
      clearInterval(ticking);
      clearTimeout(atEnd);
      stopWatching();
      for (const caller of this.#callers) caller.close();
    }
    fs.writeFileSync(this.#job.timesFile, this.#times.join('\n'));
    return this.#report;
  }

  #onArrived(count: number, pauseMs: number): void {
    const isNews = count > this.#arrived;
    this.#arrived = count;
    if (isNews && pauseMs > 0) setTimeout(() => this.#pump(), pauseMs);
    else this.#pump();
  }

  #pump(): void {
    const time = monotonicMs();
    if (time >= this.#endsAtMs) {
      if (this.#free.length === this.#callers.length) this.#over.resolve();
      return;
    }
    const most = this.#mostStarted(time);
    // In turns: a connection that nobody uses for ten seconds is closed by the daemon.
    while (this.#free.length > 0 && this.#started < most) this.#send(this.#free.shift()!);
  }

  #mostStarted(time: number): number {
    const { inFlight, perSecond } = this.#job;
    if (perSecond !== null) return Math.floor(((time - this.#report.startedAtMs) * perSecond) / 1000);
    return inFlight === null ? Number.POSITIVE_INFINITY : this.#arrived + inFlight;
  }

  #send(caller: HttpCaller): void {
    this.#started++;
    const calledAtMs = monotonicMs();
    caller.call(this.#requests.next(), (answer) => {
      this.#note(answer, calledAtMs);
      this.#free.push(caller);
      this.#pump();
    });
  }

  #note({ status, body }: HttpAnswer, calledAtMs: number): void {
    if (status === 202) {
      const start = body.indexOf(MESSAGE_IDS) + MESSAGE_IDS.length;
      this.#times.push(`${body.slice(start, start + UUID_CHARS)} ${calledAtMs} ${monotonicMs()}`);
      this.#report.accepted++;
      return;
    }
    this.#report.refused++;
    this.#report.firstRefusal ??= `${status} ${body}`;
    // It will never arrive, so nobody shall wait for it.
    this.#started--;
  }
}

/** Calls back with how many messages have arrived since the start. */
function watch(progressPort: number, onCount: (count: number) => void): () => void {
  const socket = connect({ host: '127.0.0.1', port: progressPort, noDelay: true });
  socket.setEncoding('latin1');
  let heard = '';
  let before: number | null = null;
  socket.on('data', (text: string) => {
    heard += text;
    const end = heard.lastIndexOf('\n');
    if (end < 0) return;
    const total = Number(heard.slice(heard.lastIndexOf('\n', end - 1) + 1, end));
    heard = heard.slice(end + 1);
    before ??= total;
    onCount(total - before);
  });
  return () => void socket.destroy();
}

answerParent<LoadJob, LoadReport>((job) => new Load(job).run());
