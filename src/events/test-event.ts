// The event that a person sends to one endpoint to try it out: shaped like all others, with a type that
// nothing else has. It is not stored, so neither the feed nor other endpoints ever see it.
import { toTimestamp } from '../base/clock.ts';
import type { EventBody } from './event-body.ts';

const TEST_EVENT_TYPE = 'test';

/** Ids that no message has: whoever looks them up finds nothing. */
const NO_MESSAGE = '00000000-0000-7000-8000-000000000000';

export function testEvent({ id, at }: { id: string; at: number }): EventBody {
  return {
    id,
    type: TEST_EVENT_TYPE,
    family: TEST_EVENT_TYPE,
    timestamp: toTimestamp(at),
    data: {
      message_id: NO_MESSAGE,
      submission_id: NO_MESSAGE,
      from: 'sender@example.com',
      to: 'recipient@example.com',
      subject: 'Test event',
      domain: 'example.com',
      test: { message: 'Sent by hand to try this endpoint. No mail was sent, and nothing happened to any.' },
    },
  };
}
