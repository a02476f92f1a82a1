// Which of the timers that only one node may run are this node's.
import { type Clock, MINUTE_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { StoreVerbs } from '../store/store.ts';
import { ONLY_NODE } from './only-node.ts';

export type Lead = (timer: Pick<TimerSpec, 'name' | 'periodMs'>) => Promise<boolean>;

type Store = StoreVerbs<{ owners: 'leadTimer' | 'readClock' }>;

/** Beyond the next run, so that a leader that lives goes on, and one that is dead is followed a run later. */
const SPARE_MS = MINUTE_MS;

/** Takes each timer at its first run, and then leads it for good: later runs cost no commit. */
export function leadForGood(store: Pick<Store, 'owners'>, clock: Clock): Lead {
  const led = new Set<string>();
  return async ({ name }) => {
    if (led.has(name)) return true;
    const epoch = await store.owners.leadTimer({ ...ONLY_NODE, name, now: clock.now() });
    if (epoch === null) return false;
    led.add(name);
    return true;
  };
}

/** Takes each timer at each run, until some time after the next one. */
export function leadByLease(store: Store, node: string): Lead {
  return async ({ name, periodMs }) => {
    const now = await store.owners.readClock();
    const leaseUntil = now + periodMs + SPARE_MS;
    return (await store.owners.leadTimer({ node, leaseUntil, name, now })) !== null;
  };
}
