// Mail for later: when a call wants to be sent, and moving or canceling what has not been sent yet.
import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import { parseMoment } from '../base/text/rfc3339.ts';
import { cancel, canceledUpdate, type EndBegun, type EndWaitingKit } from '../events/end-waiting.ts';
import type { Logger } from '../observe/log.ts';
import * as mailLog from '../observe/mail-log.ts';
import { parseAddress } from '../protocol/mail/addresses/address.ts';
import { ENDED_STATES, type MessageState, type SubmissionDetail } from '../store/queue.ts';
import type { StoreVerbs } from '../store/store.ts';
import { invalid } from './invalid.ts';
import { notAllowed, type Sender } from './sender.ts';

const MAX_AHEAD_MS = 30 * DAY_MS;
/** Clocks differ: what is a little in the past means now. */
const TOLERANCE_MS = 5 * MINUTE_MS;

/** Null: at once. */
export function readSendAt(text: string | undefined, now: number, field = 'send_at'): number | null | Refusal {
  if (text === undefined) return null;
  const at = parseMoment(text);
  if (at === null) return invalid(field, 'must be an RFC 3339 time with an offset, like 2026-12-24T18:00:00+01:00.');
  if (at < now - TOLERANCE_MS) return invalid(field, 'is more than 5 minutes in the past.');
  if (at > now + MAX_AHEAD_MS) return invalid(field, 'must be at most 30 days ahead.');
  return at > now ? at : null;
}

export interface SchedulingKit extends EndWaitingKit {
  store: EndWaitingKit['store'] & StoreVerbs<{ queue: 'findSubmission' | 'findWaitingOf' | 'moveScheduled' }>;
  log: Logger;
  /** How long delivery is attempted. */
  lifetimeMs: number;
  onScheduled(sendAt: number): void;
  endBegun: EndBegun;
}

export interface Canceled {
  /** Of messages that end now. */
  canceled: string[];
  /** Of messages that are finished or on the wire. */
  tooLate: string[];
}

/** A key of the tenant, or one of its people. */
export type Mover = Pick<Sender, 'tenantId' | 'boundDomain'>;

export interface Scheduling {
  /** The new time of what is still scheduled. */
  move(by: Mover, submissionId: string, sendAt: string): Promise<{ sendAt: number } | Refusal>;
  /** Ends what is neither finished nor on the wire. */
  cancel(by: Mover, submissionId: string): Promise<Canceled | Refusal>;
}

export function createScheduling(kit: SchedulingKit): Scheduling {
  const { store, clock, log, lifetimeMs, onScheduled, endBegun } = kit;

  async function find({ tenantId, boundDomain }: Mover, id: string): Promise<SubmissionDetail | Refusal> {
    const submission = await store.queue.findSubmission(tenantId, id);
    if (!submission) return submissionNotFound();
    const from = parseAddress(submission.from);
    const isOther = boundDomain !== null && from.ok && from.address.asciiDomain !== boundDomain;
    return isOther ? notAllowed(boundDomain) : submission;
  }

  return {
    async move(by, submissionId, text) {
      const { tenantId } = by;
      const now = clock.now();
      const read = readSendAt(text, now);
      if (isRefusal(read)) return read;
      const submission = await find(by, submissionId);
      if (isRefusal(submission)) return submission;
      const sendAt = read ?? now;
      const moved = await store.queue.moveScheduled(tenantId, submissionId, { sendAt, expiresAt: sendAt + lifetimeMs });
      if (moved === 0) {
        // Its time may have come, or someone may have canceled it, since it was read.
        const found = await find(by, submissionId);
        return isRefusal(found) ? found : notScheduled(found.messages.map(({ state }) => state));
      }
      mailLog.moved(log, { tenantId, submissionId }, { sendAt, messages: moved });
      onScheduled(sendAt);
      return { sendAt };
    },

    async cancel(by, submissionId) {
      const submission = await find(by, submissionId);
      if (isRefusal(submission)) return submission;
      const waiting = await store.queue.findWaitingOf(by.tenantId, submissionId);
      // Concurrently, so that all are one commit.
      const results = await Promise.all(waiting.map((message) => cancel(kit, message, BY_SENDER)));
      const ended = waiting.filter((_, index) => results[index]);
      // What is claimed, also since it was looked up, has not been sent yet, or not to the end.
      const endedIds = new Set(ended.map(({ id }) => id));
      const open = submission.messages
        .filter(({ id, state }) => isOpen(state) && !endedIds.has(id))
        .map(({ id }) => id);
      const begun = await endBegun(open, (message) => canceledUpdate(kit, message, BY_SENDER));
      for (const message of [...ended, ...begun]) mailLog.canceled(log, message, BY_SENDER);
      // Called again after a lost answer, or beside another call, it says the same.
      const found = await find(by, submissionId);
      if (isRefusal(found)) return found;
      const { canceled = [], tooLate = [] } = Object.groupBy(found.messages, ({ state }) =>
        state === 'canceled' ? 'canceled' : 'tooLate',
      );
      return { canceled: canceled.map(({ id }) => id), tooLate: tooLate.map(({ id }) => id) };
    },
  };
}

function isOpen(state: MessageState): boolean {
  return state !== 'delivered' && !ENDED_STATES.includes(state);
}

const BY_SENDER = { by: 'sender', reason: 'canceled by its sender' } as const;

export function submissionNotFound(): Refusal {
  return refuse('submission_not_found', 'Submission not found. Use the `id` of the response to a send.');
}

function notScheduled(states: MessageState[]): Refusal {
  const found = [...new Set(states)].join(', ');
  return refuse('not_scheduled', `Nothing of this submission is scheduled any more: its messages are ${found}.`);
}
