// Verbs side by side in one transaction. Each goes on until it asks something; when all have, their statements are sent at
// once, a wave, and each goes on with its answer. So a group waits as often as its longest verb, however many there are.
// A verb may split into parts that do the same. Which verbs may run like this is in side-by-side.ts.
import { DriverStep, type Step, type Steps } from '../../sql/steps.ts';
import { StepFailed } from './wave-statements.ts';

/** The verb goes on when all of them are done, with their answers. */
export class Parts extends DriverStep {
  readonly parts: readonly Steps<unknown>[];

  constructor(parts: readonly Steps<unknown>[]) {
    super();
    this.parts = parts;
  }
}

/** Another verb is about to make what this one needs: it goes on with the next wave, and looks again. */
export class Pause extends DriverStep {}

/** What comes behind it comes last: see `beginEvents`. */
export class EventsBegin extends DriverStep {}

/** `verb`: at which place the verb stands that failed; null: a statement that several verbs share, or nobody knows. */
export type Outcome = { answers: unknown[] } | { error: unknown; verb: number | null };

export interface WaveTerms {
  /** Runs what verbs do between two statements. */
  enter(run: () => void): void;
  /** Throws `StepFailed`. */
  ask(steps: readonly Step[]): Promise<unknown[]>;
  /** The statement that begins events. */
  lockEvents(): Step;
}

/** A verb, or one of its parts. */
interface Task {
  steps: Steps<unknown>;
  /** Null: it is a verb. */
  parent: Task | null;
  /** Among the verbs, or among its parent's parts. */
  place: number;
  /** Of its parts, until all are done. */
  answers: unknown[];
  undone: number;
}

class VerbFailed extends Error {
  readonly verb: number | null;

  constructor(cause: unknown, verb: number | null) {
    super('a verb failed', { cause });
    this.verb = verb;
  }
}

export class Waves {
  readonly #terms: WaveTerms;
  readonly #answers: unknown[] = [];
  #ready: { task: Task; answer: unknown }[] = [];
  /** No task: nobody needs the answer. */
  #asking: { task: Task | null; step: Step }[] = [];
  #paused: Task[] = [];
  #beforeEvents: Task[] = [];

  constructor(terms: WaveTerms) {
    this.#terms = terms;
  }

  async run(works: readonly (() => Steps<unknown>)[]): Promise<Outcome> {
    try {
      this.#terms.enter(() => {
        for (const [place, work] of works.entries()) this.#start(work, place);
        this.#goOn();
      });
      while (this.#asking.length > 0) await this.#nextWave();
      if (this.#paused.length > 0) throw new Error('verbs wait for each other');
    } catch (error) {
      return error instanceof VerbFailed ? { error: error.cause, verb: error.verb } : { error, verb: null };
    }
    return { answers: this.#answers };
  }

  async #nextWave(): Promise<void> {
    const asked = this.#asking;
    this.#asking = [];
    const answers = await this.#answersTo(asked);
    for (const task of this.#paused.splice(0)) this.#ready.push({ task, answer: undefined });
    for (const [at, { task }] of asked.entries()) if (task) this.#ready.push({ task, answer: answers[at] });
    this.#terms.enter(() => this.#goOn());
  }

  async #answersTo(asked: readonly { task: Task | null; step: Step }[]): Promise<unknown[]> {
    try {
      return await this.#terms.ask(asked.map(({ step }) => step));
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      const task = error.place === null ? null : asked[error.place]!.task;
      throw new VerbFailed(error.cause, task && verbOf(task));
    }
  }

  #start(work: () => Steps<unknown>, place: number): void {
    try {
      this.#ready.push({ task: taskOf(work(), null, place), answer: undefined });
    } catch (error) {
      throw new VerbFailed(error, place);
    }
  }

  /** Until all tasks wait for something. Events begin when nothing else is left to do. */
  #goOn(): void {
    for (;;) {
      // It grows meanwhile.
      for (let at = 0; at < this.#ready.length; at++) this.#step(this.#ready[at]!);
      this.#ready = [];
      if (this.#beforeEvents.length === 0 || this.#asking.length > 0 || this.#paused.length > 0) return;
      this.#asking.push({ task: null, step: this.#terms.lockEvents() });
      // In the order of what was asked for, however many waves each took to come here.
      for (const task of this.#beforeEvents.splice(0).sort(byPlace)) this.#ready.push({ task, answer: undefined });
    }
  }

  #step({ task, answer }: { task: Task; answer: unknown }): void {
    const { done, value } = next(task, answer);
    if (done) this.#end(task, value);
    else if (value instanceof Parts) this.#split(task, value.parts);
    else if (value instanceof Pause) this.#paused.push(task);
    else if (value instanceof EventsBegin) this.#beforeEvents.push(task);
    else this.#asking.push({ task, step: value as Step });
  }

  #split(task: Task, parts: readonly Steps<unknown>[]): void {
    task.answers = [];
    task.undone = parts.length;
    if (parts.length === 0) this.#ready.push({ task, answer: [] });
    for (const [place, part] of parts.entries())
      this.#ready.push({ task: taskOf(part, task, place), answer: undefined });
  }

  #end({ parent, place }: Task, answer: unknown): void {
    if (!parent) {
      this.#answers[place] = answer;
      return;
    }
    parent.answers[place] = answer;
    parent.undone--;
    if (parent.undone === 0) this.#ready.push({ task: parent, answer: parent.answers });
  }
}

function taskOf(steps: Steps<unknown>, parent: Task | null, place: number): Task {
  return { steps, parent, place, answers: [], undone: 0 };
}

function next(task: Task, answer: unknown): IteratorResult<unknown, unknown> {
  try {
    return task.steps.next(answer);
  } catch (error) {
    throw new VerbFailed(error, verbOf(task));
  }
}

/** Both wait, so neither is a part of the other: somewhere on the way to them their places differ. */
function byPlace(one: Task, other: Task): number {
  const [places, others] = [placesOf(one), placesOf(other)];
  const at = places.findIndex((place, depth) => place !== others[depth]);
  return places[at]! - others[at]!;
}

/** The verb's, then of each part in it. */
function placesOf({ parent, place }: Task): number[] {
  return parent ? [...placesOf(parent), place] : [place];
}

function verbOf(task: Task): number {
  let verb = task;
  while (verb.parent) verb = verb.parent;
  return verb.place;
}
