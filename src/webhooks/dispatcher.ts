// Sends due events to webhooks: on a notification from the store, and by a timer. Endpoints take turns, one call each;
// failing and slow ones share a limited number of slots, so that quick ones never wait for them. Memory holds only
// what is being sent and each endpoint's next due time.
import type { Clock } from '../base/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { OncePerTick } from '../base/per-tick.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import type { Ownership } from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import type { ClaimedDeliveries, DeliveryClaim, WebhookDelivery } from '../store/webhooks.ts';
import { type EndpointCall, makeAttempt } from './attempt.ts';
import type { CallKit } from './call.ts';
import { decideDelivery, RETRY_TABLE } from './decide-delivery.ts';
import { toResult } from './delivery-result.ts';
import { DueWebhooks, LOOK_EVERY_MS } from './due-webhooks.ts';
import { EndpointQueue, type WaitingDelivery } from './endpoint-queue.ts';
import { type CallSlot, EndpointRotation } from './endpoint-rotation.ts';
import { ResultBatcher } from './result-batcher.ts';
import * as webhookLog from './webhook-log.ts';
import { webhookSecretContext } from './webhooks.ts';

export interface DispatcherKit extends CallKit {
  store: Pick<Store, 'webhooks' | 'notices'>;
  /** It calls the webhooks of these slots. */
  ownership: Ownership;
  vault: Vault;
  clock: Clock;
  log: Logger;
  random: () => number;
  /** Null: only calls of `tick` drive it. */
  tickMs: number | null;
  /** Called after each attempt; missing: nobody traces it. */
  onCalled?: ((call: EndpointCall) => void) | undefined;
}

/** How late retries may be. */
export const TICK_MS = 100;
/** Limits how long one verb takes. */
const CLAIMS_PER_VERB = 256;
/** Covers the call and the wait for a slot. The lease of a later attempt is as long as the pause behind it. */
const MIN_LEASE_MS = 5 * MINUTE_MS;
const START_WITHIN_MS = 4 * MINUTE_MS;
const PAUSE_AFTER_FAULT_MS = SECOND_MS;

/*
 * Each endpoint with something due has a queue (endpoint-queue.ts): when more is due in the store, what was claimed and waits
 * for a slot, and the calls in progress. `#noteDue` stores the time, `#offer` puts the endpoint into the rotation, `#pump`
 * gives free slots to endpoints in turn: it claims, which counts the attempt and leases the delivery until its next one would
 * be due (at least five minutes), then calls. Results are written many at once; a retry's time comes back to `#noteDue`.
 * Notices and a tick of 100 ms drive it; once a minute all that is due is read, in case a notice was lost.
 */
