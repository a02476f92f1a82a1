// The main process' hold on one reading process: starts it, hands over one query at a time, and ends
// it. It inherits no environment, since it needs none of its secrets, and never holds the daemon up.
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ReadingOrder, ReadingReport } from './reading-messages.ts';

export interface ReadingChildOptions {
  file: string;
  /** Its registry of queries. */
  module: URL;
  onReport(report: ReadingReport): void;
  /** It is gone; why, for the log. */
  onEnd(reason: string): void;
}

const HEAP_MB = 128;
const MAX_LAST_WORDS = 2000;

export class ReadingChild {
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  #lastWords = '';

  constructor({ file, module, onReport, onEnd }: ReadingChildOptions) {
    const entry = fileURLToPath(new URL('./reading-process.ts', import.meta.url));
    this.#process = fork(entry, [file, module.href], {
      env: {},
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process.unref();
    this.#process.channel?.unref();
    const errors = this.#process.stderr as Socket;
    errors.unref();
    errors.on('data', (text) => (this.#lastWords = `${this.#lastWords}${text}`.slice(-MAX_LAST_WORDS)));
    this.#process.on('message', (report: ReadingReport) => onReport(report));
    this.#ended = new Promise((resolve) => {
      const end = (reason: string) => {
        onEnd(reason);
        resolve();
      };
      this.#process.once('error', (error) => end(error.message)); // cannot be started, or be told anything
      this.#process.once('exit', (code, signal) => end(this.#describeEnd(code, signal)));
    });
  }

  ask(order: ReadingOrder): void {
    this.#process.send(order);
  }

  /** At once, whatever it does: it only reads. */
  async kill(): Promise<void> {
    this.#process.ref();
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  #describeEnd(code: number | null, signal: string | null): string {
    const words = this.#lastWords.trim();
    return `it ended with ${signal ?? `status ${code}`}${words === '' ? '' : `: ${words}`}`;
  }
}
