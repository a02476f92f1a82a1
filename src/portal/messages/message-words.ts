// Words for the states of messages, the same in the list and on the page of one.
import type { BounceType } from '../../base/outcome.ts';
import type { Html } from '../../http/html.ts';
import type { MessageState } from '../../store/queue.ts';
import { badge, type Tone } from '../elements.ts';

const TONES: Record<MessageState, Tone> = {
  queued: 'busy',
  sending: 'busy',
  deferred: 'warn',
  delivered: 'good',
  bounced: 'bad',
  failed: 'bad',
};

export const STATES = Object.keys(TONES) as MessageState[];

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
  if (parked) return 'It is kept back until an operator of this service has looked at it.';
  switch (state) {
    case 'queued':
      return 'It waits for its first attempt.';
    case 'sending':
      return 'It is being handed to the receiving server right now.';
    case 'deferred':
      return 'The receiving side did not take it yet; it is tried again by itself.';
    case 'delivered':
      return complained
        ? 'The receiving server took it, and the recipient reported it as spam.'
        : 'The receiving server took it. Whether it lies in the inbox, only the recipient can tell.';
    case 'bounced':
      return `The receiving side refused it for good: ${BOUNCES[bounce ?? 'soft']}`;
    case 'failed':
      return 'It was given up without a verdict of the receiving side.';
  }
}

const BOUNCES: Record<BounceType, string> = {
  hard: 'the mailbox or its domain does not exist. The address was put on your suppression list.',
  soft: 'for now there is no way to deliver it. The address is not suppressed.',
  block: 'because of the content, the sender or a rule of theirs. The address is not suppressed.',
};

export function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
}
