// Turns the event stream of the test runner (tap's jsonstream reporter) into a short report:
// a line for each file, every failure in full, every skip with its reason, and the counts. A long run ends with all its
// failures once more, a line each.
// A file without a single assertion is a failure: it would pass whatever it is meant to show.

/** What a test point says; tap gives more. */
interface Point {
  /** Left out where the test gives none. */
  name?: string;
  fullname?: string;
  ok?: boolean;
  /** The reason, or true when none was given. */
  skip?: string | boolean;
  todo?: string | boolean;
  diag?: Record<string, unknown>;
}

interface Ending extends Point {
  level: number;
  /** Milliseconds. */
  time?: number;
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const NOTE = 'note: ';

/** How many of the slowest files are named at the end of a run, if it had more files than that. */
const SLOWEST = 10;

/** Above the failures at the end of a long run: `.ci/run` repeats what follows it. */
const FAILURES = 'What failed:';

/** What playwright says when the browser, or the process of a page, has died under it. */
const BROWSER_DIED = /(?:page, context or browser has been closed|page crashed|target crashed)/i;

/** What the test runner says of a file that was given up (`watch-test-file.ts`). */
const TIMED_OUT = 'timeout!';

/** Where the runner's notes on a failure are of use to a person, in this order. */
const TOLD_FIRST = ['diff', 'found', 'wanted', 'source', 'stack'];
const NEVER_TOLD = new Set([
  'at',
  'compare',
  'args',
  'command',
  'cwd',
  'stdio',
  'externalID',
  'jobId',
  'file',
  'level',
]);

export class TestReport {
  readonly counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  /** Files whose browser has died: that says nothing of us unless it happens again. Not counted yet. */
  readonly again = new Set<string>();
  readonly #print: (line: string) => void;
  /** Where a file is that has not come to its end. */
  readonly #whereabouts: (file: string) => string[];
  readonly #ended = new Set<string>();
  readonly #durations = new Map<string, number>();
  /** A line for each failure that counts. */
  readonly #failures: string[] = [];
  #file: Counts = { passed: 0, failed: 0, skipped: 0 };
  #notes: string[] = [];
  #failuresOfFile: string[] = [];
  #browserDied = false;
  #timedOut = false;

  constructor(print: (line: string) => void, whereabouts: (file: string) => string[] = () => []) {
    this.#print = print;
    this.#whereabouts = whereabouts;
  }

  /** One line of the stream; what is none of its events is shown as it is. */
  read(line: string): void {
    const event = parseEvent(line);
    if (event === null) {
      if (line.trim() !== '') this.#print(line);
      return;
    }
    const [type, point] = event;
    if (type === 'pass') this.#pass(point);
    else if (type === 'fail') this.#fail(point);
    else if (type === 'skip' || type === 'todo') this.#skip(point, point[type]);
    else if (type === 'end' && (point as Ending).level === 1) this.#endFile(point as Ending);
  }

  /** A pass can carry something that is worth reading after a good run too: a figure, a seed. */
  #pass({ name }: Point): void {
    this.#file.passed++;
    if (name?.startsWith(NOTE)) this.#notes.push(`  ${name.slice(NOTE.length)}`);
  }

  /** A failure outside of all test files, such as the death of the runner. */
  fail(reason: string): void {
    this.counts.failed++;
    this.#failures.push(`  ${reason}`);
    this.#print(`FAIL  ${reason}`);
  }

