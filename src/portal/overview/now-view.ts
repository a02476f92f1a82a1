// What goes on right now: what waits, for how long and why, and the latest events.
import { EVENT_TYPES } from '../../events/event-types.ts';
import { type Html, html } from '../../http/html.ts';
import type { EventType, StoredEvent } from '../../store/events.ts';
import type { WaitingLane, WaitingMail } from '../../store/reads.ts';
import { badge, emptyState, type Tone, table, time } from '../elements.ts';
import type { WaitingReason } from './waiting.ts';

export interface WaitingShown {
  mail: WaitingMail;
  /** In the order of its lanes. */
  reasons: readonly WaitingReason[];
  now: number;
}

const whole = new Intl.NumberFormat('en-US');

export function waitingView({ mail, reasons, now }: WaitingShown): Html {
  const { open, lanes, otherLanes, complete } = mail;
  if (open === 0) return html`<p class="quiet">The queue is empty: every accepted message is finished.</p>`;
  if (lanes.length === 0) {
    const scheduled = html`<a href="/portal/messages?state=scheduled">scheduled for later</a>`;
    return html`<p>${messages(open)} ${scheduled}, held by the operator, or being sent right now; nothing is waiting.</p>`;
  }
  const oldest = Math.min(...lanes.map(({ oldestAt }) => oldestAt));
  const about = complete ? '' : ' at least';
  const rows = lanes.map((lane, at) => waitingRow(lane, reasons[at]!));
  const heads = ['To', 'Messages', 'Oldest accepted', 'Reason', 'Next attempt'];
  const others =
    otherLanes > 0 &&
    html`<p class="quiet">${whole.format(otherLanes)} more domains have mail waiting, none of it older.</p>`;
  return html`<p>${messages(open)} still in the queue. The oldest has been waiting for${about} <strong>${duration(now - oldest)}</strong>.</p>
${table({ caption: 'Waiting mail, oldest first', heads }, rows)}${others}`;
}

function messages(open: number): string {
  return open === 1 ? '1 message is' : `${whole.format(open)} messages are`;
}

function waitingRow(lane: WaitingLane, { reasons, until }: WaitingReason) {
  const why = html`<ul class="plain-list roomy">${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`;
  const oldest = html`<a href="/portal/messages/${lane.oldestId}">${time(lane.oldestAt)}</a>`;
  const amount = html`<span class="number">${whole.format(lane.messages)}</span>`;
  return [html`<span class="roomy">${lane.domain}</span>`, amount, oldest, why, time(until, 'as soon as possible')];
}

const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** In its largest whole unit: `3 hours`. */
export function duration(ms: number): string {
  const [name, unitMs] = UNITS.find(([, each]) => ms >= each) ?? ['second', 1000];
  const amount = Math.max(0, Math.floor(ms / unitMs));
  return `${amount} ${name}${amount === 1 ? '' : 's'}`;
}

const LABELS: Readonly<Record<EventType, readonly [string, Tone]>> = {
  'email.delivered': ['delivered', 'good'],
  'email.deferred': ['deferred', 'warn'],
  'email.bounced': ['bounced', 'bad'],
  'email.failed': ['failed', 'bad'],
  'email.canceled': ['canceled', 'quiet'],
  'email.complained': ['complained', 'bad'],
  'email.opened': ['opened', 'busy'],
  'email.clicked': ['clicked', 'busy'],
};

export function eventsView(events: readonly StoredEvent[]): Html {
  if (events.length === 0) {
    return emptyState('No events yet', 'Events for your messages appear here within seconds.');
  }
  const rows = events.map((event) => {
    const { to, subject } = event.data;
    const [label, tone] = LABELS[event.type] ?? [event.type, 'quiet'];
    const what = html`<span title="${EVENT_TYPES[event.type]?.meaning}">${badge(label, tone)}</span>`;
    const message = html`<a href="/portal/messages/${event.messageId}">${textOf(subject) || '(no subject)'}</a>`;
    return [
      time(event.at),
      what,
      html`<span class="roomy">${textOf(to)}</span>`,
      html`<span class="roomy">${message}</span>`,
    ];
  });
  return table({ caption: 'Latest events', heads: ['Time', 'Event', 'Recipient', 'Message'] }, rows);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
