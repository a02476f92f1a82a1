// Everything that runs periodically, in one list: the timers opened here and those of other parts. `postrider doctor`
// shows it. A part of the wiring list in daemon.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS, SECOND_MS } from '../base/clock.ts';
import { type TimerSpec, Timers } from '../base/timers.ts';
import type { Config } from '../config/keys.ts';
import type { DomainsOptions } from '../domains/domains.ts';
import { recheckTimer } from '../domains/recheck.ts';
import { sessionTimer } from '../tenants/accounts/sessions.ts';
import { signUpTimer } from '../tenants/accounts/sign-up.ts';
import { escalateTiers } from '../tenants/escalation.ts';
import { limitsTimer } from '../tenants/limit-sweep.ts';
import { figuresTimer } from '../upkeep/count-figures.ts';
import { recipientMarksTimer } from '../upkeep/mark-recipients.ts';
import { RETENTION_TIMER, retentionTimer } from '../upkeep/retention.ts';
import type { Foundation } from './open-foundation.ts';

// At the speed at which mail can fill a disk, two seconds are some hundred megabytes.
const INTAKE_PERIOD_MS = 2 * SECOND_MS;

/*
 * Of several nodes the leader alone runs what two would do twice, though no verb of it relies on that: a leader that was
 * replaced during a run changes nothing that its successor has changed.
 * - domain records: each result is compared with its claim. The leader counts how often a zone is queried.
 * - failing webhooks, notices of reviews: a mail has one key for each failure or stop.
 * - figures of charts: a sum is added only where the last one ended.
 * - marks of recipients: each block begins where the last one ends, read and written in one transaction.
 * - rate tiers: raising a tier twice changes nothing.
 * - retention: two would erase the same oldest rows, and one of them fail.
 * Certificates are led by their names: each node looks for those that others have got, and orders those that it leads. An
 * attempt is counted before the directory is called.
 * Each node runs what it keeps in memory (intake, uses of keys, owner notices, tenants to review: a stop is compared with
 * the tenant's status, and a warning has one key a day), and what only erases a few rows (sessions, limits, links and
 * sign-ups, deleted webhooks, old inbound mail).
 */
export interface PeriodicParts {
  /** For the DNS checks. */
  domains: DomainsOptions;
  others: readonly TimerSpec[];
}

export function openTimers(config: Config, foundation: Foundation, { domains, others }: PeriodicParts): Timers {
  const { store, clock, log, intake, lead } = foundation;
  const onError = (timer: string, error: unknown) => log.error({ timer, error }, 'a timer failed');
  const timers = new Timers({ clock, tickMs: SECOND_MS, lead, onError });
  const limits = escalationLimits(config);
  const escalate = () => escalateTiers({ store, clock, log, limits });
  const checkIntake = async () => (await intake.check()).reason ?? 'open';
  timers.add({ name: 'intake', periodMs: INTAKE_PERIOD_MS, run: checkIntake });
  timers.add({ name: 'rate tiers', periodMs: HOUR_MS, byLeader: true, run: async () => `${await escalate()} raised` });
  if (config.domains.recheck) timers.add(recheckTimer({ ...domains, store, log, random: Math.random }));
  timers.add(figuresTimer({ store, clock, pause: (ms) => sleep(ms) }));
  timers.add(recipientMarksTimer({ store, clock, pause: (ms) => sleep(ms) }));
  const again = () => timers.hasten(RETENTION_TIMER);
  timers.add(retentionTimer({ store, clock, ...keptFor(config), pause: (ms) => sleep(ms), again }));
  timers.add(foundation.keyUses.timer());
  timers.add(sessionTimer({ store, clock }));
  timers.add(limitsTimer({ store, clock }));
  timers.add(signUpTimer({ store, clock }));
  for (const timer of others) timers.add(timer);
  return timers;
}

function keptFor({ retention }: Config) {
  const { content_days: contentDays, records_days: recordsDays, audit_days: auditDays } = retention;
  return { contentDays, recordsDays, auditDays };
}

function escalationLimits({ limits }: Config) {
  const { escalation_days, escalation_hard_bounce_rate, escalation_complaint_rate, review_window } = limits;
  const [first = 0, second = 0] = escalation_days;
  return {
    days: [first, second] as const,
    hardBounceRate: escalation_hard_bounce_rate,
    complaintRate: escalation_complaint_rate,
    window: review_window,
  };
}
