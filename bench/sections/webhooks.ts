// How fast events leave for a quick endpoint, and what a hundred dead ones with 100,000 due deliveries
// do to it. The events are put into the database by the store's own verbs while no daemon runs.
import net from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { Bench } from '../../test/store/conformance/harness.ts';
import type { HookReport } from '../hook-sink.ts';
import { makeKey, operatorOf, type Postrider, startPostrider } from '../postrider.ts';
import { type BenchProcess, startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { type Sink, startSink } from '../sinks.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { atLeast, atMost, latencyRow, type Row, rateRow, withLimit } from '../table.ts';
import { drain, sendTraffic } from '../traffic.ts';

const DELIVERIES_PER_S = 2000;
const EVENTS = 20_000;
const DEAD_TENANTS = 2;
const DEAD_PER_TENANT = 50;
const DUE_PER_DEAD = 1000;
const TWICE = 2;
const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 120_000;
/** Some 200 messages per second: what is measured is the time of each, not how many fit. */
const STREAM = { connections: 8, inFlight: 8, pauseMs: 25, warmUpMs: 2000, measuredMs: 10_000 };

type HookSink = BenchProcess<{ reset: boolean }, HookReport>;

interface Scene {
  run: RunContext;
  folder: string;
  sink: Sink;
  hooks: HookSink;
}

export async function measureWebhooks(run: RunContext): Promise<Row[]> {
  const folder = path.join(run.folder, 'webhooks');
  const sink = await startSink({ kind: 'own', folder: run.folder });
  const hooks: HookSink = startProcess(new URL('../hook-sink.ts', import.meta.url));
  const blackHole = await startBlackHole();
  const scene = { run, folder, sink, hooks };
  try {
    const { port } = await hooks.ask({ reset: true });
    const { token } = await withDaemon(scene, {}, async (postrider) => {
      await registerWebhook(postrider.httpPort, postrider.token, `http://127.0.0.1:${port}/hook`);
      return { token: postrider.token };
    });
    await fill(folder, async (bench, tenantId) => addEvents(bench, tenantId, EVENTS));
    const perSecond = await withDaemon(scene, { token }, () => rateOf(hooks));
    const alone = await withDaemon(scene, { token }, (postrider) => streamDelays(scene, postrider));
    await addDead(scene, { token, port: blackHole.port });
    const beside = await withDaemon(scene, { token }, (postrider) => streamDelays(scene, postrider));
    return rowsOf({ perSecond, alone, beside });
  } finally {
    blackHole.close();
    await hooks.stop();
    await sink.stop();
  }
}

async function withDaemon<T>(
  { run, folder, sink }: Scene,
  { token }: { token?: string },
  work: (postrider: Postrider) => Promise<T>,
): Promise<T> {
  const postrider = await startPostrider({
    ...{ folder, smtpPort: sink.smtpPort, domainCount: run.options.domains },
    watch: run.watch('webhooks'),
    ...(token !== undefined && { token }),
  });
  try {
    return await work(postrider);
  } finally {
    await postrider.stop();
  }
}

async function registerWebhook(httpPort: number, token: string, url: string): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${httpPort}/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  if (reply.status !== 201) throw new Error(`POST /webhooks was answered ${reply.status}: ${await reply.text()}`);
}

/** Works on the database of a daemon that is stopped. */
async function fill<T>(folder: string, work: (bench: Bench, tenantId: string) => Promise<T>): Promise<T> {
  const file = path.join(folder, 'data', 'postrider.db');
  const store = await openSqliteStore({ file });
  try {
    const [tenant] = await store.tenants.listTenants();
    return await work(new Bench({ store, openContents: () => openContentReader(file) }), tenant!.id);
  } finally {
    await store.close();
  }
}

const MESSAGES_AT_ONCE = 50;

async function addEvents(bench: Bench, tenantId: string, count: number): Promise<void> {
  const [domain] = await bench.store.domains.listDomains(tenantId);
  const at = Date.now();
  const to = Array.from({ length: MESSAGES_AT_ONCE }, (_, index) => `r${index}@in1.test`);
  for (let done = 0; done < count; done += MESSAGES_AT_ONCE) {
    const { receipt } = await bench.accept(domain!, to, { acceptedAt: at });
    const updates = receipt.messageIds.map((id) => {
      const part = {
        message_id: id,
        subject: 'An order',
        delivery: { response: '250 ok', mx: 'mx.in1.test', attempt: 1 },
      };
      const event = { ...bench.event('email.delivered', part), at };
      return bench.update({ id, tenantId }, { to: 'delivered' }, { event });
    });
    await bench.store.queue.record(updates);
  }
}

async function rateOf(hooks: HookSink): Promise<number> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await pause(LOOK_EVERY_MS)) {
    const { received, firstAtMs, lastAtMs } = await hooks.ask({ reset: false });
    if (received < EVENTS) continue;
    await hooks.ask({ reset: true });
    return ((received - 1) * 1000) / (lastAtMs - firstAtMs);
  }
  throw new Error('the events did not arrive');
}

/** From the time of an event to its arrival, while mail is sent quietly. */
async function streamDelays({ run, sink, hooks }: Scene, postrider: Postrider): Promise<Spread> {
  await sendTraffic({ ...STREAM, postrider, sink, folder: run.folder });
  await drain(sink, 0);
  const { delaysMs } = await hooks.ask({ reset: true });
  return spreadOf(delaysMs);
}

async function addDead(scene: Scene, { token, port }: { token: string; port: number }): Promise<void> {
  const tenants = await fill(scene.folder, async (bench) => {
    const ids: string[] = [];
    for (let n = 0; n < DEAD_TENANTS; n++) ids.push((await bench.sender(`dead${n}.test`)).tenant.id);
    return ids;
  });
  await withDaemon(scene, { token }, async ({ httpPort }) => {
    for (const tenantId of tenants) {
      const key = await makeKey(operatorOf(path.join(scene.folder, 'postrider.toml')), tenantId);
      for (let n = 0; n < DEAD_PER_TENANT; n++) await registerWebhook(httpPort, key, `http://127.0.0.1:${port}/${n}`);
    }
  });
  await fill(scene.folder, async (bench) => {
    for (const tenantId of tenants) await addEvents(bench, tenantId, DUE_PER_DEAD);
  });
}

/** Takes connections and never says a word. */
async function startBlackHole(): Promise<{ port: number; close(): void }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function rowsOf({ perSecond, alone, beside }: { perSecond: number; alone: Spread; beside: Spread }): Row[] {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const dead = `${DEAD_TENANTS * DEAD_PER_TENANT} dead endpoints, ${(DEAD_TENANTS * DEAD_PER_TENANT * DUE_PER_DEAD).toLocaleString('en')} due`;
  return [
    withLimit(
      rateRow('webhook deliveries', perSecond, `${EVENTS} events, one endpoint`),
      atLeast(perSecond, DELIVERIES_PER_S),
    ),
    latencyRow('  event to arrival, alone', alone, 'while 200 mails per second are sent'),
    withLimit(
      latencyRow('  event to arrival, beside the dead', beside, dead),
      atMost(beside.p99, alone.p99 * TWICE, ms),
    ),
  ];
}
