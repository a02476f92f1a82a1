// Words for how webhooks and attempts do, the same on every page of this area.
import { type Html, html } from '../../http/html.ts';
import type { AttemptView, WebhookHealth } from '../../store/webhooks.ts';
import { badge, time } from '../elements.ts';

export function healthBadge({ failingSince, due }: Pick<WebhookHealth, 'failingSince' | 'due'>): Html {
  if (failingSince !== null) return badge('failing', 'bad');
  return due > 0 ? badge('sending', 'busy') : badge('in order', 'good');
}

export function healthSentence({ failingSince, due }: WebhookHealth): Html {
  if (failingSince !== null) {
    return html`It has taken no event since ${time(failingSince)}. Each is sent again for three days, with growing pauses; the webhook is never switched off.
The newest attempts below say why.`;
  }
  return due > 0
    ? html`Events are on their way to it.`
    : html`Everything that was sent to it was taken, or given up and listed below.`;
}

export function countOf(count: number, countedAtMost: number): string {
  return count >= countedAtMost ? `${countedAtMost} or more` : String(count);
}

export function statusBadge({ status }: Pick<AttemptView, 'status'>): Html {
  if (status === null) return badge('no answer', 'bad');
  return badge(String(status), status >= 200 && status < 300 ? 'good' : 'bad');
}

/** What became of the delivery that the attempt belongs to. */
export function whatFollows({ state, nextAt, status }: AttemptView): Html {
  switch (state) {
    case 'delivered':
      return html`${status !== null && status < 300 && status >= 200 ? 'taken' : 'taken by a later attempt'}`;
    case 'failed':
      return html`given up; it can be replayed`;
    case 'due':
      return nextAt === null ? html`due again` : html`next attempt ${time(nextAt)}`;
  }
}
