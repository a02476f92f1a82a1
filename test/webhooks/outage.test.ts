// Endpoints that are down: for a day, and a hundred of them at once beside one that is not.
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import t, { type Test } from 'tap';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import type { Domain } from '../../src/store/domains.ts';
import { patience } from '../support/patience.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { happen, openStage, registered, type Stage } from './stage.ts';

t.test('an endpoint that was down for a day gets everything after its return', async (t) => {
  const { bench, webhooks, clock, pass, store, told, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const before = await startEndpoint(t);
  await registered(webhooks, tenant.id, before.url);
  let dispatcher = await stage.dispatcher();
  const ids = [await happen(bench, domain)];
  await before.until(1);
  await dispatcher.idle();
  await before.close();
  for (let hour = 0; hour < 24; hour++) {
    for (let n = 0; n < 10; n++) {
      ids.push(await happen(bench, domain, { ...bench.event('email.delivered'), at: clock.time }));
    }
    await pass(dispatcher, HOUR_MS, 2 * MINUTE_MS);
    if (hour === 12) {
      // Nor does a restart in the middle of it lose anything.
      await dispatcher.close(0);
      dispatcher = await stage.dispatcher();
    }
  }
  t.equal(told.length, 1, 'its owners were told once');
  const after = await startEndpoint(t, before.port);
  await pass(dispatcher, 26 * HOUR_MS, 5 * MINUTE_MS);
  const received = [...before.received, ...after.received].map(({ id }) => id);
  t.strictSame(received.sort(), ids.sort(), 'each once');
  t.match(await store.webhooks.listWebhookHealth(tenant.id), [{ due: 0, failed: 0, failingSince: null }]);
});

t.test('webhooks of a tenant that were quick and hang all at once delay no other', async (t) => {
  const { bench, webhooks, ...stage } = await openStage(t);
  const [bad, good] = [await bench.sender('bad.test'), await bench.sender('good.test')];
  const [badEnd, goodEnd] = [await startEndpoint(t), await startEndpoint(t)];
  const badHook = await registered(webhooks, bad.tenant.id, badEnd.url);
  await registered(webhooks, good.tenant.id, goodEnd.url);
  const lastMs = new Map<string, number>();
  let ended = 0;
  const dispatcher = await stage.dispatcher({
    slots: { forAll: 8, forQuick: 8 },
    timeoutMs: patience(60 * SECOND_MS),
    onCalled({ delivery, elapsedMs }) {
      lastMs.set(delivery.webhookId, elapsedMs);
      if (delivery.webhookId === badHook.id) ended++;
    },
  });
  // On a busy machine a call may take too long for an endpoint that counts as quick.
  for (let n = 0; n < 4 || [...lastMs.values()].some((ms) => ms > SECOND_MS); n++) {
    for (const { domain } of [bad, good]) await happen(bench, domain);
    await dispatcher.idle();
  }
  const before = badEnd.received.length;
  ended = 0;
  badEnd.answer = () => {};
  // As many as an endpoint gets at a time: without bounds they would take all slots.
  for (let n = 0; n < 16; n++) await happen(bench, bad.domain);
  await badEnd.until(before + 4);
  const arrived = goodEnd.until(goodEnd.received.length + 1);
  const wanted = await happen(bench, good.domain);
  await arrived;
  t.equal(goodEnd.received.at(-1)!.id, wanted);
  t.equal(badEnd.received.length, before + 4, 'a quarter of the slots of either kind');
  t.equal(ended, 0, 'while those hang');
});

const DEAD = 100;
const DUE_EACH = 1000;
const MEASURED = 200;

t.test('a hundred dead endpoints with 100,000 due deliveries', async (t) => {
  const stage = await openStage(t, { fakeClock: false });
  const { bench, webhooks, store } = stage;
  const live = await bench.sender('live.test');
  const dead = await bench.sender('dead.test');
  const endpoint = await startEndpoint(t);
  await registered(webhooks, live.tenant.id, endpoint.url);
  await stage.dispatcher();
  await latencies(stage, live.domain, endpoint); // warms up
  const alone = await latencies(stage, live.domain, endpoint);

  const port = await startBlackHole(t);
  for (let n = 0; n < DEAD; n++) {
    const target = `http://127.0.0.1:${port}/${n}`;
    const id = bench.id();
    const sealed = stage.vault.seal(Buffer.alloc(32), `webhook-secret:${id}`);
    const webhook = {
      id,
      tenantId: dead.tenant.id,
      url: target,
      target,
      description: null,
      createdAt: 0,
      secret: sealed,
    };
    await store.webhooks.createWebhook(webhook, DEAD);
  }
  for (let n = 0; n < DUE_EACH; n += 100) {
    await Promise.all(Array.from({ length: 100 }, () => happen(bench, dead.domain)));
  }
  const waiting = await store.webhooks.listWebhookHealth(dead.tenant.id);
  t.equal(
    waiting.reduce((sum, { due }) => sum + due, 0),
    DEAD * DUE_EACH,
  );
  const beside = await latencies(stage, live.domain, endpoint);
  t.comment(`p50 and p99 in ms: alone ${shown(alone)}, beside the dead ${shown(beside)}`);
  // The bench has the exact figures. Here the machine may be busy: what must never happen is waiting for the dead.
  t.ok(quantile(beside, 0.99) < Math.max(2 * quantile(alone, 0.99), patience(150)), 'the live one does not notice');
});

/** From the event's commit to its arrival, one at a time. */
async function latencies(
  { bench }: Stage,
  domain: Domain,
  endpoint: Awaited<ReturnType<typeof startEndpoint>>,
): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < MEASURED; n++) {
    const began = performance.now();
    const arrived = endpoint.until(endpoint.received.length + 1);
    await happen(bench, domain);
    await arrived;
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b);
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

function shown(times: number[]): string {
  return `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}`;
}

/** Takes connections and never says a word. */
async function startBlackHole(t: Test): Promise<number> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as net.AddressInfo).port;
}
