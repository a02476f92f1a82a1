// Entry of a render thread: takes one job at a time, parses, renders, answers. It may be killed at any moment, so it
// keeps nothing that would be missed.
import { workerData } from 'node:worker_threads';
import { LiquidError } from 'liquidjs';
import { describeError } from '../base/errors.ts';
import { startJobThread } from '../threads/job-thread.ts';
import { threadMs } from '../threads/processor-time.ts';
import { MissingCollector } from './missing-variables.ts';
import { PartEngine, tooMuchOutput } from './part-engine.ts';
import { createProgressMemory, Progress } from './progress.ts';
import {
  type Flaw,
  PARTS,
  type Part,
  type RenderResult,
  type TemplatePosition,
  type TemplateSource,
  type ThreadAnswer,
  type ThreadJob,
  type ThreadSettings,
} from './render-job.ts';
import { Stopwatch } from './stopwatch.ts';

const { limits } = workerData as ThreadSettings;
const progress = new Progress(createProgressMemory());
const stopwatch = new Stopwatch(progress, limits.workMs);
const textEngine = new PartEngine('text', limits, stopwatch);
const engines = { html: new PartEngine('html', limits, stopwatch), text: textEngine, subject: textEngine };

/** On a busy machine the time on the clock says little about a template: this thread lets others go first. */
export function runJob(job: ThreadJob): ThreadAnswer {
  const before = threadMs();
  const result = render(job);
  return { result, processorMs: threadMs() - before };
}

function render({ source, data, listsMissing = false, progress: memory }: ThreadJob): RenderResult {
  progress.use(memory);
  const read = data === null ? null : createDataReader(data, source);
  const result: TemplateSource = { html: null, text: null };
  const missing = listsMissing && read !== null ? new MissingCollector() : null;
  stopwatch.start();
  for (const part of PARTS) {
    const text = source[part] ?? null;
    if (text === null) continue;
    progress.enter(part);
    try {
      if (read === null) engines[part].parse(text);
      else result[part] = engines[part].render(text, read());
      if (read !== null) missing?.add(text, engines[part].parse(text), read());
    } catch (error) {
      return { kind: 'flawed', flaw: flawOf(part, error) };
    }
    if (part === 'subject') result.subject &&= result.subject.trim();
    const output = result[part] ?? '';
    const problem = outputProblem(output) ?? (part === 'subject' ? subjectProblem(output) : null);
    if (problem !== null) return { kind: 'flawed', flaw: { part, problem, position: null } };
  }
  return missing === null ? { kind: 'rendered', ...result } : { kind: 'rendered', ...result, missing: missing.list() };
}

/** `increment` and `decrement` write into the data, and the other parts must not see that. */
function createDataReader(json: string, source: TemplateSource): () => object {
  const first = JSON.parse(json) as object;
  const parts = PARTS.flatMap((part) => source[part] ?? []);
  const isChanged = parts.slice(0, -1).some((part) => /(?:in|de)crement/.test(part));
  return isChanged ? () => JSON.parse(json) as object : () => first;
}

const SUBJECT_MAX_CHARS = 998;

/** As for the subject of a call. */
function subjectProblem(subject: string): string | null {
  if (/\p{Cc}/u.test(subject)) return 'produces control characters, such as tabs or line breaks';
  // Counted only where it can matter: an output may have a million characters.
  const isOver = subject.length > SUBJECT_MAX_CHARS && [...subject].length > SUBJECT_MAX_CHARS;
  return isOver ? `produces more than ${SUBJECT_MAX_CHARS} characters` : null;
}

function outputProblem(output: string): string | null {
  if (!output.isWellFormed()) return 'produces output that is not valid Unicode: it contains a lone surrogate';
  return Buffer.byteLength(output) > limits.outputBytes ? tooMuchOutput(limits.outputBytes) : null;
}

/** Replaces messages of liquidjs that are hard to understand. */
const WORDS: Readonly<Record<string, string>> = {
  'Maximum call stack size exceeded': 'is nested too deeply',
  'memory alloc limit exceeded': 'needs more memory than a template is allowed',
};
const MAX_PROBLEM_CHARS = 200;

/** Any error here is caused by the tenant's source or data: no other code runs. */
function flawOf(part: Part, error: unknown): Flaw {
  const raw = describeError(error);
  // liquidjs appends the position to the message each time the error is wrapped.
  const message = raw.replace(/(?:, line:\d+, col:\d+)+$/, '');
  return { part, problem: (WORDS[message] ?? message).slice(0, MAX_PROBLEM_CHARS), position: positionOf(error) };
}

function positionOf(error: unknown): TemplatePosition | null {
  if (!LiquidError.is(error)) return null;
  const [line = 1, column = 1] = error.token.getPosition();
  return { line, column };
}

startJobThread();
