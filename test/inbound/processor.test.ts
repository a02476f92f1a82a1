// The processor over a real store: nothing is lost to a fault, nothing is done twice, and a mail that
// may have ended the daemon is left alone.
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import type { Outcome } from '../../src/inbound/process-mail.ts';
import { type ProcessKit, processMail } from '../../src/inbound/process-mail.ts';
import { InboundProcessor, type ProcessorKit } from '../../src/inbound/processor.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { InboundVerdict, NewInboundMail, WaitingInboundMail } from '../../src/store/inbound.ts';
import { until } from '../sandbox/until.ts';
import type { Bench } from '../store/conformance/harness.ts';
import { openStore } from './store-kit.ts';

const KEPT: InboundVerdict = {
  kind: 'human',
  effect: 'kept',
  reason: 'because',
  digest: null,
  messageId: null,
  tenantId: null,
  finding: {},
};

function mail(bench: Bench): NewInboundMail {
  return {
    ...{ id: bench.id(), receivedAt: 1, remoteIp: '192.0.2.1', ehloName: 'x', tls: null, mailFrom: 'a@b.test' },
    recipients: ['postmaster@bounces.test'],
    content: Buffer.from('Subject: x\r\n\r\nx'),
  };
}

async function keep(bench: Bench, count: number): Promise<string[]> {
  const mails = Array.from({ length: count }, () => mail(bench));
  await Promise.all(mails.map((one) => bench.store.keepInbound(one)));
  return mails.map(({ id }) => id);
}

function processorOf(bench: Bench, change: Partial<ProcessorKit> = {}) {
  const done: string[] = [];
  const processor = new InboundProcessor({
    store: bench.store,
    process: async (): Promise<Outcome> => ({ kind: 'done', update: { verdict: KEPT, action: null }, message: null }),
    onRecorded: ({ mail: { id } }) => void done.push(id),
    clock: systemClock,
    log: silentLogger,
    ...change,
  });
  return { processor, done };
}

t.test('what waits at the start and what comes later', async (t) => {
  const bench = await openStore(t);
  const early = await keep(bench, 200);
  const { processor, done } = processorOf(bench);
  await processor.start();
  const late = await keep(bench, 5);
  processor.notice();
  await until('all are done', () => done.length === 205);
  t.same([...done].sort(), [...early, ...late].sort(), 'each once');
  t.same(await bench.store.waitingInbound(0, 10), []);
  await processor.stop();
});

t.test('a database that cannot be used for a moment', async (t) => {
  const bench = await openStore(t);
  const ids = await keep(bench, 3);
  let faults = 2;
  const store: ProcessorKit['store'] = {
    waitingInbound: (after, limit) => bench.store.waitingInbound(after, limit),
    noteInterruptedInbound: (limit) => bench.store.noteInterruptedInbound(limit),
    recordInbound: (update) => (faults-- > 0 ? Promise.reject(new Error('disk')) : bench.store.recordInbound(update)),
  };
  const { processor, done } = processorOf(bench, { store });
  await processor.start();
  await until('all are done', () => done.length === 3);
  t.same([...done].sort(), ids);
  await processor.stop();
});

t.test('a mail that cannot be worked on is kept for a person in the end, and holds nobody up', async (t) => {
  const bench = await openStore(t);
  const [poison, ...others] = await keep(bench, 3);
  let looks = 0;
  const process = async ({ id }: WaitingInboundMail): Promise<Outcome> => {
    if (id === poison && ++looks > 0) throw new TypeError('a bug of ours');
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = processorOf(bench, { process, afterFaultMs: 20 });
  await processor.start();
  await until('all are done', () => done.length === 3);
  t.same([...done].sort(), [...others, poison].sort());
  t.equal(done.at(-1), poison);
  t.ok(looks > 3, 'what may be a passing fault is tried again');
  const kept = await bench.store.getInbound(poison!);
  t.match(kept, { mail: { kind: 'unreadable', effect: 'kept', reason: /a bug of ours/ }, content: Buffer });
  await processor.stop();
});

t.test('large mails are not all read at once', async (t) => {
  const bench = await openStore(t);
  const content = Buffer.alloc(10 * 1024 * 1024, 'x');
  for (let count = 0; count < 14; count++) await bench.store.keepInbound({ ...mail(bench), content });
  let inHand = 0;
  let most = 0;
  const process = async (): Promise<Outcome> => {
    most = Math.max(most, ++inHand);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inHand--;
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = processorOf(bench, { process });
  await processor.start();
  await until('all are done', () => done.length === 14);
  t.ok(most <= 10, `${most} at once: two pages of the store, the last of which may begin just below the limit`);
  await processor.stop();
});

t.test('what is not ripe is looked at again', async (t) => {
  const bench = await openStore(t);
  await keep(bench, 1);
  let looks = 0;
  const process = async (): Promise<Outcome> => {
    if (++looks === 1) return { kind: 'later', reason: 'still being sent' };
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = processorOf(bench, { process });
  await processor.start();
  await until('it is done', () => done.length === 1);
  t.equal(looks, 2);
  await processor.stop();
});

t.test('a mail that outlived three ends of the daemon is read by nobody', async (t) => {
  const waiting: WaitingInboundMail = { ...mail(await openStore(t)), seq: 1, tries: 3 };
  const kit = { read: () => t.fail('it was read') } as unknown as ProcessKit;
  const outcome = await processMail(waiting, kit, true);
  t.match(outcome, { update: { verdict: { kind: 'unreadable', effect: 'kept', reason: /3 times/ }, action: null } });
});
