// Wires the delivery engine: recorder, scheduler, courier threads, expiry.

import { pausesAfterAttempts } from '../base/backoff.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { monotonicMs } from '../base/lease-end.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import type { EndBegun } from '../events/end-waiting.ts';
import type { Logger } from '../observe/log.ts';
import type { AddressPolicy } from '../protocol/dns/addresses/address-policy.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import { fetchPolicy } from '../protocol/dns/published/mta-sts-fetch.ts';
import type { SecondLooks } from '../protocol/dns/second-look.ts';
import { asciiDomainOf } from '../protocol/mail/addresses/address.ts';
import { bindProblem } from '../protocol/smtp/dial.ts';
import type { Ownership } from '../store/ownership.ts';
import { dayOf, SOURCE_MEMORY_DAYS } from '../store/source-addresses.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import type { LaneNotice } from '../store/submissions.ts';
import { startExpirySweeper } from './ends/expiry.ts';
import type { RetryPolicy } from './outcome/decide.ts';
import type { EndWatch } from './outcome/doubted-bounce.ts';
import { EarlierResults } from './outcome/earlier-results.ts';
import { handleHostNote } from './outcome/host-notes.ts';
import { judge, partiesOf } from './outcome/judge.ts';
import { type AttemptResult, type MeasuredAttempt, type RecordedAttempt, Recorder } from './outcome/recorder.ts';
import type { ResultJournal } from './outcome/result-journal.ts';
import { ResultWriter, type UnstoredResults } from './outcome/result-writer.ts';
import type { GroupLoad } from './queue/group-port.ts';
import { MessagesInFlight, OrphanFinder } from './queue/orphans.ts';
import type { Passages } from './queue/passage.ts';
import { Schedule, type ScheduleKit } from './queue/schedule.ts';
import { Scheduler } from './queue/scheduler.ts';
import type { SchedulerKit } from './queue/scheduler-kit.ts';
import type { NoRouteRules } from './route/no-route.ts';
import { createRoutes, type Routes } from './route/routes.ts';
import {
  type Interfaces,
  SourceAddresses,
  type SourceAddressesKit,
  type SourceAddressState,
} from './route/source-addresses.ts';
import { createTransportPolicies, withPolicies } from './route/transport-policy.ts';
import {
  type CourierPool,
  type CourierPoolOptions,
  type CourierPoolSettings,
  type CourierTrouble,
  openCourierPool,
} from './session/courier-pool.ts';
import type { Providers } from './shaping/provider-limits.ts';
import { whatPauses } from './shaping/shaping.ts';
import type { ShapingLimits } from './shaping/shaping-memory.ts';
import { Shaping } from './shaping/shaping-state.ts';
import type { SharedLimits } from './shaping/shared-limits.ts';

export interface DeliveryKit {
  store: Pick<Store, 'queue' | 'transportSecurity' | 'sources' | 'shaping' | 'notices'> &
    StoreVerbs<{ tenants: 'getTenant' }>;
  /** The slots whose mail is sent from here. */
  ownership: Ownership;
  /** Holds results that the database does not accept. */
  journal: ResultJournal;
  resolver: Resolver;
  /** Queries other DNS servers before a domain counts as nonexistent. */
  secondLooks: SecondLooks;
  noRoute: NoRouteRules;
  /** The network interfaces of this machine; for tests. */
  readInterfaces?: () => Interfaces;
  clock: Clock;
  ids: IdSource;
  random: () => number;
  log: Logger;
  courier: Omit<CourierPoolSettings, 'mtaSts' | 'tellsStages' | 'leaseEnd'>;
  /** How MTA-STS policies are fetched: port 443 and Node's root certificates except in tests. Null: not at all. */
  mtaSts: { port: number; ca?: string } | null;
  /** How stuck courier threads are detected; for tests. */
  pool?: Pick<CourierPoolOptions, 'silenceLimitMs' | 'entry' | 'elapsed'>;
  /** What the replies of receiving servers mean. */
  bounceRules: BounceRules;
  threads: number;
  /** Which addresses of receivers may be connected to. */
  addresses: AddressPolicy;
  /** Our source addresses, and how new ones are warmed up; missing or empty: the system picks. */
  sources?: Pick<SourceAddressesKit, 'pool' | 'ramp'>;
  policy: RetryPolicy;
  limits: SchedulerKit['limits'] & ShapingLimits;
  /** Large receivers and their limits. */
  providers: Providers;
  /** The name of this daemon among several; missing or null: there is one. */
  node?: string | null;
  /** Limits that hold over several daemons; missing or null: there is one. */
  shared?: SharedLimits | null;
  /** The longest cool-down after the first, second, … failure to connect; missing: the retry pauses of messages. */
  coolDownStepsMs?: readonly number[];
  expiryPeriodMs: number;
  /** In the sandbox: recipients that stay usable after a bounce or complaint. */
  staysUsable?: ScheduleKit['staysUsable'];
  /** Is notified of each message's end; knows which receivers are doubted. */
  endWatch?: EndWatch;
  /** Called for every attempt once it is on disk. */
  onAttempt?(facts: MeasuredAttempt): void;
  /** The same for traces. */
  onRecorded?(recorded: RecordedAttempt): void;
}

