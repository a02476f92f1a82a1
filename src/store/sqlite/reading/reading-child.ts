// The main process's handle on one reading process: starts it, sends one query at a time, and kills it. The process
// gets no environment, since it needs none of its secrets, and never keeps the daemon from ending.
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ReadingOrder, ReadingReport } from './reading-messages.ts';

export interface ReadingChildOptions {
  file: string;
  /** The module with its queries. */
  module: URL;
  onReport(report: ReadingReport): void;
  /** It has ended; the reason is for the log. */
  onEnd(reason: string): void;
}

const HEAP_MB = 128;
const MAX_STDERR_CHARS = 2000;

export class ReadingChild {
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  #stderrTail = '';

  constructor({ file, module, onReport, onEnd }: ReadingChildOptions) {
    const entry = fileURLToPath(new URL('./reading-process.ts', import.meta.url));
    this.#process = fork(entry, [file, module.href], {
      env: {},
      execArgv: [...preloaded(process.execArgv), `--max-old-space-size=${HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process.unref();
    this.#process.channel?.unref();
    const errors = this.#process.stderr as Socket;
    errors.unref();
    errors.on('data', (text) => (this.#stderrTail = `${this.#stderrTail}${text}`.slice(-MAX_STDERR_CHARS)));
    this.#process.on('message', (report: ReadingReport) => onReport(report));
    this.#ended = new Promise((resolve) => {
      const end = (reason: string) => {
        onEnd(reason);
        resolve();
      };
      this.#process.once('error', (error) => end(error.message)); // it could not be started or sent to
      this.#process.once('exit', (code, signal) => end(this.#describeEnd(code, signal)));
    });
  }

  ask(order: ReadingOrder): void {
    this.#process.send(order);
  }

  /** Kills it at once, whatever it is doing: it only reads. */
  async kill(): Promise<void> {
    this.#process.ref();
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  #describeEnd(code: number | null, signal: string | null): string {
    const output = this.#stderrTail.trim();
    return `it ended with ${signal ?? `status ${code}`}${output === '' ? '' : `: ${output}`}`;
  }
}

/** Of Node's arguments: what bin/postrider loads first, without which a start takes three times as long. */
function preloaded(execArgv: readonly string[]): string[] {
  return execArgv.flatMap((argument, at) => {
    if (argument.startsWith('--require=')) return [argument];
    return argument === '--require' ? execArgv.slice(at, at + 2) : [];
  });
}
