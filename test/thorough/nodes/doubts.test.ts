// Doubted receivers hold on every node, and an operator decides for all of them, whichever node is asked.
import t, { type Test } from 'tap';
import { HOUR_MS, systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { NO_ROUTE } from '../../../src/store/suppressions.ts';
import { openReputation } from '../../../src/suppression/reputation.ts';
import { postgresMissing, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';

const LIMITS = { hardBounceRate: 0.1, complaintRate: 0.005, window: 1000, mailboxesAt: () => null };
const MX = 'mx.big.test';
const MANY = 10;

/** The parts of a daemon that doubt, and decide. */
async function openNode(t: Test, url: string) {
  const store = await openPostgresStore({ url });
  t.teardown(() => store.close());
  const reputation = await openReputation({
    ...{ store, clock: systemClock, log: silentLogger, reviewLimits: LIMITS },
    spikeRule: { windowMs: HOUR_MS, minHardBounces: MANY, share: 0.5, factor: 5 },
    ...{ operatorAddress: null, ownDomain: 'own.test', notify: async () => true },
  });
  const lose = () => {
    for (let count = 0; count < MANY; count++) reputation.unrouted();
  };
  const trust = async (mxGroup: string) => {
    const stored = await store.reputation.trustReceiver(mxGroup);
    reputation.trust(mxGroup);
    return stored;
  };
  return { store, reputation, lose, trust };
}

t.test('two nodes', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const url = server.url(await server.createDatabase());
  const [a, b] = [await openNode(t, url), await openNode(t, url)];
  const held = ({ reputation }: typeof a) => reputation.doubtOf(NO_ROUTE) !== null;

  await t.test('what one holds, the other holds, until either of them is told to let it go', async (t) => {
    for (const [doubting, deciding] of [
      [a, b],
      [b, a],
      [a, a],
    ] as const) {
      doubting.lose();
      await until('both hold it', () => held(a) && held(b));
      t.match(await deciding.trust(NO_ROUTE), { mxGroup: NO_ROUTE });
      await until('neither holds it', () => !held(a) && !held(b));
    }
  });

  await t.test('what both have seen at once is let go of at both', async (t) => {
    a.lose();
    b.lose();
    await until('it is stored', async () => (await a.store.reputation.listDoubtedReceivers()).length > 0);
    await a.trust(NO_ROUTE);
    // The slower one may have stored its doubt after that; then it shows, and can be decided.
    await until('neither holds it', async () => {
      for (const { mxGroup } of await b.store.reputation.listDoubtedReceivers()) await a.trust(mxGroup);
      return !held(a) && !held(b);
    });
    t.strictSame(await a.store.reputation.listDoubtedReceivers(), []);
  });

  await t.test('the hard bounces of a receiver that one doubts are soft for the other as well', async (t) => {
    for (let count = 0; count < MANY; count++) a.reputation.ended({ tenantId: 'x', mxGroup: MX }, 'hard');
    await until('b doubts it', () => b.reputation.doubtOf(MX) !== null);
    const third = await openNode(t, url);
    t.not(third.reputation.doubtOf(MX), null, 'a node that starts later knows it from the start');
  });
});
