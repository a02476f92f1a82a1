// Whether a message may be sent now: one pure function that collects every reason against it, finds the
// earliest time at which all of them may have ended, and decides once. The same reasons go to the log and
// to `postrider queue`.
import { toTimestamp } from '../../base/clock.ts';
import { counted } from '../../base/text/counted.ts';
import { HELD_AFTER_RESTORE } from '../../store/restored.ts';
import type { GroupConcurrency, QueuePause, Suspension } from '../../store/shaping.ts';
import type { TenantStatus } from '../../store/tenants.ts';
import { permittedConnections } from './adaptive-limit.ts';

export const SHAPING_CODES = [
  'not_running',
  'not_due',
  'scheduled',
  'parked',
  'held_after_restore',
  'message_paused',
  'tenant_not_active',
  'tenant_paused',
  'tenant_paced',
  'domain_paused',
  'domain_suspended',
  'sender_domain_suspended',
  'group_paused',
  'group_suspended',
  'source_address_suspended',
  'cool_down',
  'messages_per_minute',
  'connections_full',
  'all_connections_full',
] as const;

export type ShapingCode = (typeof SHAPING_CODES)[number];

/** What a reason affects: one message, its lane, or all mail to its MX group. */
export type Reach = 'message' | 'lane' | 'group';

export interface ShapingReason {
  code: ShapingCode;
  reach: Reach;
  /** A sentence for people. */
  reason: string;
  /** Null: unknown; an operator ends it, or a connection that becomes free. */
  until: number | null;
}

export interface ShapingVerdict {
  decision: 'go' | 'wait';
  reasons: ShapingReason[];
  /** The earliest time at which it may be sent; null: now, or unknown. */
  until: number | null;
}

export interface TenantFacts {
  status: TenantStatus;
  statusReason: string | null;
  pause: QueuePause | null;
  /** Null: not paced. `freeAt`: when the next message may be sent. */
  pace: { perHour: number; sent: number; freeAt: number } | null;
}

export interface GroupFacts {
  name: string;
  pause: QueuePause | null;
  suspension: Suspension | null;
  concurrency: GroupConcurrency;
  /** Its connections without adaptive limits. */
  ceiling: number;
  open: number;
  /** All daemons share the connections: so many may be open here. Null: they are this one's own. */
  share: number | null;
  perMinute: { limit: number; sent: number; freeAt: number } | null;
}

export interface ShapingFacts {
  /** Whether a daemon is running. */
  running: boolean;
  /** Null: the question is about any message of the lane. */
  message: {
    dueAt: number | null;
    /** Its time is what its sender asked for. */
    scheduled?: boolean;
    parked: boolean;
    pause: QueuePause | null;
    lastReason: string | null;
  } | null;
  tenant: TenantFacts;
  domain: { name: string; pause: QueuePause | null; suspension: Suspension | null };
  /** The suspension of its sender's domain towards this group. */
  sender: Suspension | null;
  /** Null before the group is known. */
  group: GroupFacts | null;
  /** Null: the default address. */
  sourceAddress: string | null;
  source: Suspension | null;
  /** Null: it would use a connection that is open already. */
  connections: { open: number; limit: number } | null;
}

type Reasons = (ShapingReason | null)[];

export function decideShaping(facts: ShapingFacts, now: number): ShapingVerdict {
  const all: Reasons = [notRunning(facts), ...ofMessage(facts, now), ...ofLane(facts, now), ...ofGroup(facts, now)];
  const reasons = all.filter((reason) => reason !== null);
  if (reasons.length === 0) return { decision: 'go', reasons, until: null };
  return { decision: 'wait', reasons, until: latestEnd(reasons) };
}

/** When all of them may have ended; null: unknown. */
export function latestEnd(reasons: readonly ShapingReason[]): number | null {
  const times = reasons.map(({ until }) => until);
  return times.includes(null) ? null : Math.max(...(times as number[]));
}

function notRunning({ running }: ShapingFacts): ShapingReason | null {
  return running
    ? null
    : { code: 'not_running', reach: 'group', reason: 'no daemon is running to send it', until: null };
}

function ofMessage({ message, sender }: ShapingFacts, now: number): Reasons {
  const reasons: Reasons = [suspended('sender_domain_suspended', 'message', sender, now)];
  if (!message) return reasons;
  const { dueAt, scheduled = false, parked, pause, lastReason } = message;
  if (pause) reasons.push(paused('message_paused', 'message', pause));
  else if (parked && lastReason === HELD_AFTER_RESTORE) {
    const reason = `it is ${lastReason}. To send all such messages: postrider queue release`;
    reasons.push({ code: 'held_after_restore', reach: 'message', reason, until: null });
  } else if (parked) {
    const why = `it is parked because it can't be sent as it is: ${lastReason ?? 'no reason is known'}`;
    reasons.push({ code: 'parked', reach: 'message', reason: why, until: null });
  } else if (scheduled && dueAt !== null) {
    const reason = `its sender scheduled it for ${toTimestamp(dueAt)}`;
    reasons.push({ code: 'scheduled', reach: 'message', reason, until: dueAt });
  } else if (dueAt !== null && dueAt > now) {
    const why = lastReason === null ? '' : `: ${lastReason}`;
    const reason = `its next attempt is due at ${toTimestamp(dueAt)}${why}`;
    reasons.push({ code: 'not_due', reach: 'message', reason, until: dueAt });
  }
  return reasons;
}

