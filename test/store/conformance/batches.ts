// Conformance: many submissions accepted in one transaction, and what a repeated batch is answered.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { BatchEntry, NewBatch, NewSubmission } from '../../../src/store/submissions.ts';
import { type Bench, LIFETIME_MS, T0 } from './harness.ts';

const WORDS = {
  all_suppressed: { error: 'all_recipients_suppressed', message: 'All are suppressed.' },
  domain_not_verified: { error: 'domain_not_verified', message: 'Not verified.' },
  tenant_not_active: { error: 'tenant_not_active', message: 'Not active.' },
};
const REFUSED: BatchEntry = { kind: 'refused', error: 'validation_failed', message: 'to: no @.' };

export function entry(
  bench: Bench,
  domain: Domain,
  to: string[] = ['a@x.test'],
  change: Partial<NewSubmission> = {},
): BatchEntry {
  return { kind: 'submission', submission: bench.submission(domain, to, change), refusalOf: WORDS };
}

export function batchOf(domain: Domain, entries: BatchEntry[], change: Partial<NewBatch> = {}): NewBatch {
  return { tenantId: domain.tenantId, idempotencyKey: null, entries, skipsRefused: false, acceptedAt: T0, ...change };
}

async function suppressed(bench: Bench, { tenantId }: Domain): Promise<string[]> {
  const address = 'gone@x.test';
  await bench.store.suppressions.addSuppression(tenantId, {
    ...{ address, reason: 'manual', messageId: null, createdAt: T0 },
  });
  return [address];
}

async function waiting(bench: Bench): Promise<number> {
  return (await bench.store.queue.listQueue({ limit: 100 })).length;
}

