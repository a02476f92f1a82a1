// Re-checks the DNS records of domains automatically: those without their record with exponential back-off, verified
// ones daily. A single failed check changes nothing.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { isRefusal } from '../base/refusals.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { Logger } from '../observe/log.ts';
import type { ClaimedRecheck, DomainState } from '../store/domains.ts';
import type { Store } from '../store/store.ts';
import { checkOf, claim, type DomainsOptions, firstFailing, RECHECK_PERIOD_MS } from './domains.ts';

/** The result of a check. */
export type CheckResult =
  | { kind: 'found' }
  /** DNS says definitely that the record does not exist, or is another one. */
  | { kind: 'missed'; reason: string }
  | { kind: 'unavailable'; reason: string };

export interface RecheckFacts {
  state: DomainState;
  since: number;
  checks: number;
  misses: number;
  firstMissAt: number | null;
}

export interface RecheckDecision {
  decision: 'verify' | 'fail' | 'keep';
  reason: string;
  /** Null: no more re-checks until the tenant asks for one, or opens the domain's page. */
  until: number | null;
  misses: number;
  firstMissAt: number | null;
}

const FIRST_PAUSE_MS = 10 * MINUTE_MS;
const LONGEST_PAUSE_MS = 6 * HOUR_MS;
const MISSES_TO_FAIL = 3;
// Pauses between misses: three misses then span the required day.
const MISS_PAUSE_MS = 12 * HOUR_MS;
const MISSES_SPAN_MS = DAY_MS;
/** Pauses are extended by up to a tenth, so that domains registered together are not re-checked together. */
const JITTER = 0.1;

/** `jitter` is 0 to 1. */
export function decideRecheck(
  facts: RecheckFacts,
  result: CheckResult,
  { now, jitter }: { now: number; jitter: number },
): RecheckDecision {
  const after = (pauseMs: number) => now + Math.round(pauseMs * (1 + JITTER * jitter));
  const none = { misses: 0, firstMissAt: null };
  if (result.kind === 'found') {
    const reason = 'the DKIM record was found';
    return { decision: facts.state === 'verified' ? 'keep' : 'verify', reason, until: after(DAY_MS), ...none };
  }
  if (facts.state !== 'verified') {
    const until = after(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(facts.checks, 10)));
    const isOver = until > facts.since + RECHECK_PERIOD_MS;
    const ending = isOver ? '; automatic checks stop until the tenant asks for one' : '';
    return { decision: 'keep', reason: `${result.reason}${ending}`, until: isOver ? null : until, ...none };
  }
  if (result.kind === 'unavailable') {
    const { misses, firstMissAt } = facts;
    return {
      decision: 'keep',
      reason: result.reason,
      until: after(misses > 0 ? MISS_PAUSE_MS : DAY_MS),
      misses,
      firstMissAt,
    };
  }
  const misses = facts.misses + 1;
  const firstMissAt = facts.firstMissAt ?? now;
  if (misses >= MISSES_TO_FAIL && now - firstMissAt >= MISSES_SPAN_MS) {
    const reason = `${misses} checks in ${Math.round((now - firstMissAt) / HOUR_MS)} hours did not find the DKIM record: ${result.reason}`;
    return { decision: 'fail', reason, until: after(FIRST_PAUSE_MS), ...none };
  }
  const reason = `check ${misses} in a row that did not find the DKIM record: ${result.reason}`;
  return { decision: 'keep', reason, until: after(MISS_PAUSE_MS), misses, firstMissAt };
}

export interface RecheckKit extends DomainsOptions {
  store: Pick<Store, 'domains'>;
  random(): number;
  log: Pick<Logger, 'info' | 'warn'>;
}

const PERIOD_MS = MINUTE_MS;
/** Each queries a zone's own servers for up to 15 s; the rest is left to the daemon's other look-ups. */
const AT_ONCE = 8;
const PAGE = 64;
/** After a long stop very many are due: the next run continues. */
const RUN_MS = 45 * SECOND_MS;
/** A run and its last checks take less; shorter than the pause after a check by hand, which ends the claim. */
const LEASE_MS = 2 * MINUTE_MS;

export function recheckTimer(kit: RecheckKit): TimerSpec {
  return {
    name: 'domain records',
    periodMs: PERIOD_MS,
    byLeader: true,
    run: (stopped) => untilStopped(recheckDue(kit, stopped), stopped),
  };
}

/** At the end, the daemon does not wait for name servers; late results are dropped. */
async function untilStopped(work: Promise<string>, stopped: AbortSignal): Promise<string> {
  work.catch(() => {}); // the race reports it, or it does not matter any more
  const { promise, resolve } = Promise.withResolvers<string>();
  const stop = () => resolve('stopped');
  stopped.addEventListener('abort', stop, { once: true });
  return Promise.race([work, promise]).finally(() => stopped.removeEventListener('abort', stop));
}

