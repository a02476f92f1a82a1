// Words for the states of messages, the same in the list and on the page of one.
import type { BounceType } from '../../base/outcome.ts';
import type { Html } from '../../http/html.ts';
import type { MessageState } from '../../store/queue.ts';
import { badge, type Tone } from '../elements.ts';

const TONES: Readonly<Record<MessageState, Tone>> = {
  scheduled: 'quiet',
  queued: 'busy',
  sending: 'busy',
  deferred: 'warn',
  delivered: 'good',
  bounced: 'bad',
  failed: 'bad',
  canceled: 'quiet',
};

export function stateBadge({ state, parked }: { state: MessageState; parked?: boolean }): Html {
  return parked ? badge('parked', 'warn') : badge(state, TONES[state]);
}

interface StateFacts {
  state: MessageState;
  parked: boolean;
  bounce: BounceType | null;
  complained: boolean;
}

/** What the state means, for somebody who has not read the documentation. */
export function stateMeaning({ state, parked, bounce, complained }: StateFacts): string {
  if (parked) return 'Held until an operator of this service has reviewed it.';
  switch (state) {
    case 'scheduled':
      return 'Waiting for the time that it was scheduled for.';
    case 'queued':
      return 'Waiting for its first attempt.';
    case 'sending':
      return 'Being sent to the receiving server right now.';
    case 'deferred':
      return 'The receiving server refused it temporarily or couldn’t be reached. Postrider retries automatically.';
    case 'delivered':
      return complained
        ? 'The receiving server accepted it, and the recipient reported it as spam.'
        : 'The receiving server accepted it. Inbox placement isn’t visible to senders.';
    case 'bounced':
      return `The message bounced: ${BOUNCES[bounce ?? 'soft']}`;
    case 'failed':
      return 'Postrider gave up without a final answer from the receiving server.';
    case 'canceled':
      return 'Canceled before it was sent.';
  }
}

const BOUNCES: Record<BounceType, string> = {
  hard: 'the mailbox or its domain doesn’t exist. The address was added to your suppression list.',
  soft: 'there is currently no way to deliver it. The address is not suppressed, so you can send to it again.',
  block:
    'the receiving server blocked it because of its content, the sender or a local policy. The address is not suppressed, so you can send to it again.',
};

export function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
}
