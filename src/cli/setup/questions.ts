// Answers to questions: as given by a flag, typed on the terminal, or the default. Nothing is changed while questions are
// open, so that whoever ends them early can simply begin again.
import { createInterface, type Interface } from 'node:readline';
import type { Terminal } from '../command.ts';
import type { Read } from '../option.ts';
import { printable } from '../table.ts';

export interface Question<T> {
  /** Without the dashes. */
  flag: string;
  question: string;
  /** Already parsed: as the flag has it, or as it is known from elsewhere. */
  known: T | undefined;
  /** In brackets; null: there is none. */
  fallback: string | null;
  read(text: string): Read<T | undefined>;
}

export interface Questions {
  /** Null: there is no answer; `missing` has the flag, or the person has ended it. */
  ask<T>(question: Question<T>): Promise<T | null>;
  /** A question that only a person can answer. */
  confirm(question: string): Promise<boolean>;
  readonly missing: readonly MissingFlag[];
  /** The question at which the person has ended it; null: not ended. */
  readonly endedAt: string | null;
  /** Until the next question, Ctrl-C ends the process as usual. */
  pause(): void;
}

export interface MissingFlag {
  flag: string;
  hasDefault: boolean;
}

export function createQuestions(terminal: Terminal | null, takesDefaults: boolean): Questions {
  const missing: MissingFlag[] = [];
  let lines: Lines | null = null;
  let endedAt: string | null = null;

  async function typed<T>({ question, fallback, read }: Question<T>): Promise<T | null> {
    for (;;) {
      lines ??= readLines(terminal!);
      const prompt = fallback === null ? `${question}: ` : `${question} [${printable(fallback)}]: `;
      const line = endedAt === null ? await lines.next(prompt) : null;
      if (line === null) {
        endedAt ??= question;
        return null;
      }
      const text = line.trim() === '' ? (fallback ?? '') : line.trim();
      const answer = text === '' ? { ok: false as const, problem: 'an answer is needed' } : read(text);
      if (answer.ok) return answer.value as T;
      terminal!.output.write(`  ${printable(answer.problem)}\n`);
    }
  }

  return {
    missing,
    get endedAt() {
      return endedAt;
    },
    async ask(question) {
      if (question.known !== undefined) return question.known;
      if (terminal && !takesDefaults) return typed(question);
      const fallback = takesDefaults && question.fallback !== null ? question.read(question.fallback) : null;
      if (fallback?.ok) return fallback.value ?? null;
      missing.push({ flag: question.flag, hasDefault: question.fallback !== null });
      return null;
    },
    async confirm(question) {
      const read = (text: string): Read<boolean> =>
        /^(?:y|yes|n|no)$/i.test(text)
          ? { ok: true, value: /^y/i.test(text) }
          : { ok: false, problem: 'answer yes or no' };
      return (await typed({ flag: '', question, known: undefined, fallback: 'no', read })) ?? false;
    },
    pause() {
      lines?.close();
      lines = null;
    },
  };
}

interface Lines {
  /** Null: ended by Ctrl-C or Ctrl-D. */
  next(prompt: string): Promise<string | null>;
  close(): void;
}

function readLines({ input, output }: Terminal): Lines {
  const reader: Interface = createInterface({ input, output, terminal: true, historySize: 0 });
  const typedAhead: string[] = [];
  let waiting: ((line: string | null) => void) | null = null;
  let isClosed = false;
  const answer = (line: string | null) => {
    const resolve = waiting;
    waiting = null;
    resolve?.(line);
  };
  reader.on('line', (line) => (waiting ? answer(line) : void typedAhead.push(line)));
  reader.on('SIGINT', () => reader.close());
  reader.on('close', () => {
    isClosed = true;
    if (!waiting) return;
    output.write('\n');
    answer(null);
  });
  return {
    next(prompt) {
      if (isClosed) return Promise.resolve(null);
      reader.setPrompt(prompt);
      reader.prompt();
      const early = typedAhead.shift();
      if (early !== undefined) return Promise.resolve(early);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    close: () => reader.close(),
  };
}
