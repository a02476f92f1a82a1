// What every test of the delivery engine begins with: a receiving server, the engine, and
// domains whose mail goes to loopback addresses.
import type { Test } from 'tap';
import {
  type DeliveryHarness,
  type DeliveryHarnessOptions,
  startDeliveryHarness,
} from '../support/delivery-harness.ts';
import { type MailSink, type SinkOptions, startMailSink } from '../support/mail-sink.ts';

export interface SetUpOptions extends Partial<DeliveryHarnessOptions> {
  sink?: SinkOptions;
}

/** A sink at 127.0.0.1, and an engine that calls every MX at the sink's port. */
export async function setUp(
  t: Test,
  options: SetUpOptions = {},
): Promise<{ sink: MailSink; harness: DeliveryHarness }> {
  const sink = await startSink(t, options.sink);
  const harness = await setUpFor(t, sink.port, options);
  return { sink, harness };
}

export async function startSink(t: Test, options?: SinkOptions): Promise<MailSink> {
  const sink = await startMailSink(options);
  t.teardown(() => sink.close());
  return sink;
}

/** The engine is closed before the servers that it talks to. */
export async function setUpFor(t: Test, port: number, options: SetUpOptions = {}): Promise<DeliveryHarness> {
  // A tenth: 200 ms for the answer to QUIT, which scripted peers do not give.
  const harness = await startDeliveryHarness({ port, timeoutFactor: 0.1, ...options });
  t.teardown(() => harness.close());
  return harness;
}

export type MxList = Record<string, { ip: string | string[]; preference?: number }>;

/** `{ 'mx1.test': { ip: '127.0.0.1', preference: 10 } }`. */
export function setMx(harness: DeliveryHarness, domain: string, hosts: MxList): void {
  const entries = Object.entries(hosts);
  harness.dns.set(
    domain,
    'MX',
    entries.map(([exchange, { preference }]) => ({ exchange, preference: preference ?? 10 })),
  );
  for (const [exchange, { ip }] of entries) harness.dns.set(exchange, 'A', [ip].flat());
}

/** Mail for `rcpt.test` goes to the one server at 127.0.0.1. */
export function setOneMx(harness: DeliveryHarness, domain = 'rcpt.test'): void {
  setMx(harness, domain, { 'mx.rcpt.test': { ip: '127.0.0.1' } });
}

export async function eventTypes(harness: DeliveryHarness, messageId: string): Promise<string[]> {
  const events = await harness.store.events.eventsOfMessage(harness.tenantId, messageId);
  return events.map(({ type }) => type);
}

export const isFinished = ({ state }: { state: string }): boolean =>
  ['delivered', 'bounced', 'failed', 'canceled'].includes(state);
export const isDelivered = ({ state }: { state: string }): boolean => state === 'delivered';
export const isDeferred = ({ state }: { state: string }): boolean => state === 'deferred';
