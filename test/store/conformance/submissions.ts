// Conformance: taking a submission in: idempotency, suppression, and what is checked again
// inside the transaction.
import type { Test } from 'tap';
import type { NewSubmission } from '../../../src/store/submissions.ts';
import type { SuppressionReason } from '../../../src/store/suppressions.ts';
import { type Bench, T0 } from './harness.ts';

export const submissionCases = {
  'an accepted submission is there, one message per recipient': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const submission = bench.submission(domain, ['a@x.test', 'B@y.test', 'c@x.test']);
    const result = await bench.store.submissions.accept(submission);
    const messageIds = submission.recipients.map((recipient) => recipient.messageId);
    if (result.kind !== 'accepted') throw new Error(result.kind);
    t.strictSame(result.receipt, { id: submission.id, messageIds, rejected: [] });
    const lanes = new Map(result.lanes.map((lane) => [lane.domain, lane]));
    t.strictSame([...lanes.keys()].sort(), ['x.test', 'y.test']);
    for (const lane of result.lanes) t.match(lane, { tenantId: tenant.id, dueAt: T0 });
    t.not(lanes.get('x.test')?.lane, lanes.get('y.test')?.lane);
    t.strictSame(await bench.store.queue.getMessage(messageIds[1]!), {
      id: messageIds[1],
      tenantId: tenant.id,
      submissionId: submission.id,
      recipient: 'B@y.test',
      state: 'queued',
      attempts: 0,
      dueAt: T0,
      expiresAt: submission.expiresAt,
      lastReason: null,
      ambiguous: false,
      parked: false,
      sourceAddress: null,
      createdAt: T0,
      finishedAt: null,
      from: 'news@acme.test',
      subject: 'Hello',
      labels: null,
      source: null,
      attemptList: [],
    });
  },

  'each submission has its own messages, wherever the IDs of others are': async (t: Test, bench: Bench) => {
    const [one, two] = [await bench.sender('acme.test'), await bench.sender('beta.test')];
    const around = bench.submission(one.domain, ['a@x.test', 'b@x.test', 'c@x.test']);
    const within = bench.submission(two.domain, ['d@x.test', 'e@x.test'], { idempotencyKey: 'k' });
    const [id1, id2, id3, id4, id5] = [1, 2, 3, 4, 5].map(() => bench.id());
    for (const [at, messageId] of [id1, id3, id5].entries()) around.recipients[at]!.messageId = messageId!;
    for (const [at, messageId] of [id2, id4].entries()) within.recipients[at]!.messageId = messageId!;
    const { queue, submissions } = bench.store;
    for (const submission of [around, within]) t.match(await submissions.accept(submission), { kind: 'accepted' });
    const messagesOf = async ({ tenantId, id }: NewSubmission) =>
      (await queue.findSubmission(tenantId, id))!.messages.map((message) => message.id);
    t.strictSame(await messagesOf(around), [id1, id3, id5]);
    t.strictSame(await messagesOf(within), [id2, id4]);
    t.strictSame((await submissions.findReceipt(two.tenant.id, 'k'))!.messageIds, [id2, id4]);
    const waiting = await queue.findWaitingOf(one.tenant.id, around.id);
    t.strictSame(
      waiting.map(({ id }) => id),
      [id1, id3, id5],
    );
  },

  'a lane is the same for every submission of its tenant': async (t: Test, bench: Bench) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const first = await bench.queued(one.domain, 'a@x.test');
    const second = await bench.queued(one.domain, 'b@x.test');
    const foreign = await bench.queued(two.domain, 'a@x.test');
    t.equal(first.lane, second.lane);
    t.not(first.lane, foreign.lane, 'lanes belong to tenants');
  },

  'a repeated key gets the first answer': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    await bench.store.suppressions.addSuppression(tenant.id, entry('gone@x.test', 'manual'));
    const to = ['b@x.test', 'gone@x.test', 'a@x.test'];
    const first = await bench.accept(domain, to, { idempotencyKey: 'order 1' });
    t.strictSame(first.receipt.rejected, [{ to: 'gone@x.test', reason: 'manual' }]);
    const replay = await bench.store.submissions.accept(
      bench.submission(domain, ['z@x.test'], { idempotencyKey: 'order 1' }),
    );
    t.strictSame(replay, { kind: 'replayed', receipt: first.receipt });
    t.strictSame(await bench.store.submissions.findReceipt(tenant.id, 'order 1'), first.receipt);
    t.equal(await bench.store.submissions.findReceipt(tenant.id, 'ORDER 1'), null, 'keys have a case');
    t.equal((await bench.store.queue.listQueue({ limit: 10 })).length, 2, 'nothing was written twice');
  },

  'the first answer stays when everything else has changed': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { receipt } = await bench.accept(domain, ['a@x.test'], { idempotencyKey: 'k' });
    await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test', 'complaint'));
    await bench.store.domains.revokeDomain(tenant.id, domain.id);
    const replay = await bench.store.submissions.accept(
      bench.submission(domain, ['a@x.test'], { idempotencyKey: 'k' }),
    );
    t.strictSame(replay, { kind: 'replayed', receipt });
  },

  '200 calls at once with one key are one submission': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const to = Array.from({ length: 5 }, (_, n) => `r${n}@x.test`);
    const calls = Array.from({ length: 200 }, () =>
      bench.store.submissions.accept(bench.submission(domain, to, { idempotencyKey: 'one' })),
    );
    const results = await Promise.all(calls);
    const accepted = results.filter((result) => result.kind === 'accepted');
    const replayed = results.filter((result) => result.kind === 'replayed');
    t.equal(accepted.length, 1);
    t.equal(replayed.length, 199);
    for (const { receipt } of replayed) t.strictSame(receipt, accepted[0]!.receipt);
    t.equal((await bench.store.queue.listQueue({ tenantId: tenant.id, limit: 2000 })).length, 5);
  },

  "another tenant's same key is another key": async (t: Test, bench: Bench) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const first = await bench.accept(one.domain, ['a@x.test'], { idempotencyKey: 'k' });
    const second = await bench.accept(two.domain, ['a@x.test'], { idempotencyKey: 'k' });
    t.not(first.receipt.id, second.receipt.id);
    t.equal((await bench.store.submissions.findReceipt(one.tenant.id, 'k'))?.id, first.receipt.id);
    t.equal((await bench.store.submissions.findReceipt(two.tenant.id, 'k'))?.id, second.receipt.id);
  },

  'submissions without a key never replay': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const first = await bench.accept(domain, ['a@x.test']);
    const second = await bench.accept(domain, ['a@x.test']);
    t.not(first.receipt.id, second.receipt.id);
  },

  'only accepted submissions are remembered': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const attempt = () =>
      bench.store.submissions.accept(bench.submission(domain, ['a@x.test'], { idempotencyKey: 'k' }));
    await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test', 'manual'));
    t.equal((await attempt()).kind, 'all_suppressed');
    await bench.store.tenants.updateTenant(tenant.id, { status: 'in_review' });
    t.equal((await attempt()).kind, 'tenant_not_active');
    t.equal(await bench.store.submissions.findReceipt(tenant.id, 'k'), null);
    await bench.store.tenants.updateTenant(tenant.id, { status: 'active' });
    await bench.store.suppressions.removeSuppression(tenant.id, 'a@x.test', T0);
    t.equal((await attempt()).kind, 'accepted');
  },

  'suppressed recipients are told apart, the rest is taken': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test', 'unsubscribe'));
    await bench.store.suppressions.addPlatformSuppression(platformEntry('a@x.test'));
    await bench.store.suppressions.addPlatformSuppression(platformEntry('b@x.test'));
    const submission = bench.submission(domain, ['A@X.test', 'b@x.test', 'c@x.test']);
    const result = await bench.store.submissions.accept(submission);
    if (result.kind !== 'accepted') throw new Error(result.kind);
    t.strictSame(result.receipt.rejected, [
      { to: 'A@X.test', reason: 'unsubscribe' },
      { to: 'b@x.test', reason: 'hard_bounce' },
    ]);
    t.strictSame(result.receipt.messageIds, [submission.recipients[2]!.messageId]);
    t.equal(result.lanes.length, 1);
    t.equal(
      await bench.store.queue.getMessage(submission.recipients[0]!.messageId),
      null,
      'no message for a rejected one',
    );
  },

  'what stays usable is rejected only for what people have added': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;
    for (const reason of reasons)
      await bench.store.suppressions.addSuppression(tenant.id, entry(`${reason}@x.test`, reason));
    await bench.store.suppressions.addPlatformSuppression(platformEntry('platform@x.test'));
    const submission = bench.submission(
      domain,
      [...reasons, 'platform'].map((name) => `${name}@x.test`),
    );
    const recipients = submission.recipients.map((recipient) => ({ ...recipient, staysUsable: true }));
    const result = await bench.store.submissions.accept({ ...submission, recipients });
    if (result.kind !== 'accepted') throw new Error(result.kind);
    t.strictSame(result.receipt.rejected, [
      { to: 'unsubscribe@x.test', reason: 'unsubscribe' },
      { to: 'manual@x.test', reason: 'manual' },
    ]);
    t.equal(result.receipt.messageIds.length, 3);
  },

  'mail of the service itself is stopped by its own bounces and by people alone': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;
    for (const reason of reasons)
      await bench.store.suppressions.addSuppression(tenant.id, entry(`${reason}@x.test`, reason));
    await bench.store.suppressions.addPlatformSuppression(platformEntry('platform@x.test'));
    const to = [...reasons, 'platform'].map((name) => `${name}@x.test`);
    const result = await bench.store.submissions.accept({ ...bench.submission(domain, to), ofService: true });
    if (result.kind !== 'accepted') throw new Error(result.kind);
    t.strictSame(
      result.receipt.rejected.map(({ reason }) => reason),
      ['hard_bounce', 'manual'],
    );
  },

  'when all are suppressed nothing is written': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test', 'complaint'));
    t.strictSame(await bench.store.submissions.accept(bench.submission(domain, ['a@x.test'])), {
      kind: 'all_suppressed',
      rejected: [{ to: 'a@x.test', reason: 'complaint' }],
    });
    t.strictSame(await bench.store.queue.listQueue({ limit: 10 }), []);
    t.strictSame(await bench.store.queue.dueLanes([1]), []);
  },

  'an entry of the platform expires': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    await bench.store.suppressions.addPlatformSuppression(platformEntry('a@x.test', T0 + 1000));
    const at = async (acceptedAt: number) =>
      (await bench.store.submissions.accept(bench.submission(domain, ['a@x.test'], { acceptedAt }))).kind;
    t.equal(await at(T0 + 999), 'all_suppressed');
    t.equal(await at(T0 + 1000), 'accepted');
  },

  "another tenant's suppression does not count": async (t: Test, bench: Bench) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    await bench.store.suppressions.addSuppression(one.tenant.id, entry('a@x.test', 'complaint'));
    t.equal((await bench.store.submissions.accept(bench.submission(two.domain, ['a@x.test']))).kind, 'accepted');
  },

  'the tenant must be active at the moment of writing': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    for (const status of ['pending_verification', 'in_review', 'suspended'] as const) {
      const update = bench.store.tenants.updateTenant(tenant.id, { status });
      const result = bench.store.submissions.accept(bench.submission(domain, ['a@x.test']));
      await update;
      t.equal((await result).kind, 'tenant_not_active', status);
    }
    await bench.store.tenants.updateTenant(tenant.id, { status: 'active' });
    t.equal((await bench.store.submissions.accept(bench.submission(domain, ['a@x.test']))).kind, 'accepted');
  },

  'the domain must be verified at the moment of writing': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const domain = await bench.pendingDomain(tenant.id, 'acme.test');
    const attempt = async () => (await bench.store.submissions.accept(bench.submission(domain, ['a@x.test']))).kind;
    const verdict = (state: 'verified' | 'failed') =>
      bench.store.domains.recordVerdict(tenant.id, domain.id, { state, failureReason: null, checkedAt: T0 });
    t.equal(await attempt(), 'domain_not_verified', 'pending');
    await verdict('failed');
    t.equal(await attempt(), 'domain_not_verified', 'failed');
    await verdict('verified');
    t.equal(await attempt(), 'accepted');
    await bench.store.suppressions.addSuppression(tenant.id, entry('a@x.test', 'manual'));
    const revoking = bench.store.domains.revokeDomain(tenant.id, domain.id);
    t.equal(await attempt(), 'domain_not_verified', 'revoked; said before all_suppressed');
    await revoking;
  },

  "another tenant's domain is no domain": async (t: Test, bench: Bench) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const stolen = bench.submission(one.domain, ['a@x.test'], { tenantId: two.tenant.id });
    t.equal((await bench.store.submissions.accept(stolen)).kind, 'domain_not_verified');
  },

  'a submission that cannot be written leaves nothing': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const submission = bench.submission(domain, ['a@x.test', 'b@x.test'], { idempotencyKey: 'k' });
    submission.recipients[1]!.messageId = submission.recipients[0]!.messageId;
    await t.rejects(bench.store.submissions.accept(submission));
    t.equal(await bench.store.submissions.findReceipt(tenant.id, 'k'), null);
    t.strictSame(await bench.store.queue.listQueue({ limit: 10 }), []);
    t.strictSame(await bench.store.queue.dueLanes([1]), []);
  },

  'the only message of a call can be claimed with it': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const owner = await bench.owner();
    const begin = { owner, dueAgainAt: T0 + 60_000 };
    const { receipt, lanes, begun } = await bench.accept(domain, ['a@x.test'], { begin, idempotencyKey: 'k' });
    t.equal(begun, true);
    const [id] = receipt.messageIds as [string];
    t.match(await bench.message(id), { state: 'sending', attempts: 1, dueAt: T0 + 60_000 });
    t.strictSame(await bench.claim(lanes[0]!.lane, T0), [], 'nobody else gets it');
    const again = bench.submission(domain, ['a@x.test'], { begin, idempotencyKey: 'k' });
    t.strictSame(await bench.store.submissions.accept(again), { kind: 'replayed', receipt });
    const message = { id, tenantId: domain.tenantId, owner, attempt: 1 };
    const { over } = await bench.store.queue.record([bench.update(message, { to: 'delivered' })]);
    t.strictSame(over, []);
    t.match(await bench.message(id), { state: 'delivered', attempts: 1 });
  },

  'whoever owns its slot no more claims nothing, and neither do calls with several recipients': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domain } = await bench.sender('acme.test');
    const { slot, epoch } = await bench.owner();
    const over = { owner: { slot, epoch: epoch - 1 }, dueAgainAt: T0 + 60_000 };
    const late = await bench.accept(domain, ['a@x.test'], { begin: over });
    t.equal(late.begun, false);
    t.match(await bench.message(late.receipt.messageIds[0]!), { state: 'queued', attempts: 0, dueAt: T0 });
    const begin = { owner: { slot, epoch }, dueAgainAt: T0 + 60_000 };
    const two = await bench.accept(domain, ['a@x.test', 'b@x.test'], { begin });
    t.equal(two.begun, false);
    t.equal((await bench.claim(two.lanes[0]!.lane, T0)).length, 3);
  },

  'what sending adds is told of active keys only, and to their own tenant': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { findSendingFacts } = bench.store.submissions;
    const { receipt } = await bench.accept(domain, ['a@x.test']);
    const reader = bench.openContents();
    const read = await reader.read(receipt.messageIds[0]!);
    reader.close();
    if (read.kind !== 'content') throw new Error(read.reason);
    const { signing, bouncesDomain, openTracking, clickTracking, unsubscribe } = read.content;
    const facts = { signing, bouncesDomain, openTracking, clickTracking, unsubscribe };
    t.strictSame(await findSendingFacts(tenant.id, domain.id), facts, 'as couriers read it');
    t.equal(await findSendingFacts((await bench.tenant()).id, domain.id), null);
    await bench.store.tenants.updateTenant(tenant.id, { openTracking: true });
    t.match(await findSendingFacts(tenant.id, domain.id), { openTracking: true }, 'at once');
    await bench.store.queue.endWaiting(
      bench.update({ id: receipt.messageIds[0]!, tenantId: tenant.id }, { to: 'failed', reason: 'x' }),
    );
    await bench.store.domains.revokeDomain(tenant.id, domain.id);
    t.equal(await findSendingFacts(tenant.id, domain.id), null, 'its key is gone');
  },
};

function entry(address: string, reason: SuppressionReason) {
  return { address, reason, messageId: null, createdAt: T0 };
}

function platformEntry(address: string, expiresAt = T0 + 90 * 86_400_000) {
  return { address, mxGroup: 'mx.x.test', rule: 'smtp 5.1.1', messageId: null, createdAt: T0, expiresAt };
}
