// Conformance: doubted receivers, tenants stopped for review, and undoing what a receiver has said.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { ClaimedMessage } from '../../../src/store/queue.ts';
import { type Bench, T0 } from './harness.ts';

const PAGE = { after: null, limit: 100 };

async function cancelOne(bench: Bench, domain: Domain): Promise<void> {
  const { id } = await bench.queued(domain, 'a@x.test');
  const message = (await bench.store.queue.findWaiting(id))!;
  await bench.store.queue.endWaiting(bench.update(message, { to: 'canceled', reason: 'no' }));
}

export const reputationCases = {
  'a receiver is doubted until somebody trusts it': async (t: Test, { store }: Bench) => {
    const doubt = { mxGroup: 'mx', since: T0, reason: 'leapt' };
    t.equal(await store.reputation.doubtReceiver(doubt), true);
    t.equal(await store.reputation.doubtReceiver({ ...doubt, since: T0 + 1 }), false);
    t.strictSame(await store.reputation.listDoubtedReceivers(), [doubt]);
    t.strictSame(await store.reputation.trustReceiver('mx'), doubt);
    t.equal(await store.reputation.trustReceiver('mx'), null);
    t.strictSame(await store.reputation.listDoubtedReceivers(), []);
  },

  'a tenant is stopped once, and judged by what came since': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const bounce = async (message: ClaimedMessage, at: number) => {
      const to = { to: 'bounced', bounce: 'hard', reason: '550', suppress: null } as const;
      await store.queue.record([{ ...bench.attempted(message, to), at }]);
    };
    const waiting = await bench.sending(domain, 'a@x.test');
    await bounce(await bench.sending(domain, 'a@x.test'), T0);
    await cancelOne(bench, domain);
    const bounced = { recipient: 'a@x.test', isHardBounce: true, complaintWeight: 0 };
    t.strictSame(await store.reputation.resultsSinceReview(tenant.id, 10), { messages: 1, problems: [bounced] });
    t.equal(await store.reputation.reviewOf(tenant.id), null);
    t.equal(await store.reputation.stopForReview(tenant.id, { at: T0, reason: 'too many' }), true);
    t.equal(
      await store.reputation.stopForReview(tenant.id, { at: T0, reason: 'again' }),
      false,
      'it is not active any more',
    );
    t.match(await store.tenants.getTenant(tenant.id), { status: 'in_review', statusReason: 'too many' });
    await store.tenants.updateTenant(tenant.id, { status: 'active' });
    t.strictSame(await store.reputation.resultsSinceReview(tenant.id, 10), { messages: 0, problems: [] });
    t.strictSame(await store.reputation.reviewOf(tenant.id), { at: T0, reason: 'too many' }, 'also when it is over');
    await bounce(await bench.sending(domain, 'a@x.test'), T0 + 1);
    t.match(await store.reputation.resultsSinceReview(tenant.id, 10), { messages: 1 });
    await bounce(waiting, T0 + 1);
    t.match(
      await store.reputation.resultsSinceReview(tenant.id, 10),
      { messages: 2 },
      'what waited at the stop counts',
    );
    await cancelOne(bench, domain);
    t.match(await store.reputation.resultsSinceReview(tenant.id, 10), { messages: 2 }, 'what was never sent does not');
    t.match(await store.tenants.recentResultsOf(tenant.id, 10), { messages: 3 }, 'the other standing counts all');
  },

  "only a tenant's owners are its owners": async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    for (const role of ['owner', 'member', 'viewer'] as const) {
      const user = {
        id: bench.id(),
        tenantId: tenant.id,
        email: `${role}@x.test`,
        role,
        passwordHash: '',
        createdAt: T0,
      };
      await bench.store.accounts.createUser(user);
    }
    t.strictSame(await bench.store.reputation.ownersOf(tenant.id), ['owner@x.test']);
    t.strictSame(await bench.store.reputation.ownersOf(bench.id()), []);
  },

  "a receiver's bad hour is undone, and nothing else": async (t: Test, bench: Bench) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    const said = (address: string, mxGroup: string | null, createdAt: number) =>
      store.suppressions.addPlatformSuppression({
        address,
        mxGroup,
        rule: 'r',
        messageId: bench.id(),
        createdAt,
        expiresAt: T0 + 99,
      });
    await said('bad@x.test', 'mx', T0 + 5);
    await said('worse@x.test', 'mx', T0 + 6);
    await said('before@x.test', 'mx', T0 - 1);
    await said('other@y.test', 'other', T0 + 5);
    await said('hand@x.test', null, T0 + 5);
    for (const [address, reason, messageId] of [
      ['bad@x.test', 'hard_bounce', bench.id()],
      ['worse@x.test', 'complaint', bench.id()],
      ['before@x.test', 'hard_bounce', bench.id()],
    ] as const) {
      await store.suppressions.addSuppression(tenant.id, { address, reason, messageId, createdAt: T0 + 5 });
    }
    t.strictSame(await store.suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 1), {
      platform: 1,
      tenants: 1,
    });
    t.strictSame(await store.suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 9), {
      platform: 1,
      tenants: 0,
    });
    const left = (list: { address: string }[]) => list.map(({ address }) => address);
    t.same(left(await store.suppressions.listPlatformSuppressions(PAGE)), [
      'before@x.test',
      'hand@x.test',
      'other@y.test',
    ]);
    t.same(left(await store.suppressions.listSuppressions(tenant.id, PAGE)), ['before@x.test', 'worse@x.test']);
  },

  "a receiver's bad hour is undone where only tenants' lists have it": async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const note = { rule: 'smtp 5.1.1', platformExpiresAt: T0 + 9e9, needsSecondTenant: true };
    const bounce = async (to: string, mxGroup: string | null, at: number) => {
      const suppress = { ...note, suppressionKey: to, mxGroup };
      const message = await bench.sending(domain, to);
      const transition = { to: 'bounced', bounce: 'hard', reason: '550 5.1.1', suppress } as const;
      await store.queue.record([{ ...bench.attempted(message, transition), at }]);
    };
    await bounce('before@x.test', 'mx', T0 - 1);
    await bounce('bad@x.test', 'mx', T0);
    await bounce('worse@x.test', 'mx', T0 + 1);
    await bounce('other@y.test', 'other', T0 + 1);
    await bounce('unknown@z.test', null, T0 + 1);
    // A person was first: the bounce that follows does not make the entry the receiver's.
    for (const reason of ['manual', 'unsubscribe', 'complaint'] as const) {
      const message = await bench.sending(domain, `${reason}@x.test`);
      const entry = { address: `${reason}@x.test`, reason, messageId: message.id, createdAt: T0 + 1 };
      await store.suppressions.addSuppression(tenant.id, entry);
      const suppress = { ...note, suppressionKey: entry.address, mxGroup: 'mx' };
      const transition = { to: 'bounced', bounce: 'hard', reason: '550 5.1.1', suppress } as const;
      await store.queue.record([bench.attempted(message, transition)]);
    }
    t.same(await store.suppressions.listPlatformSuppressions(PAGE), [], 'one tenant is not enough for the platform');
    const listed = await store.suppressions.listSuppressions(tenant.id, PAGE);
    t.match(
      listed.find(({ address }) => address === 'bad@x.test'),
      { mxGroup: 'mx', rule: 'smtp 5.1.1' },
    );
    t.notOk(listed.find(({ address }) => address === 'manual@x.test')!.mxGroup);
    t.strictSame(await store.suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 1), {
      platform: 0,
      tenants: 1,
    });
    t.strictSame(await store.suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 9), {
      platform: 0,
      tenants: 1,
    });
    const left = (await store.suppressions.listSuppressions(tenant.id, PAGE)).map(
      ({ address }) => address.split('@')[0],
    );
    t.same(left, ['before', 'complaint', 'manual', 'other', 'unknown', 'unsubscribe']);
  },

  'what another receiver has said of the same address is not undone': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const [one, two, old] = [await bench.tenant(), await bench.tenant(), await bench.tenant()];
    const said = { address: 'a@x.test', messageId: bench.id(), createdAt: T0, rule: 'r' };
    await store.suppressions.addSuppression(one.id, { ...said, reason: 'hard_bounce', mxGroup: 'other' });
    await store.suppressions.addSuppression(two.id, { ...said, reason: 'hard_bounce', mxGroup: 'mx' });
    // As entries were made before the group was noted.
    await store.suppressions.addSuppression(old.id, { ...said, reason: 'hard_bounce' });
    await store.suppressions.addPlatformSuppression({ ...said, mxGroup: 'mx', expiresAt: T0 + 99 });
    t.strictSame(await store.suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 9), {
      platform: 1,
      tenants: 2,
    });
    t.match(await store.suppressions.listSuppressions(one.id, PAGE), [{ address: 'a@x.test', mxGroup: 'other' }]);
  },

  'what a rule has decided since a time is undone, on the lists that are asked for': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const [tenant, other] = [await bench.tenant(), await bench.tenant()];
    const fill = async () => {
      for (const [address, rule, createdAt] of [
        ['dns@x.test', 'route-5.1.2', T0 + 5],
        ['null@x.test', 'route-5.1.10', T0 + 5],
        ['before@x.test', 'route-5.1.2', T0 - 1],
        ['said@x.test', 'unknown-user', T0 + 5],
      ] as const) {
        const entry = { address, messageId: bench.id(), createdAt, rule };
        await store.suppressions.addPlatformSuppression({ ...entry, mxGroup: null, expiresAt: T0 + 99 });
        for (const { id } of [tenant, other])
          await store.suppressions.addSuppression(id, { ...entry, reason: 'hard_bounce' });
      }
      // As entries were made before rules were noted.
      const old = { address: 'old@x.test', messageId: bench.id(), createdAt: T0 + 5 };
      await store.suppressions.addPlatformSuppression({
        ...old,
        mxGroup: null,
        rule: 'route-5.1.2',
        expiresAt: T0 + 99,
      });
      await store.suppressions.addSuppression(tenant.id, { ...old, reason: 'hard_bounce' });
      // A person's word is no rule's.
      await store.suppressions.addSuppression(tenant.id, {
        ...old,
        address: 'hand@x.test',
        reason: 'manual',
        messageId: null,
      });
    };
    const left = async () => {
      const lists = [
        store.suppressions.listPlatformSuppressions(PAGE),
        store.suppressions.listSuppressions(tenant.id, PAGE),
      ];
      const [platform, own] = await Promise.all(lists as Promise<{ address: string }[]>[]);
      const names = (list: { address: string }[]) => list.map(({ address }) => address.split('@')[0]).join(' ');
      return [names(platform!), names(own!)];
    };
    await fill();
    t.same(await store.suppressions.undoHardBounces({ rule: 'route-5.1.2', since: T0, of: 'platform' }, 9), {
      platform: 2,
      tenants: 0,
    });
    t.same(await left(), ['before null said', 'before dns hand null old said']);
    const ofTenant = { rule: 'route-*', since: T0, of: { tenantId: tenant.id } };
    t.same(await store.suppressions.undoHardBounces(ofTenant, 1), { platform: 0, tenants: 1 });
    t.same(await store.suppressions.undoHardBounces(ofTenant, 9), { platform: 0, tenants: 1 });
    t.same(await left(), ['before null said', 'before hand old said']);
    await fill();
    let gone = { platform: 0, tenants: 0 };
    for (let slice = { platform: 1, tenants: 1 }; slice.platform + slice.tenants > 0; ) {
      slice = await store.suppressions.undoHardBounces({ rule: 'route-*', since: T0 }, 2);
      gone = { platform: gone.platform + slice.platform, tenants: gone.tenants + slice.tenants };
    }
    t.same(gone, { platform: 3, tenants: 5 });
    t.same(await left(), ['before said', 'before hand said']);
  },

  'an entry of the platform that has expired is forgotten': async (t: Test, { store }: Bench) => {
    for (const [address, expiresAt] of [
      ['a@x.test', T0],
      ['b@x.test', T0 + 1],
    ] as const) {
      await store.suppressions.addPlatformSuppression({
        address,
        mxGroup: null,
        rule: 'r',
        messageId: null,
        createdAt: 1,
        expiresAt,
      });
    }
    t.equal(await store.suppressions.forgetExpiredSuppressions(T0, 10), 1);
    t.match(await store.suppressions.listPlatformSuppressions(PAGE), [{ address: 'b@x.test' }]);
  },

  "removing a tenant's entry says whether the platform holds the address": async (t: Test, bench: Bench) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    const entries = ['a@x.test', 'b@x.test'].map((address) => {
      return { address, reason: 'manual' as const, messageId: null, createdAt: T0 };
    });
    t.equal(await store.suppressions.importSuppressions(tenant.id, entries), 2);
    t.equal(await store.suppressions.importSuppressions(tenant.id, entries), 0);
    const held = { address: 'a@x.test', mxGroup: 'mx', rule: 'r', messageId: null, createdAt: T0, expiresAt: T0 + 5 };
    await store.suppressions.addPlatformSuppression(held);
    t.strictSame(await store.suppressions.removeSuppression(tenant.id, 'a@x.test', T0), {
      removed: true,
      platform: held,
    });
    t.strictSame(await store.suppressions.removeSuppression(tenant.id, 'a@x.test', T0 + 5), {
      removed: false,
      platform: null,
    });
    t.strictSame(await store.suppressions.removeSuppression(tenant.id, 'b@x.test', T0), {
      removed: true,
      platform: null,
    });
  },

  'lists can be searched by how an address begins': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    for (const address of ['anna@x.test', 'anton@x.test', 'berta@x.test', 'änne@x.test']) {
      await store.suppressions.addSuppression(tenant.id, { address, reason: 'manual', messageId: null, createdAt: T0 });
    }
    const search = async (prefix: string, after: string | null = null) =>
      (await store.suppressions.listSuppressions(tenant.id, { after, limit: 10, prefix })).map(
        ({ address }) => address,
      );
    t.same(await search('an'), ['anna@x.test', 'anton@x.test']);
    t.same(await search('an', 'anna@x.test'), ['anton@x.test']);
    t.same(await search('ä'), ['änne@x.test']);
    t.same(await search('z'), []);
  },
};
