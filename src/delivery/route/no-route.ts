// Decides about a message without a server to connect to: one pure decision. DNS alone is weak evidence, so
// one look-up never leads to a final result. What DNS said before is read from the message's own attempts, so
// it survives a restart.

import { type Clock, HOUR_MS, MINUTE_MS, toTimestamp } from '../../base/clock.ts';
import { describeError, unreachable } from '../../base/errors.ts';
import { noPeer } from '../../base/outcome.ts';
import type { Logger } from '../../observe/log.ts';
import type { MailRoute } from '../../protocol/dns/mail-route.ts';
import type { LookSubject, SecondLook, SecondLooks } from '../../protocol/dns/second-look.ts';
import type { AttemptRecord, ClaimedMessage } from '../../store/queue.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { NO_ROUTE } from '../../store/suppressions.ts';
import type { EndWatch } from '../outcome/doubted-bounce.ts';
import type { Permanent, Temporary } from '../outcome/judge.ts';
import type { Recorder } from '../outcome/recorder.ts';

export interface NoRouteRules {
  /** The time from the first NXDOMAIN to the second look that may confirm it. */
  secondLookAfterMs: number;
  /** How long a message without a route is retried. */
  lifetimeMs: number;
}

export type Unrouted =
  | Exclude<MailRoute, { kind: 'hosts' }>
  /** None of our source addresses has the family of the receiver's. */
  | { kind: 'unreachable'; reason: string }
  /** None of our source addresses can be used at the moment. */
  | { kind: 'no_source'; reason: string };

interface NoRouteFacts {
  domain: string;
  route: Unrouted;
  /** Since when the look-ups have given this result without interruption. */
  since: UnroutedSince;
  /** Null: none was due, or none was made. */
  secondLook: SecondLook | null;
  /** Why mail without a route is held; null: it is not. */
  held: string | null;
  rules: NoRouteRules;
}

export interface UnroutedSince {
  /** Since when the domain does not exist; null: this is the first time. */
  absent: number | null;
  /** Since when there is no route, for any reason. */
  lost: number | null;
  /** The number of look-ups. */
  looks: number;
}

/** Often enough that mail is sent soon after DNS has recovered. */
const MAX_PAUSE_MS = HOUR_MS;

/** Computed from the last consecutive attempts that ended with the look-up. */
export function unroutedSince(attempts: readonly AttemptRecord[]): UnroutedSince {
  const since: UnroutedSince = { absent: null, lost: null, looks: 0 };
  let onlyAbsent = true;
  for (const { startedAt, peer } of attempts.toReversed()) {
    if (peer.stage !== 'resolve') break;
    since.looks++;
    if (peer.enhancedCode === null) continue; // an outage says nothing about the domain
    since.lost = startedAt;
    if (peer.enhancedCode !== '5.1.2') onlyAbsent = false;
    else if (onlyAbsent) since.absent = startedAt;
  }
  return since;
}

/** DNS shows no route: the watch counts such mail, and may hold it. A null MX is its owner's statement instead. */
function isLostInDns(route: Unrouted): boolean {
  return route.kind === 'undeliverable' && route.enhancedCode !== '5.1.10';
}

/** What to ask other DNS servers before the decision; null: nothing final can follow from it. */
export function dueLook(facts: Omit<NoRouteFacts, 'secondLook'>, now: number): LookSubject | null {
  const { route, since, rules, held } = facts;
  if (held !== null || !isLostInDns(route)) return null;
  const isAbsent = route.kind === 'undeliverable' && route.enhancedCode === '5.1.2';
  if (isAbsent) return since.absent !== null && now >= since.absent + rules.secondLookAfterMs ? 'domain' : null;
  return since.lost !== null && now >= since.lost + rules.lifetimeMs ? 'route' : null;
}

/*
 * The domain does not exist (NXDOMAIN): the first look defers. A second look, at other servers and not before
 * `secondLookAfterMs` have passed, bounces it hard when it says the same; while the servers disagree, the
 * message waits; when no other server can be asked, it fails after `lifetimeMs`.
 * No address, or none that ours can reach: deferred at once, failed after `lifetimeMs`, unless other servers
 * show a way by then.
 * A null MX (RFC 7505) is a statement of the domain's owner: it bounces at once.
 * While much mail at once has no route (`held`), none of it ends: it waits for an operator, or for DNS.
 */
