// Words for how webhooks and attempts do, the same on every page of this area.
import { type Html, html } from '../../http/html.ts';
import type { AttemptView, WebhookHealth } from '../../store/webhooks.ts';
import { badge, time } from '../elements.ts';

export function healthBadge({ failingSince, due }: Pick<WebhookHealth, 'failingSince' | 'due'>): Html {
  if (failingSince !== null) return badge('failing', 'bad');
  return due > 0 ? badge('sending', 'busy') : badge('OK', 'good');
}

export function healthSentence({ failingSince, due }: WebhookHealth): Html {
  if (failingSince !== null) {
    return html`It has not accepted an event since ${time(failingSince)}. Each event is retried for three days with increasing delays; the webhook is never disabled.
The reasons are below.`;
  }
  return due > 0
    ? html`Events are being sent to it.`
    : html`Every event sent to it was accepted, or has failed and is listed below.`;
}

export function chosenEvents({ events }: Pick<WebhookHealth, 'events'>): string {
  return events?.join(', ') ?? 'every event';
}

export function countOf(count: number, maxCounted: number): string {
  return count >= maxCounted ? `${maxCounted} or more` : String(count);
}

export function statusBadge({ status }: Pick<AttemptView, 'status'>): Html {
  if (status === null) return badge('no response', 'bad');
  return badge(String(status), status >= 200 && status < 300 ? 'good' : 'bad');
}

/** What became of the delivery that the attempt belongs to. */
export function whatFollows({ state, nextAt, status }: AttemptView): Html {
  switch (state) {
    case 'delivered':
      return html`${status !== null && status < 300 && status >= 200 ? 'accepted' : 'accepted at a later attempt'}`;
    case 'failed':
      return html`failed; can be replayed`;
    case 'due':
      return nextAt === null ? html`retry due` : html`next attempt ${time(nextAt)}`;
  }
}