export interface Delivery {
  /** These lanes have mail, or may have. */
  notice(lanes: LaneNotice[]): void;
  /** Ways past the queue for messages that are being accepted. */
  passages: Pick<Passages, 'mayFind' | 'find'>;
  /** Ends messages that are claimed, as long as none of their commands has been sent; returns them. */
  endBegun: EndBegun;
  /** Mail has been scheduled for this time. */
  noticeScheduled(sendAt: number): void;
  /** Compares the whole queue with memory: after a tenant became active, for example. */
  reconcile(): Promise<void>;
  /** What holds mail back, and operators' control over it. */
  shaping: Shaping;
  /** Our source addresses, which of them are unused, and why. */
  sourceAddresses(): readonly SourceAddressState[];
  /** Results that the database has not accepted; null: none. */
  unstoredResults(): UnstoredResults | null;
  /** Why no courier thread lives; null: they do. */
  courierTrouble(): CourierTrouble | null;
  /** Connections and waiting lanes of a group, and connections in all. */
  load(group: string | null): GroupLoad;
  /** Starts nothing new, finishes sessions, stores results; cuts off what is on the wire after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

// For the results of what was cut off at the end of the grace period: they are known at once, and only
// have to reach the disk.
const LAST_WRITES_MS = 2 * SECOND_MS;

export async function startDelivery(kit: DeliveryKit): Promise<Delivery> {
  const { ownership, journal, clock, ids, random, log, policy, providers, limits, endWatch, shared = null } = kit;
  const inFlight = new MessagesInFlight();
  const store = inFlight.tracking(kit.store);
  const pool = openCouriers(kit);
  const onLanes = (lanes: LaneNotice[]) => scheduler.notice(lanes);
  const { routes, abortFetches } = openRoutes(kit);
  const retryStepsMs = kit.coolDownStepsMs ?? policy.ladder.stepsMs;
  const { node = null } = kit;
  const shaping = await Shaping.open({ store, clock, random, log, providers, limits, retryStepsMs, node, shared });
  const earliestAttempt = (finding: AttemptResult, dueAt: number) => earliestUnder(shaping, finding, dueAt);
  const results = new ResultWriter({ store, clock, log, journal, onLanes });
  const { onAttempt, onRecorded } = kit;
  const watches = { endWatch, earliestAttempt, onAttempt, onRecorded };
  const recorder = new Recorder({ results, clock, ids, random, policy, log, ...watches });
  const sources = await openSources(kit, shaping);
  const scheduler = openScheduler(kit, {
    store,
    inFlight,
    routes,
    pool,
    recorder,
    results,
    shaping,
    sources: sources?.addresses ?? null,
  });

  const earlier = new EarlierResults({ store, journal, clock, log });
  await earlier.store();
  inFlight.hold(earlier.messageIds);
  await scheduler.start();
  const schedule = new Schedule({ store, clock, ids, log, staysUsable: kit.staysUsable, onLanes });
  schedule.start();
  const orphans = new OrphanFinder({ store, ownership, inFlight, clock, monotonicMs, log, onLanes });
  const sweep = () => earlier.store().then(() => orphans.sweep());
  const periodMs = kit.expiryPeriodMs;
  const sweeper = startExpirySweeper({ store, ownership, clock, ids, log, orphans: { sweep }, periodMs });

  return {
    notice: (lanes) => scheduler.notice(lanes),
    passages: scheduler.passages,
    endBegun: (ids, end) => scheduler.endBegun(ids, end),
    noticeScheduled: (sendAt) => schedule.notice(sendAt),
    reconcile: () => scheduler.reconcile(),
    shaping,
    sourceAddresses: () => sources?.addresses.list() ?? [],
    unstoredResults: () => results.unstored ?? earlier.unstored,
    courierTrouble: () => pool.trouble(),
    load: (group) => scheduler.load(group),
    async close(graceMs) {
      const deadline = performance.now() + graceMs;
      abortFetches();
      sources?.stop();
      const stopped = Promise.all([scheduler.stop(), schedule.stop(), sweeper.stop()]);
      await within(graceMs, stopped);
      await pool.close();
      const leftMs = Math.max(deadline - performance.now(), LAST_WRITES_MS);
      await within(
        leftMs,
        stopped.then(() => Promise.all([results.flush(), shaping.stop()])),
      );
      results.stop();
    },
  };
}

type SchedulerParts = 'store' | 'inFlight' | 'routes' | 'pool' | 'recorder' | 'results' | 'shaping' | 'sources';

function openScheduler(kit: DeliveryKit, opened: Pick<SchedulerKit, SchedulerParts>): Scheduler {
  const { store, ownership, secondLooks, noRoute, endWatch, bounceRules, limits, policy } = kit;
  const { clock, random, log, readInterfaces } = kit;
  return new Scheduler({
    ...opened,
    notices: store.notices,
    ownership,
    secondLooks,
    noRoute,
    endWatch,
    judge: (result, message) => judge(result, bounceRules, partiesOf(message, kit.courier.bouncesDomain)),
    limits,
    clock,
    random,
    log,
    readInterfaces,
    pausesMs: () => pausesAfterAttempts(policy.ladder, random),
  });
}

function openCouriers(kit: DeliveryKit): CourierPool {
  const { store, ownership, clock, log } = kit;
  return openCourierPool(
    {
      ...kit.courier,
      mtaSts: kit.mtaSts !== null,
      tellsStages: kit.onRecorded !== undefined,
      ...(ownership.lease && { leaseEnd: ownership.lease.memory }),
    },
    {
      ...kit.pool,
      threads: kit.threads,
      onStuck: (reason) => log.error({ reason }, `a courier session was stuck: ${reason}`),
      onThreadLost: (error) => log.error({ error }, `a courier thread died: ${describeError(error)}`),
      onHostNote: (note) => handleHostNote(note, { store, clock, log }),
    },
  );
}

/** When a message can be retried under the current pauses. */
function earliestUnder(shaping: Shaping, { message, mxGroup }: AttemptResult, dueAt: number): number | null {
  const { tenantId, fromDomain: senderDomain, sourceAddress } = message;
  const group = mxGroup === null ? null : { name: mxGroup, open: 0 };
  const about = { tenantId, domain: asciiDomainOf(message.recipient), senderDomain, sourceAddress };
  return shaping.earliestAttempt({ ...about, group, connections: null }, dueAt);
}

/** When a route is found, the store knows the TLS policy of its domain. */
function openRoutes(kit: DeliveryKit): { routes: Routes; abortFetches(): void } {
  const { mtaSts, store, resolver, addresses, providers, clock, random, log } = kit;
  const routes = createRoutes({ resolver, clock, random, addresses, providers });
  if (mtaSts === null) return { routes, abortFetches() {} };
  const aborter = new AbortController();
  const options = { resolver, addresses, signal: aborter.signal, ...mtaSts };
  const fetch = (domain: string) => fetchPolicy(domain, options);
  const { signal } = aborter;
  const policies = createTransportPolicies({ store, resolver, fetch, clock, log, signal });
  return { routes: withPolicies(routes, policies), abortFetches: () => aborter.abort() };
}

// How often each address is checked: its DNS records, and whether the machine has it.
const SOURCE_CHECK_EVERY_MS = 5 * MINUTE_MS;
const FORGET_BATCH = 500;

async function openSources(kit: DeliveryKit, shaping: Shaping) {
  const { sources, store, resolver, clock, log } = kit;
  if (!sources || sources.pool.length === 0) return null;
  const pauseOf = (group: string, ip: string) => {
    const suspension = shaping.sourceSuspension(group, ip);
    return suspension && { until: suspension.until, reason: `${whatPauses(suspension)}: ${suspension.reply}` };
  };
  const addresses = new SourceAddresses({ ...sources, resolver, clock, log, bindProblem, pauseOf });
  await addresses.check();
  const recheck = async () => {
    await addresses.check();
    await store.sources.forgetSourceUsage(dayOf(clock.now()) - SOURCE_MEMORY_DAYS, FORGET_BATCH);
  };
  const onError = (error: unknown) => log.error({ error }, `our addresses were not checked: ${describeError(error)}`);
  const timer = setInterval(() => void recheck().catch(onError), SOURCE_CHECK_EVERY_MS);
  return { addresses, stop: () => clearInterval(timer) };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
