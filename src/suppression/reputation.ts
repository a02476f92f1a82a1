// Wires the two protections of the service's reputation: the spike watch for receivers and the reviews of
// tenants. Both get every message's end, in SMTP or by a later report; operator and owners are notified by mail.

import { type Clock, MINUTE_MS, SECOND_MS, toTimestamp } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { Logger } from '../observe/log.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import { type DoubtedReceiver, NO_ROUTE } from '../store/suppressions.ts';
import type { ReviewLimits } from './brake.ts';
import { HardBounceWatch, type MessageEnd } from './hard-bounce-watch.ts';
import type { SpikeRule } from './spike-rule.ts';
import { type Stop, TenantReviews } from './tenant-review.ts';

export interface ReputationKit {
  store: Pick<Store, 'reputation' | 'notices'> &
    StoreVerbs<{ tenants: 'listTenants' | 'getTenant'; domains: 'findVerifiedHolder' }>;
  clock: Clock;
  log: Logger;
  spikeRule: SpikeRule;
  reviewLimits: ReviewLimits;
  operatorAddress: string | null;
  /** The domain of the service's own signature: its verified holder is the service's own tenant. */
  ownDomain: string;
  /** Sends a notice by mail. False: not all mails are queued; repeated, it queues those that are missing. */
  notify(to: readonly string[], notice: Notice): Promise<boolean>;
}

interface Notice {
  subject: string;
  text: string;
  key: string;
}

export interface Reputation {
  ended(message: { tenantId: string; mxGroup: string | null }, end: MessageEnd): void;
  /** A hard bounce is in the database: the next review judges the tenant by it. */
  hardBounceStored(tenantId: string): void;
  /** DNS has no route for a message, for the first time. */
  unrouted(): void;
  complained(tenantId: string): void;
  /** For an MX group, or NO_ROUTE. */
  doubtOf(mxGroup: string | null): string | null;
  /** Returns the doubt that it ends here, if any. */
  trust(mxGroup: string): DoubtedReceiver | null;
  /** The trouble with the service's own mail that would suspend another tenant; null: none. */
  ownTrouble(): Promise<string | null>;
  timers: TimerSpec[];
}

/** For the sandbox: no reputation is at stake there, and it exists to simulate bounces and complaints. */
export const NO_BRAKES: Reputation = {
  ended: () => {},
  hardBounceStored: () => {},
  unrouted: () => {},
  complained: () => {},
  doubtOf: () => null,
  trust: () => null,
  ownTrouble: () => Promise.resolve(null),
  timers: [],
};

const REVIEW_PERIOD_MS = 5 * SECOND_MS;
const NOTICES_PERIOD_MS = MINUTE_MS;

export async function openReputation(kit: ReputationKit): Promise<Reputation> {
  const { store, clock, log, operatorAddress, notify } = kit;
  const operator = operatorAddress === null ? [] : [operatorAddress];
  const tell = async (to: readonly string[], notice: Notice) => {
    if (!(await notify(to, notice))) throw new Fault(`people could not be told: ${notice.subject}`);
  };
  const watch = await openWatch(kit, (doubt) => void notify(operator, noticeOf(doubt)));
  const reviews = new TenantReviews({
    store,
    clock,
    log,
    limits: kit.reviewLimits,
    ownTenant: async () => (await store.domains.findVerifiedHolder(kit.ownDomain))?.tenantId ?? null,
    onOwnTrouble: (reason) => tell(operator, ownNotice(reason, clock.now())),
    async onWarned({ id, name }, { reason, distance }) {
      // At most once a day, even after a restart: the same key sends nothing.
      const key = `near:${id}:${toTimestamp(clock.now()).slice(0, 10)}`;
      const facts = `${reason}.\n\n${distance}`;
      await tell(operator, { subject: `Tenant close to a review: ${name}`, text: `${name} (${id}): ${facts}\n`, key });
      await tell(await store.reputation.ownersOf(id), {
        subject: 'Your bounce or complaint rate is high',
        text: `${facts}\n\nSending continues for now. Clean up your recipient list: above the limits, sending is suspended for a review.\n`,
        key,
      });
    },
    async onStopped(tenant, stop) {
      const notices = stopNotices(tenant, stop);
      await tell(operator, notices.operator);
      await tell(await store.reputation.ownersOf(tenant.id), notices.owners);
    },
  });
  return {
    ended({ tenantId, mxGroup }, end) {
      watch.note(mxGroup, end);
      if (mxGroup !== null && end !== 'returned') watch.note(NO_ROUTE, 'other');
      if (end === 'returned') reviews.note(tenantId);
    },
    hardBounceStored: (tenantId) => reviews.note(tenantId),
    unrouted: () => watch.note(NO_ROUTE, 'hard'),
    complained: (tenantId) => reviews.note(tenantId),
    doubtOf: (mxGroup) => watch.doubtOf(mxGroup),
    trust: (mxGroup) => watch.trust(mxGroup),
    ownTrouble: () => reviews.ownTrouble(),
    timers: [
      { name: 'tenant reviews', periodMs: REVIEW_PERIOD_MS, run: async () => `${await reviews.check()} stopped` },
      {
        name: 'notices of reviews',
        periodMs: NOTICES_PERIOD_MS,
        byLeader: true,
        run: async () => `${await reviews.finishNotices()} told`,
      },
    ],
  };
}

