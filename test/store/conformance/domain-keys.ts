// Conformance: how long a domain's private key lives. Seen through what couriers can read:
// the store's contract shows no private key elsewhere.
import type { Test } from 'tap';
import type { Transition } from '../../../src/store/queue.ts';
import { type Bench, T0 } from './harness.ts';

const ENDS: Transition[] = [
  { to: 'delivered' },
  { to: 'bounced', bounce: 'hard', reason: '550 5.1.1', suppress: null },
  { to: 'failed', reason: 'lifetime over' },
];

export const domainKeyCases = {
  'couriers get what was accepted, and the key to sign it': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant({ bouncesDomain: 'b.acme.test', clickTracking: true });
    const domain = await bench.verifiedDomain(tenant.id, 'acme.test');
    const submission = bench.submission(domain, ['a@x.test']);
    submission.recipients[0]!.name = 'Ann, "the" Ä';
    await bench.store.submissions.accept(submission);
    const reader = bench.openContents();
    t.strictSame(await reader.read(submission.recipients[0]!.messageId), {
      kind: 'content',
      content: {
        messageId: submission.recipients[0]!.messageId,
        tenantId: tenant.id,
        submissionId: submission.id,
        from: submission.from,
        to: { address: 'a@x.test', name: 'Ann, "the" Ä' },
        subject: 'Hello',
        html: '<p>Hello</p>',
        text: 'Hello',
        headers: [['X-Campaign', 'spring']],
        ...{ lists: null, attachments: 0, written: null },
        date: T0,
        signing: {
          domainId: domain.id,
          domain: 'acme.test',
          selector: domain.selector,
          signingKeyId: domain.signingKeyId,
          privateKey: { masterKeyId: 'master1', sealed: Buffer.from('a sealed private key') },
        },
        bouncesDomain: 'b.acme.test',
        openTracking: false,
        clickTracking: true,
        unsubscribe: false,
      },
    });
    t.equal((await reader.read(bench.id())).kind, 'unreadable', 'an unknown message');
    reader.close();
    t.equal((await reader.read(submission.recipients[0]!.messageId)).kind, 'unreadable', 'never an exception');
  },

  'a revocation erases the key at once when nothing waits': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await bench.store.queue.record([bench.update(message, { to: 'delivered' })]);
    t.equal(await keyIsThere(bench, message.id), true, 'a finished message alone erases nothing');
    await bench.store.domains.revokeDomain(tenant.id, domain.id);
    t.equal(await keyIsThere(bench, message.id), false);
  },

  'the last open message of a revoked domain takes the key with it': async (t: Test, bench: Bench) => {
    for (const last of ENDS) {
      const { tenant, domain } = await bench.sender(`${last.to}.test`);
      const { receipt, lanes } = await bench.accept(domain, ['a@x.test', 'b@x.test', 'c@x.test']);
      await bench.store.domains.revokeDomain(tenant.id, domain.id);
      const claimed = await bench.claim(lanes[0]!.lane, T0);
      t.equal(claimed.length, 3, 'what was accepted is still delivered');
      const [first, second, third] = claimed;
      await bench.store.queue.record([bench.update(first!, { to: 'delivered' })]);
      await bench.store.queue.record([
        bench.update(second!, { to: 'deferred', dueAt: T0 + 1, reason: '451', ambiguous: false }),
        bench.update(first!, { to: 'delivered' }),
        bench.update(first!, { to: 'delivered' }),
      ]);
      t.equal(await keyIsThere(bench, receipt.messageIds[1]!), true, 'two are open; a repeated end does not count');
      await bench.store.queue.endWaiting(bench.update(second!, { to: 'failed', reason: 'cancelled' }));
      t.equal(await keyIsThere(bench, third!.id), true, 'one is open');
      await bench.store.queue.record([bench.update(third!, last)]);
      t.equal(await keyIsThere(bench, third!.id), false, `gone with the last, which is ${last.to}`);
    }
  },

  'parked messages keep the key': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await bench.store.domains.revokeDomain(tenant.id, domain.id);
    await bench.store.queue.record([bench.update(message, { to: 'parked', reason: 'broken' })]);
    t.equal(await keyIsThere(bench, message.id), true);
  },

  "a domain's key goes alone": async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.verifiedDomain(tenant.id, 'other.test');
    const kept = await bench.queued(other, 'a@x.test');
    await bench.store.domains.revokeDomain(tenant.id, domain.id);
    t.equal(await keyIsThere(bench, kept.id), true, "the tenant's other domain");
    const fresh = await bench.verifiedDomain(tenant.id, 'acme.test');
    const message = await bench.queued(fresh, 'a@x.test');
    t.equal(await keyIsThere(bench, message.id), true, 'the same name, registered anew');
  },
};

/** False when the message is there and only its key is not. */
async function keyIsThere(bench: Bench, messageId: string): Promise<boolean> {
  const reader = bench.openContents();
  const result = await reader.read(messageId);
  reader.close();
  if (result.kind === 'content') return result.content.signing.privateKey.sealed.length > 0;
  if (!result.reason.includes('key')) throw new Error(result.reason);
  return false;
}
