// The end of a chaos run: no more kills. Waits until mail, reports and webhooks have come to rest, as long as
// something still moves, and stops the daemon as an operator would.
import { setTimeout as pause } from 'node:timers/promises';
import { HOUR_MS } from '../../src/base/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { eraseOld } from '../../src/upkeep/retention.ts';
import type { Daemon } from '../support/daemon-process.ts';
import { patience } from '../support/patience.ts';
import { describeDeath } from './execute-kill.ts';
import type { Reporter } from './reporter.ts';
import type { OpenWork } from './store-under-test.ts';

const LOOK_EVERY_MS = 200;
/** Without any change for so long, what is open will not come to rest. */
const USUAL_STILLNESS_MS = 30_000;

export interface SettleKit {
  openWork(): OpenWork | Promise<OpenWork>;
  /** Of all daemons. Returns which of them did not end well. */
  stop(): Promise<string[]>;
  start(): Promise<void>;
  /** While no daemon runs: what waits for a retry of a webhook is due now. */
  hastenWebhooks(): void | Promise<void>;
  /** Several daemons find a claim whose answer was lost later: by two looks, a minute apart. */
  stillnessMs?: number;
  reporter: Reporter;
  endpoints: readonly { heal(): void }[];
}

/** What did not come to rest, or did not end well; empty when all did. */
export async function settle(settled: SettleKit): Promise<string[]> {
  const { reporter, endpoints, stillnessMs = USUAL_STILLNESS_MS, ...kit } = settled;
  const problems: string[] = [];
  const allButWebhooks = async () => ({ ...(await kit.openWork()), webhookDeliveries: 0, reports: reporter.waiting });
  const restless = await rest(allButWebhooks, stillnessMs);
  if (restless !== null) problems.push(`not at rest: ${restless}`);
  reporter.end();
  problems.push(...(await kit.stop()));

  for (const endpoint of endpoints) endpoint.heal();
  await kit.hastenWebhooks();
  await kit.start();
  const untold = await rest(async () => ({ ...(await kit.openWork()) }), stillnessMs);
  if (untold !== null) problems.push(`not at rest after the last start: ${untold}`);
  problems.push(...(await kit.stop()));
  return problems;
}

async function rest(look: () => Promise<OpenWork & { reports?: number }>, stillnessMs: number): Promise<string | null> {
  let before = '';
  for (let since = Date.now(); ; ) {
    const open = await look();
    if (Object.values(open).every((count) => count === 0)) return null;
    const now = JSON.stringify(open);
    if (now !== before) since = Date.now();
    before = now;
    if (Date.now() - since > patience(stillnessMs)) return now;
    await pause(LOOK_EVERY_MS);
  }
}

export async function stopped(daemon: Daemon): Promise<string[]> {
  const ended = await daemon.stop();
  return ended.code === 0 ? [] : [`the last daemon ${describeDeath(daemon, ended)}`];
}

/** What the daemon's timer does after hours of which a test has none: while no daemon runs. */
export async function sweepLeftovers(store: Store): Promise<void> {
  const clock = { now: () => Date.now() + 2 * HOUR_MS };
  const kit = {
    store,
    clock,
    contentDays: 30,
    recordsDays: 90,
    auditDays: 400,
    pause: async () => {},
    again: () => {},
  };
  await eraseOld(kit, new AbortController().signal);
}