async function recheckDue(kit: RecheckKit, stopped: AbortSignal): Promise<string> {
  const endsAt = kit.clock.now() + RUN_MS;
  const isOver = () => stopped.aborted || kit.clock.now() >= endsAt;
  const counts = { checked: 0, verify: 0, fail: 0, keep: 0 };
  const unchecked: ClaimedRecheck[] = [];
  for (;;) {
    const now = kit.clock.now();
    const page = await kit.store.domains.claimRechecks(now, { limit: PAGE, leaseUntil: now + LEASE_MS });
    const isLast = page.length < PAGE;
    const worker = async () => {
      while (!isOver()) {
        const due = page.shift();
        if (!due) break;
        const decision = await recheckOne(kit, due, stopped);
        if (decision === 'not_now') unchecked.push(due);
        else counts[decision]++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    unchecked.push(...page);
    if (isLast || isOver()) break;
  }
  // Only now, so that this run does not claim them again.
  if (unchecked.length > 0) await kit.store.domains.releaseRechecks(unchecked);
  const checked = counts.verify + counts.fail + counts.keep;
  return `${checked} checked, ${counts.verify} verified, ${counts.fail} failed`;
}

type RecheckEnd = RecheckDecision['decision'] | 'not_now';

/** A failure affects only this domain: it is due again when its lease is over. */
async function recheckOne(kit: RecheckKit, due: ClaimedRecheck, stopped: AbortSignal): Promise<RecheckEnd> {
  try {
    return await recheck(kit, due, stopped);
  } catch (error) {
    kit.log.warn({ error, domain: due.domain.name }, `${due.domain.name} could not be re-checked`);
    return 'keep';
  }
}

async function recheck(kit: RecheckKit, due: ClaimedRecheck, stopped: AbortSignal): Promise<RecheckEnd> {
  const { store, clock, log } = kit;
  const { domain } = due;
  // If it is not its turn, it stays due, so that no worker waits while other domains are due.
  const checks = await kit.turns.takeNow(domain, () => checkOf(kit, domain));
  if (checks === null || stopped.aborted) return 'not_now';
  await store.domains.recordChecks(domain.tenantId, domain.id, { at: clock.now(), checks });
  const failing = firstFailing(checks);
  const result = resultOf(failing);
  const now = clock.now();
  const plan = decideRecheck({ ...due, state: domain.state }, result, { now, jitter: kit.random() });
  const facts = { tenant_id: domain.tenantId, domain: domain.name, reason: plan.reason };
  if (plan.decision === 'verify') {
    // Not compared with the claim of the re-check: the record was found, whoever else has looked.
    const verified = await claim(kit, domain);
    if (!isRefusal(verified)) {
      log.info(facts, `${domain.name} is verified: ${plan.reason}`);
      return 'verify';
    }
  }
  // Another tenant keeps the name while its record is published: this domain then counts as missing its record.
  const kept =
    plan.decision === 'verify' ? decideRecheck({ ...due, state: domain.state }, TAKEN, { now, jitter: 0 }) : plan;
  const failsWith = plan.decision === 'fail' ? (failing?.reason ?? null) : null;
  const note = { at: now, nextAt: kept.until, misses: kept.misses, firstMissAt: kept.firstMissAt, failsWith };
  const recorded = await store.domains.recordRecheck(due, note);
  if (!recorded) log.info(facts, `a re-check of ${domain.name} was dropped: it was checked elsewhere meanwhile`);
  if (!recorded) return 'keep';
  const message = failing?.message ?? plan.reason;
  if (plan.decision === 'fail') {
    log.warn(facts, `${domain.name} is no longer verified: ${plan.reason}`);
    kit.notices?.lost(domain, { message, at: now });
    return 'fail';
  }
  if (isWorthAMail(domain.state, kept) && result.kind === 'missed') {
    kit.notices?.missing(domain, { message, since: kept.firstMissAt ?? now, decidedAt: kept.until ?? now });
  }
  return 'keep';
}

/** The first miss may be a slip of the pen at a DNS provider; the third one fails the domain. */
function isWorthAMail(state: DomainState, { misses }: RecheckDecision): boolean {
  return state === 'verified' && misses === MISSES_TO_FAIL - 1;
}

const TAKEN: CheckResult = { kind: 'missed', reason: 'another tenant has verified the name' };

function resultOf(failing: ReturnType<typeof firstFailing>): CheckResult {
  if (!failing) return { kind: 'found' };
  return { kind: failing.reason === 'dns_unavailable' ? 'unavailable' : 'missed', reason: failing.message };
}
