// The stage for webhooks: a real store, a real DNS server, and a dispatcher whose clock the test can move. Endpoints
// are in test/support/webhook-endpoint.ts.
import path from 'node:path';
import type { Test } from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import { MASTER_KEY_BYTES, Vault } from '../../src/base/vault.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import type { Domain } from '../../src/store/domains.ts';
import type { NewEvent } from '../../src/store/events.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import type { Store } from '../../src/store/store.ts';
import { Connections } from '../../src/webhooks/connections.ts';
import { Dispatcher, type DispatcherKit, TICK_MS } from '../../src/webhooks/dispatcher.ts';
import { notifyFailing } from '../../src/webhooks/failing-webhooks.ts';
import { targetPolicy } from '../../src/webhooks/target.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/webhooks.ts';
import { Bench } from '../store/conformance/harness.ts';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { ownFirstSlot } from '../support/first-slot.ts';
import { testFolder } from '../support/test-folder.ts';

export class FakeClock {
  time = Date.now();

  now(): number {
    return this.time;
  }
}

export interface Stage {
  file: string;
  store: Store;
  bench: Bench;
  dns: TestDnsServer;
  clock: FakeClock;
  webhooks: Webhooks;
  vault: Vault;
  /** What owners were told of failing endpoints. */
  told: { to: readonly string[]; text: string; key: string }[];
  /** A new one over the same store, started. */
  dispatcher(change?: Partial<DispatcherKit>): Promise<Dispatcher>;
  /** Moves the clock on in steps, and waits each time until all that was due has been tried. */
  pass(dispatcher: Dispatcher, ms: number, stepMs?: number): Promise<void>;
}

export interface StageOptions {
  allowPrivate?: boolean | string[];
  /** Otherwise the real time. */
  fakeClock?: boolean;
}

export async function openStage(t: Test, { allowPrivate = true, fakeClock = true }: StageOptions = {}): Promise<Stage> {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  const dns = await startDnsServer();
  const clock = new FakeClock();
  const time = fakeClock ? clock : { now: () => Date.now() };
  const vault = new Vault([Buffer.alloc(MASTER_KEY_BYTES, 3)]);
  const policy = targetPolicy(allowPrivate);
  const running: Dispatcher[] = [];
  const told: Stage['told'] = [];
  const resolver = createResolver({ servers: [dns.endpoint], clock: time });
  t.teardown(async () => {
    await Promise.all(running.map((dispatcher) => dispatcher.close(0)));
    await store.close();
    await dns.close();
  });
  const base = { store, vault, clock: time, policy };
  return {
    ...{ file, store, dns, clock, vault, told },
    bench: new Bench({ store, openContents: () => openContentReader(file) }),
    webhooks: createWebhooks({
      ...{ ...base, ids: new IdSource() },
      onChanged: (id) => {
        for (const dispatcher of running) dispatcher.changed([id]);
      },
      onRemoved: (id) => {
        for (const dispatcher of running) dispatcher.forget(id);
      },
    }),
    async dispatcher(change = {}) {
      const dispatcher = new Dispatcher({
        ...{ ...base, ownership: change.ownership ?? (await ownFirstSlot(store)), resolver },
        ...{ log: silentLogger, random: () => 0.5 },
        connections: new Connections({ clock: time }),
        tickMs: fakeClock ? null : TICK_MS,
        ...change,
      });
      running.push(dispatcher);
      await dispatcher.start();
      return dispatcher;
    },
    async pass(dispatcher, ms, stepMs = ms) {
      for (const end = clock.time + ms; clock.time < end; ) {
        clock.time = Math.min(end, clock.time + stepMs);
        dispatcher.tick();
        await dispatcher.idle();
        const notify = async (to: readonly string[], { text, key }: { text: string; key: string }) =>
          told.push({ to, text, key }) > 0;
        await notifyFailing({ store, clock, log: silentLogger, notify });
      }
    },
  };
}

/** Registers a webhook that must be taken; the secret as the tenant gets it. */
export async function registered(
  webhooks: Webhooks,
  tenantId: string,
  url: string,
): Promise<{ id: string; secret: string }> {
  const result = await webhooks.register(tenantId, { url });
  if (isRefusal(result)) throw new Error(result.message);
  return { id: result.webhook.id, secret: result.secret.toString('base64') };
}

/** Lets a message of the domain be delivered, which writes an event. */
export async function happen(
  bench: Bench,
  domain: Domain,
  event: NewEvent = bench.event('email.delivered'),
): Promise<string> {
  const { receipt } = await bench.accept(domain, ['a@x.test']);
  const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
  await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event }));
  await new Promise(setImmediate); // the dispatcher hears of it one turn after the commit
  return event.id;
}
