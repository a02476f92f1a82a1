// One examination by the doctor at a time, beside the requests that ask for it: a page starts it, and looks
// in again until it is over. What the last one has found is kept in memory.
import { describeError } from '../../base/errors.ts';
import type { Finding } from '../../doctor/finding.ts';

export type DoctorState =
  | { kind: 'never' }
  | { kind: 'running'; since: number }
  | { kind: 'done'; since: number; until: number; findings: readonly Finding[] }
  | { kind: 'failed'; since: number; until: number; reason: string };

export interface DoctorRunsKit {
  now(): number;
  examine(): Promise<Finding[]>;
  /** Told when one is over. */
  onOver?(state: DoctorState): void;
}

export class DoctorRuns {
  readonly #kit: DoctorRunsKit;
  #state: DoctorState = { kind: 'never' };
  #last: DoctorState = { kind: 'never' };

  constructor(kit: DoctorRunsKit) {
    this.#kit = kit;
  }

  get state(): DoctorState {
    return this.#state;
  }

  /** The last one that is over. */
  get last(): DoctorState {
    return this.#last;
  }

  /** False: one is under way, and is as good. */
  start(): boolean {
    if (this.#state.kind === 'running') return false;
    const since = this.#kit.now();
    this.#state = { kind: 'running', since };
    void this.#run(since);
    return true;
  }

  async #run(since: number): Promise<void> {
    try {
      const findings = await this.#kit.examine();
      this.#state = { kind: 'done', since, until: this.#kit.now(), findings };
    } catch (error) {
      this.#state = { kind: 'failed', since, until: this.#kit.now(), reason: describeError(error) };
    }
    this.#last = this.#state;
    this.#kit.onOver?.(this.#state);
  }
}
