// A lane: one tenant's mail to one domain, as the scheduler holds it in memory. Only lanes
// that have something waiting are held; their messages stay in the store.
import type { LaneNotice } from '../../store/submissions.ts';

/*
 * resting: waits in the heap for its time. held: something else than its time keeps it back;
 * it waits in the heap for the end of that, or, when nobody knows the end, for being let go.
 * routing: its MX hosts are being looked up. ready: stands in its group's line for a session.
 * claiming: the store is marking its due messages as being sent; notices that come meanwhile
 * are kept in dueAt.
 */
export type LaneState = 'resting' | 'held' | 'routing' | 'ready' | 'claiming';

export interface Lane {
  id: number;
  tenantId: string;
  domain: string;
  /** When its next message is due; Infinity when it has none. */
  dueAt: number;
  /** The time of its entry in the heap that counts; others are outdated. */
  wakeAt: number;
  state: LaneState;
}

export function newLane(notice: LaneNotice): Lane {
  return {
    id: notice.lane,
    tenantId: notice.tenantId,
    domain: notice.domain,
    dueAt: notice.dueAt,
    wakeAt: Number.POSITIVE_INFINITY,
    state: 'resting',
  };
}
