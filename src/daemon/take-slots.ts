// Which work is this daemon's: it takes its slots, and what its last run had begun waits again.
import os from 'node:os';
import type { Clock } from '../base/clock.ts';
import type { ClosingStack } from '../base/closing-stack.ts';
import { LeaseEnd, monotonicMs } from '../base/lease-end.ts';
import { programVersion } from '../base/program-version.ts';
import type { Config } from '../config/keys.ts';
import { ResultJournal } from '../delivery/outcome/result-journal.ts';
import type { Logger } from '../observe/log.ts';
import type { DataFolder } from '../operator/data-folder.ts';
import { Ownership } from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import { joinNodes } from './join-nodes.ts';
import { type Lead, leadByLease, leadForGood } from './lead-timers.ts';
import { ONLY_NODE } from './only-node.ts';
import { placeInSlots } from './place-in-slots.ts';
import { SlotKeeper } from './slot-keeper.ts';

interface WorkKit {
  store: Store;
  clock: Clock;
  log: Logger;
  folder: DataFolder;
}

export interface Work {
  /** New mail and new webhooks get slots of this node. */
  store: Store;
  ownership: Ownership;
  journal: ResultJournal;
  /** Whether it runs a timer that only one node may run. */
  lead: Lead;
  /** Null: it is the only one there can be. */
  nodes: Nodes | null;
}

/** Those that share the store. */
export interface Nodes {
  ownName: string;
  /** How many live, as far as this one knows. */
  living(): number;
}

export async function takeWork(config: Config, kit: WorkKit, opened: ClosingStack): Promise<Work> {
  const { folder, store, clock, log } = kit;
  const journal = new ResultJournal(folder.resultJournal, log);
  opened.add(() => journal.close());
  const spare = journal.earlier.map(({ messageId }) => messageId);
  if (folder.database !== null) {
    const ownership = await takeOnlySlot(kit, spare);
    return { store, ownership, journal, lead: leadForGood(store, clock), nodes: null };
  }
  const node = config.store.node ?? os.hostname();
  const { ownership, keeper } = await shareSlots(kit, { node, spare }, opened);
  const placed = placeInSlots(store, ownership);
  const nodes = { ownName: node, living: () => keeper.livingNodes };
  return { store: placed, ownership, journal, lead: leadByLease(store, node), nodes };
}

/** The lock of the data folder makes this the only process: it takes the one slot at once, and for as long as it runs. */
async function takeOnlySlot({ store, clock, log }: WorkKit, spare: readonly string[]): Promise<Ownership> {
  const { owners, returned } = await store.owners.takeSlots({ ...ONLY_NODE, slots: 1, now: clock.now(), spare });
  const { messages, deliveries } = returned;
  if (messages > 0) log.warn({ messages }, 'messages whose attempt was cut off will be tried again');
  if (deliveries > 0) log.warn({ deliveries }, 'webhook deliveries were interrupted; they are retried');
  return new Ownership(owners);
}

/** Beside other nodes: by leases. */
async function shareSlots(
  { store, clock, log, folder }: WorkKit,
  { node: name, spare }: { node: string; spare: readonly string[] },
  opened: ClosingStack,
): Promise<{ ownership: Ownership; keeper: SlotKeeper }> {
  const node = { node: name, version: programVersion(), startedAt: clock.now() };
  await joinNodes({ store, clock, log, noteFile: folder.nodeNote }, node);
  const ownership = new Ownership([], new LeaseEnd());
  const onNamesake = (reason: string) => {
    log.error({}, `the daemon stops: ${reason}`);
    setImmediate(() => {
      throw new Error(reason);
    });
  };
  const keeper = new SlotKeeper({ store, ownership, clock, node, spare, log, monotonicMs, onNamesake });
  opened.add(() => keeper.close());
  await keeper.start();
  return { ownership, keeper };
}
