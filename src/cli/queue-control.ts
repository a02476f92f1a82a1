// Acting on waiting messages through the store alone: as it is when no daemon runs, and what
// the daemon builds on, with a scheduler that hears of every lane that has something due.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { giveUp } from '../delivery/give-up.ts';
import type { Logger } from '../observe/log.ts';
import { cancelled } from '../observe/mail-log.ts';
import type { Store } from '../store/store.ts';
import type { LaneNotice } from '../store/submissions.ts';
import type { QueueControl, QueueVerdict } from './services.ts';

export interface QueueControlParts {
  store: Store;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  /** Told of lanes that have something due; nobody, when no daemon runs. */
  onLanes(lanes: LaneNotice[]): void;
}

export function storeQueueControl(parts: QueueControlParts): QueueControl {
  return {
    retry: (messageId) => retry(parts, messageId),
    cancel: (messageId, reason) => cancel(parts, messageId, reason),
  };
}

async function retry({ store, clock, onLanes }: QueueControlParts, messageId: string): Promise<QueueVerdict> {
  const lane = await store.retryNow(messageId, clock.now());
  if (!lane) return 'not_waiting';
  onLanes([lane]);
  return 'done';
}

async function cancel(parts: QueueControlParts, messageId: string, reason: string): Promise<QueueVerdict> {
  const message = await parts.store.findWaiting(messageId);
  if (!message || !(await giveUp(parts, message, reason))) return 'not_waiting';
  cancelled(parts.log, message, { reason });
  return 'done';
}