function ofLane({ tenant, domain }: ShapingFacts, now: number): Reasons {
  return [
    inactive(tenant),
    paused('tenant_paused', 'lane', tenant.pause),
    paced(tenant, now),
    paused('domain_paused', 'lane', domain.pause),
    suspended('domain_suspended', 'lane', domain.suspension, now),
  ];
}

function ofGroup({ group, source, connections }: ShapingFacts, now: number): Reasons {
  if (!group) return [];
  return [
    paused('group_paused', 'group', group.pause),
    suspended('group_suspended', 'group', group.suspension, now),
    suspended('source_address_suspended', 'group', source, now),
    coolingDown(group, now),
    usedUp(group, now),
    ...(connections ? connectionsLeft(group, connections) : []),
  ];
}

function paused(code: ShapingCode, reach: Reach, pause: QueuePause | null): ShapingReason | null {
  if (!pause) return null;
  const { kind, key, by, at, note } = pause;
  const what = kind === 'message' ? 'this message' : `the ${kind} ${key}`;
  return { code, reach, reason: `${what} was paused by ${by} at ${toTimestamp(at)}: ${note}`, until: null };
}

function suspended(code: ShapingCode, reach: Reach, suspension: Suspension | null, now: number): ShapingReason | null {
  if (!suspension || suspension.until <= now) return null;
  return {
    code,
    reach,
    reason: `${whatPauses(suspension)}, as rule ${suspension.rule} asks: ${suspension.reply}`,
    until: suspension.until,
  };
}

/** Such as `all mail to google is paused until …`. */
export function whatPauses({ scope, mxGroup, subject, until }: Suspension): string {
  const what = {
    group: `all mail to ${mxGroup}`,
    source: `mail ${subject === '' ? 'from our address' : `from our address ${subject}`} to ${mxGroup}`,
    sender_domain: `mail from ${subject} to ${mxGroup}`,
    domain: `mail to ${subject}`,
  }[scope];
  return `${what} is paused until ${toTimestamp(until)}`;
}

function inactive({ status, statusReason }: TenantFacts): ShapingReason | null {
  if (status === 'active') return null;
  const reason = `the tenant is ${status.replaceAll('_', ' ')}${statusReason ? `: ${statusReason}` : ''}`;
  return { code: 'tenant_not_active', reach: 'lane', reason, until: null };
}

/** Where all daemons share a limit. */
const ASKS = 'this daemon asks for its part of';

function paced({ pace }: TenantFacts, now: number): ShapingReason | null {
  if (!pace || pace.freeAt <= now) return null;
  const { sent, perHour, freeAt: until } = pace;
  const reason =
    sent < perHour
      ? `${ASKS} the tenant's limit of ${counted(perHour, 'message')} per hour (limits.messages_per_hour)`
      : `the tenant has sent ${counted(sent, 'message')} within an hour; its limit is ${perHour} (limits.messages_per_hour)`;
  return { code: 'tenant_paced', reach: 'lane', reason, until };
}

function coolingDown({ name, concurrency }: GroupFacts, now: number): ShapingReason | null {
  const { coolDownUntil: until, failures, reason: why } = concurrency;
  if (until <= now) return null;
  const tries = failures === 1 ? 'the last connection attempt' : `${failures} connection attempts in a row`;
  return { code: 'cool_down', reach: 'group', reason: `${tries} to ${name} failed: ${why}`, until };
}

function usedUp({ name, perMinute }: GroupFacts, now: number): ShapingReason | null {
  if (!perMinute || perMinute.freeAt <= now) return null;
  const { sent, limit, freeAt: until } = perMinute;
  const reason =
    sent < limit
      ? `${ASKS} the limit of ${counted(limit, 'message')} per minute to ${name}`
      : `${counted(sent, 'message was', 'messages were')} sent to ${name} within a minute; the limit is ${limit}`;
  return { code: 'messages_per_minute', reach: 'group', reason, until };
}

function connectionsLeft(group: GroupFacts, all: { open: number; limit: number }): Reasons {
  const { concurrency, open, share } = group;
  const permitted = Math.min(permittedConnections(concurrency), share ?? Number.POSITIVE_INFINITY);
  const full = () => whatIsFull(group, permitted);
  const allFull = `all ${all.limit} connections of the service are in use (delivery.connections)`;
  return [
    open < permitted ? null : { code: 'connections_full', reach: 'group', reason: full(), until: null },
    all.open < all.limit ? null : { code: 'all_connections_full', reach: 'group', reason: allFull, until: null },
  ];
}

function whatIsFull({ name, concurrency, ceiling, share }: GroupFacts, permitted: number): string {
  const ofAll = `${counted(ceiling, 'connection')} to ${name} that all daemons share`;
  if (share === 0) return `${ASKS} the ${ofAll}`;
  const which = permitted === 1 ? 'the one connection' : `all ${permitted} connections`;
  const areUsed = permitted === 1 ? 'is in use' : 'are in use';
  if (share !== null && share === permitted) return `${which} that this daemon has of the ${ofAll} ${areUsed}`;
  const lowered = permitted < ceiling ? ` (of ${ceiling}; lowered: ${concurrency.reason})` : '';
  return `${which} to ${name} ${areUsed}${lowered}`;
}
