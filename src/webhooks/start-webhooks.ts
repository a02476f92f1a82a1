// The webhooks part as the daemon needs it: registration, sending events, cleaning up.

import type { Clock } from '../base/clock.ts';
import { MINUTE_MS } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import type { Ownership } from '../store/ownership.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import { Connections } from './connections.ts';
import { Dispatcher, type DispatcherKit, TICK_MS } from './dispatcher.ts';
import { eraseDeletedWebhooks, type FailingKit, notifyFailing } from './failing-webhooks.ts';
import type { TargetPolicy } from './target.ts';
import { TestSender } from './test-sender.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export interface WebhooksKit {
  store: Pick<Store, 'webhooks' | 'notices'> & StoreVerbs<{ reputation: 'ownersOf' }>;
  ownership: Ownership;
  vault: Vault;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  resolver: Resolver;
  random: () => number;
  /** Which addresses may be called. */
  policy: TargetPolicy;
  /** Sends mail to a tenant's owners. */
  notify: FailingKit['notify'];
  onCalled?: DispatcherKit['onCalled'] | undefined;
}

export interface RunningWebhooks {
  webhooks: Webhooks;
  tests: TestSender;
  timers: TimerSpec[];
  close(): Promise<void>;
}

/** A call that is cut off then is repeated by the next daemon, with the same event ID. */
const GRACE_MS = 3000;

export async function startWebhooks(kit: WebhooksKit): Promise<RunningWebhooks> {
  const { store, ownership, vault, clock, ids, log, random, resolver, policy, notify, onCalled } = kit;
  const calling = { resolver, policy, connections: new Connections({ clock }) };
  const dispatcher = new Dispatcher({
    store,
    ownership,
    vault,
    clock,
    log,
    random,
    ...calling,
    tickMs: TICK_MS,
    onCalled,
  });
  await dispatcher.start();
  return {
    webhooks: createWebhooks({
      store,
      vault,
      clock,
      ids,
      policy,
      onChanged: (id) => dispatcher.changed([id]),
      onRemoved: (id) => dispatcher.forget(id),
    }),
    tests: new TestSender({ store, vault, clock, ids, ...calling }),
    timers: [
      {
        name: 'failing webhooks',
        periodMs: MINUTE_MS,
        byLeader: true,
        run: () => notifyFailing({ store, clock, log, notify }),
      },
      { name: 'deleted webhooks', periodMs: MINUTE_MS, run: () => eraseDeletedWebhooks(store) },
    ],
    close: () => dispatcher.close(GRACE_MS),
  };
}
