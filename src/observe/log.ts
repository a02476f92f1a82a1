// The log: JSON lines, one fact each. All parts use the small Logger interface, so that only this file knows how lines
// are written, and tests can pass a list.

import sonicBoom from 'sonic-boom';
import { type Clock, systemClock, toTimestamp } from '../base/clock.ts';
import { BatchPerTick } from '../base/per-tick.ts';
import { systemWords } from '../base/text/system-words.ts';
import { Redactor, redactText } from './redact.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fact names are snake_case; a thrown value goes into `error`. */
export type Facts = Readonly<Record<string, unknown>>;

export interface Logger {
  trace(facts: Facts, message: string): void;
  debug(facts: Facts, message: string): void;
  info(facts: Facts, message: string): void;
  warn(facts: Facts, message: string): void;
  error(facts: Facts, message: string): void;
  /** A logger that adds these facts to every line. */
  with(facts: Facts): Logger;
}

/** Where lines are written: a stream, or anything else with `write`. */
export interface LogSink {
  write(line: string): void;
}

export interface LogOptions {
  level: LogLevel;
  /**
   * Standard streams are written synchronously: warnings and errors at once, since the last line before a crash
   * matters most; other lines once per turn of the event loop, and when the process exits.
   */
  to: 'stdout' | 'stderr' | LogSink;
  clock?: Clock;
}

export function createLogger({ level, to, clock = systemClock }: LogOptions): Logger {
  const stream = typeof to === 'string' ? new StandardStream(to, clock) : null;
  const sink = stream ?? (to as LogSink);
  const flush = () => stream?.flush();
  return new JsonLines({ lowest: LOG_LEVELS.indexOf(level), clock, redactor: new Redactor(), sink, flush }, '');
}

/**
 * Lines of one turn of the event loop are written with one system call, which costs more than formatting them. Mail goes on
 * when the log can't be written: its disk is full, its terminal or its reader is gone. The lines that failed wait, later ones
 * are dropped, and each write tries again. The first that succeeds says how many were dropped.
 */
class StandardStream implements LogSink {
  // Not its own buffer, which can only be flushed together with an fsync.
  readonly #stream: InstanceType<typeof sonicBoom.SonicBoom>;
  readonly #held = new BatchPerTick<string>((lines) => this.#write(lines));
  readonly #clock: Clock;
  #fault: Error | null = null;
  #lost = 0;

  constructor(to: 'stdout' | 'stderr', clock: Clock) {
    this.#clock = clock;
    this.#stream = new sonicBoom.SonicBoom({ fd: to === 'stdout' ? 1 : 2, sync: true });
    this.#stream.on('error', (error: Error) => {
      this.#fault = error;
    });
    process.once('exit', () => this.flush());
  }

  write(line: string): void {
    this.#held.add(line);
  }

  flush(): void {
    this.#held.flush();
  }

  #write(lines: string[]): void {
    const before = this.#fault;
    if (before !== null) this.#retry();
    if (this.#fault !== null) {
      this.#lost += lines.length;
      return;
    }
    const notice = before === null || this.#lost === 0 ? '' : this.#noticeOf(before);
    this.#lost = 0;
    this.#stream.write(notice + lines.join(''));
  }

  #noticeOf(error: Error): string {
    const message = JSON.stringify(`the log could not be written: ${systemWords(error)}`);
    return lineOf('error', this.#clock, `,"lost_lines":${this.#lost},"msg":${message}`);
  }

  /** Synchronous: the listener is told of an error before it returns. */
  #retry(): void {
    this.#fault = null;
    this.#stream.flush();
  }
}

/** For code that needs a logger but must not log. */
export const silentLogger: Logger = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLogger,
};

function lineOf(level: LogLevel, clock: Clock, members: string): string {
  return `{"level":"${level}","time":"${toTimestamp(clock.now())}"${members}}\n`;
}

interface JsonLinesKit {
  /** Index of the lowest level that is written. */
  lowest: number;
  clock: Clock;
  redactor: Redactor;
  sink: LogSink;
  flush(): void;
}

class JsonLines implements Logger {
  readonly #kit: JsonLinesKit;
  /** Facts of every line, already serialized. */
  readonly #always: string;

  constructor(kit: JsonLinesKit, always: string) {
    this.#kit = kit;
    this.#always = always;
  }

  trace(facts: Facts, message: string): void {
    this.#write('trace', facts, message);
  }

  debug(facts: Facts, message: string): void {
    this.#write('debug', facts, message);
  }

  info(facts: Facts, message: string): void {
    this.#write('info', facts, message);
  }

  warn(facts: Facts, message: string): void {
    this.#write('warn', facts, message);
  }

  error(facts: Facts, message: string): void {
    this.#write('error', facts, message);
  }

  with(facts: Facts): Logger {
    return new JsonLines(this.#kit, this.#always + this.#members(facts));
  }

  #write(level: LogLevel, facts: Facts, message: string): void {
    const { lowest, clock, sink, flush } = this.#kit;
    if (LOG_LEVELS.indexOf(level) < lowest) return;
    const members = `${this.#always}${this.#members(facts)},"msg":${JSON.stringify(redactText(message))}`;
    sink.write(lineOf(level, clock, members));
    if (level === 'warn' || level === 'error') flush();
  }

  /** `,"name":value…`: each message has three lines, and JSON.stringify is faster than any loop here. */
  #members(facts: Facts): string {
    const json = JSON.stringify(this.#kit.redactor.redact(facts));
    return json === '{}' ? '' : `,${json.slice(1, -1)}`;
  }
}
