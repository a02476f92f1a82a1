// Which tenants are known to render quickly. One thread is kept for them: whoever is unknown or
// was slow of late shares the others, so that slow templates, of however many tenants, hold up
// each other and nobody else. A tenant runs up a debt of time, which wears off: one slow job on
// a busy machine costs nobody his standing, a template that is always slow does.
import { type Clock, MINUTE_MS } from '../base/clock.ts';

/** What a job may take without running up a debt; an ordinary mail takes about one. */
const FREE_MS = 150;
const TRUSTED_DEBT_MS = 500;
/** Of debt, in a millisecond. */
const WEARS_OFF = 1 / 50;
/** No debt keeps anybody out of trust for longer than a minute. */
const MAX_DEBT_MS = TRUSTED_DEBT_MS + MINUTE_MS * WEARS_OFF;
/** About 100 bytes each; whoever has not rendered for longest is forgotten, and unknown again. */
const MAX_TENANTS = 10_000;

interface Debt {
  ms: number;
  at: number;
}

export class Standing {
  readonly #clock: Clock;
  /** Least recently seen first. */
  readonly #debts = new Map<string, Debt>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isTrusted(tenantId: string): boolean {
    return this.#debtMs(tenantId) < TRUSTED_DEBT_MS;
  }

  /** A job has ended, or was killed, after so long. */
  note(tenantId: string, elapsedMs: number): void {
    const excessMs = Math.max(0, elapsedMs - FREE_MS);
    const known = this.#debts.has(tenantId);
    // The first quick job of an unknown tenant makes it known, and clears it.
    const before = known || excessMs > 0 ? this.#debtMs(tenantId) : 0;
    this.#debts.delete(tenantId);
    this.#debts.set(tenantId, { ms: Math.min(before + excessMs, MAX_DEBT_MS), at: this.#clock.now() });
    if (this.#debts.size > MAX_TENANTS) this.#debts.delete(this.#debts.keys().next().value!);
  }

  #debtMs(tenantId: string): number {
    const debt = this.#debts.get(tenantId);
    if (!debt) return TRUSTED_DEBT_MS;
    // The clock may have been set back.
    const passedMs = Math.max(0, this.#clock.now() - debt.at);
    return Math.max(0, debt.ms - passedMs * WEARS_OFF);
  }
}
