// Conformance: calls of one turn, which a store may run in one transaction and side by side: each is answered, and leaves
// behind, what it would have alone.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { ClaimedMessage, HardBounceNote, Transition } from '../../../src/store/queue.ts';
import type { AcceptResult, NewSubmission } from '../../../src/store/submissions.ts';
import { type Bench, dueAgainFrom, LIFETIME_MS, T0 } from './harness.ts';
import { candidate, factsOf } from './source-addresses.ts';
import { resultOf, webhookOf } from './webhook-deliveries.ts';

const CALLS = 30;

/** A call that tells itself apart from the others in each of its columns. */
function distinct(bench: Bench, domain: Domain, name: string, change: Partial<NewSubmission> = {}): NewSubmission {
  return bench.submission(domain, [`${name}@x.test`], {
    subject: `subject \\ "${name}", {ü}`,
    html: `<p>${name}</p>`,
    text: name === '1' ? null : `text NULL ${name}\0`,
    headers: [['X-Name', name]],
    from: { address: `${name}@${domain.name}`, name: name === '2' ? null : name },
    ...change,
  });
}

function kindsOf(results: readonly AcceptResult[]): string {
  return results.map(({ kind }) => kind).join(' ');
}

const NOTE: HardBounceNote = {
  ...{ suppressionKey: 'gone@x.test', mxGroup: 'mx.x.test', rule: 'smtp 5.1.1', needsSecondTenant: true },
  platformExpiresAt: T0 + LIFETIME_MS,
};
const BOUNCED: Transition = { to: 'bounced', bounce: 'hard', reason: 'no such user', suppress: NOTE };

/** Messages of one lane that are being sent. */
async function sending(bench: Bench, domain: Domain, names: readonly string[]): Promise<ClaimedMessage[]> {
  const calls = names.map((name) => bench.accept(domain, [`${name}@x.test`]));
  const [accepted] = await Promise.all(calls);
  const claimed = await bench.claim(accepted!.lanes[0]!.lane, T0);
  return names.map((name) => claimed.find(({ recipient }) => recipient === `${name}@x.test`)!);
}

