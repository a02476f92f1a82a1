// Sends due events to webhooks: on a wake-up from the store, and by the clock. Endpoints take turns,
// one call each; those that fail or are slow share places of their own, so that they never keep
// quick ones waiting. Memory holds what is being sent and the next time of each endpoint, no more.

import type { Clock } from '../base/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { OncePerTick } from '../base/per-tick.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import type { Store } from '../store/store.ts';
import type { ClaimedDeliveries, DeliveryClaim, WebhookDelivery } from '../store/webhooks.ts';
import { makeAttempt } from './attempt.ts';
import type { CallKit } from './call.ts';
import { decideDelivery, RETRY_TABLE } from './decide-delivery.ts';
import { toResult } from './delivery-result.ts';
import { EndpointLine, type WaitingDelivery } from './endpoint-line.ts';
import { type CallSlot, EndpointRotation } from './endpoint-rotation.ts';
import { ResultBook } from './result-book.ts';
import * as webhookLog from './webhook-log.ts';
import { webhookSecretContext } from './webhooks.ts';

export interface DispatcherKit extends CallKit {
  store: Pick<Store, 'webhooks' | 'watchDeliveries'>;
  vault: Vault;
  clock: Clock;
  log: Logger;
  random: () => number;
  /** Null: only `tick` moves it. */
  tickMs: number | null;
}

/** Retries may be late by so much. */
export const TICK_MS = 100;
/** In one verb, so that it stays short. */
const CLAIMED_PER_VERB = 256;
/** Covers the call and a wait for a place; after it a lost attempt is made again. */
const LEASE_MS = 5 * MINUTE_MS;
const BEGUN_WITHIN_MS = 4 * MINUTE_MS;
const AFTER_FAULT_MS = SECOND_MS;
/** A net under the wake-ups: whatever is due is found so late at most. */
const LOOK_AROUND_MS = MINUTE_MS;
const PAGE = 1000;

/*
 * Each endpoint with something due has a line (endpoint-line.ts): a time at which more is due in the store, deliveries
 * that were claimed and wait for a place, and calls under way. `#expect` notes the time, `#offer` puts the line among
 * those whose turn comes, `#pump` gives free places to lines in turn: it claims from the store, which counts the attempt
 * and leases the delivery for five minutes, then calls. Results go to the result book, which writes many at once; a
 * retry's time comes back as `#expect`. Wake-ups from the store and a tick of 100 ms drive it; once a minute everything
 * due is looked up in the store, in case a wake-up was lost. A lease that a dead daemon left is taken back at the start.
 */
