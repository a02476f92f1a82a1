// Conformance: suppression lists.
import type { Test } from 'tap';
import {
  MAX_SUPPRESSIONS_SEARCHED,
  type PlatformSuppression,
  type Suppression,
  type SuppressionReason,
} from '../../../src/store/suppressions.ts';
import { type Bench, T0 } from './harness.ts';

const PAGE = { after: null, limit: 100 };

export const suppressionCases = {
  'an address is on a list once, with its first reason': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const first = entry('a@x.test', { reason: 'unsubscribe', messageId: bench.id() });
    t.equal(await bench.store.suppressions.addSuppression(tenant.id, first), 'added');
    t.equal(
      await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test', { createdAt: T0 + 9 })),
      'exists',
    );
    t.strictSame(await bench.store.suppressions.listSuppressions(tenant.id, PAGE), [first]);
  },

  "a recipient's own wish replaces a hard bounce": async (t: Test, bench: Bench) => {
    const { suppressions } = bench.store;
    const tenant = await bench.tenant();
    const evidence = { rule: 'smtp 5.1.1', mxGroup: 'mx', messageId: bench.id() };
    for (const reason of ['unsubscribe', 'complaint', 'manual'] as const) {
      const address = `${reason}@x.test`;
      await suppressions.addSuppression(tenant.id, entry(address, { reason: 'hard_bounce', ...evidence }));
      const wish = entry(address, { reason, messageId: bench.id(), createdAt: T0 + 5 });
      const isTheirs = reason !== 'manual';
      // Without a message, it is what the tenant says of them: the first reason stays.
      t.equal(await suppressions.addSuppression(tenant.id, { ...wish, messageId: null }), 'exists');
      t.equal(await suppressions.addSuppression(tenant.id, wish), isTheirs ? 'added' : 'exists', reason);
      if (isTheirs) t.strictSame(await suppressions.getSuppression(tenant.id, address), wish);
      for (const later of ['unsubscribe', 'complaint', 'hard_bounce'] as const) {
        const again = { ...wish, ...evidence, reason: later, createdAt: T0 + 9 };
        if (isTheirs) t.equal(await suppressions.addSuppression(tenant.id, again), 'exists', 'once');
      }
    }
    t.match(await suppressions.undoHardBounces({ mxGroup: 'mx', since: T0 }, 9), { tenants: 1 });
    t.match(await suppressions.undoHardBounces({ rule: '*', since: T0 }, 9), { tenants: 0 });
    const left = await suppressions.listSuppressions(tenant.id, PAGE);
    t.same(addressesOf(left), ['complaint@x.test', 'unsubscribe@x.test']);
  },

  'every reason is kept': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const entries = (['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const).map((reason) =>
      entry(`${reason}@x.test`, { reason }),
    );
    for (const one of entries) await bench.store.suppressions.addSuppression(tenant.id, one);
    const listed = await bench.store.suppressions.listSuppressions(tenant.id, PAGE);
    t.strictSame(listed, entries.sort(byAddress));
  },

  'a removed address can be added again': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test'));
    t.match(await bench.store.suppressions.removeSuppression(tenant.id, 'a@x.test', T0), { removed: true });
    t.match(await bench.store.suppressions.removeSuppression(tenant.id, 'a@x.test', T0), { removed: false });
    t.strictSame(await bench.store.suppressions.listSuppressions(tenant.id, PAGE), []);
    t.equal(
      await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test', { reason: 'complaint' })),
      'added',
    );
  },

  'lists are read in pages, ordered by address': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const addresses = ['b@x.test', 'a@y.test', 'a@x.test', 'ä@x.test', '0@x.test'];
    for (const address of addresses) {
      await bench.store.suppressions.addSuppression(tenant.id, entry(address));
      await bench.store.suppressions.addPlatformSuppression(platformEntry(address));
    }
    const ordered = ['0@x.test', 'a@x.test', 'a@y.test', 'b@x.test', 'ä@x.test'];
    for (const list of [
      (page: typeof PAGE | { after: string; limit: number }) =>
        bench.store.suppressions.listSuppressions(tenant.id, page),
      (page: typeof PAGE | { after: string; limit: number }) => bench.store.suppressions.listPlatformSuppressions(page),
    ]) {
      t.strictSame(addressesOf(await list(PAGE)), ordered);
      t.strictSame(addressesOf(await list({ after: null, limit: 2 })), ordered.slice(0, 2));
      t.strictSame(addressesOf(await list({ after: 'a@x.test', limit: 2 })), ordered.slice(2, 4));
      t.strictSame(addressesOf(await list({ after: 'a@x.zzz', limit: 10 })), ordered.slice(2), 'between two entries');
      t.strictSame(await list({ after: 'ä@x.test', limit: 10 }), []);
    }
  },

  'one entry by its address': async (t: Test, bench: Bench) => {
    const [one, two] = [await bench.tenant(), await bench.tenant()];
    const bounced = entry('a@x.test', {
      reason: 'hard_bounce',
      messageId: bench.id(),
      rule: 'smtp 5.1.1',
      mxGroup: 'mx',
    });
    await bench.store.suppressions.addSuppression(one.id, bounced);
    t.strictSame(await bench.store.suppressions.getSuppression(one.id, 'a@x.test'), bounced);
    t.equal(await bench.store.suppressions.getSuppression(one.id, 'a@x.tes'), null);
    t.equal(await bench.store.suppressions.getSuppression(two.id, 'a@x.test'), null, "another tenant's list");
  },

  'why mail to an address is refused': async (t: Test, bench: Bench) => {
    const [one, two] = [await bench.tenant(), await bench.tenant()];
    const why = (tenantId: string, address: string, now = T0) =>
      bench.store.suppressions.findReasonAgainst(tenantId, address, now);
    const platform = platformEntry('a@x.test');
    await bench.store.suppressions.addPlatformSuppression(platform);
    await bench.store.suppressions.addSuppression(one.id, entry('a@x.test', { reason: 'complaint' }));
    t.equal(await why(one.id, 'a@x.test'), 'complaint', 'its own list comes first');
    t.equal(await why(two.id, 'a@x.test', platform.expiresAt - 1), 'hard_bounce', "the platform's list");
    t.equal(await why(two.id, 'a@x.test', platform.expiresAt), null, 'until its entry expires');
    t.equal(await why(one.id, 'a@x.tes'), null);
  },

  'a search by reason goes on where a page stopped': async (t: Test, bench: Bench) => {
    const [tenant, other] = [await bench.tenant(), await bench.tenant()];
    const count = MAX_SUPPRESSIONS_SEARCHED + 10;
    const address = (at: number) => `${String(at).padStart(5, '0')}@x.test`;
    const wanted = [3, count - 1].map((at) => entry(address(at), { reason: 'complaint' }));
    await bench.store.suppressions.importSuppressions(tenant.id, wanted);
    const rest = Array.from({ length: count }, (_, at) => entry(address(at)));
    await bench.store.suppressions.importSuppressions(tenant.id, rest);
    await bench.store.suppressions.addSuppression(other.id, entry('a@x.test', { reason: 'complaint' }));
    const search = (after: string | null, limit = 2, reason: SuppressionReason | null = 'complaint') =>
      bench.store.suppressions.searchSuppressions(tenant.id, { prefix: '', reason, after, limit });
    const next = address(MAX_SUPPRESSIONS_SEARCHED - 1);
    t.strictSame(await search(null), { entries: wanted.slice(0, 1), next }, 'no more than it may look at');
    t.strictSame(await search(next), { entries: wanted.slice(1), next: null });
    t.strictSame(await search(address(3)), { entries: [], next: address(MAX_SUPPRESSIONS_SEARCHED + 3) });
    t.match(await search(null, 1), { entries: { length: 1 }, next });
    t.strictSame(await search(null, 2, null), {
      entries: [entry(address(0)), entry(address(1))],
      next: address(1),
    });
  },

  "a tenant's list is its own": async (t: Test, bench: Bench) => {
    const [one, two] = [await bench.tenant(), await bench.tenant()];
    await bench.store.suppressions.addSuppression(one.id, entry('a@x.test'));
    t.equal(await bench.store.suppressions.addSuppression(two.id, entry('a@x.test', { reason: 'complaint' })), 'added');
    t.match(await bench.store.suppressions.removeSuppression(two.id, 'a@x.test', T0), { removed: true });
    t.strictSame(await bench.store.suppressions.listSuppressions(one.id, PAGE), [entry('a@x.test')]);
    t.strictSame(
      await bench.store.suppressions.listPlatformSuppressions(PAGE),
      [],
      "the platform's list is another one",
    );
  },

  'a newer statement renews an entry of the platform': async (t: Test, bench: Bench) => {
    const first = { ...platformEntry('a@x.test'), messageId: bench.id() };
    t.equal(await bench.store.suppressions.addPlatformSuppression(first), 'added');
    const second = {
      ...first,
      mxGroup: null,
      rule: 'dsn 5.1.1',
      messageId: bench.id(),
      createdAt: T0 + 5,
      expiresAt: first.expiresAt + 5,
    };
    t.equal(await bench.store.suppressions.addPlatformSuppression(second), 'exists');
    t.strictSame(await bench.store.suppressions.listPlatformSuppressions(PAGE), [second]);
    t.equal(await bench.store.suppressions.removePlatformSuppression('a@x.test'), true);
    t.equal(await bench.store.suppressions.removePlatformSuppression('a@x.test'), false);
  },

  "an operator's entry of the platform stays through bounces, until it expires": async (t: Test, bench: Bench) => {
    const { suppressions } = bench.store;
    const listed = () => suppressions.listPlatformSuppressions(PAGE);
    const byOperator = { ...platformEntry('a@x.test'), mxGroup: null, rule: 'operator manual' };
    await suppressions.addPlatformSuppression(byOperator);
    const bounced = (createdAt: number) => {
      const times = { createdAt, expiresAt: createdAt + 5000 };
      return { ...platformEntry('a@x.test'), messageId: bench.id(), ...times };
    };
    t.equal(await suppressions.addPlatformSuppression(bounced(byOperator.expiresAt - 1)), 'exists');
    t.strictSame(await listed(), [byOperator]);
    const again = { ...byOperator, rule: 'operator asked', expiresAt: byOperator.expiresAt - 1 };
    await suppressions.addPlatformSuppression(again);
    t.strictSame(await listed(), [again], 'an operator changes it');
    const after = bounced(again.expiresAt);
    await suppressions.addPlatformSuppression(after);
    t.strictSame(await listed(), [after]);
  },
};

function entry(address: string, change: Partial<Suppression> = {}): Suppression {
  return { address, reason: 'manual', messageId: null, createdAt: T0, ...change };
}

function platformEntry(address: string): PlatformSuppression {
  return { address, mxGroup: 'mx', rule: 'smtp 5.1.1', messageId: null, createdAt: T0, expiresAt: T0 + 1000 };
}

function addressesOf(entries: { address: string }[]): string[] {
  return entries.map((one) => one.address);
}

function byAddress(one: Suppression, two: Suppression): number {
  return one.address < two.address ? -1 : 1;
}
