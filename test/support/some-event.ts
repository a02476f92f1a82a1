// An event of a message that was accepted over the API, as if a first attempt had failed: for tests without delivery.
import { noPeer } from '../../src/base/outcome.ts';
import { deferredEvent } from '../../src/events/delivery-events.ts';
import { claimOf } from '../../src/store/queue.ts';
import type { ApiHarness } from './api-harness.ts';
import { claimMessage } from './first-slot.ts';

export interface AcceptedMail {
  tenantId: string;
  messageId: string;
  from: string;
  to: string;
  subject: string;
}

/** Returns the event's id. */
export async function recordSomeEvent(
  { store, ids }: Pick<ApiHarness, 'store' | 'ids'>,
  { tenantId, messageId, from, to: recipient, subject }: AcceptedMail,
): Promise<string> {
  const [id, at] = [ids.next(), Date.now()];
  const message = {
    id: messageId,
    submissionId: messageId,
    from,
    recipient,
    subject,
    fromDomain: from.split('@')[1]!,
    labels: null,
  };
  const facts = { peer: noPeer('connect', 'test'), attempt: 1, nextAttemptAt: at };
  const claim = claimOf(await claimMessage(store, messageId));
  await store.queue.record([
    {
      ...{ messageId, tenantId, at, claim, attempt: null },
      transition: { to: 'deferred', dueAt: at, reason: 'test', ambiguous: false },
      event: deferredEvent({ id, at }, message, facts),
    },
  ]);
  return id;
}
