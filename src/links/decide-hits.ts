// Decides about the fetches of one message: which become events for the tenant, and whether a machine made them. The
// others are only counted.
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { clickedEvent, openedEvent } from '../events/tracking-events.ts';
import type { NewEvent } from '../store/events.ts';
import type { HitUpdate, LinkIndex, TrackedMessage } from '../store/tracking.ts';
import type { MachineTiming } from './machine-rules.ts';

/** The fetches of one link that are not written yet. */
export interface PendingHits {
  link: LinkIndex;
  /** The link's target; empty for the pixel. */
  url: string;
  /** The number of links in the message; 0 for the pixel. */
  linkCount: number;
  hits: number;
  firstAt: number;
  lastAt: number;
  /** The fetch that an event would show: the first that seems human, otherwise the first. */
  shown: ShownHit;
}

export interface ShownHit {
  at: number;
  ip: string;
  userAgent: string | null;
  /** The reason of the rule that its address or User-Agent matches, or null. */
  machineReason: string | null;
}

export interface HitKit {
  timing: MachineTiming;
  nextId(): string;
}

/** For all links of one message together, and its pixel. */
const MAX_EVENTS_PER_MESSAGE = 100;

export function decideHits(message: TrackedMessage, pending: readonly PendingHits[], kit: HitKit): HitUpdate[] {
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
      const { link, firstAt, lastAt } = hits;
      const counted = { tenantId: message.tenantId, messageId: message.id, link, hits: hits.hits, firstAt, lastAt };
      if (!isEvent) return { ...counted, event: null };
      const machineReason = hits.shown.machineReason ?? suspiciousTime(message, hits, pending, kit.timing);
      const first = before === undefined;
      return { ...counted, event: eventOf(message, hits, { first, machineReason }, kit) };
    });
}

function eventOf(
  message: TrackedMessage,
  { link, url, shown }: PendingHits,
  found: { first: boolean; machineReason: string | null },
  kit: HitKit,
): NewEvent {
  const stamp = { id: kit.nextId(), at: shown.at };
  const facts = { ...found, ip: shown.ip, userAgent: shown.userAgent };
  return link === null
    ? openedEvent(stamp, message, facts)
    : clickedEvent(stamp, message, { ...facts, url, linkIndex: link });
}

/** Why it can't be a person at this time, or null. */
function suspiciousTime(
  message: TrackedMessage,
  { link, linkCount, shown }: PendingHits,
  pending: readonly PendingHits[],
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
