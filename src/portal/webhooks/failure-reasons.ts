// Why a webhook does not get its events: each reason once, with the events that it keeps back. The attempts say the
// same thing over and over.
import { type Html, html } from '../../http/html.ts';
import type { DeliveryView } from '../../store/webhooks.ts';
import { table, time } from '../elements.ts';

/** Of those that wait, and of those that have failed: more have hardly other reasons. */
export const DELIVERIES_LOOKED_AT = 100;

interface Reason {
  reason: string;
  /** Events by type. */
  events: Map<string, number>;
  lastAt: number;
}

/** By the last attempt of each event, the latest reason first. */
export function failureReasons(deliveries: readonly DeliveryView[]): Reason[] {
  const found = new Map<string, Reason>();
  for (const { eventType, lastAttempt } of deliveries) {
    if (lastAttempt === null) continue;
    const { reason, startedAt } = lastAttempt;
    const known = found.get(reason) ?? { reason, events: new Map<string, number>(), lastAt: startedAt };
    known.events.set(eventType, (known.events.get(eventType) ?? 0) + 1);
    known.lastAt = Math.max(known.lastAt, startedAt);
    found.set(reason, known);
  }
  return [...found.values()].sort((one, other) => other.lastAt - one.lastAt);
}

export function reasonsView(deliveries: readonly DeliveryView[]): Html | null {
  const reasons = failureReasons(deliveries);
  if (reasons.length === 0) return null;
  const rows = reasons.map(({ reason, events, lastAt }) => [
    reason,
    html`${[...events].map(([type, count], at) => html`${at > 0 && html`<br>`}<span class="whole"><code>${type}</code> (${count})</span>`)}`,
    time(lastAt),
  ]);
  return html`<h2>Why events fail</h2>${table({ caption: 'Why events fail', heads: ['Reason', 'Events', 'Last attempt'] }, rows)}`;
}
