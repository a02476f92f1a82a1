// Conformance: who works on a mail that came in, and which mail is suspected when that node has crashed.
import type { Test } from 'tap';
import type { InboundAction, InboundUpdate, InboundVerdict } from '../../../src/store/inbound.ts';
import type { Owner } from '../../../src/store/owners.ts';
import { takeFirstSlot } from '../../support/first-slot.ts';
import { type Bench, T0 } from './harness.ts';
import { newInboundMail } from './returned-mail.ts';

/** What an owner has made of this mail: it is kept for people. */
function keptBy(owner: Owner, seq: number): InboundUpdate {
  const verdict: InboundVerdict = {
    ...{ kind: 'human', effect: 'kept', reason: 'because', digest: null },
    ...{ messageId: null, tenantId: null, finding: {} },
  };
  return { seq, at: T0, owner, verdict, action: null };
}

/** In this slot; returns its place in the order of arrival. */
async function keep(bench: Bench, slot = 1): Promise<number> {
  const { id, ...mail } = newInboundMail(bench);
  await bench.store.inbound.keepInbound({ id, ...mail, slot });
  return (await bench.store.inbound.waitingInbound([slot], 0, 100)).find((one) => one.id === id)!.seq;
}

export const inboundOwnerCases = {
  'a try counts against the mail that its owner worked on alone': async (t: Test, bench: Bench) => {
    const { inbound } = bench.store;
    const [first, second, third] = [await keep(bench), await keep(bench), await keep(bench)];
    const owners = [await bench.owner()];
    t.same(await inbound.noteInterruptedInbound(owners, 2), [
      { seq: first, tries: 0 },
      { seq: second, tries: 0 },
    ]);
    t.equal(await inbound.noteInboundTrial(owners, third), true);
    t.equal(await inbound.noteInboundTrial(owners, first), true);
    const suspects = [
      { seq: second, tries: 0 },
      { seq: third, tries: 0 },
      { seq: first, tries: 1 },
    ];
    t.same(await inbound.noteInterruptedInbound(owners, 10), suspects, 'the suspect comes last');
    t.same(await inbound.noteInterruptedInbound(owners, 10), suspects, 'counted once');
    await inbound.noteInboundTrial(owners, first);
    t.equal(await inbound.noteInboundTrial(owners, null), true);
    t.same(await inbound.noteInterruptedInbound(owners, 10), suspects, 'it was let go');
    await inbound.noteInboundReach(owners, 3);
    t.equal((await inbound.noteInterruptedInbound(owners, 1)).length, 3, 'all in its reach');
    await inbound.noteInboundReach(owners, null);
    t.equal((await inbound.noteInterruptedInbound(owners, 1)).length, 1);
    await inbound.noteInboundTrial(owners, first);
    await inbound.recordInbound(keptBy(owners[0]!, first));
    t.equal(await inbound.noteInboundTrial(owners, first), false, 'it waits no longer');
    t.same(await inbound.noteInterruptedInbound(owners, 10), suspects.slice(0, 2));
  },

  'a mail belongs to a slot, and only its owner records it': async (t: Test, bench: Bench) => {
    const { inbound } = bench.store;
    const [one, two, three] = [await keep(bench, 1), await keep(bench, 2), await keep(bench, 1)];
    const waiting = async (slots: number[], after = 0, limit = 10) =>
      (await inbound.waitingInbound(slots, after, limit)).map(({ seq, slot }) => [seq, slot]);
    t.same(await waiting([1]), [
      [one, 1],
      [three, 1],
    ]);
    t.same(
      await waiting([2, 1], 0, 2),
      [
        [one, 1],
        [two, 2],
      ],
      'in the order of arrival',
    );
    t.same(await waiting([2, 1], two), [[three, 1]]);
    t.same(await waiting([3]), []);
    const a = await bench.owner();
    const { owners } = await bench.store.owners.takeSlots({ node: 'b', slots: 1, now: T0, leaseUntil: T0 + 1 });
    t.equal(await inbound.noteInboundTrial([a], two), false);
    const stranger = { ...keptBy(a, two), owner: { ...a, slot: 3 } };
    for (const update of [keptBy(a, two), stranger])
      t.same(await inbound.recordInbound(update), { kind: 'unchanged', why: 'not_owner' });
    t.same(await waiting([2]), [[two, 2]], 'nothing changed');
    const recorded = { kind: 'recorded', effect: 'kept', reason: 'because' };
    t.same(await inbound.recordInbound(keptBy(owners[0]!, two)), recorded);
    t.same(await inbound.recordInbound(keptBy(owners[0]!, two)), { kind: 'unchanged', why: 'processed' });
  },

  'the next owner of a slot finds what the previous one had in hand': async (t: Test, bench: Bench) => {
    const { inbound } = bench.store;
    const a = await bench.owner();
    const { owners } = await bench.store.owners.takeSlots({ node: 'b', slots: 1, now: T0, leaseUntil: T0 + 1 });
    const b = owners[0]!;
    const [suspect, foreign] = [await keep(bench, a.slot), await keep(bench, b.slot)];
    for (let count = 0; count < 5; count++) await keep(bench, a.slot);
    await inbound.noteInboundTrial([a], suspect);
    await inbound.noteInboundTrial([b], foreign);
    await inbound.noteInboundReach([a], 4);
    const next = await takeFirstSlot(bench.store);
    const suspects = await inbound.noteInterruptedInbound([next], 1);
    t.equal(suspects.length, 4, 'as far as the previous owner reached, and nothing of other slots');
    t.same(suspects.at(-1), { seq: suspect, tries: 1 });
    t.match(await inbound.waitingInbound([b.slot], 0, 1), [{ seq: foreign, tries: 0 }]);
    t.same(await inbound.noteInterruptedInbound([b], 10), [{ seq: foreign, tries: 1 }]);
    t.equal((await inbound.noteInterruptedInbound([next, b], 1)).length, 5, 'of each slot its share');
  },

  'after a takeover nothing of the old epoch changes anything': async (t: Test, bench: Bench) => {
    const { inbound } = bench.store;
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await bench.store.queue.record([bench.attempted(message, { to: 'delivered' })]);
    const [old, seq] = [await bench.owner(), await keep(bench)];
    const next = await takeFirstSlot(bench.store);
    await inbound.noteInboundReach([next], 7);
    const action: InboundAction = { do: 'bounce', bounce: 'soft', suppress: null, event: bench.event('email.bounced') };
    const { verdict } = keptBy(old, seq);
    const of = { kind: 'report', effect: 'bounced', messageId: message.id, tenantId: message.tenantId } as const;
    const update = { ...keptBy(old, seq), verdict: { ...verdict, ...of }, action };
    t.same(await inbound.recordInbound(update), { kind: 'unchanged', why: 'not_owner' });
    t.match(await bench.message(message.id), { state: 'delivered' });
    t.same(await bench.store.events.eventsOfMessage(message.tenantId, message.id), []);
    t.equal(await inbound.noteInboundTrial([old], seq), false);
    await inbound.noteInboundReach([old], null);
    t.same(await inbound.noteInterruptedInbound([old], 10), []);
    for (let count = 0; count < 9; count++) await keep(bench);
    const suspects = await inbound.noteInterruptedInbound([next], 1);
    t.same([suspects.length, suspects.filter(({ tries }) => tries > 0)], [7, []]);
    t.match(await inbound.recordInbound({ ...update, owner: next }), { kind: 'recorded', effect: 'bounced' });
  },
};
