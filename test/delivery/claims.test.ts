// Claiming when the store fails in the middle of it: no message stays in a hand that does not exist.

import t from 'tap';
import { Claims } from '../../src/delivery/queue/claims.ts';
import { Lane } from '../../src/delivery/queue/lane.ts';
import { MessagesInFlight } from '../../src/delivery/queue/orphans.ts';
import type { Shaping } from '../../src/delivery/shaping/shaping-state.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { Ownership } from '../../src/store/ownership.ts';
import type { ClaimedMessage, UntriedMessage } from '../../src/store/queue.ts';
import type { DueBatch } from '../../src/store/shaping.ts';
import type { Store } from '../../src/store/store.ts';

const NOW = 1_000_000;
const OWNER = { slot: 1, epoch: 3 };
const LANE = new Lane({ id: 1, slot: 1, tenantId: 'tenant', domain: 'rcpt.test' });

function message(id: string, fromDomain: string): ClaimedMessage {
  return { id, tenantId: 'tenant', lane: 1, fromDomain, owner: OWNER, attempt: 1 } as ClaimedMessage;
}

t.test('what was claimed with mail that must wait is given back when the store cannot put that off', async (t) => {
  const released: string[][] = [];
  const queue = {
    claim: async () => ({
      messages: [message('kept-back', 'paused.test'), message('free', 'acme.test')],
      nextDueAt: null,
    }),
    release: async (messages: UntriedMessage[]) => {
      released.push(messages.map(({ id }) => id));
      if (released.length === 1) throw new Error('disk I/O error');
      return { lanes: [], over: [] };
    },
    record: async () => ({ lanes: [], over: [] }),
  };
  const settled: unknown[] = [];
  const shaping = {
    reservations: {
      reserve() {},
      settle: (_group: string, _tenantId: string, outcome: { reserved: number; claimed: ClaimedMessage[] }) =>
        void settled.push([outcome.reserved, outcome.claimed.length]),
      givenBack() {},
    },
    senderSuspension: (_group: string, _tenantId: string, domain: string) =>
      domain === 'paused.test' ? { scope: 'sender_domain', mxGroup: 'g', subject: domain, until: NOW + 5000 } : null,
  };
  const inHand = new MessagesInFlight();
  const claims = new Claims({
    store: inHand.tracking({ queue } as unknown as Pick<Store, 'queue' | 'shaping'>),
    ownership: new Ownership([OWNER]),
    shaping: shaping as unknown as Shaping,
    results: { isFull: false },
    clock: { now: () => NOW },
    log: silentLogger,
    pausesMs: () => [60_000],
  });
  const claimed = await claims.claim(LANE, 10, { group: 'g', from: undefined });
  t.same(claimed, { messages: [], retryAt: NOW + 1000 });
  t.equal(inHand.size, 0, 'nobody answers for them: who looks for orphans finds what could not be given back');
  t.same(released.at(-1), ['kept-back', 'free']);
  t.same(settled, [[10, 0]], 'none of them counts as sent');
});

t.test('a pause that is ended while its mail is being put off lets that go, too', async (t) => {
  const paused = { is: true };
  const hastened: [lane: number, portion: DueBatch][] = [];
  const queue = {
    claim: async () => ({ messages: [message('kept-back', 'paused.test')], nextDueAt: null }),
    async release() {
      paused.is = false;
      return { lanes: [], over: [] };
    },
  };
  const shapingVerbs = {
    async makeLaneDue(lane: number, portion: DueBatch) {
      hastened.push([lane, portion]);
      return { moved: 1, notice: null };
    },
  };
  const suspension = { scope: 'sender_domain', mxGroup: 'g', subject: 'paused.test', until: NOW + 5000 };
  const reservations = { reserve() {}, settle() {} };
  const shaping = { reservations, senderSuspension: () => (paused.is ? suspension : null) };
  const claims = new Claims({
    store: { queue, shaping: shapingVerbs } as unknown as Pick<Store, 'queue' | 'shaping'>,
    ownership: new Ownership([OWNER]),
    shaping: shaping as unknown as Shaping,
    results: { isFull: false },
    clock: { now: () => NOW },
    log: silentLogger,
    pausesMs: () => [60_000],
  });
  t.same(await claims.claim(LANE, 10, { group: 'g', from: undefined }), { messages: [], nextDueAt: NOW });
  t.same(hastened, [[1, { at: NOW, limit: 1, putOff: true }]]);
});
