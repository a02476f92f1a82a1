// Sends spans to an OTLP receiver over HTTP, in batches and one request at a time. Nothing waits for it: what finds the
// queue full is dropped and counted.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { pauseAfterAttempt } from '../../base/backoff.ts';
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { readRetryAfter } from '../../base/text/retry-after.ts';
import type { Logger } from '../log.ts';
import { type Attributes, exportRequest, type OtlpSpan, readPartialSuccess } from './otlp.ts';

export interface ExporterOptions {
  /** With its path. */
  url: string;
  /** Sent with each request; may be secret. */
  headers: Readonly<Record<string, string>>;
  /** Whose spans they are. */
  resource: Attributes;
  version: string;
  log: Pick<Logger, 'warn'>;
  random(): number;
  onExported(spans: number): void;
  onDropped(spans: number): void;
  /** Shortened by tests, as all that follows. */
  flushAfterMs?: number;
  stepsMs?: readonly number[];
  answerTimeoutMs?: number;
  maxQueued?: number;
}

type Answer =
  | { kind: 'accepted'; rejected: number; why: string }
  /** `pauseMs`: named by the receiver. */
  | { kind: 'retry'; why: string; pauseMs: number | null }
  | { kind: 'refused'; why: string };

/** So much is lost of what a receiver that is down should have got; a span takes some 2 KiB of memory. */
const MAX_QUEUED = 8192;
/** Far below the 20 MiB that receivers accept. */
const BATCH_SPANS = 512;
const FLUSH_AFTER_MS = SECOND_MS;
const STEPS_MS = [1, 2, 4, 8, 16, 30].map((seconds) => seconds * SECOND_MS);
const JITTER = 0.2;
/** A batch that nobody accepted makes room for newer ones. */
const BATCH_LIFETIME_MS = 2 * MINUTE_MS;
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;
const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
const ANSWER_TIMEOUT_MS = 10 * SECOND_MS;
const MAX_ANSWER_BYTES = 64 * 1024;
const LOG_EVERY_MS = MINUTE_MS;
const CLOSING_PAUSE_MS = 100;
const MAX_WORDS = 200;
/** OTLP: all others must not be sent again. */
const RETRYABLE = new Set([429, 502, 503, 504]);

/*
 * A batch leaves the queue FLUSH_AFTER_MS after its first span, or as soon as it is full. It is done with when the
 * receiver has answered for good: 2xx, or a status after which a repetition is of no use. After any other failure it is
 * sent again, with back-off or when the receiver says, until it is too old. While one is on its way, the queue fills.
 */
export class TraceExporter {
  readonly #options: ExporterOptions;
  readonly #agent: Agent;
  readonly #queue: OtlpSpan[] = [];
  readonly #closing = new AbortController();
  /** The grace period is over. */
  readonly #over = new AbortController();
  /** A batch is full; a new one for each wait. */
  #filled = new AbortController();
  #running: Promise<void> | null = null;
  /** Since the last batch that was accepted. */
  #failures = 0;
  readonly #losses: LossLog;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#losses = new LossLog(options.log);
    const { answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
    this.#agent = new Agent({
      connections: 1,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: answerTimeoutMs,
      bodyTimeout: answerTimeoutMs,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
  }

  add(span: OtlpSpan): void {
    const isFull = this.#queue.length >= (this.#options.maxQueued ?? MAX_QUEUED);
    if (isFull || this.#closing.signal.aborted) {
      this.#drop(1, isFull ? 'the queue is full' : 'the daemon stops');
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length === BATCH_SPANS) this.#filled.abort();
    this.#running ??= this.#run();
  }

  /** Sends what is queued, for so long at the most. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort();
    this.#filled.abort();
    const timer = setTimeout(() => this.#over.abort(), graceMs);
    await this.#running;
    clearTimeout(timer);
    await this.#agent.destroy();
    this.#losses.tell();
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#untilBatch();
      await this.#send(this.#queue.splice(0, BATCH_SPANS));
    }
    this.#running = null;
  }

  async #untilBatch(): Promise<void> {
    if (this.#queue.length >= BATCH_SPANS || this.#closing.signal.aborted) return;
    this.#filled = new AbortController();
    await pause(this.#options.flushAfterMs ?? FLUSH_AFTER_MS, this.#filled.signal);
  }

  /** Returns when it is accepted, refused or too old. */
  async #send(batch: OtlpSpan[]): Promise<void> {
    const { resource, version, onExported, random, stepsMs = STEPS_MS } = this.#options;
    const body = exportRequest(resource, version, batch);
    const giveUpAt = performance.now() + BATCH_LIFETIME_MS;
    for (;;) {
      const answer = await this.#post(body);
      if (answer.kind === 'refused') return this.#drop(batch.length, answer.why);
      if (answer.kind === 'accepted') {
        this.#failures = 0;
        const rejected = Math.min(answer.rejected, batch.length);
        onExported(batch.length - rejected);
        if (rejected > 0) this.#drop(rejected, answer.why);
        return;
      }
      const pauseMs = answer.pauseMs ?? pauseAfterAttempt({ stepsMs, jitter: JITTER }, ++this.#failures, random);
      const isTooOld = this.#over.signal.aborted || performance.now() + pauseMs > giveUpAt;
      if (isTooOld) this.#drop(batch.length, answer.why);
      await this.#backOff(pauseMs);
      if (isTooOld) return;
    }
  }

  async #post(body: string): Promise<Answer> {
    const { url, headers } = this.#options;
    try {
      const response = await request(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        dispatcher: this.#agent,
        signal: this.#over.signal,
      });
      const said = await response.body.text();
      const { statusCode: status } = response;
      if (status >= 200 && status < 300) return { kind: 'accepted', ...readPartialSuccess(said) };
      const why = `the receiver answered ${status}`;
      if (!RETRYABLE.has(status)) return { kind: 'refused', why };
      const named = readRetryAfter(response.headers['retry-after'], Date.now());
      return { kind: 'retry', why, pauseMs: named === null ? null : Math.min(named, LONGEST_PAUSE_MS) };
    } catch (error) {
      return { kind: 'retry', why: describeError(error), pauseMs: null };
    }
  }

  /** The end of the process shortens it: the grace period is over soon. */
  async #backOff(ms: number): Promise<void> {
    if (!this.#closing.signal.aborted) return pause(ms, this.#closing.signal);
    await pause(Math.min(ms, CLOSING_PAUSE_MS), this.#over.signal);
  }

  #drop(spans: number, why: string): void {
    this.#options.onDropped(spans);
    this.#losses.add(spans, why);
  }
}

/** One line a minute about what is lost, and one in the end. */
class LossLog {
  readonly #log: Pick<Logger, 'warn'>;
  #spans = 0;
  #why = '';
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  add(spans: number, why: string): void {
    this.#spans += spans;
    this.#why = why.slice(0, MAX_WORDS);
    if (performance.now() - this.#toldAt >= LOG_EVERY_MS) this.tell();
  }

  tell(): void {
    if (this.#spans === 0) return;
    this.#toldAt = performance.now();
    this.#log.warn({ fact: 'traces_dropped', spans: this.#spans }, `trace spans were dropped: ${this.#why}`);
    this.#spans = 0;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
