// Before a node takes slots: its clock must agree with the store's, and its name must be its own. Two daemons of one name
// would take each other's slots in turn.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, SECOND_MS } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import { CLOCK_REFUSES_MS, NODE_LEASE_MS, type NodeNote, type NodeView } from '../store/owners.ts';
import type { StoreVerbs } from '../store/store.ts';
import { compareClocks, describeDifference } from './compared-clocks.ts';
import { nameTaken } from './slot-keeper.ts';

interface JoinKit {
  store: StoreVerbs<{ owners: 'readClock' | 'listNodes' }>;
  clock: Clock;
  log: Logger;
  /** Between two looks at who has the name; tests don't wait. */
  lookAgainMs?: number;
  /** Of the data folder, whose lock says that its previous daemon is dead. */
  noteFile: string;
}

const LOOK_AGAIN_MS = SECOND_MS;

export async function joinNodes(kit: JoinKit, note: NodeNote): Promise<void> {
  const { noteFile } = kit;
  const { aheadMs } = await compareClocks(kit);
  if (Math.abs(aheadMs) >= CLOCK_REFUSES_MS) {
    throw new Fault(`${describeDifference(aheadMs)}, then start again`, { permanence: 'permanent' });
  }
  await awaitName(kit, note, lastStart(noteFile, note.node));
  fs.writeFileSync(noteFile, `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/** Returns once nobody else uses the name. A daemon that was killed keeps it for as long as its leases. */
async function awaitName(
  { store, log, lookAgainMs = LOOK_AGAIN_MS }: Pick<JoinKit, 'store' | 'log' | 'lookAgainMs'>,
  { node }: NodeNote,
  lastStartedAt: number | null,
): Promise<void> {
  let first: NodeView | null = null;
  for (; ; await sleep(lookAgainMs)) {
    const now = await store.owners.readClock();
    const namesake = (await store.owners.listNodes()).find((one) => one.node === node);
    if (!namesake || namesake.startedAt === lastStartedAt || namesake.seenAt <= now - NODE_LEASE_MS) return;
    if (first && namesake.seenAt > first.seenAt) throw new Fault(nameTaken(node), { permanence: 'permanent' });
    if (!first) log.warn({ node }, `a daemon called ${node} was alive a moment ago: waiting until its leases are over`);
    first ??= namesake;
  }
}

/** When the data folder's previous daemon of this name began, which can't be alive any more. */
function lastStart(file: string, node: string): number | null {
  try {
    const note = JSON.parse(fs.readFileSync(file, 'utf8')) as NodeNote;
    return note.node === node ? note.startedAt : null;
  } catch {
    // None yet, or cut off by a crash: then the leases are waited for.
    return null;
  }
}
