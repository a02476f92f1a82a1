// When a receiver's hard bounces leap, and what follows: they are doubted until somebody decides.
import t from 'tap';
import { HOUR_MS } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { type DoubtedReceiver, NO_ROUTE } from '../../src/store/suppressions.ts';
import { HardBounceWatch, type MessageEnd } from '../../src/suppression/hard-bounce-watch.ts';
import { decideSpike, type SpikeRule } from '../../src/suppression/spike-rule.ts';

const RULE: SpikeRule = { windowMs: HOUR_MS, minHardBounces: 10, share: 0.5, factor: 5 };
const MX = 'mx.big.test';

async function watching(known: DoubtedReceiver[] = []) {
  let now = Date.UTC(2026, 10, 20);
  const stored: DoubtedReceiver[] = [...known];
  const told: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const reputation = {
    doubtReceiver: async (doubt: DoubtedReceiver) => stored.push(doubt) > 0,
    listDoubtedReceivers: async () => stored.map((doubt) => ({ ...doubt })),
  };
  const watch = new HardBounceWatch({
    store: { reputation },
    clock: { now: () => now },
    log: { ...silentLogger, warn: (facts) => void lines.push(facts) },
    rule: RULE,
    onDoubt: ({ mxGroup }) => void told.push(mxGroup),
  });
  await watch.readStored();
  const end = (count: number, how: MessageEnd, group = MX) => {
    for (let index = 0; index < count; index++) watch.note(group, how);
  };
  return { watch, end, stored, told, lines, reputation, pass: (ms: number) => (now += ms) };
}

t.test('the decision', async (t) => {
  const nothing = { messages: 0, hard: 0 };
  const decide = (messages: number, hard: number, before = nothing) => decideSpike({ messages, hard }, before, RULE);
  t.equal(decide(10, 10).decision, 'doubt');
  t.equal(decide(9, 9).decision, 'trust', 'too few');
  t.equal(decide(21, 10).decision, 'trust', 'too small a share');
  t.equal(decide(20, 10).decision, 'doubt');
  t.equal(decide(20, 12, { messages: 10_000, hard: 2_500 }).decision, 'trust', 'it has always been like that');
  t.match(decide(20, 10).reason, '10 of the last 20 messages bounced hard (50 %; usual: 2 %)');
});