export function judgeNoRoute(facts: NoRouteFacts, now: number): Temporary | Permanent {
  const { route, since, held } = facts;
  if (held !== null && isLostInDns(route)) return hold(facts, held, now);
  switch (route.kind) {
    case 'unavailable':
      return wait(`DNS did not answer: ${route.reason}`, null);
    case 'no_source':
      return wait(route.reason, null, { notAfter: now + MAX_PAUSE_MS, ...(since.looks === 0 && { notify: true }) });
    case 'unreachable':
      return judgeLost(route.reason, facts, now);
    case 'undeliverable':
      if (route.enhancedCode === '5.1.10') return bounceHard(route.reason, route.enhancedCode);
      return route.enhancedCode === '5.1.2' ? judgeAbsent(facts, now) : judgeLost(route.reason, facts, now);
    default:
      return unreachable(route);
  }
}

/** The tenant's text leaves out the figures: they are about all tenants' mail. */
function hold({ route, since }: NoRouteFacts, held: string, now: number): Temporary {
  const first = since.lost === null && { notify: true as const };
  const code = route.kind === 'undeliverable' ? route.enhancedCode : null;
  const said = code === '5.1.2' ? 'the domain does not seem to exist' : route.reason.replace(/\.$/, '');
  const judged = wait(`${said}; ${held}`, code, { notAfter: now + MAX_PAUSE_MS, ...first });
  const response = `${said}; many domains have no mail server at the moment, so it is held until that is resolved`;
  return { ...judged, peer: { ...judged.peer, response } };
}

function judgeAbsent(facts: NoRouteFacts, now: number): Temporary | Permanent {
  const { domain, since, secondLook, rules } = facts;
  const first = since.absent ?? now;
  if (secondLook === null) {
    const nextAt = Math.max(first + rules.secondLookAfterMs, now + 1);
    const reason = `the domain does not seem to exist; checked again at ${toTimestamp(nextAt)} (NXDOMAIN for ${domain})`;
    return wait(reason, '5.1.2', { nextAt, ...(since.absent === null && { notify: true }) });
  }
  switch (secondLook.kind) {
    case 'absent': {
      const said = `the DNS servers at ${toTimestamp(first)} and ${secondLook.by} at ${toTimestamp(now)}`;
      return bounceHard(`the domain ${domain} does not exist, according to ${said}`, '5.1.2');
    }
    case 'present': {
      const reason = `the domain ${domain} does not exist according to the DNS servers, but does according to ${secondLook.by}; checked again until they agree`;
      return wait(reason, '5.1.2', { notAfter: now + MAX_PAUSE_MS });
    }
    case 'unknown': {
      const reason = `the domain ${domain} does not seem to exist, but no other server confirmed it: ${secondLook.reason}`;
      return untilGivenUp(reason, { code: '5.1.2', first, rules }, now);
    }
    default:
      return unreachable(secondLook);
  }
}

function judgeLost(reason: string, facts: NoRouteFacts, now: number): Temporary | Permanent {
  const { domain, since, secondLook, rules } = facts;
  if (secondLook?.kind === 'present') {
    const disagree = `${domain} has no mail server with an address according to the DNS servers, but has one according to ${secondLook.by}`;
    return wait(`${disagree}; checked again until they agree`, '5.4.4', { notAfter: now + MAX_PAUSE_MS });
  }
  const judged = untilGivenUp(reason.replace(/\.$/, ''), { code: '5.4.4', first: since.lost ?? now, rules }, now);
  return judged.kind === 'temporary' && since.lost === null ? { ...judged, notify: true } : judged;
}

function untilGivenUp(
  reason: string,
  { code, first, rules }: { code: string; first: number; rules: NoRouteRules },
  now: number,
): Temporary | Permanent {
  const deadline = first + rules.lifetimeMs;
  if (now >= deadline) return giveUp(`${reason}; given up after ${inWords(rules.lifetimeMs)}`, code);
  const notAfter = Math.min(deadline, now + MAX_PAUSE_MS);
  return wait(`${reason}; checked again until ${toTimestamp(deadline)}`, code, { notAfter });
}

