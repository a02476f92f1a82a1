// Conformance: what became of a message: every transition, written together with its attempt,
// its event and its suppression.
import type { Test } from 'tap';
import type { PeerFacts } from '../../../src/base/outcome.ts';
import { deliveredEvent } from '../../../src/events/delivery-events.ts';
import type { Domain } from '../../../src/store/domains.ts';
import type { NewEvent } from '../../../src/store/events.ts';
import type { ClaimedMessage, ClaimedUpdate, Transition } from '../../../src/store/queue.ts';
import { untried } from '../../support/first-slot.ts';
import { type Bench, DUE_AGAIN_STEP_MS, T0 } from './harness.ts';

/** Nothing of the lane is due at another time, and no claim was over. */
const ENDED = { lanes: [], over: [] };

const NOTE = {
  suppressionKey: 'a@x.test',
  mxGroup: 'mx.x.test',
  rule: 'smtp 5.1.1',
  platformExpiresAt: T0 + 90 * 86_400_000,
};
const TLS = { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true };
const PEER: PeerFacts = {
  ...{ mx: 'mx.x.test', remoteIp: '2001:db8::1', stage: 'dot', smtpCode: 250, enhancedCode: '2.0.0', elapsedMs: 123 },
  response: '250 2.0.0 Ok: “queued”',
  tls: TLS,
  tlsPolicy: { mode: 'none', failure: null },
};
const HARD: Transition = { to: 'bounced', bounce: 'hard', reason: 'no such user', suppress: NOTE };

