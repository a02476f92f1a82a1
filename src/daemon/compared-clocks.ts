// This machine's clock beside the store's. Times of retries, expiry and leases are compared across nodes, so all of them
// should show the same.
import { type Clock, SECOND_MS } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import { CLOCK_REFUSES_MS, CLOCK_WARNS_MS, clockAheadMs } from '../store/owners.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface ComparedClocks {
  /** What the store's shows. */
  theirs: number;
  /** By how much this machine's is ahead of it at least; negative: it is behind. */
  aheadMs: number;
}

interface ClocksKit {
  store: StoreVerbs<{ owners: 'readClock' }>;
  clock: Clock;
}

export async function compareClocks({ store, clock }: ClocksKit): Promise<ComparedClocks> {
  const before = clock.now();
  const theirs = await store.owners.readClock();
  const after = clock.now();
  return { theirs, aheadMs: 0 - clockAheadMs(theirs, { before, after }) };
}

export function describeDifference(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / SECOND_MS).toFixed(1);
  return (
    `the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's: ` +
    'let both follow the same time servers (chrony or systemd-timesyncd)'
  );
}

type Judgement = 'fine' | 'off' | 'wrong';

/** Tells the log when a difference begins, grows and ends. */
export class ClockWatch {
  readonly #log: Logger;
  #told: Judgement = 'fine';

  constructor(log: Logger) {
    this.#log = log;
  }

  see(aheadMs: number): void {
    const judgement = judge(aheadMs);
    if (judgement === this.#told) return;
    this.#told = judgement;
    if (judgement === 'fine') this.#log.info({}, "the clock of this machine agrees with the database's again");
    else if (judgement === 'off') this.#log.warn({}, describeDifference(aheadMs));
    else {
      const effect = 'mail is tried again and expires too early or too late, and a daemon would not start';
      this.#log.error({}, `${describeDifference(aheadMs)}; until then ${effect}`);
    }
  }
}

function judge(aheadMs: number): Judgement {
  const apartMs = Math.abs(aheadMs);
  if (apartMs >= CLOCK_REFUSES_MS) return 'wrong';
  return apartMs >= CLOCK_WARNS_MS ? 'off' : 'fine';
}