export const besideCases = {
  'each call has its own content, recipients and attachments': async (t: Test, bench: Bench) => {
    const senders = [await bench.sender('one.test'), await bench.sender('two.test')];
    const calls = Array.from({ length: CALLS }, (_, at) => {
      const content = Buffer.from([at, 0, 255]);
      const attachments = at % 3 === 0 ? [{ filename: `${at}`, contentType: 'a/b', contentId: null, content }] : [];
      return distinct(bench, senders[at % 2]!.domain, String(at), { attachments });
    });
    calls[4] = bench.submission(senders[0]!.domain, ['a@x.test', 'b@y.test', 'c@x.test'], { subject: 'to three' });
    const results = await Promise.all(calls.map(bench.store.submissions.accept));
    const reader = bench.openContents();
    t.teardown(() => reader.close());
    for (const [at, call] of calls.entries()) {
      const { tenantId, id, subject, html, text, headers, from, recipients } = call;
      t.match(results[at], { kind: 'accepted', receipt: { id, messageIds: recipients.map((one) => one.messageId) } });
      for (const { messageId, address } of recipients) {
        const read = await reader.read(messageId);
        const content = { tenantId, submissionId: id, subject, html, text, headers, from, to: { address } };
        t.match(read, { kind: 'content', content: { ...content, attachments: call.attachments?.length ?? 0 } });
      }
      t.strictSame(await reader.attachments(tenantId, id), call.attachments ?? []);
    }
    t.equal(await bench.store.figures.countOpenMessages(), CALLS + 2);
  },

  'calls that are refused, repeated or fail leave the others alone': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('one.test');
    const other = await bench.sender('two.test');
    const suspended = await bench.sender('three.test');
    await bench.store.tenants.updateTenant(suspended.tenant.id, { status: 'suspended' });
    const entry = { reason: 'manual', messageId: null, createdAt: T0 } as const;
    await bench.store.suppressions.addSuppression(tenant.id, { address: 'no@x.test', ...entry });
    const keyed = (of: Domain, name: string) => distinct(bench, of, name, { idempotencyKey: 'key' });
    const written = {
      source: 'smtp',
      header: Buffer.from('Subject: Hi\r\n'),
      messageId: 'a@b',
      bodyHash: 'a',
    } as const;
    const { accept } = bench.store.submissions;
    const calls = [
      keyed(domain, 'first'),
      distinct(bench, suspended.domain, 'second'),
      keyed(domain, 'third'),
      distinct(bench, domain, 'no'),
      keyed(other.domain, 'fifth'),
      distinct(bench, domain, 'sixth'),
      bench.submission(domain, ['no@x.test', 'yes@x.test']),
      distinct(bench, domain, 'eighth', { begin: { owner: { slot: 1, epoch: 99 }, dueAgainAt: T0 + 1 } }),
      distinct(bench, domain, 'ninth', { begin: { owner: await bench.owner(), dueAgainAt: T0 + 1 } }),
    ].map((call) => accept(call));
    const failing = distinct(bench, domain, 'tenth', { written: { ...written, pieces: 1, bytes: 9, eightBit: false } });
    await t.rejects(Promise.all([...calls, accept(failing)]), { message: /pieces of the mail/ });
    const results = await Promise.all(calls);
    const kinds = 'accepted tenant_not_active replayed all_suppressed accepted accepted accepted accepted accepted';
    t.equal(kindsOf(results), kinds);
    t.strictSame((results[2] as { receipt: unknown }).receipt, (results[0] as { receipt: unknown }).receipt);
    t.match(results[6], { receipt: { rejected: [{ to: 'no@x.test', reason: 'manual' }] } });
    t.match([results[7], results[8]], [{ begun: false }, { begun: true }]);
    t.equal(await bench.store.figures.countOpenMessages(), 6);
    t.equal((await bench.store.queue.listQueue({ limit: 100 })).length, 6, 'and nothing is left of the others');
  },

  'of many calls with one key one is accepted, and all have its receipt': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('one.test');
    const calls = Array.from({ length: CALLS }, (_, at) => distinct(bench, domain, `${at}`, { idempotencyKey: 'key' }));
    calls.push(calls[0]!, calls[CALLS - 1]!); // whoever calls again may use the same IDs
    const results = await Promise.all(calls.map(bench.store.submissions.accept));
    t.equal(results.filter(({ kind }) => kind === 'accepted').length, 1);
    const receipts = results.map((result) => JSON.stringify('receipt' in result && result.receipt));
    t.strictSame([...new Set(receipts)].length, 1);
    t.equal(JSON.parse(receipts[0]!).messageIds.length, 1);
    t.equal(await bench.store.figures.countOpenMessages(), 1);
    t.equal((await bench.store.queue.listQueue({ limit: 9 })).length, 1);
  },

  'results go to their own messages, and each counts once': async (t: Test, bench: Bench) => {
    const [one, two] = [await bench.sender('one.test'), await bench.sender('two.test')];
    const hook = await webhookOf(bench, one.tenant.id);
    const ofOne = await sending(bench, one.domain, ['a', 'b', 'gone', 'd']);
    const [delivered, deferred, gone, twice] = [ofOne[0]!, ofOne[1]!, ofOne[2]!, ofOne[3]!];
    const ofTwo = await sending(bench, two.domain, ['gone', 'f']);
    const [alsoGone, stale] = [ofTwo[0]!, ofTwo[1]!];
    const events = Array.from({ length: 5 }, (_, n) => bench.event('email.delivered', { n }));
    const wait: Transition = { to: 'deferred', dueAt: T0 + 5000, reason: 'later', ambiguous: false };
    const { record } = bench.store.queue;
    const last = bench.attempted(twice, { to: 'delivered' }, events[4]!);
    const answers = await Promise.all([
      record([
        bench.attempted(delivered, { to: 'delivered' }, events[0]!),
        bench.attempted(deferred, wait, events[1]!),
      ]),
      record([bench.attempted(gone, BOUNCED, events[2]!)]),
      record([bench.attempted(alsoGone, BOUNCED, events[3]!)]),
      record([bench.update({ ...stale, attempt: 7 }, { to: 'delivered' })]),
      record([last]),
      record([{ ...last, event: bench.event('email.delivered') }]),
    ]);
    t.match(answers[0], { over: [], lanes: [{ lane: deferred.lane, dueAt: T0 + 5000 }] });
    t.strictSame(answers.map(({ over }) => over).slice(1), [[], [], [stale.id], [], [twice.id]]);
    const ends = [delivered, deferred, gone, alsoGone, stale, twice].map(({ id }) => bench.message(id));
    const states = (await Promise.all(ends)).map(({ state }) => state);
    t.strictSame(states, ['delivered', 'deferred', 'bounced', 'bounced', 'sending', 'delivered']);
    for (const [at, message] of [delivered, deferred, gone, alsoGone, twice].entries()) {
      const found = await bench.store.events.eventsOfMessage(message.tenantId, message.id);
      t.match(found, [{ id: events[at]!.id, data: { n: at } }], `the event of ${message.recipient}`);
      t.equal(found.length, 1);
    }
    const suppressed = await bench.store.suppressions.listPlatformSuppressions({ after: null, limit: 9 });
    t.strictSame(
      suppressed.map(({ address }) => address),
      ['gone@x.test'],
      'two tenants have seen it bounce',
    );
    const now = { owners: [await bench.owner()], now: T0 + 9000, leaseUntil: [T0 + 10_000] };
    const [due] = await bench.store.webhooks.claimDeliveries([{ webhookId: hook, limit: 9 }], now);
    const wanted = [0, 1, 2, 4].map((at) => events[at]!.id).sort();
    t.strictSame(due!.deliveries.map(({ event }) => event.id).sort(), wanted);
  },

  'a message is claimed or ended, not both': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const to = ['a@x.test', 'b@x.test', 'c@x.test'];
    const paused = candidate('192.0.2.1', { pause: { until: T0 + 1, reason: 'a bad hour' } });
    const terms = { owner: await bench.owner(), now: T0, dueAgainAt: [T0 + 60_000] };
    for (const from of [undefined, ...[candidate('192.0.2.1'), paused].map((one) => factsOf([one]))]) {
      const { receipt, lanes } = await bench.accept(domain, to);
      const source = from && { from: { address: '192.0.2.1', facts: from } };
      const claim = () => bench.store.queue.claim(lanes[0]!.lane, 9, { ...terms, ...source });
      const end = (id: string) => {
        const update = bench.update({ id, tenantId: domain.tenantId }, { to: 'canceled', reason: 'a mistake' });
        return bench.store.queue.endWaiting(update);
      };
      const [first, second, third] = receipt.messageIds as [string, string, string];
      const [ended, { messages }, endedToo, again] = await Promise.all([end(first), claim(), end(second), end(second)]);
      const claimed = messages.map(({ id }) => id);
      t.equal(ended, true);
      t.equal(claimed.includes(first), false);
      t.equal([endedToo, again, claimed.includes(second)].filter(Boolean).length, 1);
      for (const id of receipt.messageIds) {
        if (claimed.includes(id)) t.match(await bench.message(id), { state: 'sending' });
        else if (id !== third)
          t.match(await bench.message(id), { state: 'canceled', dueAt: null, lastReason: 'a mistake' });
      }
    }
  },

  'two claims have no message in common': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('one.test');
    const { lanes } = await bench.accept(
      domain,
      Array.from({ length: 8 }, (_, at) => `${at}@x.test`),
    );
    const terms = { owner: await bench.owner(), now: T0, dueAgainAt: dueAgainFrom(T0) };
    const claims = [3, 3, 3].map((limit) => bench.store.queue.claim(lanes[0]!.lane, limit, terms));
    const found = (await Promise.all(claims)).map(({ messages }) =>
      messages.map(({ id, attempt }) => `${id} ${attempt}`),
    );
    t.strictSame(
      found.map(({ length }) => length),
      [3, 3, 2],
    );
    t.equal(new Set(found.flat()).size, 8);
  },

  'deliveries to webhooks are leased once, and each result counts': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('one.test');
    const hooks = [
      await webhookOf(bench, tenant.id, 'https://a.test/'),
      await webhookOf(bench, tenant.id, 'https://b.test/'),
    ];
    const messages = await sending(bench, domain, ['a', 'b', 'c']);
    const updates = messages.map((message) =>
      bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered')),
    );
    await Promise.all(updates.map((update) => bench.store.queue.record([update])));
    const { claimDeliveries, recordDeliveries, getWebhookHealth } = bench.store.webhooks;
    const terms = { owners: [await bench.owner()], now: T0 + 9000, leaseUntil: [T0 + 10_000] };
    const claims = [...hooks, ...hooks].map((webhookId) => claimDeliveries([{ webhookId, limit: 2 }], terms));
    const leased = (await Promise.all(claims)).flat().map(({ deliveries }) => deliveries);
    t.strictSame(
      leased.map(({ length }) => length),
      [2, 2, 1, 1],
    );
    const names = leased.flat().map(({ webhookId, eventSeq }) => `${webhookId} ${eventSeq}`);
    t.equal(new Set(names).size, 6);
    const results = leased
      .flat()
      .map((delivery, at) => resultOf(delivery, { to: at % 2 === 0 ? 'delivered' : 'failed' }));
    const late = [...results, results[0]!].map((result) => recordDeliveries([result], T0 + 9500));
    t.strictSame(await Promise.all(late), [0, 0, 0, 0, 0, 0, 1]);
    const health = await Promise.all(hooks.map((id) => getWebhookHealth(tenant.id, id)));
    t.match(health, [
      { due: 0, failed: 1 },
      { due: 0, failed: 2 },
    ]);
  },
};
