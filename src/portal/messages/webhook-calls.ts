// What became of a message's events at its tenant's webhooks, for the timeline: where each was sent, how often, what the
// endpoint said last, and when it is tried next.
import type { Html } from '../../http/html.ts';
import type { WebhookCall } from '../../store/message-view.ts';
import { type Tone, time } from '../elements.ts';
import type { TimelineEntry } from './timeline-entry.ts';

export function webhookEntry(call: WebhookCall): TimelineEntry {
  const { webhookId, url, eventId, eventType, attempts, lastAttempt, dueAt } = call;
  const [title, tone] = standing(call);
  const webhook = `/portal/webhooks/${webhookId}`;
  const facts: [string, string | Html][] = [
    ['URL', url],
    ['Event', eventType],
    ['Attempts', String(attempts)],
  ];
  if (dueAt !== null) facts.push(['Next attempt', time(dueAt)]);
  return {
    at: lastAttempt?.startedAt ?? call.at,
    tone,
    title,
    reason: lastAttempt?.reason ?? null,
    facts,
    path: lastAttempt ? `${webhook}/attempts/${eventId}/${lastAttempt.number}` : `${webhook}?event=${eventId}#attempts`,
  };
}

/** Something is about to change: nothing was tried yet, or an attempt is in progress. */
export function isUnderWay({ state, dueAt, lastAttempt }: WebhookCall): boolean {
  return state === 'due' && (dueAt === null || lastAttempt === null);
}

function standing({ state, lastAttempt }: WebhookCall): [title: string, tone: Tone] {
  switch (state) {
    case 'delivered':
      return ['Webhook call accepted', 'good'];
    case 'failed':
      return ['Webhook call failed', 'bad'];
    case 'due':
      return lastAttempt === null ? ['Webhook call waiting', 'busy'] : ['Webhook call refused', 'warn'];
  }
}
