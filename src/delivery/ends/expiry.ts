// Ends messages whose lifetime is over, in any state: a separate sweeper, so that a message that is never
// tried again ends, too. Orphans are returned to the queue first; a message being sent ends after that
// attempt.

import { type Clock, HOUR_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { type EndWaitingKit, giveUp } from '../../events/end-waiting.ts';
import type { Logger } from '../../observe/log.ts';
import { failed } from '../../observe/mail-log.ts';
import type { Ownership } from '../../store/ownership.ts';
import type { WaitingMessage } from '../../store/queue.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { OrphanFinder } from '../queue/orphans.ts';

interface ExpirySweeperKit extends EndWaitingKit {
  store: StoreVerbs<{ queue: 'expired' | 'getMessage' | 'endWaiting'; tenants: 'getTenant' }>;
  ownership: Pick<Ownership, 'heldSlots'>;
  clock: Clock;
  log: Logger;
  orphans: Pick<OrphanFinder, 'sweep'>;
  periodMs: number;
}

interface ExpirySweeper {
  sweep(): Promise<number>;
  stop(): Promise<void>;
}

// Small portions, so that ten thousand expired messages don't block the event loop.
const PORTION = 200;

export function startExpirySweeper(kit: ExpirySweeperKit): ExpirySweeper {
  let running: Promise<number> | null = null;
  const sweep = () => {
    running ??= sweepOnce(kit).finally(() => {
      running = null;
    });
    return running;
  };
  const timer = setInterval(() => void sweep(), kit.periodMs);
  return {
    sweep,
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

async function sweepOnce(kit: ExpirySweeperKit): Promise<number> {
  const { store, ownership, clock, log, orphans } = kit;
  let ended = 0;
  try {
    await orphans.sweep();
  } catch (error) {
    log.error({ error }, `orphaned messages could not be looked up: ${describeError(error)}`);
  }
  try {
    for (;;) {
      const expired = await store.queue.expired(ownership.heldSlots, clock.now(), PORTION);
      // Concurrently, so that a portion is one commit.
      const results = await Promise.all(expired.map((message) => end(kit, message)));
      const endedNow = results.filter((isEnded) => isEnded).length;
      ended += endedNow;
      // A portion of which no message can be ended would be read again and again.
      if (expired.length < PORTION || endedNow === 0) return ended;
    }
  } catch (error) {
    log.error({ error }, `expired messages could not be found: ${describeError(error)}`);
    return ended;
  }
}

/** A message that can't be ended is retried in the next sweep, and doesn't block others. */
async function end(kit: ExpirySweeperKit, message: WaitingMessage): Promise<boolean> {
  const { store, log } = kit;
  try {
    const lifetime = describeHours(message.expiresAt - (message.sendAt ?? message.createdAt));
    const reason = `given up after ${lifetime}; the last reason for waiting: ${await reasonForWaiting(store, message)}`;
    if (!(await giveUp(kit, message, reason))) return false;
    failed(log, message, { reason, attempts: message.attempt, attempt: null });
    return true;
  } catch (error) {
    log.error({ error, message_id: message.id }, `an expired message could not be ended: ${describeError(error)}`);
    return false;
  }
}

async function reasonForWaiting(
  store: ExpirySweeperKit['store'],
  { id, tenantId }: Pick<WaitingMessage, 'id' | 'tenantId'>,
): Promise<string> {
  const tenant = await store.tenants.getTenant(tenantId);
  if (tenant && tenant.status !== 'active') return `its sender's account is not active (${tenant.status})`;
  return (await store.queue.getMessage(id))?.lastReason ?? 'it was never tried';
}

function describeHours(ms: number): string {
  const hours = ms / HOUR_MS;
  return hours >= 1 ? `${Math.round(hours * 10) / 10} h` : `${Math.max(1, Math.round(ms / 60_000))} min`;
}
