// The end of a chaos run: no more kills. Waits until mail, reports and webhooks have come to rest, as long as
// something still moves, and stops the daemon as an operator would.
import { setTimeout as pause } from 'node:timers/promises';
import { HOUR_MS } from '../../src/base/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { eraseOld } from '../../src/upkeep/retention.ts';
import type { Daemon, Installation } from '../support/daemon-process.ts';
import { patience } from '../support/patience.ts';
import { describeDeath } from './execute-kill.ts';
import type { Reporter } from './reporter.ts';
import type { Scene } from './scene.ts';
import type { OpenWork, StoreUnderTest } from './store-under-test.ts';

const LOOK_EVERY_MS = 200;
/** Without any change for so long, what is open will not come to rest. */
const STILLNESS_MS = 30_000;

export interface SettleKit {
  postrider: Installation;
  store: StoreUnderTest;
  scene: Scene;
  reporter: Reporter;
  endpoints: readonly { heal(): void }[];
}

/** What did not come to rest, or did not end well; empty when all did. */
export async function settle({ postrider, store, scene, reporter, endpoints }: SettleKit): Promise<string[]> {
  const problems: string[] = [];
  await scene.daemon.ready;
  const restless = await rest(() => ({ ...store.openWork(), webhookDeliveries: 0, reports: reporter.waiting }));
  if (restless !== null) problems.push(`not at rest: ${restless}`);
  reporter.end();
  problems.push(...(await stopped(scene.daemon)));

  for (const endpoint of endpoints) endpoint.heal();
  store.hastenWebhooks();
  store.prepareStart();
  scene.replace(await postrider.serve());
  const untold = await rest(() => ({ ...store.openWork() }));
  if (untold !== null) problems.push(`not at rest after the last start: ${untold}`);
  problems.push(...(await stopped(scene.daemon)));
  return problems;
}

async function rest(look: () => Partial<OpenWork> & { reports?: number }): Promise<string | null> {
  let before = '';
  for (let since = Date.now(); ; ) {
    const open = look();
    if (Object.values(open).every((count) => count === 0)) return null;
    const now = JSON.stringify(open);
    if (now !== before) since = Date.now();
    before = now;
    if (Date.now() - since > patience(STILLNESS_MS)) return now;
    await pause(LOOK_EVERY_MS);
  }
}

async function stopped(daemon: Daemon): Promise<string[]> {
  const ended = await daemon.stop();
  return ended.code === 0 ? [] : [`the last daemon ${describeDeath(daemon, ended)}`];
}

/** What the daemon's timer does after hours of which a test has none: while no daemon runs. */
export async function sweepLeftovers(databaseFile: string): Promise<void> {
  const store = await openSqliteStore({ file: databaseFile });
  const clock = { now: () => Date.now() + 2 * HOUR_MS };
  const kit = { store, clock, contentDays: 30, recordsDays: 90, auditDays: 400, pause: async () => {} };
  await eraseOld(kit, new AbortController().signal);
  await store.close();
}
