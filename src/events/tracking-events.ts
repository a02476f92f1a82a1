// Events of opens and clicks.
import type { NewEvent } from '../store/events.ts';
import { type EventStamp, type EventSubject, event } from './delivery-events.ts';

/** Who fetched it, as far as that can be told. */
export interface FetchFacts {
  /** The first fetch of this pixel or link. */
  first: boolean;
  ip: string;
  userAgent: string | null;
  /** Why it was most likely no person; null when nothing says so. */
  machineReason: string | null;
}

export function openedEvent(stamp: EventStamp, message: EventSubject, facts: FetchFacts): NewEvent {
  const { machineReason } = facts;
  return event('email.opened', stamp, message, { open: { ...fetchPart(facts), machine_reason: machineReason } });
}

export interface ClickFacts extends FetchFacts {
  url: string;
  linkIndex: number;
}

export function clickedEvent(stamp: EventStamp, message: EventSubject, facts: ClickFacts): NewEvent {
  const { url, linkIndex } = facts;
  return event('email.clicked', stamp, message, { click: { url, link_index: linkIndex, ...fetchPart(facts) } });
}

function fetchPart({ first, ip, userAgent, machineReason }: FetchFacts): Record<string, unknown> {
  return { first, ip: ip === '' ? null : ip, user_agent: userAgent, machine: machineReason !== null };
}
