// Conformance: what was answered on one handle holds for everything that is written on the other one afterwards, and
// reads there follow soon.
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Domain } from '../../../src/store/domains.ts';
import type { Store } from '../../../src/store/store.ts';
import { within } from '../../support/patience.ts';
import { type Bench, T0 } from './harness.ts';
import { atOnce, countAnswers, type Rivals, rivals } from './rivals.ts';
import { webhookOf } from './webhook-deliveries.ts';
import { newWebhook } from './webhooks.ts';

const FAILED = { state: 'failed', failureReason: 'not_found', checkedAt: T0 + 5 } as const;

/** How both handles answer four submissions of that domain. */
async function answers(bench: Bench, handles: Rivals, domain: Domain): Promise<Record<string, number>> {
  const results = await atOnce(handles, 4, ({ submissions }) =>
    submissions.accept(bench.submission(domain, ['a@x.test'])),
  );
  return countAnswers(results.map(({ kind }) => kind));
}

/** Records an event of a message through that handle. */
async function happen(bench: Bench, store: Store, domain: Domain): Promise<void> {
  const submission = bench.submission(domain, ['a@x.test']);
  await store.submissions.accept(submission);
  const message = { id: submission.recipients[0]!.messageId, tenantId: domain.tenantId };
  await store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event: bench.event('email.delivered') }));
}

async function countDue(bench: Bench, webhookId: string): Promise<number> {
  const terms = { owners: [await bench.owner()], now: T0, leaseUntil: [T0 + 1e6] };
  const [claimed] = await bench.store.webhooks.claimDeliveries([{ webhookId, limit: 100 }], terms);
  return claimed!.deliveries.length;
}

export const answerCases = {
  'a suspended tenant sends from no handle': rivals(async (t, bench, handles) => {
    const { tenant, domain } = await bench.sender(`${bench.id()}.test`);
    t.strictSame(await answers(bench, handles, domain), { accepted: 4 });
    const { tenants, reputation } = handles[1];
    const suspend = tenants.updateTenant(tenant.id, { status: 'suspended' });
    const during = await Promise.all([answers(bench, handles, domain), suspend]);
    t.equal((during[0].accepted ?? 0) + (during[0].tenant_not_active ?? 0), 4);
    t.strictSame(await answers(bench, handles, domain), { tenant_not_active: 4 });
    await handles[0].tenants.updateTenant(tenant.id, { status: 'active' });
    t.strictSame(await answers(bench, handles, domain), { accepted: 4 });
    await reputation.stopForReview(tenant.id, { at: T0, reason: 'complaints' });
    t.strictSame(await answers(bench, handles, domain), { tenant_not_active: 4 });
  }),

  'a domain that is revoked or lost sends from no handle': rivals(async (t, bench, handles) => {
    const name = `${bench.id()}.test`;
    const heir = await bench.pendingDomain((await bench.tenant()).id, name);
    const { tenant, domain } = await bench.sender(name);
    t.strictSame(await answers(bench, handles, domain), { accepted: 4 });
    await handles[1].domains.takeOverDomain(
      { tenantId: heir.tenantId, id: heir.id },
      { id: domain.id, failureReason: 'mismatch' },
      T0,
    );
    t.strictSame(await answers(bench, handles, domain), { domain_not_verified: 4 });
    t.strictSame(await answers(bench, handles, heir), { accepted: 4 });
    await handles[1].domains.revokeDomain(heir.tenantId, heir.id);
    t.strictSame(await answers(bench, handles, heir), { domain_not_verified: 4 });
    t.equal((await bench.store.domains.getDomain(tenant.id, domain.id))?.state, 'failed');
  }),

  'an address on a list gets nothing from any handle': rivals(async (t, bench, handles) => {
    const { tenant, domain } = await bench.sender(`${bench.id()}.test`);
    const { suppressions } = handles[1];
    const entry = { address: 'a@x.test', reason: 'manual', messageId: null, createdAt: T0 } as const;
    t.strictSame(await answers(bench, handles, domain), { accepted: 4 });
    await suppressions.addSuppression(tenant.id, entry);
    t.strictSame(await answers(bench, handles, domain), { all_suppressed: 4 });
    await suppressions.removeSuppression(tenant.id, entry.address, T0);
    t.strictSame(await answers(bench, handles, domain), { accepted: 4 });
  }),

  'an event goes to the webhooks that the tenant has by then': rivals(async (t, bench, handles) => {
    const { tenant, domain } = await bench.sender(`${bench.id()}.test`);
    const { webhooks } = handles[1];
    const first = await webhookOf(bench, tenant.id);
    for (const store of handles) await happen(bench, store, domain);
    t.equal(await countDue(bench, first), 2);
    const second = newWebhook(bench, tenant.id, { target: 'https://b.test/' });
    await webhooks.createWebhook(second, 9);
    for (const store of handles) await happen(bench, store, domain);
    t.strictSame([await countDue(bench, first), await countDue(bench, second.id)], [2, 2]);
    await webhooks.changeWebhook(tenant.id, second.id, { events: ['bounce'] });
    for (const store of handles) await happen(bench, store, domain);
    t.strictSame([await countDue(bench, first), await countDue(bench, second.id)], [2, 0]);
    for (const id of [first, second.id]) await webhooks.deleteWebhook(tenant.id, id);
    while ((await webhooks.forgetDeletedWebhooks(100)) > 0);
    for (const store of handles) await happen(bench, store, domain);
    t.equal(await webhooks.forgetDeletedWebhooks(100), 0, 'nothing is left for a webhook that is gone');
  }),

  'reads follow what another handle commits, also while nothing is written': rivals(async (t, bench, handles) => {
    const { tenant, domain } = await bench.sender(`${bench.id()}.test`);
    const key = bench.apiKey(tenant.id);
    await bench.store.keys.createApiKey(key, 9);
    const [{ keys, domains, submissions }, other] = handles;
    const seen = async () => {
      const found = await keys.findApiKeyBySecret(key.publicId, key.secretHash);
      const holder = await domains.findVerifiedDomain(tenant.id, domain.name);
      const facts = await submissions.findSendingFacts(tenant.id, domain.id);
      return [found?.key.revokedAt, found?.tenant.status, holder?.id, facts?.openTracking];
    };
    t.strictSame(await seen(), [null, 'active', domain.id, false]);
    await other.keys.revokeApiKey(tenant.id, key.id, T0 + 5);
    await other.tenants.updateTenant(tenant.id, { status: 'suspended', openTracking: true });
    await other.domains.recordVerdict(tenant.id, domain.id, FAILED);
    const written = [T0 + 5, 'suspended', undefined, true];
    const following = async () => {
      while (!isDeepStrictEqual(await seen(), written)) await turn();
    };
    await within(5000, 'all of it is seen', following());
    t.strictSame(await seen(), written, 'and stays');
  }),

  'a lane is the same on both handles': rivals(async (t, bench, handles) => {
    const { domain } = await bench.sender(`${bench.id()}.test`);
    const accepted = await atOnce(handles, 6, ({ submissions }) =>
      submissions.accept(bench.submission(domain, ['a@x.test'])),
    );
    const lanes = accepted.flatMap((result) => (result.kind === 'accepted' ? result.lanes : []));
    t.equal(lanes.length, 6);
    t.equal(new Set(lanes.map(({ lane }) => lane)).size, 1);
  }),
};
