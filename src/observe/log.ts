// The log: JSON lines, one fact each. Everybody speaks to the small Logger interface, so that
// only this file knows pino, and tests can hand in a list.
import { pino } from 'pino';
import { type Clock, systemClock, toTimestamp } from '../base/clock.ts';
import { redact, redactText } from './redact.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Names of facts are snake_case; a thrown value goes into `error`. */
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

/** What takes the lines: a stream, or anything else with `write`. */
export interface LogSink {
  write(line: string): void;
}

export interface LogOptions {
  level: LogLevel;
  /**
   * Standard streams are written synchronously: at once what is wrong, for the last line before a crash
   * is the one that counts; the rest once per turn of the event loop, and at the end of the process.
   */
  to: 'stdout' | 'stderr' | LogSink;
  clock?: Clock;
}

export function createLogger({ level, to, clock = systemClock }: LogOptions): Logger {
  const options = {
    level,
    // Process and host are the business of whoever collects the lines.
    base: null,
    timestamp: () => `,"time":"${toTimestamp(clock.now())}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (typeof to !== 'string') return wrap(pino(options, to), () => {});
  const stream = new StandardStream(to);
  return wrap(pino(options, stream), () => stream.flush());
}

/** Lines of one turn of the event loop go out with one system call: for each, it costs more than all that is in it. */
class StandardStream implements LogSink {
  // Not its own buffer: that one can only be emptied together with an fsync.
  readonly #stream: ReturnType<typeof pino.destination>;
  #held = '';

  constructor(to: 'stdout' | 'stderr') {
    this.#stream = pino.destination({ fd: to === 'stdout' ? 1 : 2, sync: true });
    process.once('exit', () => this.flush());
  }

  write(line: string): void {
    if (this.#held === '') setImmediate(() => this.flush());
    this.#held += line;
  }

  flush(): void {
    const lines = this.#held;
    this.#held = '';
    if (lines !== '') this.#stream.write(lines);
  }
}

/** For code that must be given a logger and whose lines nobody wants. */
export const silentLogger: Logger = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLogger,
};

type Method = Exclude<LogLevel, 'silent'>;

function wrap(target: pino.Logger, flush: () => void): Logger {
  const at = (level: Method) => (facts: Facts, message: string) => {
    if (!target.isLevelEnabled(level)) return;
    target[level](redact(facts), redactText(message));
    if (level === 'warn' || level === 'error') flush();
  };
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (facts) => wrap(target.child(redact(facts)), flush),
  };
}
