// Decides about the fetches of one message: which become events for the tenant, and whether a machine made them. The
// others are only counted. Every driver runs this within `recordHits`, with what it has found of the message.
import { MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts';
import { event } from '../../../event-of-message.ts';
import type { NewEvent } from '../../../events.ts';
import type { LinkIndex, MachineTiming, NewHits, TrackedMessage } from '../../../tracking.ts';

/** New fetches of one link, with their event if there is one. */
export interface HitUpdate {
  link: LinkIndex;
  hits: number;
  firstAt: number;
  lastAt: number;
  event: NewEvent | null;
}

/** For all links of one message together, and its pixel. */
const MAX_EVENTS_PER_MESSAGE = 100;

export function decideHits(message: TrackedMessage, pending: readonly NewHits[], timing: MachineTiming): HitUpdate[] {
  const known = new Map(message.links.map((link) => [link.link, link]));
  let eventCount = message.links.reduce((sum, { events }) => sum + events, 0);
  return pending
    .toSorted((one, other) => one.shown.at - other.shown.at)
    .map((hits) => {
      const before = known.get(hits.link);
      const isEvent =
        eventCount < MAX_EVENTS_PER_MESSAGE &&
        hits.shown.at - (before?.lastEventAt ?? Number.NEGATIVE_INFINITY) >= MINUTE_MS;
      if (isEvent) eventCount++;
      const counted = { link: hits.link, hits: hits.hits, firstAt: hits.firstAt, lastAt: hits.lastAt };
      if (!isEvent) return { ...counted, event: null };
      const machineReason = hits.shown.machineReason ?? suspiciousTime(message, hits, pending, timing);
      return { ...counted, event: eventOf(message, hits, { first: before === undefined, machineReason }) };
    });
}

/** What the event says besides the fetch itself. */
interface Verdict {
  /** The first fetch of this pixel or link. */
  first: boolean;
  /** Why it was most likely not a person; null when nothing says so. */
  machineReason: string | null;
}

function eventOf(
  message: TrackedMessage,
  { eventId: id, link, url, shown }: NewHits,
  { first, machineReason }: Verdict,
): NewEvent {
  const stamp = { id, at: shown.at };
  const ip = shown.ip === '' ? null : shown.ip;
  const fetch = { first, ip, user_agent: shown.userAgent, machine: machineReason !== null };
  return link === null
    ? event('email.opened', stamp, message, { open: { ...fetch, machine_reason: machineReason } })
    : event('email.clicked', stamp, message, { click: { url, link_index: link, ...fetch } });
}

/** Why it can't be a person at this time, or null. */
function suspiciousTime(
  message: TrackedMessage,
  { link, linkCount, shown }: NewHits,
  pending: readonly NewHits[],
  timing: MachineTiming,
): string | null {
  if (cameBefore(message, shown.at, timing)) return 'The receiving server had not accepted the message yet.';
  if (link === null || message.state !== 'delivered' || message.finishedAt === null) return null;
  if (shown.at - message.finishedAt > timing.burstAfterDeliveryMs) return null;
  const links = linksAround(shown.at, timing.burstWithinMs, [...message.links, ...pending]);
  // People do follow the only link of a message.
  if (links < Math.min(timing.burstLinks, Math.max(linkCount, 2))) return null;
  const share = links === linkCount ? `All ${links}` : `${links} of ${linkCount}`;
  return `${share} links were followed within ${timing.burstWithinMs / SECOND_MS} s, soon after delivery.`;
}

/** After a second attempt nothing is certain: the first one's reply may have been lost, and the message read since. */
function cameBefore({ state, finishedAt, attempts }: TrackedMessage, at: number, timing: MachineTiming): boolean {
  if (attempts > 1) return false;
  return state === 'sending' || (state === 'delivered' && finishedAt! - at >= timing.beforeDeliveryMs);
}

function linksAround(at: number, withinMs: number, hits: readonly { link: LinkIndex; lastAt: number }[]): number {
  const close = hits.filter(({ link, lastAt }) => link !== null && Math.abs(at - lastAt) <= withinMs);
  return new Set(close.map(({ link }) => link)).size;
}
