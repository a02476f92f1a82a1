// Conformance: what comes back for a message is acted on in any case, and kept within bounds.
import type { Test } from 'tap';
import type {
  InboundAction,
  InboundUpdate,
  InboundVerdict,
  NewInboundMail,
  ReturnedQuota,
} from '../../../src/store/inbound.ts';
import { type Bench, T0 } from './harness.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export const returnedMailCases = {
  'contents of mail for messages share a room, and those that were acted on make place': async (
    t: Test,
    bench: Bench,
  ) => {
    const store = (change: Partial<ReturnedQuota> = {}) => returnedStore(bench, { maxBytes: 1000, ...change });
    const waiting = await keepReturned(bench, store(), 400);
    const done = [await keepReturned(bench, store(), 400), await keepReturned(bench, store(), 400)];
    for (const id of done) await actOn(bench, id);
    const last = await keepReturned(bench, store(), 400);
    t.same(await Promise.all([waiting, ...done, last].map((id) => bytesOf(bench, id))), [400, null, null, 400]);
    t.match(await bench.store.inbound.getInbound(done[0]!), {
      mail: { effect: 'kept', reason: 'because; its content was erased to make room', sizeBytes: 400 },
    });
    const more = await keepReturned(bench, store(), 900);
    t.same(
      await Promise.all([waiting, last, more].map((id) => bytesOf(bench, id))),
      [400, 400, 900],
      'all of it waits',
    );
  },

  "beyond a message's bounds a mail is acted on, and its content goes": async (t: Test, bench: Bench) => {
    for (const bound of [{ mailsPerDay: 2 }, { bytesPerDay: 20 }]) {
      const store = returnedStore(bench, bound);
      const kept = [await keepReturned(bench, store, 10), await keepReturned(bench, store, 10)];
      const beyond = await keepReturned(bench, store, 10);
      const other = await keepReturned(bench, returnedStore(bench, bound), 10);
      t.equal(await bytesOf(bench, beyond), 10, 'until it was acted on');
      for (const id of [...kept, beyond, other]) await actOn(bench, id);
      t.same(await Promise.all([...kept, beyond, other].map((id) => bytesOf(bench, id))), [10, 10, null, 10]);
      t.match(await bench.store.inbound.getInbound(beyond), {
        mail: { effect: 'kept', reason: /^because; its content was not kept: too much came .* within a day$/ },
      });
      const tomorrow = await keepReturned(bench, store, { receivedAt: T0 + DAY_MS });
      await actOn(bench, tomorrow);
      t.equal(await bytesOf(bench, tomorrow), 4, 'the next day has its own bounds');
    }
  },

  "beyond a message's bounds a bounce takes effect": async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await bench.store.queue.record([bench.attempted(message, { to: 'delivered' })]);
    const id = await keepReturned(bench, returnedStore(bench, { messageId: message.id, mailsPerDay: 0 }));
    const { seq } = (await bench.store.inbound.waitingInbound([1], 0, 1))[0]!;
    const { verdict } = keptUpdate({ effect: 'bounced', messageId: message.id, tenantId: message.tenantId });
    const action: InboundAction = { do: 'bounce', bounce: 'soft', suppress: null, event: bench.event('email.bounced') };
    const result = await bench.recordInbound({ seq, at: T0, verdict, action });
    t.match(result, { effect: 'bounced', reason: /content was not kept/ });
    t.match(await bench.message(message.id), { state: 'bounced' });
    t.equal(await bytesOf(bench, id), null);
  },

  "what waits beyond messages' bounds is bounded, and no other message waits for it": async (t: Test, bench: Bench) => {
    const store = returnedStore(bench, { mailsPerDay: 0, waitingBytes: 10 });
    const waiting = await keepReturned(bench, store, 10);
    const refused = newInboundMail(bench, { content: Buffer.alloc(1) });
    t.equal(await bench.store.inbound.keepInbound(refused, store), 'full');
    t.equal(await bench.store.inbound.getInbound(refused.id), null);
    await keepReturned(bench, returnedStore(bench, { waitingBytes: 10 }), 100);
    await actOn(bench, waiting);
    await keepReturned(bench, store, 10);
  },

  'of mails beyond the bounds the newest thousand notes stay': async (t: Test, bench: Bench) => {
    const store = returnedStore(bench, { mailsPerDay: 1, waitingBytes: 1e6 });
    const first = await keepReturned(bench, store);
    await actOn(bench, first);
    for (let count = 0; count < 1003; count++) await keepReturned(bench, store);
    const waiting = await bench.store.inbound.waitingInbound([1], 0, 2000);
    t.equal(waiting.length, 1003, 'nothing that waits goes');
    await Promise.all(waiting.map(({ seq }) => bench.recordInbound({ ...keptUpdate(), seq })));
    t.equal((await bench.store.inbound.listInbound({ kind: 'human', limit: 2000 })).length, 1001);
    t.equal(await bytesOf(bench, first), 4);
  },

  'a mail beyond the bounds that may have ended the daemon can be tried again': async (t: Test, bench: Bench) => {
    const id = await keepReturned(bench, returnedStore(bench, { mailsPerDay: 0 }));
    const { seq } = (await bench.store.inbound.waitingInbound([1], 0, 1))[0]!;
    await bench.store.inbound.noteInboundTrial([await bench.owner()], seq);
    await bench.store.inbound.noteInterruptedInbound([await bench.owner()], 1);
    await actOn(bench, id, { kind: 'unreadable' });
    t.equal(await bench.store.inbound.retryInbound(id), 'waits');
  },

  'of an unsubscribe mail the note stays': async (t: Test, bench: Bench) => {
    const id = await keepReturned(bench, returnedStore(bench));
    await actOn(bench, id, { kind: 'unsubscribe', effect: 'unsubscribed' });
    t.match(await bench.store.inbound.getInbound(id), { mail: { reason: 'because' }, content: null });
  },
};