t.test('a provider that answers 5.1.1 for everybody', async (t) => {
  const { watch, end, stored, told, lines } = await watching();
  end(100, 'delivered');
  end(99, 'hard');
  t.equal(watch.doubtOf(MX), null);
  end(1, 'hard');
  t.match(watch.doubtOf(MX), /counts as soft until an operator decides: this receiver's hard-bounce rate has spiked/);
  t.equal(watch.doubtOf('mx.other.test'), null, 'the others are believed');
  t.equal(watch.doubtOf(null), null);
  t.match(stored, [{ mxGroup: MX }], 'it outlives a restart');
  t.same(told, [MX], 'and is told once');
  end(50, 'hard');
  t.equal(stored.length, 1);
  t.match(lines, [
    { undo: /^postrider suppression remove --since 2026-11-19T23:00:00\.000Z --group 'mx\.big\.test'$/ },
  ]);
});

t.test('what was doubted before the start is doubted still, until an operator decides', async (t) => {
  const { watch, end } = await watching([{ mxGroup: MX, since: 1, reason: 'they have leapt' }]);
  t.match(watch.doubtOf(MX), 'they have leapt');
  t.match(watch.trust(MX), { reason: 'they have leapt' });
  t.equal(watch.doubtOf(MX), null);
  t.equal(watch.trust(MX), null);
  end(9, 'hard');
  t.equal(watch.doubtOf(MX), null, 'it begins anew');
});

t.test('a provider that takes everything and sends it all back', async (t) => {
  const { watch, end } = await watching();
  end(20, 'delivered');
  end(9, 'returned');
  t.equal(watch.doubtOf(MX), null);
  end(1, 'returned');
  t.match(watch.doubtOf(MX), /10 of the last 20 messages/, 'no message counts twice');
});

t.test('an hour later it is another hour', async (t) => {
  const { watch, end, pass } = await watching();
  end(9, 'hard');
  pass(HOUR_MS);
  end(9, 'hard');
  t.equal(watch.doubtOf(MX), null);
  end(91, 'delivered');
  end(9, 'hard');
  t.equal(watch.doubtOf(MX), null, 'a usual share');
});

t.test('mail without a route is watched as one group', async (t) => {
  const { watch, end, stored, told, lines } = await watching();
  end(30, 'other', NO_ROUTE); // mail that had a route
  end(29, 'hard', NO_ROUTE);
  t.equal(watch.doubtOf(NO_ROUTE), null, 'not yet the half of it');
  end(1, 'hard', NO_ROUTE);
  t.match(
    watch.doubtOf(NO_ROUTE),
    /^held until an operator decides: mail without a route has spiked: 30 of the last 60 messages had no route in DNS/,
  );
  t.equal(watch.doubtOf(MX), null);
  t.match(stored, [{ mxGroup: NO_ROUTE }], 'it outlives a restart');
  t.same(told, [NO_ROUTE]);
  t.match(lines, [
    {
      mx_group: 'no-route',
      undo: "postrider suppression remove --since 2026-11-19T23:00:00.000Z --rule 'route-*'",
      accept: "postrider suppression trust --group 'no-route'",
    },
  ]);
  watch.trust(NO_ROUTE);
  t.equal(watch.doubtOf(NO_ROUTE), null);
});

t.test('what another node doubts is doubted here, until an operator decides there', async (t) => {
  const { watch, end, stored, told } = await watching();
  end(9, 'hard');
  stored.push({ mxGroup: MX, since: 7, reason: 'another node has seen it' });
  await watch.readStored();
  t.match(watch.doubtOf(MX), 'another node has seen it');
  t.same(told, [], 'that node has told it');
  stored.length = 0;
  await watch.readStored();
  t.equal(watch.doubtOf(MX), null);
  end(9, 'hard');
  t.equal(watch.doubtOf(MX), null, 'it begins anew');
  end(1, 'hard');
  t.match(watch.doubtOf(MX), '10 of the last 10 messages');
  await turn();
  stored.length = 0;
  await watch.readStored();
  t.equal(watch.doubtOf(MX), null, 'also when this node was the first one to doubt it');
});

t.test('of two nodes that doubt the same, the store keeps one doubt, which is decided for both', async (t) => {
  const { watch, end, stored, reputation } = await watching();
  stored.push({ mxGroup: MX, since: 7, reason: 'another node has seen it' });
  reputation.doubtReceiver = async () => false;
  end(10, 'hard');
  await turn();
  stored.length = 0;
  await watch.readStored();
  t.equal(watch.doubtOf(MX), null, 'though it was decided before this node had seen it');
});

t.test('a doubt that is not stored yet stays, and so does one that came during a read', async (t) => {
  const { watch, end, stored, reputation } = await watching();
  const listed = Promise.withResolvers<void>();
  const { listDoubtedReceivers } = reputation;
  reputation.listDoubtedReceivers = async () => {
    const found = await listDoubtedReceivers();
    await listed.promise;
    return found;
  };
  const reading = watch.readStored();
  end(10, 'hard');
  t.equal(stored.length, 1);
  listed.resolve();
  await reading;
  t.not(watch.doubtOf(MX), null);

  reputation.doubtReceiver = () => Promise.reject(new Error('the database is away'));
  end(20, 'hard', NO_ROUTE);
  await turn();
  await watch.readStored();
  t.not(watch.doubtOf(NO_ROUTE), null);
  t.match(watch.trust(NO_ROUTE), { mxGroup: NO_ROUTE }, 'an operator can end it here');
});

t.test('one read at a time: each counts for whoever has waited for it, and the last one in the end', async (t) => {
  const { watch, reputation } = await watching();
  const reads: PromiseWithResolvers<DoubtedReceiver[]>[] = [];
  reputation.listDoubtedReceivers = () => {
    reads.push(Promise.withResolvers());
    return reads.at(-1)!.promise;
  };
  const first = watch.readStored();
  await turn();
  const later = [watch.readStored(), watch.readStored()];
  await turn();
  t.equal(reads.length, 1);
  reads[0]!.resolve([{ mxGroup: MX, since: 7, reason: 'it was doubted a moment ago' }]);
  await first;
  t.not(watch.doubtOf(MX), null, 'a daemon that starts waits for this one, and decides by it');
  await turn();
  reads[1]!.resolve([]);
  await Promise.all(later);
  t.equal(watch.doubtOf(MX), null);
  t.equal(reads.length, 2, 'one for all who asked during the first');
});

t.test('a read that fails keeps none from being tried', async (t) => {
  const { watch, stored, reputation } = await watching();
  const { listDoubtedReceivers } = reputation;
  reputation.listDoubtedReceivers = () => Promise.reject(new Error('the database is away'));
  await t.rejects(watch.readStored(), { message: 'the database is away' });
  reputation.listDoubtedReceivers = listDoubtedReceivers;
  stored.push({ mxGroup: MX, since: 7, reason: 'it was doubted elsewhere' });
  await watch.readStored();
  t.not(watch.doubtOf(MX), null);
});

/** All that waits for nothing outside has run by then. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
