// Sends due events to webhooks: on a notification from the store, and by a timer. Endpoints take turns, one call each;
// failing and slow ones share a limited number of slots, so that quick ones never wait for them. Memory holds only
// what is being sent and each endpoint's next due time.
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { OncePerTick } from '../base/per-tick.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import type { Ownership } from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import type { ClaimedDeliveries, DeliveryClaim, WebhookDelivery } from '../store/webhooks.ts';
import { type EndpointCall, makeAttempt } from './attempt.ts';
import type { CallKit } from './call.ts';
import { decideDelivery } from './decide-delivery.ts';
import { leaseEnds, mayCall } from './delivery-lease.ts';
import { toResult } from './delivery-result.ts';
import { DueWebhooks } from './due-webhooks.ts';
import { EndpointQueue, type WaitingDelivery } from './endpoint-queue.ts';
import { type CallSlot, type CallSlots, EndpointRotation } from './endpoint-rotation.ts';
import { Endpoints } from './endpoints.ts';
import { ResultBatcher } from './result-batcher.ts';
import * as webhookLog from './webhook-log.ts';

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
  /** As many calls at a time as the daemon makes by default. */
  slots?: CallSlots;
  /** Called after each attempt; missing: nobody traces it. */
  onCalled?: ((call: EndpointCall) => void) | undefined;
}

/** How late retries may be. */
export const TICK_MS = 100;
/** Limits how long one verb takes. */
const CLAIMS_PER_VERB = 256;

/*
 * Each endpoint with something due has a queue (endpoint-queue.ts): when more is due in the store, what was claimed and waits
 * for a slot, and the calls in progress. `#noteDue` stores the time, `#offer` puts the endpoint into the rotation, `#pump`
 * gives free slots to endpoints in turn: it claims, which counts the attempt and leases the delivery until its next one would
 * be due (at least five minutes), then calls. Results are written many at once; a retry's time comes back to `#noteDue`.
 * Notices and a tick of 100 ms drive it; once a minute all that is due is read, in case a notice was lost. What waits when
 * its slot is lost is let go; where the rest goes is read again when webhooks were changed (endpoints.ts).
 */
export class Dispatcher {
  readonly #kit: DispatcherKit;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #rotation: EndpointRotation;
  readonly #results: ResultBatcher;
  readonly #due: DueWebhooks;
  readonly #endpoints: Endpoints;
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
    const { store, ownership, vault, clock, log } = kit;
    this.#rotation = new EndpointRotation(kit.slots);
    this.#due = new DueWebhooks({ store, ownership, clock, log, found: (id, dueAt) => this.#noteDue(id, dueAt) });
    this.#endpoints = new Endpoints({
      store,
      vault,
      clock,
      log,
      queues: this.#queues,
      onGone: (id) => this.forget(id),
      onUnusable: (queue) => this.#releaseWaiting(queue),
    });
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
      changed: () => this.changed(this.#queues.keys()),
      missed: () => this.#due.lookOrLog(),
    });
    ownership.listen({ gained: () => this.#due.lookOrLog(), lost: () => this.#releaseLost() });
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
    this.#endpoints.tick(now);
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

  /** These webhooks may have been changed or deleted: what waits goes where they are now. */
  changed(webhookIds: Iterable<string>): void {
    if (!this.#stopped) this.#endpoints.changed(webhookIds);
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
    const terms = { owners: ownership.all, now, leaseUntil: leaseEnds(now) };
    const { changes } = this.#endpoints;
    this.#claims++;
    try {
      for (const claimed of await store.webhooks.claimDeliveries(claims, terms)) this.#onClaimed(claimed, now);
      // They may say what was before a change that came meanwhile.
      if (this.#endpoints.changes !== changes) this.#endpoints.reread(claims.map(({ webhookId }) => webhookId));
    } catch (error) {
      log.error({ error }, `due webhook deliveries could not be claimed: ${describeError(error)}`);
      for (const { webhookId } of claims) this.#queues.get(webhookId)?.claimFailed(now);
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
    queue.waiting.push(...deliveries.map((delivery) => ({ delivery, claimedAt })));
    this.#endpoints.address(queue, endpoint);
    if (this.#stopped) this.#releaseWaiting(queue);
    this.#offer(queue);
  }

  #begin(queue: EndpointQueue, slot: CallSlot): void {
    const { ownership, clock } = this.#kit;
    const claimed = queue.waiting.shift() as WaitingDelivery;
    if (!mayCall(claimed, ownership, clock.now())) {
      slot.free();
      this.#release(claimed.delivery);
      return;
    }
    this.#calls++;
    void this.#call(queue, claimed.delivery).finally(() => {
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

  /** Calls in progress go to their end. What waits is the next owner's; where nobody has taken the slot, it is due again. */
  #releaseLost(): void {
    const { ownership, clock } = this.#kit;
    for (const queue of this.#queues.values()) {
      const [next] = queue.waiting;
      if (next && !mayCall(next, ownership, clock.now())) this.#releaseWaiting(queue);
    }
  }

  #releaseWaiting(queue: EndpointQueue): void {
    for (const { delivery } of queue.waiting.splice(0)) this.#release(delivery);
  }

  #release(delivery: WebhookDelivery): void {
    this.#results.add(toResult({ delivery, outcome: null, decision: null, startedAt: 0, elapsedMs: 0 }));
  }

  #settle(): void {
    if (this.#idle.length === 0) return;
    const works = this.#calls > 0 || this.#claims > 0;
    const waits = this.#pumping.isPending || !this.#results.isEmpty || this.#rotation.size > 0;
    if (works || (waits && !this.#stopped)) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

const DELETED = 'deleted';
const STOPPED = 'stopped';
