// Conformance: the audit log: newest first, page by page, each tenant its own.
import type { Test } from 'tap';
import { HOUR_MS } from '../../../src/base/clock.ts';
import {
  type FailedSignIns,
  NETWORKS_PER_ACCOUNT,
  NETWORKS_WITHOUT_ACCOUNT,
  type NewAuditEntry,
} from '../../../src/store/audit.ts';
import { type Bench, T0 } from './harness.ts';

function entryOf(tenantId: string | null, change: Partial<NewAuditEntry> = {}): NewAuditEntry {
  const who = { actor: 'user' as const, userId: null, who: 'a@x.test', address: '192.0.2.1' };
  return { tenantId, at: T0, ...who, action: 'domain.created', data: {}, ...change };
}

export const auditCases = {
  'an entry is read as it was written': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const data = { domain: 'ä.test', n: 1.5, on: true, nothing: null };
    const entries = [
      entryOf(tenant.id, { userId: bench.id(), data }),
      entryOf(tenant.id, { actor: 'key', keyId: bench.id(), who: 'deploy (pr_x)', action: 'webhook.created' }),
      entryOf(tenant.id, { actor: 'command', who: 'command line', address: null, at: T0 + 1 }),
    ];
    for (const entry of entries) await bench.store.audit.recordAudit(entry);
    const read = await bench.store.audit.listAudit(tenant.id, { before: null, limit: 10 });
    t.strictSame(
      read.map(({ seq: _, ...rest }) => rest),
      entries.reverse(),
    );
  },

  'old entries are erased, the oldest first and so many at once': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const written: [string | null, number][] = [
      [tenant.id, T0 + 3],
      [null, T0 + 1],
      [tenant.id, T0],
      [null, T0 + 2],
    ];
    for (const [tenantId, at] of written) await bench.store.audit.recordAudit(entryOf(tenantId, { at }));
    const times = async () =>
      (await bench.store.audit.listAllAudit({ before: null, limit: 10 })).map(({ at }) => at - T0);
    t.equal(await bench.store.audit.eraseAudit(T0 - 1, 10), 0);
    t.equal(await bench.store.audit.eraseAudit(T0 + 2, 2), 2);
    t.same(await times(), [2, 3]);
    t.equal(await bench.store.audit.eraseAudit(T0 + 2, 2), 1);
    t.equal(await bench.store.audit.eraseAudit(T0 + 2, 2), 0);
    t.same(await times(), [3]);
  },

  'pages follow each other, and tenants do not mix': async (t: Test, bench: Bench) => {
    const [one, two] = [await bench.tenant(), await bench.tenant()];
    for (let n = 0; n < 5; n++) {
      for (const id of [one.id, two.id, null]) await bench.store.audit.recordAudit(entryOf(id, { data: { n } }));
    }
    const seen: unknown[] = [];
    let before: number | null = null;
    for (;;) {
      const page = await bench.store.audit.listAudit(one.id, { before, limit: 2 });
      if (page.length === 0) break;
      t.ok(page.every(({ tenantId }) => tenantId === one.id));
      seen.push(...page.map(({ data }) => data.n));
      before = page.at(-1)!.seq;
    }
    t.strictSame(seen, [4, 3, 2, 1, 0]);
    const all = await bench.store.audit.listAllAudit({ before: null, limit: 4 });
    t.strictSame(
      all.map(({ tenantId }) => tenantId),
      [null, two.id, one.id, null],
    );
    t.equal((await bench.store.audit.listAllAudit({ before: all.at(-1)!.seq, limit: 100 })).length, 11);
  },

  'failed sign-ins of an hour are one entry for each account and network': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const account = { userId: bench.id(), tenantId, email: 'jo@x.test' };
    const failure = { account, network: '192.0.2.1', address: '192.0.2.1', at: T0, count: 2 };
    await bench.store.audit.recordFailedSignIns([failure, { ...failure, at: T0 + 60_000, count: 3 }]);
    await bench.store.audit.recordFailedSignIns([{ ...failure, network: '192.0.2.2', at: T0 + 60_001 }]);
    await bench.store.audit.recordFailedSignIns([{ ...failure, account: null }]);
    await bench.store.audit.recordFailedSignIns([{ ...failure, at: T0 + HOUR_MS }]);
    const ofTenant = await bench.store.audit.listAudit(tenantId, { before: null, limit: 10 });
    t.match(ofTenant.reverse(), [
      { action: 'user.sign_in_failed', actor: 'system', userId: account.userId, address: '192.0.2.1', at: T0 },
      { data: { network: '192.0.2.2', count: 2, account: 'jo@x.test' } },
      { at: T0 + HOUR_MS, data: { count: 2 } },
    ]);
    t.match(ofTenant[0]?.data, { count: 5, last_at: new Date(T0 + 60_000).toISOString() });
    t.match(await bench.store.audit.listAllAudit({ before: null, limit: 10 }), { length: 4 });
  },

  'however many networks fail to sign in, an hour adds a bounded number of entries': async (t: Test, bench: Bench) => {
    const from = (n: number, account: FailedSignIns['account']) => {
      const address = `192.0.2.${n}`;
      return { account, network: address, address, at: T0, count: 1 };
    };
    const account = { userId: bench.id(), tenantId: null, email: 'jo@x.test' };
    const tries = Array.from({ length: 250 }, (_, n) => [from(n, null), from(n, account)]).flat();
    await bench.store.audit.recordFailedSignIns(tries);
    const all = await bench.store.audit.listAllAudit({ before: null, limit: 1000 });
    t.equal(all.length, NETWORKS_PER_ACCOUNT + 1 + NETWORKS_WITHOUT_ACCOUNT + 1);
    t.match(
      all.filter(({ data }) => data.network === 'other networks').map(({ data }) => data.count),
      [250 - NETWORKS_WITHOUT_ACCOUNT, 250 - NETWORKS_PER_ACCOUNT],
    );
    const sum = all.reduce((total, { data }) => total + Number(data.count), 0);
    t.equal(sum, tries.length);
  },
};
