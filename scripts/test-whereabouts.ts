// Where each test file is: which test runs, and what its last assertion was. The file's own process notes it at every
// step in a file that outlives it, so that a process that hangs, is killed or dies can still be asked.
import fs from 'node:fs';
import path from 'node:path';

const STDERR = 2;
const MAX_LAST_WORDS = 20;

export interface Whereabouts {
  pid: number;
  startedAt: number;
  /** Full names of the tests that run now; none before the first one begins. */
  running: string[];
  /** When the last test began or the last assertion was made. */
  steppedAt: number;
  assertions: number;
  lastAssertion: string | null;
  /** What keeps the process waiting, noted when it made no step for too long. Nothing is noted after that. */
  stuck: { sinceMs: number; resources: string[] } | null;
  /** Set when the process came to an end of its own. */
  exitCode: number | null;
}

/** Kept by the process of a test file. */
export class WhereaboutsLog {
  readonly state: Whereabouts;
  readonly #fd: number;
  #length = 0;

  constructor(folder: string, testFile: string, now: number) {
    fs.mkdirSync(path.join(folder, 'where'), { recursive: true });
    this.#fd = fs.openSync(fileFor(folder, testFile), 'w');
    this.state = {
      ...{ pid: process.pid, startedAt: now, running: [], steppedAt: now },
      ...{ assertions: 0, lastAssertion: null, stuck: null, exitCode: null },
    };
    this.note({});
  }

  /** Synchronous: the next statement may be an endless loop. */
  note(change: Partial<Whereabouts>): void {
    if (this.state.stuck !== null) return;
    Object.assign(this.state, change);
    const bytes = Buffer.from(JSON.stringify(this.state));
    // What is left of a longer one is covered with spaces, so that one write suffices.
    const padded = Buffer.alloc(Math.max(this.#length, bytes.length), ' ');
    bytes.copy(padded);
    this.#length = padded.length;
    fs.writeSync(this.#fd, padded, 0, padded.length, 0);
  }
}

/** Null when the file's process never began to run. */
export function readWhereabouts(folder: string, testFile: string): Whereabouts | null {
  try {
    return JSON.parse(fs.readFileSync(fileFor(folder, testFile), 'utf8')) as Whereabouts;
  } catch {
    return null;
  }
}

/** What to tell of a file of whose end the runner has not heard. */
export function tellWhereabouts(found: Whereabouts | null, now: number): string[] {
  if (found === null) return ['its process never started'];
  if (found.exitCode !== null)
    return [`its process ended with exit code ${found.exitCode}, and the test runner lost what it said`];
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const lines = [
    found.running.length > 0
      ? `it was in: ${found.running.join('; and in: ')}`
      : found.assertions > 0
        ? 'it was between two tests or behind the last one'
        : 'it had not begun its first test',
    found.lastAssertion === null
      ? 'without an assertion'
      : `last assertion, number ${found.assertions}: ${found.lastAssertion}`,
    `last step ${seconds(found.steppedAt - found.startedAt)} after its start, ${seconds(now - found.steppedAt)} ago`,
  ];
  if (found.stuck !== null) {
    const held = found.stuck.resources.length > 0 ? found.stuck.resources.join(', ') : 'nothing that keeps it alive';
    lines.push(`no step for ${seconds(found.stuck.sinceMs)}, waiting for: ${held}`);
  }
  return lines;
}

/** From here on it goes into a file: the runner drops it, and V8 says there why it gives up. */
export function keepErrorOutput(folder: string, testFile: string): void {
  fs.closeSync(STDERR);
  // The system gives the lowest free number.
  const fd = fs.openSync(fileFor(folder, testFile, 'err'), 'a');
  if (fd !== STDERR) throw new Error(`the error output became ${fd}`);
}

/** The last lines that the process wrote to its error output. */
export function lastWords(folder: string, testFile: string): string[] {
  let text: string;
  try {
    text = fs.readFileSync(fileFor(folder, testFile, 'err'), 'utf8');
  } catch {
    return [];
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-MAX_LAST_WORDS).map((line) => `it wrote: ${line}`);
}

function fileFor(folder: string, testFile: string, kind: 'json' | 'err' = 'json'): string {
  return path.join(folder, 'where', `${testFile.replaceAll(/[^\w.-]/g, '_')}.${kind}`);
}
