// What an attempt leads to, and who hears of it when: with results that the test stores.
import t from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { noPeer } from '../../src/base/outcome.ts';
import { Recorder } from '../../src/delivery/outcome/recorder.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { ClaimedMessage } from '../../src/store/queue.ts';

const MESSAGE: ClaimedMessage = {
  ...{ id: '01900000-0000-7000-8000-000000000001', tenantId: 'tenant', submissionId: 's', lane: 1, attempt: 1 },
  ...{
    recipient: 'ann@rcpt.test',
    from: 'shop@acme.test',
    fromDomain: 'acme.test',
    labels: null,
    subject: 'x',
    notices: 0,
  },
  ...{ createdAt: 0, sendAt: null, expiresAt: 1e9, sourceAddress: null, owner: { slot: 1, epoch: 1 } },
};

t.test('a hard bounce counts for its receiver at once, and for its tenant when it is stored', async (t) => {
  const heard: string[] = [];
  const stored = Promise.withResolvers<void>();
  const recorder = new Recorder({
    results: { write: () => stored.promise },
    clock: { now: () => 1000 },
    ids: new IdSource(),
    random: () => 0.5,
    policy: { ladder: { stepsMs: [60_000], jitter: 0 }, platformSuppressionMs: 1e9 },
    log: silentLogger,
    endWatch: {
      ended: ({ mxGroup }, end) => void heard.push(`${mxGroup} ${end}`),
      hardBounceStored: (tenantId) => void heard.push(`${tenantId} stored`),
      unrouted: () => {},
      doubtOf: () => null,
    },
  });
  const peer = noPeer('rcpt', '550 5.1.1 no such user');
  const judgement = { kind: 'permanent', bounce: 'hard', reason: 'no such user', rule: 'unknown-user', peer } as const;
  const recorded = recorder.record({ message: MESSAGE, startedAt: 900, judgement, mxGroup: 'google' });
  t.strictSame(heard, ['google hard'], 'a review now would not find the bounce');
  stored.resolve();
  await recorded;
  t.strictSame(heard, ['google hard', 'tenant stored']);
});

t.test('how long delivery took begins at the 202, or at the time that was asked for', async (t) => {
  const took: number[] = [];
  const recorder = new Recorder({
    results: { write: async () => {} },
    clock: { now: () => 10_000 },
    ids: new IdSource(),
    random: () => 0.5,
    policy: { ladder: { stepsMs: [60_000], jitter: 0 }, platformSuppressionMs: 1e9 },
    log: silentLogger,
    endWatch: { ended: () => {}, hardBounceStored: () => {}, unrouted: () => {}, doubtOf: () => null },
    onAttempt: ({ elapsedMs }) => void took.push(elapsedMs),
  });
  const judgement = { kind: 'delivered', peer: noPeer('dot', '250 OK') } as const;
  for (const times of [
    { createdAt: 1000, sendAt: null },
    { createdAt: 1000, sendAt: 9000 },
    { createdAt: 9500, sendAt: 9000 },
  ]) {
    await recorder.record({ message: { ...MESSAGE, ...times }, startedAt: 9900, judgement, mxGroup: 'google' });
  }
  t.strictSame(took, [9000, 1000, 500]);
});
