// Conformance: what holds mail back, and acting on many messages in portions.
import type { Test } from 'tap';
import {
  GROUP_MEMORY_MS,
  type GroupConcurrency,
  type LaneCursor,
  type LanePage,
  type LanesTarget,
  type QueuePause,
  type Suspension,
} from '../../../src/store/shaping.ts';
import { untried } from '../../support/first-slot.ts';
import { type Bench, T0 } from './harness.ts';

const WORD = { by: 'jo', note: 'a talk', at: T0 };

function suspension(change: Partial<Suspension> = {}): Suspension {
  const facts = { rule: 'slow-down', reply: '421 slow down', since: T0, until: T0 + 1000 };
  return { mxGroup: 'google', scope: 'group', tenantId: null, subject: '', ...facts, ...change };
}

const CONCURRENCY: GroupConcurrency = {
  ...{
    limit: 2,
    riseAt: T0,
    ignoresFailuresUntil: T0,
    delivered: 3,
    failures: 1,
    coolDownUntil: T0 + 5,
    reason: 'timeout',
  },
};

export const shapingCases = {
  'what stops mail everywhere can be read again at any time': async (t: Test, bench: Bench) => {
    const { shaping } = bench.store;
    t.strictSame(await shaping.readHolds(T0), { pauses: [], suspensions: [] });
    const ofDomain = suspension({ scope: 'domain', subject: 'shop.test', until: T0 + 2000 });
    const ofSource = suspension({ scope: 'source', subject: '192.0.2.1', until: T0 + 2000 });
    await shaping.saveShaping({ suspensions: [suspension(), ofDomain] });
    await shaping.saveShaping({ suspensions: [ofSource] }, 'mail-1');
    const pause: QueuePause = { kind: 'group', key: 'google', ...WORD };
    await shaping.pauseQueue(pause);
    const { domain } = await bench.sender('acme.test');
    const { receipt } = await bench.accept(domain, ['a@x.test']);
    await shaping.pauseQueue({ kind: 'message', key: receipt.messageIds[0]!, ...WORD });
    t.strictSame(await shaping.readHolds(T0), { pauses: [pause], suspensions: [ofDomain, suspension()] });
    t.strictSame(await shaping.readHolds(T0 + 1000), { pauses: [pause], suspensions: [ofDomain] });
    await shaping.resumeQueue(pause);
    await shaping.liftSuspensions({ domain: 'shop.test' });
    t.strictSame(await shaping.readHolds(T0), { pauses: [], suspensions: [suspension()] });
  },
  'a suspension of a source address is of the node that saved it, and all of them are lifted at once': async (
    t: Test,
    bench: Bench,
  ) => {
    const { shaping } = bench.store;
    const of = (subject: string, rule: string) => suspension({ scope: 'source', subject, rule });
    await shaping.saveShaping({ suspensions: [of('', 'first')] }, 'mail-1');
    await shaping.saveShaping({ suspensions: [of('', 'second'), of('192.0.2.1', 'second')] }, 'mail-2');
    const loaded = async (node?: string) => (await shaping.loadShaping(T0, node)).suspensions;
    const read = async (node?: string) => (await shaping.readHolds(T0, node)).suspensions;
    t.strictSame(await loaded('mail-1'), [of('', 'first')]);
    t.strictSame(await loaded('mail-2'), [of('', 'second'), of('192.0.2.1', 'second')]);
    t.strictSame(await loaded('mail-3'), []);
    t.strictSame(await loaded(), []);
    t.strictSame(await read('mail-1'), [of('', 'first')]);
    t.strictSame(await read('mail-2'), [of('', 'second'), of('192.0.2.1', 'second')]);
    await shaping.saveShaping({ suspensions: [of('', 'third')] }, 'mail-1');
    t.strictSame(await loaded('mail-1'), [of('', 'third')], 'in place of the one before');

    await shaping.saveShaping({ suspensions: [of('192.0.2.9', 'alone')] });
    t.strictSame(await loaded(), [of('192.0.2.9', 'alone')]);
    t.strictSame(
      await loaded('mail-1'),
      [of('', 'third'), of('192.0.2.9', 'alone')],
      'stored while there was one daemon',
    );
    t.strictSame(await read('mail-1'), [of('', 'third')]);
    t.equal((await shaping.liftSuspensions({ mxGroup: 'google' })).length, 4);
    t.strictSame([await loaded(), await loaded('mail-1'), await read('mail-2')], [[], [], []]);
  },

  'what was saved is there at the next start': async (t: Test, bench: Bench) => {
    const empty = { pauses: [], suspensions: [], groups: [], paces: [] };
    t.strictSame(await bench.store.shaping.loadShaping(T0), empty);
    const tenantId = bench.id();
    const ofSender = suspension({ scope: 'sender_domain', tenantId, subject: 'acme.test', until: T0 + 2000 });
    await bench.store.shaping.saveShaping({
      suspensions: [suspension(), ofSender],
      groups: [{ mxGroup: 'google', concurrency: CONCURRENCY, at: T0 }],
      paces: [{ tenantId, slots: [[1, 2]] }],
    });
    await bench.store.shaping.saveShaping({ suspensions: [suspension({ until: T0 + 1500, rule: 'other' })] });
    const pause: QueuePause = { kind: 'tenant', key: tenantId, ...WORD };
    t.equal(await bench.store.shaping.pauseQueue(pause), true);
    const loaded = await bench.store.shaping.loadShaping(T0);
    t.strictSame(loaded, {
      pauses: [pause],
      suspensions: [suspension({ until: T0 + 1500, rule: 'other' }), ofSender],
      groups: [{ mxGroup: 'google', concurrency: CONCURRENCY, at: T0 }],
      paces: [{ tenantId, slots: [[1, 2]] }],
    });
    await bench.store.shaping.saveShaping({
      groups: [{ mxGroup: 'google', concurrency: null, at: T0 }],
      paces: [{ tenantId, slots: [] }],
    });
    t.match(
      await bench.store.shaping.loadShaping(T0 + 1500),
      { suspensions: [ofSender], groups: [], paces: [] },
      'over is over',
    );
    t.strictSame((await bench.store.shaping.loadShaping(T0 + 2000)).suspensions, []);
  },

  "a group's state is forgotten when it is old, and not when another node has changed it meanwhile": async (
    t: Test,
    bench: Bench,
  ) => {
    const { shaping } = bench.store;
    const state = (mxGroup: string, at: number) => ({ mxGroup, concurrency: CONCURRENCY, at });
    const forgotten = (mxGroup: string, at: number) => ({ mxGroup, concurrency: null, at });
    const known = async (now: number) => (await shaping.loadShaping(now)).groups.map(({ mxGroup }) => mxGroup).sort();
    await shaping.saveShaping({ groups: [state('google', T0), state('yahoo', T0), state('other', T0 + 5)] });
    await shaping.saveShaping({ groups: [forgotten('google', T0), forgotten('yahoo', T0 - 1)] });
    t.strictSame(await known(T0), ['other', 'yahoo']);
    t.strictSame(await known(T0 + GROUP_MEMORY_MS), ['other']);
    t.strictSame(await known(T0), ['other'], 'its row is gone');
  },

  'suspensions are lifted by group, tenant and domain': async (t: Test, bench: Bench) => {
    const tenantId = bench.id();
    const all = [
      suspension(),
      suspension({ mxGroup: 'yahoo', scope: 'sender_domain', tenantId, subject: 'acme.test' }),
      suspension({ mxGroup: 'google', scope: 'domain', subject: 'shop.test' }),
    ];
    await bench.store.shaping.saveShaping({ suspensions: all });
    t.strictSame(await bench.store.shaping.liftSuspensions({ domain: 'shop.test' }), [all[2]]);
    t.strictSame(await bench.store.shaping.liftSuspensions({ tenantId: bench.id() }), []);
    t.strictSame(await bench.store.shaping.liftSuspensions({ tenantId }), [all[1]]);
    t.strictSame(await bench.store.shaping.liftSuspensions({ mxGroup: 'google' }), [all[0]]);
    t.strictSame((await bench.store.shaping.loadShaping(T0)).suspensions, []);
  },

  'a paused message is not found due, and is due again as it was': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.queued(domain, 'a@x.test');
    const pause: QueuePause = { kind: 'message', key: message.id, ...WORD };
    t.equal(await bench.store.shaping.pauseQueue(pause), true);
    t.equal(await bench.store.shaping.pauseQueue(pause), false, 'once');
    t.strictSame(await bench.store.shaping.findPause(pause), pause);
    t.same((await bench.store.shaping.listPauses(1)).length, 1);
    t.strictSame(await bench.claim(message.lane, T0), []);
    t.match(await bench.message(message.id), { state: 'queued', parked: true, dueAt: null });
    const resumed = await bench.store.shaping.resumeQueue(pause);
    t.match(resumed, { pause, lane: { lane: message.lane, domain: 'x.test', dueAt: T0 } });
    t.equal(await bench.store.shaping.resumeQueue(pause), null);
    t.equal((await bench.claim(message.lane, T0)).length, 1);
    t.equal(await bench.store.shaping.pauseQueue(pause), false, 'not what is being sent');
    t.equal(await bench.store.shaping.pauseQueue({ ...pause, key: bench.id() }), false, 'nor what nobody knows');
  },

  'a message that was put off is due when it is resumed, retried, or found by its lane': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domain } = await bench.sender('acme.test');
    const { lanes } = await bench.accept(domain, ['a@x.test', 'b@x.test', 'c@x.test']);
    const { lane } = lanes[0]!;
    const messages = await bench.claim(lane, T0);
    await bench.store.queue.release(messages.map(untried), T0 + 9000, true);
    const [a, b, c] = messages.map(({ id }) => id) as [string, string, string];
    const pause: QueuePause = { kind: 'message', key: a, ...WORD, at: T0 + 5 };
    t.equal(await bench.store.shaping.pauseQueue(pause), true);
    t.match(
      await bench.store.shaping.resumeQueue(pause),
      { lane: { dueAt: T0 + 5 } },
      'it was due, and is asked again',
    );
    t.match(await bench.store.queue.retryNow(b, T0 + 6), { dueAt: T0 + 6 });
    const portion = { at: T0 + 7, limit: 10, putOff: true };
    t.match(await bench.store.shaping.makeLaneDue(lane, portion), { moved: 1 }, 'the one that is left');
    t.equal((await bench.message(c)).dueAt, T0 + 7);
    const [again] = await bench.claim(lane, T0 + 8);
    await bench.store.queue.release([untried(again!)], T0 + 9000);
    t.match(await bench.store.shaping.makeLaneDue(lane, portion), { moved: 0 }, 'a time of its own is none of that');
  },

  'the pause of a message that has ended is forgotten': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id } = await bench.queued(domain, 'a@x.test');
    await bench.store.shaping.pauseQueue({ kind: 'message', key: id, ...WORD });
    t.equal((await bench.store.shaping.loadShaping(T0)).pauses.length, 1);
    await bench.store.queue.endWaiting(
      bench.update({ id, tenantId: domain.tenantId }, { to: 'failed', reason: 'over' }),
    );
    t.strictSame((await bench.store.shaping.loadShaping(T0)).pauses, []);
    t.equal(await bench.store.shaping.resumeQueue({ kind: 'message', key: id }), null);
  },

  'notes of operators: the latest first, of all or of one': async (t: Test, bench: Bench) => {
    const note = { kind: 'group' as const, key: 'google', action: 'pause' as const, messages: null, ...WORD };
    const later = { ...note, action: 'resume' as const, messages: 7 };
    const other = { ...note, kind: 'domain' as const, key: 'x.test' };
    for (const each of [note, later, other]) await bench.store.shaping.addOperatorNote(each);
    t.strictSame(await bench.store.shaping.listOperatorNotes({ limit: 10 }), [other, later, note]);
    t.strictSame(await bench.store.shaping.listOperatorNotes({ target: note, limit: 10 }), [later, note]);
    t.strictSame(await bench.store.shaping.listOperatorNotes({ target: note, limit: 1 }), [later]);
  },

  'lanes of a target, page by page': async (t: Test, bench: Bench) => {
    const acme = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    const { lane: x } = await bench.queued(acme.domain, 'a@x.test');
    const { lane: y } = await bench.queued(acme.domain, 'a@y.test');
    const { lane: otherX } = await bench.queued(other.domain, 'a@x.test');
    await bench.store.shaping.noteDomains(
      ['x.test', 'y.test'].map((domain) => ({ domain, mxGroup: 'google', at: T0 })),
      T0,
    );
    const pages = async (target: LanesTarget, limit: number) => {
      const found: number[][] = [];
      for (let after: LaneCursor | null = null; ; ) {
        const { lanes, next }: LanePage = await bench.store.shaping.lanesOf(target, after, limit);
        found.push(lanes);
        if (next === null) return found;
        after = next;
      }
    };
    t.strictSame(await pages({ kind: 'tenant', key: acme.tenant.id }, 10), [[x, y]]);
    t.strictSame(await pages({ kind: 'tenant', key: acme.tenant.id }, 1), [[x], [y], []]);
    t.strictSame(await pages({ kind: 'domain', key: 'x.test' }, 1), [[x], [otherX], []]);
    t.strictSame(await pages({ kind: 'group', key: 'google' }, 1), [[x, otherX], [y], []]);
    t.strictSame(await pages({ kind: 'group', key: 'yahoo' }, 10), [[]]);
    t.equal(await bench.store.shaping.groupOfDomain('x.test'), 'google');
    t.equal(await bench.store.shaping.groupOfDomain('z.test'), null);
    t.equal(await bench.store.shaping.isKnownGroup('google'), true);
    t.equal(await bench.store.shaping.isKnownGroup('yahoo'), false);
    t.equal(await bench.store.shaping.forgetDomains(T0, 10), 0);
    t.equal(await bench.store.shaping.forgetDomains(T0 + 1, 1), 1, 'in portions');
  },

  "a domain's group is stored when it is new, has changed, or was stored long ago": async (t: Test, bench: Bench) => {
    const { shaping } = bench.store;
    const names = Array.from({ length: 30 }, (_, at) => `${29 - at}.test`);
    const note = (mxGroup: string, at: number, domains = names) =>
      shaping.noteDomains(
        domains.map((domain) => ({ domain, mxGroup, at })),
        at - 1000,
      );
    await note('google', T0);
    await note('google', T0 + 1000);
    await note('yahoo', T0 + 1000, ['7.test', 'new.test']);
    t.equal(await shaping.groupOfDomain('7.test'), 'yahoo');
    t.equal(await shaping.groupOfDomain('new.test'), 'yahoo');
    t.equal(await shaping.groupOfDomain('8.test'), 'google');
    t.equal(await shaping.forgetDomains(T0 + 1, 100), 29, 'what was fresh is as it was');
    await note('yahoo', T0 + 2001, ['7.test', 'new.test']);
    t.equal(await shaping.forgetDomains(T0 + 2001, 100), 0, 'what was stored long ago is stored again');
    await shaping.noteDomains([], T0);
  },

  'waiting messages of a lane are made due in portions, all of them or those that were put off': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domain } = await bench.sender('acme.test');
    const { lanes } = await bench.accept(domain, ['a@x.test', 'b@x.test', 'c@x.test']);
    const { lane } = lanes[0]!;
    const messages = await bench.claim(lane, T0);
    const [a, b, c] = messages.map(({ id }) => id);
    await bench.store.queue.release(messages.slice(0, 2).map(untried), T0 + 500);
    await bench.store.queue.release(messages.slice(2).map(untried), T0 + 700, true);
    const { makeLaneDue } = bench.store.shaping;
    t.match(await makeLaneDue(lane, { at: T0, limit: 10, putOff: true }), { moved: 1, notice: { lane, dueAt: T0 } });
    t.equal((await bench.message(a!)).dueAt, T0 + 500);
    t.match(await makeLaneDue(lane, { at: T0, limit: 10, putOff: true }), { moved: 0 }, 'once');
    t.match(await makeLaneDue(lane, { at: T0, limit: 1 }), { moved: 1 });
    t.match(await makeLaneDue(lane, { at: T0, limit: 10 }), { moved: 1 });
    t.match(await makeLaneDue(lane, { at: T0, limit: 10 }), { moved: 0, notice: { lane } }, 'due already');
    await bench.store.shaping.pauseQueue({ kind: 'message', key: a!, ...WORD });
    const waiting = (await bench.store.shaping.waitingOfLane(lane, 10)).map(({ id }) => id);
    t.strictSame(waiting.sort(), [a, b, c].sort(), 'paused ones included');
    t.equal((await bench.store.shaping.waitingOfLane(lane, 2)).length, 2);
  },
};
