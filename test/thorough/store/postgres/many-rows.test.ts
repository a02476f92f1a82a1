// Verbs of the PostgreSQL driver that change many rows: they send the statements of a few, and wait as often. The group that
// such a verb is in answers nothing until it has ended, and nodes that need the same rows wait for it as well.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { HOUR_MS } from '../../../../src/base/clock.ts';
import { noFigures, type Tally } from '../../../../src/store/figures.ts';
import type { Candidate } from '../../../../src/store/source-addresses.ts';
import type { GroupStats } from '../../../../src/store/verb-kinds.ts';
import { batchOf, entry } from '../../../store/conformance/batches.ts';
import { Bench, dueAgainFrom, T0 } from '../../../store/conformance/harness.ts';
import { asDue, LATER, schedule } from '../../../store/conformance/scheduled.ts';
import { candidate, factsOf } from '../../../store/conformance/source-addresses.ts';
import { newHits, UNSUSPICIOUS } from '../../../store/conformance/tracking.ts';
import { openerOn } from '../../../support/postgres-opener.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';

/** Prepares a call that changes so many rows, and that answers how many it has. */
type Verb = (bench: Bench, count: number) => Promise<() => Promise<unknown>>;

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

async function senderOf(bench: Bench, count: number) {
  const { tenant, domain } = await bench.sender(`${bench.id()}.test`);
  return { tenant, domain, to: numbers(count).map((at) => `a@${at}.test`) };
}

/** Of one lane with so many messages, for a session that speaks from the only address. */
async function claimFrom(bench: Bench, count: number, only: Candidate) {
  const { domain } = await senderOf(bench, count);
  const to = numbers(count).map((at) => `${at}@x.test`);
  const { lanes } = await bench.accept(domain, to);
  const from = { address: only.ip, facts: factsOf([only]) };
  const terms = { owner: await bench.owner(), now: T0, dueAgainAt: dueAgainFrom(T0), from };
  return () => bench.store.queue.claim(lanes[0]!.lane, count, terms);
}

const VERBS: Record<string, Verb> = {
  async acceptBatch(bench, count) {
    const { domain, to } = await senderOf(bench, count);
    const batch = batchOf(
      domain,
      to.map((address) => entry(bench, domain, [address])),
    );
    return async () => {
      const result = await bench.store.submissions.acceptBatch(batch);
      return result.kind === 'accepted' ? result.items.length : result.kind;
    };
  },

  async queueScheduled(bench, count) {
    const { domain, to } = await senderOf(bench, count);
    const { ids } = await schedule(bench, domain, to);
    return async () => (await bench.store.queue.queueScheduled(asDue(domain, ids), LATER)).lanes.length;
  },

  async 'claim from one address'(bench, count) {
    const claim = await claimFrom(bench, count, candidate('192.0.2.1'));
    return async () => (await claim()).messages.length;
  },

  async 'claim from an address that is paused'(bench, count) {
    const until = T0 + HOUR_MS;
    const claim = await claimFrom(bench, count, candidate('192.0.2.1', { pause: { until, reason: 'a bad hour' } }));
    return async () => ((await claim()).nextDueAt === until ? count : 'not put off');
  },

  async 'endWaiting of many at once'(bench, count) {
    const { tenant, domain, to } = await senderOf(bench, count);
    const { receipt } = await bench.accept(domain, to);
    const end = (id: string) => {
      const of = { id, tenantId: tenant.id };
      return bench.update(of, { to: 'failed', reason: 'too old' }, { event: bench.event('email.failed') });
    };
    const ends = receipt.messageIds.map(end);
    return async () => (await Promise.all(ends.map((one) => bench.store.queue.endWaiting(one)))).filter(Boolean).length;
  },

  async recordHits(bench, count) {
    const { tenant, domain, to } = await senderOf(bench, count);
    const { receipt } = await bench.accept(domain, to);
    const links = () => [newHits(bench, { link: null }), newHits(bench), newHits(bench, { link: 1 })];
    const hits = receipt.messageIds.map((messageId) => ({ tenantId: tenant.id, messageId, links: links() }));
    return async () => {
      await bench.store.tracking.recordHits(hits, UNSUSPICIOUS);
      return (await bench.store.events.listEvents(tenant.id, { after: null, limit: 1000 })).length / 3;
    };
  },

  async addTally(bench, count) {
    const { from, tags } = await bench.store.figures.tallyNext(1000);
    const [hour, delivered] = [T0 / HOUR_MS, { ...noFigures(), delivered: 1 }];
    const ids = numbers(count).map(() => bench.id());
    const tally: Tally = {
      ...{ from, to: from, counted: 0, more: false },
      sums: ids.flatMap((tenantId) =>
        numbers(3).map((at) => ({ tenantId, hour, provider: `${at}.test`, figures: delivered })),
      ),
      tags: { ...tags, sums: ids.map((tenantId) => ({ tenantId, hour, tag: 'a:b', figures: { delivered: 1 } })) },
      service: ids.map((provider) => ({ hour, source: '', provider, figures: delivered })),
    };
    return async () => ((await bench.store.figures.addTally(tally)) ? count : 'not added');
  },
};

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const groups: GroupStats[] = [];
  const open = await openerOn(await startPostgres(t), { onGroup: (stats) => groups.push(stats) });
  const bench = new Bench(await open(t));
  for (const [name, verb] of Object.entries(VERBS)) {
    t.test(`${name}: many rows take the statements of a few`, async (t) => {
      const sentBy = async (count: number) => {
        const call = await verb(bench, count);
        // A group is told of behind its answers, in the same turn.
        await turn();
        groups.length = 0;
        t.equal(await call(), count);
        await turn();
        return groups.map(({ sent }) => sent);
      };
      await sentBy(5); // learns the types of all parameters
      t.strictSame(await sentBy(50), await sentBy(5));
    });
  }
});
