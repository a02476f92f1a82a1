// Runners of a client library: one line with a call in, one line with its outcome out, in any
// order. Several processes where one of them does a single call at a time.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Order, Outcome } from '../../clients/conformance/case-format.ts';
import { patience } from '../support/patience.ts';
import { type Program, plainEnvironment } from './language.ts';

interface Waiting {
  order: Order;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** Of a program that has been told that nothing more comes. */
const END_MS = 20_000;

export class Runners {
  /** All that they have printed. */
  printed = '';
  readonly #processes: RunnerProcess[];
  readonly #oneAtATime: boolean;
  readonly #queue: Waiting[] = [];

  constructor(
    program: Program,
    { processes = 1, env = {} }: { processes?: number; env?: Record<string, string> } = {},
  ) {
    this.#oneAtATime = processes > 1;
    const note = (text: string) => {
      this.printed += text;
    };
    this.#processes = Array.from({ length: processes }, () => new RunnerProcess(program, env, note));
  }

  ask(order: Order): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ order, resolve, reject });
      this.#dispatch();
    });
  }

  /** What is wrong with how they ended: a sentence each. */
  async end(): Promise<string[]> {
    return (await Promise.all(this.#processes.map((process) => process.end()))).flat();
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const free = this.#oneAtATime ? this.#processes.find(({ busy }) => busy === 0) : this.#processes[0];
      if (free === undefined) return;
      const { order, resolve, reject } = this.#queue.shift()!;
      void free
        .ask(order)
        .then(resolve, reject)
        .finally(() => this.#dispatch());
    }
  }
}

class RunnerProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  readonly #waiting = new Map<string, Omit<Waiting, 'order'>>();
  #complaints = '';

  constructor(program: Program, env: Record<string, string>, note: (text: string) => void) {
    this.#child = spawn(program.command, program.args, {
      cwd: program.cwd,
      env: plainEnvironment({ ...program.env, ...env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.on('error', (error) => this.#giveUp(error.message));
    this.#child.stdin!.on('error', () => {}); // its end says more
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints += text;
      note(text);
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      note(`${line}\n`);
      this.#take(line);
    });
    this.#ended = once(this.#child, 'close').catch((error: Error) => [error.message]);
    void this.#ended.then(([code]) => this.#giveUp(`the runner ended with ${code}: ${this.#complaints}`));
  }

  get busy(): number {
    return this.#waiting.size;
  }

  ask(order: Order): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(order.name, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
    });
  }

  async end(): Promise<string[]> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patience(END_MS));
    this.#child.stdin!.end();
    const [code] = await this.#ended;
    clearTimeout(timer);
    return code === 0 ? [] : [`the runner ended with ${code}: ${this.#complaints}`];
  }

  #take(line: string): void {
    let outcome: Outcome;
    try {
      outcome = JSON.parse(line) as Outcome;
    } catch {
      this.#complaints += `no JSON: ${line}\n`;
      return;
    }
    this.#waiting.get(outcome.name)?.resolve(outcome);
    this.#waiting.delete(outcome.name);
  }

  #giveUp(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}