export class Dispatcher {
  readonly #kit: DispatcherKit;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #rotation = new EndpointRotation();
  readonly #results: ResultBatcher;
  readonly #due: DueWebhooks;
  #ticker: NodeJS.Timeout | null = null;
  readonly #pumping = new OncePerTick(() => {
    this.#pump();
    this.#settle();
  });
  #claims = 0;
  #calls = 0;
  #stopped = false;
  #idle: (() => void)[] = [];

  constructor(kit: DispatcherKit) {
    this.#kit = kit;
    const { store, ownership, clock, log } = kit;
    this.#due = new DueWebhooks({ store, ownership, clock, log, found: (id, dueAt) => this.#noteDue(id, dueAt) });
    this.#results = new ResultBatcher({
      store,
      clock,
      log,
      onRecorded: (results) => {
        for (const { delivery, end } of results) {
          if (end.to === 'due') this.#noteDue(delivery.webhookId, end.dueAt);
          if (end.to === 'released') this.#noteDue(delivery.webhookId, this.#kit.clock.now());
        }
      },
      onSettled: () => this.#settle(),
    });
  }

  async start(): Promise<void> {
    const { store, ownership, clock, tickMs } = this.#kit;
    store.notices.listen({
      webhooksDue: (webhookIds) => {
        for (const id of webhookIds) this.#noteDue(id, clock.now());
      },
      missed: () => this.#due.lookOrLog(),
    });
    ownership.listen({ gained: () => this.#due.lookOrLog() });
    await this.#due.look();
    if (tickMs !== null) this.#ticker = setInterval(() => this.tick(), tickMs);
  }

  /** Finds endpoints that have become due. */
  tick(): void {
    if (this.#stopped) return;
    const now = this.#kit.clock.now();
    for (const queue of this.#queues.values()) {
      if (queue.isIdle) this.#queues.delete(queue.webhookId);
      else this.#offer(queue);
    }
    this.#results.tick();
    this.#kit.connections.closeUnused();
    this.#due.tick(now);
  }

  /** The webhook is deleted: ends calls in progress. */
  forget(webhookId: string): void {
    const queue = this.#queues.get(webhookId);
    if (!queue) return;
    this.#queues.delete(webhookId);
    this.#rotation.remove(queue);
    queue.waiting.length = 0;
    for (const call of queue.calls) call.abort(DELETED);
  }

  /** Settles when nothing is in progress and nothing can be started. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#settle();
    });
  }

  /** Starts nothing new, waits for calls for at most `graceMs`, and releases the rest. */
  async close(graceMs: number): Promise<void> {
    this.#stopped = true;
    this.#due.stop();
    if (this.#ticker) clearInterval(this.#ticker);
    for (const queue of this.#queues.values()) this.#releaseWaiting(queue);
    const graceTimer = setTimeout(() => {
      for (const queue of this.#queues.values()) for (const call of queue.calls) call.abort(STOPPED);
    }, graceMs);
    await this.idle();
    clearTimeout(graceTimer);
    await this.#results.flush();
    await this.#kit.connections.close();
  }

  #noteDue(webhookId: string, dueAt: number): void {
    const queue = this.#queues.get(webhookId) ?? new EndpointQueue(webhookId);
    this.#queues.set(webhookId, queue);
    queue.noteDue(dueAt);
    this.#offer(queue);
  }

  /** Puts the endpoint into the rotation when it has something to do. */
  #offer(queue: EndpointQueue): void {
    const now = this.#kit.clock.now();
    if (this.#stopped || !(queue.mayBegin(now) || queue.wanted(now) > 0)) return;
    this.#rotation.add(queue);
    this.#pumping.request();
  }

  #pump(): void {
    if (this.#stopped) return;
    const now = this.#kit.clock.now();
    const claims: DeliveryClaim[] = [];
    let claimable = CLAIMS_PER_VERB;
    while (claimable > 0) {
      const turn = this.#rotation.next();
      if (!turn) break;
      const { queue } = turn;
      const wanted = Math.min(queue.wanted(now), claimable);
      if (wanted > 0) {
        queue.beginClaim();
        claimable -= wanted;
        claims.push({ webhookId: queue.webhookId, limit: wanted });
      }
      if (queue.mayBegin(now)) this.#begin(queue, turn.take());
      if (queue.mayBegin(now)) this.#rotation.add(queue);
    }
    if (claimable === 0) this.#pumping.request();
    if (claims.length > 0) void this.#claim(claims);
  }

  async #claim(claims: DeliveryClaim[]): Promise<void> {
    const { store, ownership, clock, log } = this.#kit;
    const now = clock.now();
    const leaseUntil = RETRY_TABLE.stepsMs.map((pauseMs) => now + Math.max(MIN_LEASE_MS, pauseMs));
    this.#claims++;
    try {
      for (const claimed of await store.webhooks.claimDeliveries(claims, { owners: ownership.all, now, leaseUntil }))
        this.#onClaimed(claimed, now);
    } catch (error) {
      log.error({ error }, `due webhook deliveries could not be claimed: ${describeError(error)}`);
      for (const { webhookId } of claims) {
        const queue = this.#queues.get(webhookId);
        if (!queue) continue;
        queue.endClaim(now);
        queue.rest(now + PAUSE_AFTER_FAULT_MS);
      }
    } finally {
      this.#claims--;
      this.#settle();
    }
  }

  #onClaimed({ webhookId, endpoint, deliveries, nextDueAt }: ClaimedDeliveries, claimedAt: number): void {
    const queue = this.#queues.get(webhookId);
    // It was deleted while it was claimed: its rows are unreachable already.
    if (!queue) return;
    queue.endClaim(nextDueAt ?? Number.POSITIVE_INFINITY);
    // Deleted by another node, or its slot is being handed over: that waits for the results of calls, so they go to their end.
    if (endpoint === null) {
      this.#releaseWaiting(queue);
      return;
    }
    try {
      queue.keys = endpoint.secrets.map((secret) => this.#kit.vault.open(secret, webhookSecretContext(webhookId)));
      queue.target = endpoint.target;
    } catch (error) {
      this.#kit.log.error(
        { webhook_id: webhookId, error },
        `a webhook delivery could not be signed: ${describeError(error)}`,
      );
      queue.rest(claimedAt + LOOK_EVERY_MS);
      for (const delivery of deliveries) this.#release(delivery);
      return;
    }
    if (this.#stopped) for (const delivery of deliveries) this.#release(delivery);
    else queue.waiting.push(...deliveries.map((delivery) => ({ delivery, claimedAt })));
    this.#offer(queue);
  }

  #begin(queue: EndpointQueue, slot: CallSlot): void {
    const { delivery, claimedAt } = queue.waiting.shift() as WaitingDelivery;
    if (this.#kit.clock.now() - claimedAt > START_WITHIN_MS) {
      // Its lease may expire during the call, and then the event could be sent twice.
      slot.free();
      this.#release(delivery);
      return;
    }
    this.#calls++;
    void this.#call(queue, delivery).finally(() => {
      slot.free();
      this.#calls--;
      this.#offer(queue);
      this.#pumping.request();
    });
  }

  async #call(queue: EndpointQueue, delivery: WebhookDelivery): Promise<void> {
    const { clock, random, log } = this.#kit;
    const call = new AbortController();
    queue.calls.add(call);
    const { outcome, startedAt, elapsedMs } = await makeAttempt(queue, delivery, call.signal, this.#kit);
    queue.calls.delete(call);
    if (call.signal.reason === DELETED) return;
    if (call.signal.aborted) return this.#release(delivery);
    const now = clock.now();
    const decision = decideDelivery({ outcome, step: delivery.step, now }, random);
    if (decision.decision === 'delivered') queue.succeeded(elapsedMs);
    else queue.failed(startedAt, now);
    if (queue.isResting(now)) this.#releaseWaiting(queue);
    this.#results.add(toResult({ delivery, outcome, decision, startedAt, elapsedMs }));
    webhookLog.attempted(log, delivery, { decision, outcome, elapsedMs });
    this.#kit.onCalled?.({ delivery, decision, outcome, startedAt, elapsedMs });
  }

  #releaseWaiting(queue: EndpointQueue): void {
    for (const { delivery } of queue.waiting.splice(0)) this.#release(delivery);
  }

  #release(delivery: WebhookDelivery): void {
    this.#results.add(toResult({ delivery, outcome: null, decision: null, startedAt: 0, elapsedMs: 0 }));
  }

  #settle(): void {
    if (this.#idle.length === 0) return;
    const busy =
      this.#calls > 0 ||
      this.#claims > 0 ||
      this.#pumping.isPending ||
      !this.#results.isEmpty ||
      this.#rotation.size > 0;
    if (busy && !(this.#stopped && this.#calls === 0 && this.#claims === 0)) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

const DELETED = 'deleted';
const STOPPED = 'stopped';
