// Where the events of each queue go, and what signs them: as a claim tells it. A webhook may be changed or deleted, here or by
// another node, while its events wait in memory or are being sent: then it is read again. Changes that come together are one
// query, and only for endpoints that are at work.
import { type Clock, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { OneAtATime } from '../base/one-at-a-time.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { Endpoint } from '../store/webhooks.ts';
import { LOOK_EVERY_MS } from './due-webhooks.ts';
import type { EndpointQueue } from './endpoint-queue.ts';
import { webhookSecretContext } from './webhooks.ts';

const AGAIN_AFTER_MS = SECOND_MS;

export interface EndpointsKit {
  store: StoreVerbs<{ webhooks: 'readEndpoints' }>;
  vault: Vault;
  clock: Clock;
  log: Logger;
  queues: ReadonlyMap<string, EndpointQueue>;
  /** The webhook is deleted. */
  onGone(webhookId: string): void;
  /** Its secret can't be opened: the queue rests. */
  onUnusable(queue: EndpointQueue): void;
}

export class Endpoints {
  readonly #kit: EndpointsKit;
  readonly #toRead = new Set<string>();
  readonly #reads = new OneAtATime(() => this.#read());
  #nextReadAt = 0;
  /** How often webhooks may have been changed. */
  changes = 0;

  constructor(kit: EndpointsKit) {
    this.#kit = kit;
  }

  /** Calls that begin from now on go there. */
  address(queue: EndpointQueue, { tenantId, target, secrets }: Endpoint): void {
    const { vault, clock, log, onUnusable } = this.#kit;
    const { webhookId } = queue;
    queue.tenantId = tenantId;
    try {
      queue.keys = secrets.map((secret) => vault.open(secret, webhookSecretContext(webhookId)));
      queue.target = target;
    } catch (error) {
      log.error({ webhook_id: webhookId, error }, `a webhook delivery could not be signed: ${describeError(error)}`);
      queue.rest(clock.now() + LOOK_EVERY_MS);
      onUnusable(queue);
    }
  }

  /** These webhooks may have been changed or deleted. */
  changed(webhookIds: Iterable<string>): void {
    this.changes++;
    this.reread(webhookIds);
  }

  reread(webhookIds: Iterable<string>): void {
    for (const id of webhookIds) if (this.#kit.queues.get(id)?.isAtWork) this.#toRead.add(id);
    if (this.#toRead.size > 0) this.#reads.run();
  }

  /** Reads what a fault of the store has left. */
  tick(now: number): void {
    if (this.#toRead.size > 0 && now >= this.#nextReadAt) this.#reads.run();
  }

  async #read(): Promise<void> {
    const { store, clock, log, queues, onGone } = this.#kit;
    const ids = [...this.#toRead];
    this.#toRead.clear();
    try {
      const endpoints = await store.webhooks.readEndpoints(ids, clock.now());
      for (const [index, id] of ids.entries()) {
        const [queue, endpoint] = [queues.get(id), endpoints[index]];
        if (!endpoint) onGone(id);
        else if (queue) this.address(queue, endpoint);
      }
    } catch (error) {
      log.error({ error }, `changed webhooks could not be read: ${describeError(error)}`);
      for (const id of ids) this.#toRead.add(id);
      this.#nextReadAt = clock.now() + AGAIN_AFTER_MS;
    }
  }
}