  /** Of these, a file that was killed may have left no word: the runner does not always tell of it. */
  failMissing(files: readonly string[]): void {
    for (const file of files) {
      if (this.#ended.has(file)) continue;
      this.fail(`${file} did not come to its end`);
      for (const line of this.#whereabouts(file)) this.#print(`  ${line}`);
    }
  }

  /** The files that took longest, the longest first. Nothing for a run of a few files. */
  slowest(): string[] {
    if (this.#durations.size <= SLOWEST) return [];
    const ranked = [...this.#durations].sort((a, b) => b[1] - a[1]).slice(0, SLOWEST);
    const total = [...this.#durations.values()].reduce((sum, ms) => sum + ms, 0);
    const lines = ranked.map(([file, ms]) => `  ${inSeconds(ms).padStart(8)}  ${file}`);
    return [
      `The ${SLOWEST} slowest of ${this.#durations.size} files, which took ${inSeconds(total)} in all:`,
      ...lines,
    ];
  }

  /** Every failure in a line, since the middle of a long output is easily lost. Nothing for a run of a few files. */
  failures(): string[] {
    const isLong = this.#durations.size > SLOWEST;
    return isLong && this.#failures.length > 0 ? [FAILURES, ...this.#failures] : [];
  }

  summary(): string {
    const { passed, failed, skipped } = this.counts;
    return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  }

  #fail(point: Point): void {
    this.#file.failed++;
    const name = point.fullname ?? point.name ?? '';
    if (BROWSER_DIED.test(name)) this.#browserDied = true;
    if (name.endsWith(TIMED_OUT)) this.#timedOut = true;
    this.#notes.push(`  not ok: ${name}`, ...describeDiagnostics(point.diag ?? {}));
    const place = placeOf(point.diag ?? {});
    this.#failuresOfFile.push(place ? `  ${name} (${place})` : `  ${name}`);
  }

  #skip(point: Point, reason: string | boolean | undefined): void {
    this.#file.skipped++;
    const why = typeof reason === 'string' ? reason : 'no reason given';
    this.#notes.push(`  skipped: ${point.fullname ?? point.name}: ${why}`);
  }

  #endFile(file: Ending): void {
    const isEmpty = file.skip === 'no tests found' || (file.ok && sum(this.#file) === 0 && !file.skip);
    if (isEmpty) this.#fail({ name: `${file.name} has no tests` });
    else if (file.skip) this.#skip(file, file.skip);
    // A crash, an exit code or a time limit: nothing inside the file tells of it.
    else if (!file.ok && this.#file.failed === 0) this.#fail(file);

    const { passed, failed, skipped } = this.#file;
    const counts = [`${passed} passed`, failed ? `${failed} failed` : '', skipped ? `${skipped} skipped` : ''];
    const name = file.name ?? '';
    this.#durations.set(name, file.time ?? 0);
    const isOnceMore = this.#browserDied && !this.again.has(name);
    const verdict = isOnceMore ? 'AGAIN' : failed ? 'FAIL ' : 'ok   ';
    this.#print(`${verdict} ${name}  ${counts.filter(Boolean).join(', ')}  ${inSeconds(file.time ?? 0)}`);
    for (const note of this.#notes) this.#print(note);
    const isCutOff = !file.ok && (file.diag?.signal !== undefined || this.#timedOut);
    if (isCutOff) for (const line of this.#whereabouts(name)) this.#print(`  ${line}`);
    if (isOnceMore) {
      this.again.add(name);
      this.#print('  its browser has died: it is run once more, and that counts');
    } else {
      this.#ended.add(name);
      this.#failures.push(...this.#failuresOfFile);
      for (const key of ['passed', 'failed', 'skipped'] as const) this.counts[key] += this.#file[key];
    }
    this.#file = { passed: 0, failed: 0, skipped: 0 };
    this.#notes = [];
    this.#failuresOfFile = [];
    this.#browserDied = false;
    this.#timedOut = false;
  }
}

function parseEvent(line: string): [string, Point] | null {
  if (!line.startsWith('["')) return null;
  try {
    const [type, point] = JSON.parse(line);
    return typeof point === 'object' && point !== null ? [type, point] : ['', { name: '' }];
  } catch {
    return null;
  }
}

function describeDiagnostics(diag: Record<string, unknown>): string[] {
  const place = placeOf(diag);
  const lines = place === null ? [] : [`    at ${place}`];
  const rest = Object.keys(diag).filter((name) => !TOLD_FIRST.includes(name));
  for (const name of [...TOLD_FIRST, ...rest]) {
    const value = diag[name];
    if (value === undefined || value === null || NEVER_TOLD.has(name)) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    const block = text.trimEnd().split('\n');
    if (block.length === 1) lines.push(`    ${name}: ${block[0]}`);
    else lines.push(`    ${name}:`, ...block.map((line) => `      ${line}`));
  }
  return lines;
}

/** The file and line of a failed assertion, if the runner knows them. */
function placeOf({ at }: Record<string, unknown>): string | null {
  const { fileName, lineNumber } = (at ?? {}) as { fileName?: string; lineNumber?: number };
  return fileName ? `${fileName}:${lineNumber}` : null;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function sum(counts: Counts): number {
  return counts.passed + counts.failed + counts.skipped;
}

/** In the output of a whole run: each file that failed, with what was said of it. */
export function failuresIn(output: string): string {
  return output.match(/^FAIL .*\n(?: .*\n)*/gm)?.join('') ?? 'all passed';
}