export class Dispatcher {
  readonly #kit: DispatcherKit;
  readonly #lines = new Map<string, EndpointLine>();
  readonly #turns = new EndpointRotation();
  readonly #book: ResultBook;
  #ticker: NodeJS.Timeout | null = null;
  readonly #pumping = new OncePerTick(() => {
    this.#pump();
    this.#settle();
  });
  #claims = 0;
  #calls = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #idle: (() => void)[] = [];

  constructor(kit: DispatcherKit) {
    this.#kit = kit;
    const { store, clock, log } = kit;
    this.#book = new ResultBook({
      store,
      clock,
      log,
      onRecorded: (results) => {
        for (const { delivery, end } of results) {
          if (end.to === 'due') this.#expect(delivery.webhookId, end.dueAt);
          if (end.to === 'released') this.#expect(delivery.webhookId, this.#kit.clock.now());
        }
      },
      onSettled: () => this.#settle(),
    });
  }

  async start(): Promise<void> {
    const { store, clock, log, tickMs } = this.#kit;
    const recovered = await store.webhooks.recoverDeliveries(clock.now());
    if (recovered > 0) log.warn({ deliveries: recovered }, 'webhook deliveries were interrupted; they are retried');
    store.watchDeliveries((webhookIds) => {
      for (const id of webhookIds) this.#expect(id, this.#kit.clock.now());
    });
    await this.#lookAround();
    if (tickMs !== null) this.#ticker = setInterval(() => this.tick(), tickMs);
  }

  /** Looks who has become due. */
  tick(): void {
    if (this.#stopped) return;
    const now = this.#kit.clock.now();
    for (const line of this.#lines.values()) {
      if (line.isIdle) this.#lines.delete(line.webhookId);
      else this.#offer(line);
    }
    void this.#book.flush();
    this.#kit.connections.tidy();
    if (now - this.#lookedAt >= LOOK_AROUND_MS) {
      this.#lookAround().catch((error: unknown) =>
        this.#kit.log.error({ error }, 'due webhook deliveries could not be read'),
      );
    }
  }

  /** The webhook is deleted: what is under way is ended. */
  forget(webhookId: string): void {
    const line = this.#lines.get(webhookId);
    if (!line) return;
    this.#lines.delete(webhookId);
    this.#turns.remove(line);
    line.waiting.length = 0;
    for (const call of line.calls) call.abort(DELETED);
  }

  /** Settles when nothing is under way and nothing can be begun. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#settle();
    });
  }

  /** Begins nothing new, waits for calls for so long, and gives the rest back. */
  async close(graceMs: number): Promise<void> {
    this.#stopped = true;
    if (this.#ticker) clearInterval(this.#ticker);
    for (const line of this.#lines.values()) {
      for (const { delivery } of line.waiting.splice(0)) this.#release(delivery);
    }
    const patience = setTimeout(() => {
      for (const line of this.#lines.values()) for (const call of line.calls) call.abort(STOPPED);
    }, graceMs);
    await this.idle();
    clearTimeout(patience);
    await this.#book.flush();
    await this.#kit.connections.close();
  }

  async #lookAround(): Promise<void> {
    this.#lookedAt = this.#kit.clock.now();
    for (let after: string | null = null; !this.#stopped; ) {
      const page = await this.#kit.store.webhooks.dueWebhooks(after, PAGE);
      for (const { webhookId, dueAt } of page.found) this.#expect(webhookId, dueAt);
      if (page.last === null) return;
      after = page.last;
    }
  }

  #expect(webhookId: string, dueAt: number): void {
    const line = this.#lines.get(webhookId) ?? new EndpointLine(webhookId);
    this.#lines.set(webhookId, line);
    line.nextDueAt = Math.min(line.nextDueAt, dueAt);
    this.#offer(line);
  }

  /** Gives the line a turn when it has something to do. */
  #offer(line: EndpointLine): void {
    const now = this.#kit.clock.now();
    if (this.#stopped || !(line.mayBegin(now) || line.wanted(now) > 0)) return;
    this.#turns.queue(line);
    this.#pumping.request();
  }

  #pump(): void {
    if (this.#stopped) return;
    const now = this.#kit.clock.now();
    const claims: DeliveryClaim[] = [];
    let claimable = CLAIMED_PER_VERB;
    while (claimable > 0) {
      const turn = this.#turns.next();
      if (!turn) break;
      const { line } = turn;
      const wanted = Math.min(line.wanted(now), claimable);
      if (wanted > 0) {
        line.claiming = true;
        claimable -= wanted;
        claims.push({ webhookId: line.webhookId, limit: wanted });
      }
      if (line.mayBegin(now)) this.#begin(line, turn.take());
      if (line.mayBegin(now)) this.#turns.queue(line);
    }
    if (claimable === 0) this.#pumping.request();
    if (claims.length > 0) void this.#claim(claims);
  }

  async #claim(claims: DeliveryClaim[]): Promise<void> {
    const { store, clock, log } = this.#kit;
    const now = clock.now();
    const leaseUntil = RETRY_TABLE.stepsMs.map((pauseMs) => now + Math.max(LEASE_MS, pauseMs));
    this.#claims++;
    try {
      for (const claimed of await store.webhooks.claimDeliveries(claims, { now, leaseUntil })) this.#take(claimed, now);
    } catch (error) {
      log.error({ error }, `due webhook deliveries could not be claimed: ${describeError(error)}`);
      for (const { webhookId } of claims) {
        const line = this.#lines.get(webhookId);
        if (!line) continue;
        line.claiming = false;
        line.rest(now + AFTER_FAULT_MS);
      }
    } finally {
      this.#claims--;
      this.#settle();
    }
  }

  #take({ webhookId, endpoint, deliveries, nextDueAt }: ClaimedDeliveries, claimedAt: number): void {
    const line = this.#lines.get(webhookId);
    // Deleted while it was claimed: its rows are out of reach already.
    if (!line) return;
    line.claiming = false;
    line.nextDueAt = nextDueAt ?? Number.POSITIVE_INFINITY;
    if (endpoint === null) {
      this.forget(webhookId);
      return;
    }
    try {
      line.keys = endpoint.secrets.map((secret) => this.#kit.vault.open(secret, webhookSecretContext(webhookId)));
      line.target = endpoint.target;
    } catch (error) {
      this.#kit.log.error(
        { webhook_id: webhookId, error },
        `a webhook delivery could not be signed: ${describeError(error)}`,
      );
      line.rest(claimedAt + LOOK_AROUND_MS);
      for (const delivery of deliveries) this.#release(delivery);
      return;
    }
    if (this.#stopped) for (const delivery of deliveries) this.#release(delivery);
    else line.waiting.push(...deliveries.map((delivery) => ({ delivery, claimedAt })));
    this.#offer(line);
  }

  #begin(line: EndpointLine, place: CallSlot): void {
    const { delivery, claimedAt } = line.waiting.shift() as WaitingDelivery;
    if (this.#kit.clock.now() - claimedAt > BEGUN_WITHIN_MS) {
      // Its lease may end while it is called: somebody could call a second time.
      place.free();
      this.#release(delivery);
      return;
    }
    this.#calls++;
    void this.#call(line, delivery).finally(() => {
      place.free();
      this.#calls--;
      this.#offer(line);
      this.#pumping.request();
    });
  }

  async #call(line: EndpointLine, delivery: WebhookDelivery): Promise<void> {
    const { clock, random, log } = this.#kit;
    const call = new AbortController();
    line.calls.add(call);
    const { outcome, startedAt, elapsedMs } = await makeAttempt(line, delivery, call.signal, this.#kit);
    line.calls.delete(call);
    if (call.signal.reason === DELETED) return;
    if (call.signal.aborted) return this.#release(delivery);
    const now = clock.now();
    const decision = decideDelivery({ outcome, step: delivery.step, now }, random);
    if (decision.decision === 'delivered') line.succeeded(elapsedMs);
    else line.failed(startedAt, now);
    if (line.isResting(now)) for (const { delivery: kept } of line.waiting.splice(0)) this.#release(kept);
    this.#book.add(toResult({ delivery, outcome, decision, startedAt, elapsedMs }));
    webhookLog.attempted(log, delivery, { decision, outcome, elapsedMs });
  }

  #release(delivery: WebhookDelivery): void {
    this.#book.add(toResult({ delivery, outcome: null, decision: null, startedAt: 0, elapsedMs: 0 }));
  }

  #settle(): void {
    if (this.#idle.length === 0) return;
    const busy =
      this.#calls > 0 || this.#claims > 0 || this.#pumping.isPending || !this.#book.isEmpty || this.#turns.size > 0;
    if (busy && !(this.#stopped && this.#calls === 0 && this.#claims === 0)) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

const DELETED = 'deleted';
const STOPPED = 'stopped';