/** Listens before it reads for the first time, so that it misses nothing. */
async function openWatch(
  { store, clock, log, spikeRule: rule }: ReputationKit,
  onDoubt: (doubt: DoubtedReceiver) => void,
): Promise<HardBounceWatch> {
  const watch = new HardBounceWatch({ store, clock, log, rule, onDoubt });
  store.notices.listen({
    changed: () =>
      void watch.readStored().catch((error: unknown) => {
        log.error({ error }, `the doubts of other nodes could not be read: ${describeError(error)}`);
      }),
  });
  await watch.readStored();
  return watch;
}

function stopNotices({ id, name }: { id: string; name: string }, { at, reason, distance, warnedOn }: Stop) {
  const key = `review:${id}:${at}`;
  const stopped = `Sending was suspended for a review at ${toTimestamp(at)}: ${reason}.`;
  // After a restart the daemon doesn't know whether it sent a warning.
  const warning =
    warnedOn === null
      ? 'Warnings are sent from half of the way to a review on. If you had none, there was no time for one: half of the way and the rest were passed within seconds.'
      : `A warning was sent on ${warnedOn}.`;
  const facts = [stopped, distance, warning].filter((part) => part !== null).join('\n\n');
  return {
    operator: { subject: `Tenant in review: ${name}`, text: `${name} (${id}). ${facts}\n`, key },
    owners: {
      subject: 'Sending is suspended for a review',
      text: `${facts}\n\nQueued messages wait until the review is over, but no longer than mail that can't be delivered (72 hours by default): then they fail. Clean up your recipient list, then contact the operator.\n`,
      key,
    },
  };
}

/** At most once a day, even after a restart: the same key sends nothing. */
function ownNotice(reason: string, now: number) {
  const text = `${reason}.\n\nAny other tenant would be suspended for this. The service's own mail is not: password resets, invitations and alerts are still sent. The portal's audit log (/portal/operator/audit) says who asked for them. The daemon's log says where they went (the facts bounced and inbound, with message_id), and postrider queue show ID shows such a message.\n`;
  return {
    subject: "The service's own mail bounces or draws complaints",
    text,
    key: `own:${toTimestamp(now).slice(0, 10)}`,
  };
}

function noticeOf({ mxGroup, since, reason }: DoubtedReceiver) {
  const key = `doubt:${mxGroup}:${since}`;
  if (mxGroup !== NO_ROUTE) {
    const text = `${reason}.\n\nThese bounces count as soft until you decide: postrider suppression doubts\n`;
    return { subject: `The hard-bounce rate of ${mxGroup} has spiked`, text, key };
  }
  const text = `${reason}.\n\nThis mail is held until you decide. Check your DNS servers first: postrider doctor\nThen: postrider suppression doubts\n`;
  return { subject: 'Mail without a route has spiked', text, key };
}
