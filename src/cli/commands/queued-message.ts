// One message of the queue, and what keeps it waiting, as queue list and queue show print them.

import { toTimestamp } from '../../base/clock.ts';
import type { ShapingReason } from '../../delivery/shaping/shaping.ts';
import type { QueuedMessage } from '../../store/queue.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { printable } from '../table.ts';

export interface ShownReason {
  code: string;
  reason: string;
  until: string | null;
}

export function showReason({ code, reason, until }: ShapingReason): ShownReason {
  return { code, reason, until: optionalTimestamp(until) };
}

export function reasonLine({ reason, until }: ShownReason): string {
  return printable(`- ${reason}${until === null ? '' : ` (until ${until})`}`);
}

export function pauseText({ by, at, reason }: { by: string; at: string; reason: string }): string {
  return `by ${by} at ${at}: ${reason}`;
}

/** Calls and SMTP answer with the ID of the whole, which people take for that of a message. */
export function noMessage(id: string): string {
  return `there is no message ${id}; if that is the ID of a whole call, postrider queue find ${id} shows its messages`;
}

export type ShownMessage = Awaited<ReturnType<typeof showMessage>>;

/** A paused message is parked in the store, but not for what it is: that is told apart here. */
export async function showMessage(store: StoreVerbs<{ shaping: 'findPause' }>, queued: QueuedMessage) {
  const pause = queued.parked ? await store.shaping.findPause({ kind: 'message', key: queued.id }) : null;
  return {
    id: queued.id,
    tenant_id: queued.tenantId,
    submission_id: queued.submissionId,
    to: queued.recipient,
    state: queued.state,
    parked: queued.parked && pause === null,
    paused: pause && { by: pause.by, at: toTimestamp(pause.at), reason: pause.note },
    ambiguous: queued.ambiguous,
    attempts: queued.attempts,
    last_reason: queued.lastReason,
    source_address: queued.sourceAddress,
    next_attempt_at: optionalTimestamp(queued.dueAt),
    expires_at: toTimestamp(queued.expiresAt),
    created_at: toTimestamp(queued.createdAt),
    finished_at: optionalTimestamp(queued.finishedAt),
  };
}

export function optionalTimestamp(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}