export const batchCases = {
  'all of a batch is accepted at once': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const entries = [entry(bench, domain), entry(bench, domain, ['b@x.test', 'c@y.test'])];
    const result = await bench.store.submissions.acceptBatch(batchOf(domain, entries));
    if (result.kind !== 'accepted') throw new Error(result.kind);
    const ids = entries.map((one) => (one.kind === 'submission' ? one.submission.id : null));
    t.match(result.items, [{ receipt: { id: ids[0] } }, { receipt: { id: ids[1], rejected: [] } }]);
    t.match(result.results, [
      { kind: 'accepted', lanes: [{ domain: 'x.test' }] },
      { kind: 'accepted', lanes: [{ domain: 'x.test' }, { domain: 'y.test' }] },
    ]);
    t.equal(await waiting(bench), 3);
  },

  'the first refusal refuses all, and nothing is written': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const bad = entry(bench, domain, await suppressed(bench, domain));
    const { store } = bench;
    const refused = await store.submissions.acceptBatch(batchOf(domain, [entry(bench, domain), bad, bad]));
    t.match(refused, { kind: 'refused', index: 1, why: { kind: 'all_suppressed', rejected: [{ to: 'gone@x.test' }] } });
    const pending = await bench.pendingDomain(tenant.id, 'new.test');
    const unverified = batchOf(domain, [entry(bench, domain), entry(bench, pending)]);
    t.match(await store.submissions.acceptBatch(unverified), {
      ...{ kind: 'refused', index: 1, why: { kind: 'domain_not_verified' } },
    });
    await store.tenants.updateTenant(tenant.id, { status: 'suspended' });
    t.match(await store.submissions.acceptBatch(batchOf(domain, [entry(bench, domain)])), {
      ...{ kind: 'refused', index: 0, why: { kind: 'tenant_not_active' } },
    });
    t.equal(await waiting(bench), 0);
  },

  'what is refused can be skipped': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const entries = [REFUSED, entry(bench, domain), entry(bench, domain, await suppressed(bench, domain))];
    const result = await bench.store.submissions.acceptBatch(batchOf(domain, entries, { skipsRefused: true }));
    if (result.kind !== 'accepted') throw new Error(result.kind);
    t.match(result.items, [
      { error: 'validation_failed', message: 'to: no @.' },
      { receipt: { messageIds: [String] } },
      WORDS.all_suppressed,
    ]);
    t.match(result.results, [null, { kind: 'accepted' }, { kind: 'all_suppressed' }]);
    t.equal(await waiting(bench), 1);
  },

  'a repeated batch is answered as the first was': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    const { submissions } = bench.store;
    const change = { idempotencyKey: 'monday', skipsRefused: true };
    t.equal(await submissions.findBatch(tenant.id, 'monday'), null);
    const entries = [REFUSED, entry(bench, domain, ['a@x.test', 'b@x.test'])];
    const first = await submissions.acceptBatch(batchOf(domain, entries, change));
    if (first.kind !== 'accepted') throw new Error(first.kind);
    const again = await submissions.acceptBatch(batchOf(domain, [entry(bench, domain)], change));
    t.strictSame(again, { kind: 'replayed', items: first.items });
    t.strictSame(await submissions.findBatch(tenant.id, 'monday'), first.items);
    t.equal(await submissions.findBatch(other.tenant.id, 'monday'), null, 'keys are the tenant’s own');
    t.equal(await waiting(bench), 2);
    const theirs = batchOf(other.domain, [entry(bench, other.domain)], change);
    t.match(await submissions.acceptBatch(theirs), { kind: 'accepted' });
  },

  'a key is that of a batch or of a single call': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { submissions } = bench.store;
    await bench.accept(domain, ['a@x.test'], { idempotencyKey: 'single' });
    const batch = (idempotencyKey: string) => batchOf(domain, [entry(bench, domain)], { idempotencyKey });
    t.match(await submissions.acceptBatch(batch('single')), { kind: 'key_taken' });
    t.match(await submissions.acceptBatch(batch('many')), { kind: 'accepted' });
    const single = bench.submission(domain, ['a@x.test'], { idempotencyKey: 'many' });
    t.match(await submissions.accept(single), { kind: 'key_taken' });
    t.equal(await submissions.findReceipt(domain.tenantId, 'many'), null);
    t.equal(await waiting(bench), 2);
  },

  'a batch of which nothing was accepted uses up no key': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const change = { idempotencyKey: 'again', skipsRefused: true };
    const { submissions } = bench.store;
    t.match(await submissions.acceptBatch(batchOf(domain, [REFUSED], change)), { kind: 'accepted', results: [null] });
    t.match(await submissions.acceptBatch(batchOf(domain, [entry(bench, domain)], change)), {
      ...{ kind: 'accepted', results: [{ kind: 'accepted' }] },
    });
  },

  'a key is kept as long as anything that was sent with it': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { store } = bench;
    const change = { idempotencyKey: 'kept' };
    const entries = [entry(bench, domain, ['a@x.test']), entry(bench, domain, ['b@x.test'])];
    const result = await store.submissions.acceptBatch(batchOf(domain, entries, change));
    if (result.kind !== 'accepted') throw new Error(result.kind);
    const end = async (index: number) => {
      const item = result.items[index]!;
      const id = 'receipt' in item ? item.receipt.messageIds[0]! : '';
      const message = (await store.queue.findWaiting(id))!;
      await store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { at: T0 + 1 }));
    };
    const erase = () => store.upkeep.eraseRecords(T0 + LIFETIME_MS, 1000);
    await end(0);
    await erase();
    t.match(await store.submissions.findBatch(tenant.id, 'kept'), [
      ...[{ receipt: { messageIds: [] } }, { receipt: { messageIds: [String] } }],
    ]);
    await end(1);
    await erase();
    t.equal(await store.submissions.findBatch(tenant.id, 'kept'), null, 'then it is free');
  },

  'keys go with what was sent, however many others wait, and however old those are': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { store } = bench;
    const send = async (key: string, sendAt?: number) => {
      const submission = bench.submission(domain, [`${key}@x.test`], sendAt === undefined ? {} : { sendAt });
      const entries: BatchEntry[] = [{ kind: 'submission', submission, refusalOf: WORDS }];
      await store.submissions.acceptBatch(batchOf(domain, entries, { idempotencyKey: key }));
      return submission.recipients[0]!.messageId;
    };
    const keys = (kind: string) => Array.from({ length: 70 }, (_, index) => `${kind}-${index}`);
    const left = async (kind: string) => {
      const found = await Promise.all(keys(kind).map((key) => store.submissions.findBatch(tenant.id, key)));
      return found.filter((items) => items !== null).length;
    };
    for (const key of keys('later')) await send(key, T0 + 2 * LIFETIME_MS);
    for (const key of keys('now')) {
      const message = (await store.queue.findWaiting(await send(key)))!;
      await store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { at: T0 + 1 }));
    }
    for (let run = 0; run < 2; run++) {
      let slices = 0;
      while ((await store.upkeep.eraseRecords(T0 + LIFETIME_MS, 1000)).more) slices++;
      t.ok(slices < 20, 'what waits keeps no run going');
      t.equal(await left('now'), 0);
      t.equal(await left('later'), 70);
    }
  },
};
