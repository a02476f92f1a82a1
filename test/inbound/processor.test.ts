// The processor over a real store: nothing is lost to a fault, nothing is done twice, and a mail that
// may have ended the daemon is left alone.
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import type { ProcessedMail } from '../../src/inbound/process-mail.ts';
import { type ProcessKit, processMail } from '../../src/inbound/process-mail.ts';
import { InboundProcessor, type ProcessorKit } from '../../src/inbound/processor.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { InboundVerdict, NewInboundMail, WaitingInboundMail } from '../../src/store/inbound.ts';
import type { Bench } from '../store/conformance/harness.ts';
import { ownFirstSlot, takeFirstSlot } from '../support/first-slot.ts';
import { until } from '../support/until.ts';
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
  await Promise.all(mails.map((one) => bench.store.inbound.keepInbound(one)));
  return mails.map(({ id }) => id);
}

/** Takes the first slot, as each start does. */
async function processorOf(bench: Bench, change: Partial<ProcessorKit> = {}) {
  const done: string[] = [];
  const processor = new InboundProcessor({
    store: bench.store,
    ownership: await ownFirstSlot(bench.store),
    process: async (): Promise<ProcessedMail> => ({
      kind: 'done',
      update: { verdict: KEPT, action: null },
      message: null,
    }),
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
  const { processor, done } = await processorOf(bench);
  await processor.start();
  const late = await keep(bench, 5);
  processor.notice();
  await until('all are done', () => done.length === 205);
  t.same([...done].sort(), [...early, ...late].sort(), 'each once');
  t.same(await bench.store.inbound.waitingInbound([1], 0, 10), []);
  await processor.stop();
});

t.test('mail in the slot of another node is left alone', async (t) => {
  const bench = await openStore(t);
  const foreign = mail(bench);
  await bench.store.inbound.keepInbound({ ...foreign, slot: 2 });
  const own = await keep(bench, 2);
  const { processor, done } = await processorOf(bench);
  await processor.start();
  await until('its own are done', () => done.length === 2);
  await processor.stop();
  t.same([...done].sort(), own);
  t.match(await bench.store.inbound.waitingInbound([2], 0, 10), [{ id: foreign.id, slot: 2 }]);
});

t.test('a node whose slot was taken over records nothing of what it has in hand', async (t) => {
  const bench = await openStore(t);
  await keep(bench, 1);
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const verdictOf = (reason: string): ProcessedMail => {
    return { kind: 'done', update: { verdict: { ...KEPT, reason }, action: null }, message: null };
  };
  const late = await processorOf(bench, {
    async process() {
      begun.resolve();
      await end.promise;
      return verdictOf('late');
    },
  });
  await late.processor.start();
  await begun.promise;
  const next = await processorOf(bench, { process: async () => verdictOf('next') });
  end.resolve();
  await late.processor.stop();
  await next.processor.start();
  await until('the next owner has done it', () => next.done.length === 1);
  await next.processor.stop();
  t.same(late.done, []);
  t.match(await bench.store.inbound.getInbound(next.done[0]!), { mail: { reason: 'next' } });
});

t.test('a database that cannot be used for a moment', async (t) => {
  const bench = await openStore(t);
  const ids = await keep(bench, 3);
  let faults = 2;
  const store: ProcessorKit['store'] = {
    inbound: {
      waitingInbound: (...asked) => bench.store.inbound.waitingInbound(...asked),
      noteInterruptedInbound: (...asked) => bench.store.inbound.noteInterruptedInbound(...asked),
      noteInboundTrial: (...asked) => bench.store.inbound.noteInboundTrial(...asked),
      noteInboundReach: (...asked) => bench.store.inbound.noteInboundReach(...asked),
      recordInbound: (update) =>
        faults-- > 0 ? Promise.reject(new Error('disk')) : bench.store.inbound.recordInbound(update),
    },
  };
  const { processor, done } = await processorOf(bench, { store });
  await processor.start();
  await until('all are done', () => done.length === 3);
  t.same([...done].sort(), ids);
  await processor.stop();
});

t.test('while the store takes no notes, nothing is begun', async (t) => {
  const bench = await openStore(t);
  await keep(bench, 1);
  const failed = Promise.withResolvers<void>();
  let reads = 0;
  const store: ProcessorKit['store'] = {
    ...bench.store,
    inbound: {
      ...bench.store.inbound,
      async waitingInbound(...asked) {
        reads++;
        return bench.store.inbound.waitingInbound(...asked);
      },
      recordInbound: () => Promise.reject(new Error('disk')),
    },
  };
  const log = { ...silentLogger, error: () => failed.resolve() };
  const { processor } = await processorOf(bench, { store, log, afterFaultMs: 3_600_000 });
  processor.notice();
  await failed.promise;
  const readsBefore = reads;
  await keep(bench, 1);
  processor.notice();
  // Another one that is told after it has read by then: so would this one have.
  const other = await processorOf(bench);
  other.processor.notice();
  await until('the other one has worked', () => other.done.length > 0);
  t.equal(reads, readsBefore);
  await Promise.all([processor.stop(), other.processor.stop()]);
});

t.test('a mail that cannot be worked on is kept for a person in the end, and holds nobody up', async (t) => {
  const bench = await openStore(t);
  const [poison, ...others] = await keep(bench, 3);
  let looks = 0;
  const process = async ({ id }: WaitingInboundMail): Promise<ProcessedMail> => {
    if (id === poison && ++looks > 0) throw new TypeError('a bug of ours');
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = await processorOf(bench, { process, afterFaultMs: 20 });
  await processor.start();
  await until('all are done', () => done.length === 3);
  t.same([...done].sort(), [...others, poison].sort());
  t.equal(done.at(-1), poison);
  t.ok(looks > 3, 'what may be a passing fault is tried again');
  const kept = await bench.store.inbound.getInbound(poison!);
  t.match(kept, { mail: { kind: 'unreadable', effect: 'kept', reason: /a bug of ours/ }, content: Buffer });
  await processor.stop();
});

t.test('large mails are not all read at once', async (t) => {
  const bench = await openStore(t);
  const content = Buffer.alloc(10 * 1024 * 1024, 'x');
  for (let count = 0; count < 14; count++) await bench.store.inbound.keepInbound({ ...mail(bench), content });
  let inHand = 0;
  let most = 0;
  const process = async (): Promise<ProcessedMail> => {
    most = Math.max(most, ++inHand);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inHand--;
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = await processorOf(bench, { process });
  await processor.start();
  await until('all are done', () => done.length === 14);
  t.ok(most <= 10, `${most} at once: two pages of the store, the last of which may begin just below the limit`);
  await processor.stop();
});

t.test('mail of no message may wait in a limited number, until none waits', async (t) => {
  const bench = await openStore(t);
  const release = Promise.withResolvers<void>();
  const process = async (): Promise<ProcessedMail> => {
    await release.promise;
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = await processorOf(bench, { process });
  await processor.start();
  const arrive = async (of: 'unasked' | 'returned', count: number) => {
    await keep(bench, count);
    for (let told = 0; told < count; told++) processor.noticeKept(of);
  };
  await arrive('returned', 700);
  t.notOk(processor.isBehind, 'returned mail does not count');
  await arrive('unasked', 499);
  t.notOk(processor.isBehind);
  await arrive('unasked', 1);
  t.ok(processor.isBehind);
  release.resolve();
  await until('all are done', () => done.length === 1200);
  await until('there is room again', () => !processor.isBehind);
  await processor.stop();
});

t.test('what is not ripe is looked at again', async (t) => {
  const bench = await openStore(t);
  await keep(bench, 1);
  let looks = 0;
  const process = async (): Promise<ProcessedMail> => {
    if (++looks === 1) return { kind: 'later', reason: 'still being sent' };
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = await processorOf(bench, { process });
  await processor.start();
  await until('it is done', () => done.length === 1);
  t.equal(looks, 2);
  await processor.stop();
});

/** What the next start finds. */
async function interrupted(bench: Bench) {
  return bench.store.inbound.noteInterruptedInbound([await takeFirstSlot(bench.store)], 1);
}

/** A daemon that reaches the first mail that `isFatal` names, and is killed in the middle of it. */
async function killedAt(bench: Bench, isFatal: (id: string) => boolean): Promise<string[]> {
  const begun: string[] = [];
  let isDead = false;
  const dead = Promise.withResolvers<never>();
  dead.promise.catch(() => {});
  const outcome = { kind: 'done', update: { verdict: KEPT, action: null }, message: null } as const;
  const never = new Promise<never>(() => {});
  const alive = <T>(work: () => Promise<T>): Promise<T> => (isDead ? never : work());
  const { processor } = await processorOf(bench, {
    async process(mail) {
      if (mail.tries >= 3) return processMail(mail, {} as ProcessKit, true);
      begun.push(mail.id);
      if (!isFatal(mail.id)) return outcome;
      isDead = true;
      dead.reject(new Error('killed'));
      return never;
    },
    store: {
      inbound: {
        waitingInbound: (...asked) => alive(() => bench.store.inbound.waitingInbound(...asked)),
        noteInterruptedInbound: (...asked) => bench.store.inbound.noteInterruptedInbound(...asked),
        noteInboundTrial: (...asked) => alive(() => bench.store.inbound.noteInboundTrial(...asked)),
        noteInboundReach: (...asked) => alive(() => bench.store.inbound.noteInboundReach(...asked)),
        recordInbound: (update) => alive(() => bench.store.inbound.recordInbound(update)),
      },
    },
  });
  await processor.start();
  await Promise.race([
    dead.promise.catch(() => {}),
    until('nothing waits', async () => (await bench.store.inbound.waitingInbound([1], 0, 1)).length === 0),
  ]);
  isDead = true;
  return begun;
}

t.test('a mail that ends the daemon is found, and no other is blamed', async (t) => {
  const bench = await openStore(t);
  const ids = await keep(bench, 200);
  const poison = ids[3]!;
  for (let ends = 0; ends < 5; ends++) await killedAt(bench, (id) => id === poison);
  const unreadable = await bench.store.inbound.listInbound({ kind: 'unreadable', limit: 200 });
  t.match(unreadable, [{ id: poison, effect: 'kept', reason: /3 times while it processed only this mail/ }]);
  t.equal(unreadable.length, 1);
  t.equal((await bench.store.inbound.listInbound({ kind: 'human', limit: 200 })).length, 199, 'all others took effect');
});

t.test('a mail that waits while the daemon is killed is blamed for nothing', async (t) => {
  const bench = await openStore(t);
  const ids = await keep(bench, 20);
  // Each daemon is killed at the mail that it begins first, and that is a different one each time.
  for (let ends = 0; ends < 8; ends++) t.equal((await killedAt(bench, () => true)).length, 1, 'one at a time');
  const waiting = await bench.store.inbound.waitingInbound([1], 0, 100);
  t.equal(waiting.length, 20);
  const { processor, done } = await processorOf(bench, {
    process: async (mail) => {
      if (mail.tries >= 3) return processMail(mail, {} as ProcessKit, true);
      return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
    },
  });
  await processor.start();
  await until('all are done', () => done.length === 20);
  await processor.stop();
  t.same(await bench.store.inbound.listInbound({ kind: 'unreadable', limit: 100 }), []);
  t.same([...done].sort(), ids);
});

t.test('a suspect that waits for the DNS holds nobody up', async (t) => {
  const bench = await openStore(t);
  const [slow, ...others] = await keep(bench, 3);
  const answer = Promise.withResolvers<void>();
  const process = async ({ id }: WaitingInboundMail): Promise<ProcessedMail> => {
    if (id === slow) await answer.promise;
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = await processorOf(bench, { process, aloneMs: 5 });
  await processor.start();
  await until('the others are done', () => done.length === 2);
  t.same([...done].sort(), others);
  answer.resolve();
  await until('all are done', () => done.length === 3);
  await processor.stop();
});

/** Tries a second suspect when the gate is open, and notes what was noted. */
function gatedStore(bench: Bench, gate: Promise<unknown>) {
  const noted: (number | null)[] = [];
  const store: ProcessorKit['store'] = {
    inbound: {
      waitingInbound: (...asked) => bench.store.inbound.waitingInbound(...asked),
      noteInterruptedInbound: (...asked) => bench.store.inbound.noteInterruptedInbound(...asked),
      noteInboundReach: (...asked) => bench.store.inbound.noteInboundReach(...asked),
      recordInbound: (update) => bench.store.inbound.recordInbound(update),
      async noteInboundTrial(owners, seq) {
        if (noted.push(seq) === 2) await gate;
        return bench.store.inbound.noteInboundTrial(owners, seq);
      },
    },
  };
  return { store, noted };
}

/** The others' turn has to be longer than the processor's pause before it reads. */
const TURNS = { aloneMs: 10, turnMs: 50 };

t.test('many suspects that wait for the DNS take turns with what comes later', async (t) => {
  const bench = await openStore(t);
  const suspects = await keep(bench, 30);
  const answer = Promise.withResolvers<void>();
  const lateIsKept = Promise.withResolvers<void>();
  const { store, noted } = gatedStore(bench, lateIsKept.promise);
  const begun: string[] = [];
  const process = async ({ id }: WaitingInboundMail): Promise<ProcessedMail> => {
    begun.push(id);
    if (suspects.includes(id)) await answer.promise;
    else t.equal(noted.at(-1), null, 'no suspect is noted meanwhile');
    return { kind: 'done', update: { verdict: KEPT, action: null }, message: null };
  };
  const { processor, done } = await processorOf(bench, { process, store, ...TURNS });
  await processor.start();
  const [late] = await keep(bench, 1);
  processor.notice();
  lateIsKept.resolve();
  await until('the late one is done', () => done.length === 1);
  t.same(done, [late]);
  t.ok(begun.indexOf(late!) < 30, `${begun.indexOf(late!)} of 30 suspects were begun by then`);
  answer.resolve();
  await until('all are done', () => done.length === 31);
  t.same([...done].sort(), [...suspects, late!].sort(), 'each once');
  t.same(new Set(noted.filter((seq) => seq !== null)).size, 30, 'each suspect was noted');
  await processor.stop();
  t.equal((await interrupted(bench)).length, 0);
});

t.test(
  'a mail that ends the daemon while suspects wait is one at the next start, and no other is blamed',
  async (t) => {
    const bench = await openStore(t);
    await keep(bench, 30);
    const isBegun = Promise.withResolvers<void>();
    const lateIsKept = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    let poison: string | undefined;
    const { processor } = await processorOf(bench, {
      ...TURNS,
      store: gatedStore(bench, lateIsKept.promise).store,
      async process({ id }) {
        if (id === poison) isBegun.resolve();
        await end.promise;
        return { kind: 'later', reason: 'the daemon has ended' };
      },
    });
    await processor.start();
    [poison] = await keep(bench, 1);
    processor.notice();
    lateIsKept.resolve();
    await isBegun.promise;
    const next = await interrupted(bench);
    t.equal(next.length, 31, 'all that may have been in work');
    t.same(
      next.filter(({ tries }) => tries > 0),
      [],
    );
    const stopped = processor.stop();
    end.resolve();
    await stopped;
  },
);

t.test('what was kept as unreadable is worked on again when an operator says so', async (t) => {
  const bench = await openStore(t);
  const [id] = await keep(bench, 1);
  let verdict: InboundVerdict = { ...KEPT, kind: 'unreadable' };
  const process = async (): Promise<ProcessedMail> => ({
    kind: 'done',
    update: { verdict, action: null },
    message: null,
  });
  const { processor, done } = await processorOf(bench, { process });
  await processor.start();
  await until('it is done', () => done.length === 1);
  verdict = KEPT;
  t.equal(await bench.store.inbound.retryInbound(id!), 'waits');
  processor.rescan();
  await until('it is done again', () => done.length === 2);
  t.match(await bench.store.inbound.getInbound(id!), { mail: { kind: 'human' } });
  await processor.stop();
});

t.test('a mail that outlived three ends of the daemon is read by nobody', async (t) => {
  const waiting: WaitingInboundMail = { ...mail(await openStore(t)), slot: 1, seq: 1, tries: 3 };
  const kit = { read: () => t.fail('it was read') } as unknown as ProcessKit;
  const outcome = await processMail(waiting, kit, true);
  t.match(outcome, { update: { verdict: { kind: 'unreadable', effect: 'kept', reason: /3 times/ }, action: null } });
});