export function returnedStore(bench: Bench, change: Partial<ReturnedQuota> = {}): ReturnedQuota {
  const bounds = { maxBytes: 1e6, mailsPerDay: 100, bytesPerDay: 1e6, waitingBytes: 1000 };
  return { of: 'returned', messageId: bench.id(), ...bounds, ...change };
}

export async function keepReturned(
  bench: Bench,
  store: ReturnedQuota,
  content: number | Partial<NewInboundMail> = {},
): Promise<string> {
  const one = newInboundMail(bench, typeof content === 'number' ? { content: Buffer.alloc(content) } : content);
  if ((await bench.store.inbound.keepInbound(one, store)) !== 'kept') throw new Error('it was not kept');
  return one.id;
}

function keptUpdate(change: Partial<InboundVerdict> = {}): Omit<InboundUpdate, 'seq' | 'owner'> {
  const verdict: InboundVerdict = {
    ...{ kind: 'human', effect: 'kept', reason: 'because', digest: null },
    ...{ messageId: null, tenantId: null, finding: {} },
    ...change,
  };
  return { at: T0, verdict, action: null };
}

export async function actOn(bench: Bench, id: string, change: Partial<InboundVerdict> = {}): Promise<void> {
  const { seq } = (await bench.store.inbound.waitingInbound([1], 0, 2000)).find((one) => one.id === id)!;
  await bench.recordInbound({ ...keptUpdate(change), seq });
}

export async function bytesOf(bench: Bench, id: string): Promise<number | null> {
  return (await bench.store.inbound.getInbound(id))?.content?.length ?? null;
}

export function newInboundMail(bench: Bench, change: Partial<NewInboundMail> = {}): NewInboundMail {
  return {
    id: bench.id(),
    receivedAt: T0,
    remoteIp: '192.0.2.1',
    ehloName: 'mx.x.test',
    tls: null,
    mailFrom: '',
    recipients: ['postmaster@bounces.test'],
    content: Buffer.from('mail'),
    ...change,
  };
}
