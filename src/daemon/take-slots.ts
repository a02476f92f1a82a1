// Which work is this daemon's: it takes its slots, and what its last run had begun waits again. It also takes the timers
// that only one node may run.
import type { Clock } from '../base/clock.ts';
import type { ClosingStack } from '../base/closing-stack.ts';
import { ResultJournal } from '../delivery/outcome/result-journal.ts';
import type { Logger } from '../observe/log.ts';
import type { DataFolder } from '../operator/data-folder.ts';
import { Ownership } from '../store/ownership.ts';
import type { StoreVerbs } from '../store/store.ts';

interface SlotsKit {
  store: StoreVerbs<{ owners: 'takeSlots' }>;
  clock: Clock;
  log: Logger;
  folder: DataFolder;
}

/** The lock of the data folder makes this the only process: it takes the one slot at once, and for as long as it runs. */
const ONLY_NODE = { node: 'local', leaseUntil: null };

export async function takeSlots(
  { store, clock, log, folder }: SlotsKit,
  opened: ClosingStack,
): Promise<{ ownership: Ownership; journal: ResultJournal }> {
  const journal = new ResultJournal(folder.resultJournal, log);
  opened.add(() => journal.close());
  const spare = journal.earlier.map(({ messageId }) => messageId);
  const { owners, returned } = await store.owners.takeSlots({ ...ONLY_NODE, slots: 1, now: clock.now(), spare });
  const { messages, deliveries } = returned;
  if (messages > 0) log.warn({ messages }, 'messages whose attempt was cut off will be tried again');
  if (deliveries > 0) log.warn({ deliveries }, 'webhook deliveries were interrupted; they are retried');
  return { ownership: new Ownership(owners), journal };
}

/** Takes each timer at its first run, and then leads it for good: later runs cost no commit. */
export function leadTimers({
  store,
  clock,
}: {
  store: StoreVerbs<{ owners: 'leadTimer' }>;
  clock: Clock;
}): (name: string) => Promise<boolean> {
  const led = new Set<string>();
  return async (name) => {
    if (led.has(name)) return true;
    const epoch = await store.owners.leadTimer({ ...ONLY_NODE, name, now: clock.now() });
    if (epoch === null) return false;
    led.add(name);
    return true;
  };
}