export const queueRecordCases = {
  delivered: async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const event = bench.event('email.delivered', { delivery: { mx: 'mx.x.test' } });
    const update = bench.attempted(message, { to: 'delivered' }, event);
    update.attempt!.peer = { ...PEER, tlsPolicy: { mode: 'testing', failure: 'not named by the policy' } };
    t.strictSame(await bench.store.queue.record([update]), ENDED);
    const stored = await bench.message(message.id);
    t.match(stored, { state: 'delivered', attempts: 1, dueAt: null, finishedAt: T0 + 1000, ambiguous: false });
    t.strictSame(stored.attemptList, [update.attempt]);
    const events = await bench.store.events.eventsOfMessage(tenant.id, message.id);
    t.strictSame(events, [{ ...event, tenantId: tenant.id, messageId: message.id }]);
  },

  'whatever an event tells of the attempt that delivered, all of the attempt is kept': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domain } = await bench.sender('acme.test');
    const failure = 'the certificate is not valid';
    const changes: Record<string, Partial<PeerFacts>> = {
      'as usual': {},
      'without any code': { smtpCode: null, enhancedCode: null, response: 'taken' },
      'in clear text': { tls: null },
      'in clear text, while a policy is tested': { tls: null, tlsPolicy: { mode: 'testing', failure: null } },
      'under a policy': { tlsPolicy: { mode: 'enforce', failure: null } },
      'against a policy': { tlsPolicy: { mode: 'testing', failure } },
      'in clear text after a failure': { tls: null, tlsPolicy: { mode: 'none', failure } },
      'over TLS that is not verified': { tls: { version: 'TLSv1.2', cipher: 'A', verified: false } },
      'after another host': {
        tried: [{ ...PEER, ...{ mx: 'mx2.x.test', ip: '192.0.2.2', port: 25, stage: 'connect' } }],
      },
      'at another stage': { stage: 'data' },
    };
    for (const [name, change] of Object.entries(changes)) {
      const peer = { ...PEER, ...change };
      for (const attempt of [1, 2]) {
        const message = await inAttempt(bench, domain, attempt);
        const data = deliveredEvent(bench.event('email.delivered'), { ...message, subject: 'é' }, { peer, attempt });
        const update = bench.attempted(message, { to: 'delivered' }, data);
        update.attempt!.peer = peer;
        await bench.store.queue.record([update]);
        t.strictSame((await bench.message(message.id)).attemptList, [update.attempt], `${name}, attempt ${attempt}`);
      }
    }
  },

  'an attempt is kept that its event does not tell': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const changes: Partial<PeerFacts>[] = [
      ...[{ mx: 'other' }, { remoteIp: 'other' }, { smtpCode: 251 }, { enhancedCode: '2.1.5' }, { response: 'other' }],
      ...[
        { elapsedMs: 124 },
        { tls: null },
        { tls: { ...TLS, version: 'other' } },
        { tls: { ...TLS, cipher: 'other' } },
      ],
      ...[{ tls: { ...TLS, verified: false } }, { tlsPolicy: { mode: 'enforce', failure: null } } as const],
    ];
    const others: ((message: ClaimedMessage) => NewEvent | null)[] = [
      () => null,
      () => bench.event('email.delivered'),
      ...changes.map((change) => (message: ClaimedMessage) => {
        const facts = { peer: { ...PEER, ...change }, attempt: 1 };
        return deliveredEvent(bench.event('email.delivered'), message, facts);
      }),
    ];
    for (const eventOf of others) {
      const message = await bench.sending(domain, 'a@x.test');
      const update = bench.attempted(message, { to: 'delivered' }, eventOf(message));
      update.attempt!.peer = PEER;
      await bench.store.queue.record([update]);
      t.strictSame((await bench.message(message.id)).attemptList, [update.attempt]);
    }
  },

  deferred: async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const later: Transition = { to: 'deferred', dueAt: T0 + 5000, reason: '451 later', ambiguous: true };
    const event = bench.event('email.deferred');
    const { lanes } = await bench.store.queue.record([bench.attempted(message, later, event)]);
    const notice = { lane: message.lane, slot: 1, tenantId: tenant.id, domain: 'x.test', dueAt: T0 + 5000 };
    t.strictSame(lanes, [notice]);
    t.match(await bench.message(message.id), {
      state: 'deferred',
      attempts: 1,
      dueAt: T0 + 5000,
      lastReason: '451 later',
      ambiguous: true,
      finishedAt: null,
    });
    t.strictSame(await bench.claim(message.lane, T0 + 4999), []);
    const [second] = await bench.claim(message.lane, T0 + 5000);
    t.match(second, { id: message.id, attempt: 2, notices: 1 });
    const sure: Transition = { to: 'deferred', dueAt: T0 + 9000, reason: '452', ambiguous: false };
    await bench.store.queue.record([bench.attempted(second!, sure)]);
    const stored = await bench.message(message.id);
    t.match(stored, { attempts: 2, lastReason: '452', ambiguous: false });
    t.strictSame(
      stored.attemptList.map((attempt) => attempt.attempt),
      [1, 2],
    );
    const [third] = await bench.claim(message.lane, T0 + 9000);
    t.equal(third?.notices, 1, 'the second delay came without an event');
  },

  'bounced without a suppression': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const block: Transition = { to: 'bounced', bounce: 'block', reason: '550 5.7.1', suppress: null };
    t.strictSame(await bench.store.queue.record([bench.attempted(message, block)]), ENDED);
    t.match(await bench.message(message.id), { state: 'bounced', lastReason: '550 5.7.1', finishedAt: T0 + 1000 });
    t.strictSame(await bench.store.suppressions.listSuppressions(tenant.id, { after: null, limit: 10 }), []);
    t.strictSame(await bench.store.suppressions.listPlatformSuppressions({ after: null, limit: 10 }), []);
  },

  'a hard bounce is written to both suppression lists': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('beta.test');
    const message = await bench.sending(domain, 'a@x.test');
    await bench.store.queue.record([bench.attempted(message, HARD, bench.event('email.bounced'))]);
    const page = { after: null, limit: 10 };
    t.strictSame(await bench.store.suppressions.listSuppressions(tenant.id, page), [
      {
        ...{ address: 'a@x.test', reason: 'hard_bounce', messageId: message.id, createdAt: T0 + 1000 },
        ...{ rule: 'smtp 5.1.1', mxGroup: 'mx.x.test' },
      },
    ]);
    t.strictSame(await bench.store.suppressions.listSuppressions(other.tenant.id, page), [], "not to another tenant's");
    t.strictSame(await bench.store.suppressions.listPlatformSuppressions(page), [
      {
        address: 'a@x.test',
        mxGroup: 'mx.x.test',
        rule: 'smtp 5.1.1',
        messageId: message.id,
        createdAt: T0 + 1000,
        expiresAt: NOTE.platformExpiresAt,
      },
    ]);
    const refused = await bench.store.submissions.accept(bench.submission(other.domain, ['a@x.test']));
    t.match(refused, { kind: 'all_suppressed', rejected: [{ to: 'a@x.test', reason: 'hard_bounce' }] });
  },

  "what is not evidence enough for everybody goes to the tenant's list alone": async (t: Test, bench: Bench) => {
    const { domain, tenant } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const suppress = { ...NOTE, rule: 'route-5.1.2', mxGroup: null, platformExpiresAt: null };
    const transition = { ...HARD, suppress };
    await bench.store.queue.record([bench.attempted(message, transition, bench.event('email.bounced'))]);
    const page = { after: null, limit: 10 };
    t.match(await bench.store.suppressions.listSuppressions(tenant.id, page), [
      { address: 'a@x.test', rule: 'route-5.1.2' },
    ]);
    t.strictSame(await bench.store.suppressions.listPlatformSuppressions(page), []);
  },

  "a hard bounce keeps the tenant's earlier reason": async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const earlier = { address: 'a@x.test', reason: 'unsubscribe' as const, messageId: null, createdAt: T0 };
    await bench.store.suppressions.addSuppression(tenant.id, earlier);
    await bench.store.queue.record([bench.attempted(message, HARD)]);
    t.strictSame(await bench.store.suppressions.listSuppressions(tenant.id, { after: null, limit: 10 }), [earlier]);
  },

  failed: async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const failed: Transition = { to: 'failed', reason: 'no way to deliver' };
    t.strictSame(await bench.store.queue.record([bench.update(message, failed)]), ENDED);
    const stored = await bench.message(message.id);
    t.match(stored, { state: 'failed', lastReason: 'no way to deliver', finishedAt: T0 + 1000, dueAt: null });
    t.strictSame(stored.attemptList, []);
  },

  'parked messages wait for a person': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const beside = await bench.queued(domain, 'b@x.test');
    const parked: Transition = { to: 'parked', reason: 'the content cannot be read' };
    t.strictSame(await bench.store.queue.record([bench.update(message, parked)]), ENDED);
    t.match(await bench.message(message.id), { parked: true, lastReason: 'the content cannot be read', dueAt: null });
    const { messages, nextDueAt } = await bench.claimWithNext(message.lane, T0 + 1e7);
    t.strictSame(
      messages.map((one) => one.id),
      [beside.id],
      'stops nobody else',
    );
    t.equal(nextDueAt, null);
    t.strictSame(await bench.store.queue.dueLanes([1]), []);
    const notice = await bench.store.queue.retryNow(message.id, T0 + 60);
    t.match(notice, { lane: message.lane, dueAt: T0 + 60 });
    t.equal((await bench.message(message.id)).parked, false);
    const [again] = await bench.claim(message.lane, T0 + 60);
    t.match(again, { id: message.id, attempt: 2, notices: 0 });
  },

  'every end is an end': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const ends: Transition[] = [{ to: 'delivered' }, { ...HARD, suppress: null } as Transition, failedFor('first')];
    const after: Transition[] = [
      { to: 'delivered' },
      { to: 'deferred', dueAt: T0, reason: 'second', ambiguous: true },
      { ...HARD, reason: 'second' } as Transition,
      failedFor('second'),
      { to: 'parked', reason: 'second' },
    ];
    for (const end of ends) {
      const message = await bench.sending(domain, 'a@x.test');
      await bench.store.queue.record([bench.attempted(message, end, bench.event('email.delivered'))]);
      const finished = await bench.message(message.id);
      for (const second of after) {
        const late = bench.attempted(message, second, bench.event('email.failed'));
        const { over } = await bench.store.queue.record([late]);
        t.strictSame(over, [message.id], `${end.to}, then ${second.to}`);
      }
      t.strictSame(await bench.message(message.id), finished, 'changes nothing');
      t.equal((await bench.store.events.eventsOfMessage(tenant.id, message.id)).length, 1, 'writes no event');
      t.equal(await bench.store.queue.retryNow(message.id, T0), null);
      t.strictSame((await bench.store.queue.release([untried(message)], T0)).over, [message.id]);
    }
    t.strictSame(
      await bench.store.suppressions.listPlatformSuppressions({ after: null, limit: 10 }),
      [],
      'suppresses nobody',
    );
    t.strictSame(await bench.store.suppressions.listSuppressions(tenant.id, { after: null, limit: 10 }), []);
  },

  'of two ends at once the first counts': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await Promise.all([
      bench.store.queue.record([bench.update(message, { to: 'delivered' }, { event: bench.event('email.delivered') })]),
      bench.store.queue.record([bench.update(message, failedFor('late'), { event: bench.event('email.failed') })]),
    ]);
    t.equal((await bench.message(message.id)).state, 'delivered');
    const events = await bench.store.events.eventsOfMessage(tenant.id, message.id);
    t.strictSame(
      events.map((event) => event.type),
      ['email.delivered'],
    );
  },

  'all updates of one call are written, or none': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { lanes } = await bench.accept(domain, ['a@x.test', 'b@x.test']);
    const [one, two] = await bench.claim(lanes[0]!.lane, T0);
    const event = bench.event('email.delivered');
    const updates: ClaimedUpdate[] = [
      bench.attempted(one!, { to: 'delivered' }, event),
      bench.attempted(two!, { to: 'delivered' }, { ...bench.event('email.delivered'), id: event.id }),
    ];
    await t.rejects(bench.store.queue.record(updates), 'the same event id twice');
    t.match(await bench.message(one!.id), { state: 'sending', attemptList: [] });
    t.match(await bench.message(two!.id), { state: 'sending', attemptList: [] });
    t.strictSame(await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 }), []);
    updates[1]!.event = bench.event('email.delivered');
    await bench.store.queue.record(updates);
    t.equal((await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 }))?.length, 2);
  },

  'many lanes are told in one answer': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const messages = [await bench.sending(domain, 'a@x.test'), await bench.sending(domain, 'a@y.test')];
    const { lanes } = await bench.store.queue.record(
      messages.map((message, n) =>
        bench.update(message, { to: 'deferred', dueAt: T0 + n, reason: '451', ambiguous: false }),
      ),
    );
    t.strictSame(
      lanes.map((notice) => [notice.domain, notice.dueAt]),
      [
        ['x.test', T0],
        ['y.test', T0 + 1],
      ],
    );
  },

  'a late result counts once, and only for the last attempt; an earlier one is kept for people': async (
    t: Test,
    bench: Bench,
  ) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const later: Transition = { to: 'deferred', dueAt: T0 + 10, reason: '451', ambiguous: false };
    const first = bench.attempted(message, later, bench.event('email.deferred'));
    t.equal(await bench.store.queue.recordLate([{ ...first, tenantId: bench.id() }]), 0, 'of another tenant');
    t.equal(await bench.store.queue.recordLate([first]), 1);
    t.equal(await bench.store.queue.recordLate([first]), 0, 'it is there already');
    const [second] = await bench.claim(message.lane, T0 + 10);
    const late = bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
    t.equal(await bench.store.queue.recordLate([late]), 0, 'it is there already');
    t.match(await bench.message(message.id), { state: 'sending', attempts: 2, attemptList: { length: 1 } });
    const lost = await bench.sending(domain, 'lost@y.test');
    await bench.store.queue.returnOrphans([untried(lost)], T0, 'gone');
    const [next] = await bench.claim(lost.lane, T0 + DUE_AGAIN_STEP_MS);
    const after = bench.attempted(lost, { to: 'delivered' }, bench.event('email.delivered'));
    t.equal(await bench.store.queue.recordLate([after]), 0, 'somebody has begun again');
    t.match(await bench.message(lost.id), { state: 'sending', attempts: 2, attemptList: [{ attempt: 1 }] });
    t.strictSame(await bench.store.events.eventsOfMessage(tenant.id, lost.id), []);
    await bench.store.queue.record([bench.attempted(next!, { to: 'delivered' })]);
    t.match(await bench.message(lost.id), { attemptList: [{ attempt: 1 }, { attempt: 2 }] });
    t.equal(await bench.store.queue.recordLate([bench.attempted(second!, { to: 'delivered' })]), 1);
    t.match(await bench.message(message.id), { state: 'delivered' });
    t.equal(await bench.store.queue.recordLate([bench.attempted(second!, HARD)]), 0, 'it is finished');
    t.equal((await bench.store.events.eventsOfMessage(tenant.id, message.id)).length, 1);
  },

  'a record for a message that does not exist changes nothing': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = { ...(await bench.sending(domain, 'a@x.test')), id: bench.id() };
    const { over } = await bench.store.queue.record([bench.attempted(message, HARD, bench.event('email.bounced'))]);
    t.strictSame(over, [message.id]);
    t.strictSame(await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 }), []);
    t.strictSame(await bench.store.suppressions.listPlatformSuppressions({ after: null, limit: 10 }), []);
  },
};

/** A message that is being sent; its attempts before were never recorded. */
async function inAttempt(bench: Bench, domain: Domain, attempt: number): Promise<ClaimedMessage> {
  let message = await bench.sending(domain, 'a@x.test');
  while (message.attempt < attempt) {
    const later = { to: 'deferred', dueAt: T0, reason: '451', ambiguous: false } as const;
    await bench.store.queue.record([bench.update(message, later)]);
    const claimed = await bench.claim(message.lane, T0);
    message = claimed.find(({ id }) => id === message.id)!;
  }
  return message;
}

function failedFor(reason: string): Transition {
  return { to: 'failed', reason };
}