function wait(
  reason: string,
  enhancedCode: string | null,
  when: Pick<Temporary, 'nextAt' | 'notAfter' | 'notify'> = {},
): Temporary {
  const peer = { ...noPeer('resolve', reason), enhancedCode };
  return { kind: 'temporary', peer, reason, ambiguous: false, retryAfterMs: null, ...when };
}

function bounceHard(reason: string, enhancedCode: string): Permanent {
  const peer = { ...noPeer('resolve', reason), enhancedCode };
  return { kind: 'permanent', peer, reason, bounce: 'hard', rule: `route-${enhancedCode}` };
}

/** Given up without a verdict on the recipient: it fails instead of bouncing. */
function giveUp(reason: string, enhancedCode: string): Permanent {
  const peer = { ...noPeer('resolve', reason), enhancedCode };
  return { kind: 'permanent', peer, reason, bounce: 'soft', rule: `route-${enhancedCode}`, end: 'failed' };
}

function inWords(ms: number): string {
  return ms >= HOUR_MS ? `${Math.round((ms / HOUR_MS) * 10) / 10} h` : `${Math.ceil(ms / MINUTE_MS)} min`;
}

// Messages without a server to connect to, from the look-up to the record: reads since when each has had no
// route, asks for a second look if one is due, and records the decision.

interface UnroutedMailKit {
  store: StoreVerbs<{ queue: 'getMessage' }>;
  recorder: Pick<Recorder, 'record'>;
  secondLooks: SecondLooks;
  rules: NoRouteRules;
  /** Counts mail without a route, and knows whether it is held. */
  endWatch?: Pick<EndWatch, 'unrouted' | 'doubtOf'> | undefined;
  clock: Clock;
  log: Logger;
  /** Returns messages to the queue that were not judged. */
  giveBack(messages: readonly ClaimedMessage[]): Promise<void>;
}

export class UnroutedMail {
  readonly #kit: UnroutedMailKit;
  readonly #aborter = new AbortController();

  constructor(kit: UnroutedMailKit) {
    this.#kit = kit;
  }

  /** Aborts second looks in progress: their messages are given back. */
  stop(): void {
    this.#aborter.abort();
  }

  async judge(domain: string, route: Unrouted, messages: readonly ClaimedMessage[]): Promise<void> {
    const { clock, rules, recorder, secondLooks, giveBack, endWatch } = this.#kit;
    const startedAt = clock.now();
    const asked = await Promise.all(
      messages.map(async (message) => ({
        message,
        facts: { domain, route, since: await this.#since(message), rules },
      })),
    );
    for (const { facts } of asked) if (isLostInDns(route) && facts.since.lost === null) endWatch?.unrouted();
    // Checked after this mail is counted: the mail that causes the spike is held itself.
    const held = endWatch?.doubtOf(NO_ROUTE) ?? null;
    const lookOf = ({ facts }: (typeof asked)[number]) => dueLook({ ...facts, held }, startedAt);
    const isDue = (each: (typeof asked)[number]) => lookOf(each) !== null;
    // All have the same route, so one look is enough.
    const subject = asked.map(lookOf).find((due) => due !== null);
    const secondLook = subject ? await secondLooks.look(domain, subject, this.#aborter.signal) : null;
    const lost = secondLook === null ? asked.filter(isDue) : [];
    if (lost.length > 0) await giveBack(lost.map(({ message }) => message));
    await Promise.all(
      asked
        .filter((each) => !lost.includes(each))
        .map((each) => {
          const facts = { ...each.facts, held, secondLook: isDue(each) ? secondLook : null };
          const judgement = judgeNoRoute(facts, startedAt);
          return recorder.record({ message: each.message, startedAt, judgement, mxGroup: null });
        }),
    );
  }

  /** Unreadable attempts count as the first look-up: the message waits longer, and nothing final follows. */
  async #since({ id, attempt }: ClaimedMessage) {
    if (attempt === 1) return unroutedSince([]);
    try {
      return unroutedSince((await this.#kit.store.queue.getMessage(id))?.attemptList ?? []);
    } catch (error) {
      const facts = { error, message_id: id };
      this.#kit.log.error(facts, `earlier attempts could not be read: ${describeError(error)}`);
      return unroutedSince([]);
    }
  }
}
